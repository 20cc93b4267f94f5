package template

import (
	"slices"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/template/kind"
)

// TestStrays checks that bundles without an entry block nothing, unless the request refuses them.
func TestStrays(t *testing.T) {
	two := func(string) ([]string, error) { return []string{"v1.0.0", "v1.2.0", "v1.10.0"}, nil }
	src := "schema: olm.template.goodstuff\npackage: {name: testoperator, defaultChannel: stable}\nbundles: {repo: quay.io/example/op, tagRegex: ^v}\ngraph-description:\n" +
		"- {name: stable, entries: [testoperator.v1.0.0]}\n- {name: fast, entries: [testoperator.v1.0.0]}\n"
	for _, tt := range []struct {
		name, src, strays string
		channels, notes   string
		code              failure.Code
	}{
		{"warned of", src, "", "stable: 1.0.0; fast: 1.0.0", "testoperator.v1.2.0 (quay.io/example/op:v1.2.0) is left out|testoperator.v1.10.0 (quay.io/example/op:v1.10.0) is left out", 0},
		{"included", src, kind.IncludeStrays, "stable: 1.0.0 | 1.2.0<1.0.0 | 1.10.0<1.2.0; fast: 1.0.0", "", 0},
		{"refused", src, kind.RefuseStrays, "", "t.yaml:5:1: rendering the template: no graph-description names the bundle testoperator.v1.10.0 (quay.io/example/op:v1.10.0), testoperator.v1.2.0", failure.RenderFailed},
		{"of no default channel", strings.Replace(src, ", defaultChannel: stable", "", 1), kind.IncludeStrays, "", "t.yaml:5:1: rendering the template: there is no default channel", failure.RenderFailed},
		{"of no order", strings.Replace(src, "[testoperator.v1.0.0]", "[testoperator.v1.10.0, testoperator.v1.0.0]", 1), kind.IncludeStrays, "", "t.yaml:5:3: placing testoperator.v1.2.0: the entries are not in order of version", failure.VersionUnordered},
		{"listed", strings.Replace(src, "tagRegex: ^v", "tagRegex: ^v1.2, images: ['quay.io/example/op:v1.0.0', 'quay.io/example/op:v1.10.0']", 1), "", "",
			"t.yaml:5:1: rendering the template: no graph-description names the bundle testoperator.v1.10.0 (quay.io/example/op:v1.10.0)", failure.RenderFailed},
	} {
		tmpl, err := Parse("t.yaml", []byte(tt.src))
		if err != nil {
			t.Fatal(err)
		}
		tmpl.Source.Strays = tt.strays
		c, err := tmpl.Expand(byTag{"testoperator"}, two)
		if tt.code != 0 {
			if !failure.Is(err, tt.code) || !strings.HasPrefix(err.Error(), tt.notes) {
				t.Errorf("%s: got %v", tt.name, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if got := short(c, "testoperator"); strings.ReplaceAll(got, "\n", "; ") != tt.channels {
			t.Errorf("%s: got %s", tt.name, got)
		}
		for i, want := range strings.Split(tt.notes, "|") {
			if got := slices.Concat(c.Notes, []string{""}); !strings.HasPrefix(got[i], want) || want == "" && len(c.Notes) > 0 {
				t.Errorf("%s: notes are %q", tt.name, c.Notes)
			}
		}
	}
}
