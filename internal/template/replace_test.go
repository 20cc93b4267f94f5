package template

import (
	"testing"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/template/kind"
)

// TestLostSchema checks that a bundle without its schema does not block edits of other bundles, and is never
// edited itself.
func TestLostSchema(t *testing.T) {
	before := basicOf(channelDoc("stable", bottom, "name: op.v1.1.0\n    replaces: op.v1.0.0"), bundleDocs("1.0.0")) + "- image: quay.io/example/op@sha256:aaaa\n  name: op.v1.1.0\n"
	after, _, err := insert(t, "t.yaml", []byte(before), requestFor(semver.MustParse("1.2.0"), "stable"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Parse("t.yaml", after); err != nil {
		t.Fatal(err)
	}
	rebuilt := requestFor(semver.MustParse("1.1.0"), "stable")
	rebuilt.Rebuild = true
	instead := requestFor(semver.MustParse("1.2.0"), "stable")
	instead.InsteadOf = "op.v1.1.0"
	for _, r := range []kind.Request{rebuilt, requestFor(semver.MustParse("1.1.0"), "stable"), instead} {
		if _, _, err := insert(t, "t.yaml", []byte(before), r); !failure.Is(err, failure.TemplateMalformed) {
			t.Errorf("%s: %v", r.Bundle.Name, err)
		}
	}
	tmpl, err := Parse("t.yaml", []byte(before))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tmpl.Remove(kind.Removal{Bundles: []string{"op.v1.1.0"}, AllowStranded: true}); !failure.Is(err, failure.TemplateMalformed) {
		t.Errorf("removing it: %v", err)
	}
	if _, err := tmpl.Images(nil); err == nil || failure.Of(err).Line != 15 {
		t.Errorf("rendering it: %v", err)
	}
}

// TestInsteadOfItself checks that an entry which names itself by mistake does not name the bundle that takes its
// place, and that only the end of its range moves.
func TestInsteadOfItself(t *testing.T) {
	before := basicOf(channelDoc("stable", bottom, "name: op.v1.1.0\n    replaces: op.v1.1.0\n    skipRange: '>1.1.0 <1.2.0'", "name: op.v1.1.1\n    replaces: op.v1.1.0\n    skipRange: '>=1.0.0 <1.1.1'"), bundleDocs("1.0.0", "1.1.0", "1.1.1"))
	for _, tt := range []struct{ old, now, want string }{
		{"op.v1.1.0", "1.2.0", "-  - name: op.v1.1.0\n+  - name: op.v1.2.0\n-    replaces: op.v1.1.0\n+    replaces: op.v1.2.0\n-  image: quay.io/example/op:v1.1.0\n+  image: quay.io/example/op:v1.2.0\n"},
		{"op.v1.1.1", "1.3.0", "-  - name: op.v1.1.1\n-    skipRange: '>=1.0.0 <1.1.1'\n+  - name: op.v1.3.0\n+    skipRange: '>=1.0.0 <1.3.0'\n-  image: quay.io/example/op:v1.1.1\n+  image: quay.io/example/op:v1.3.0\n"},
	} {
		r := requestFor(semver.MustParse(tt.now))
		r.InsteadOf = tt.old
		got, _, err := insert(t, "t.yaml", []byte(before), r)
		if lines := lineDiff(before, string(got)); err != nil || !sameLines(lines, tt.want) {
			t.Errorf("instead of %s: %v\n%s", tt.old, err, lines)
		}
	}
}
