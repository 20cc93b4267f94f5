package template

import (
	"testing"

	"github.com/blang/semver/v4"
)

// An entry that named itself by mistake does not name the bundle that takes its place, and of its
// range only the end moves.
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
