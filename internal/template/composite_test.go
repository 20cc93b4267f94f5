package template

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
)

// TestCompositeExpands checks that the parts of a composite template are rendered into one catalog, with builders
// that this catalog allows.
func TestCompositeExpands(t *testing.T) {
	const raw = "schema: olm.package\nname: op\ndefaultChannel: stable\n---\nschema: olm.deprecations\npackage: op\n---\nschema: other\n---\nschema: olm.bundle\nname: op.v1.0.0\npackage: op\nimage: q.io/op:v1.0.0\nproperties:\n- {type: olm.package, value: {packageName: op, version: 1.0.0}}\n"
	const allowed = "schema: olm.composite.catalogs\ncatalogs:\n- {name: v4.20, builders: [olm.builder.basic, olm.builder.raw]}\n- {name: v4.21, builders: [olm.builder.semver]}\n"
	component := func(catalog, builder, input string) string {
		return "- {name: " + catalog + ", strategy: {template: {schema: olm.builder." + builder + ", config: {input: " + input + "}}}}\n"
	}
	both := component("v4.20", "basic", "basic.yaml") + component("v4.20", "raw", "raw.yaml")
	for _, tt := range []struct {
		name, components, catalogs, asked string
		want                              string // or the text of the failure
		code                              failure.Code
	}{
		{"all parts", both, allowed, "", "2 packages, 1 channels, 1 deprecations, 1 others, 1 bundles, images q.io/op:v1.1.0", 0},
		{"without rules", both, "", "", "2 packages, 1 channels, 1 deprecations, 1 others, 1 bundles, images q.io/op:v1.1.0", 0},
		{"one of several catalogs", both + component("v4.21", "semver", "none.yaml"), allowed, "v4.20", "2 packages, 1 channels, 1 deprecations, 1 others, 1 bundles, images q.io/op:v1.1.0", 0},
		{"several catalogs", component("v4.20", "basic", "basic.yaml") + component("v4.21", "semver", "none.yaml"), allowed, "", "composite.yaml:1:1: rendering: the template makes several catalogs: v4.20, v4.21", failure.Usage},
		{"a builder that is not allowed", component("v4.21", "basic", "basic.yaml"), allowed, "", "composite.yaml:3:3: rendering: catalog v4.21 allows no builder olm.builder.basic", failure.RenderFailed},
		{"an unknown catalog", component("v4.22", "basic", "basic.yaml"), allowed, "", "composite.yaml:3:3: rendering: catalogs.yaml has no catalog v4.22", failure.RenderFailed},
	} {
		fsys := fstest.MapFS{
			"composite.yaml": {Data: []byte("schema: olm.composite\ncomponents:\n" + tt.components)}, "raw.yaml": {Data: []byte(raw)},
			"basic.yaml": {Data: []byte(basicHead + "- {schema: olm.package, name: op}\n- {schema: olm.channel, name: stable, package: op}\n- {schema: olm.bundle, image: \"q.io/op:v1.1.0\"}\n")},
		}
		if tt.catalogs != "" {
			fsys["catalogs.yaml"] = &fstest.MapFile{Data: []byte(tt.catalogs)}
		}
		tmpl, err := Open(fsys, "composite.yaml", "composite.yaml")
		if err != nil {
			t.Fatal(err)
		}
		if tt.asked != "" {
			tmpl.Source.Catalogs = []string{tt.asked}
		}
		images, err := tmpl.Images(nil)
		var c *fbc.Catalog
		if err == nil {
			c, err = tmpl.Expand(byTag{"op"}, nil)
		}
		if tt.code != 0 {
			if !failure.Is(err, tt.code) || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("%s: got %v", tt.name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		got := fmt.Sprintf("%d packages, %d channels, %d deprecations, %d others, %d bundles, images %s", len(c.Packages), len(c.Channels), len(c.Deprecations), len(c.Others), len(c.Bundles), strings.Join(images, " "))
		if got != tt.want || !slices.Equal(c.Images, images) {
			t.Errorf("%s: got %s", tt.name, got)
		}
	}
}

// goodstuffExample is the example in the proposal of goodstuff templates. Its regular expression is in single
// quotes, because these backslashes are not valid YAML in double quotes.
const goodstuffExample = `---
schema: olm.template.goodstuff
package:
  name: testoperator
  defaultChannel: stable
bundles:
  repo: quay.io/example-inc/example-bundle
  tagRegex: '^v\d+\.\d+\.\d+$'
  semverRange: ">=0.1.x"
  images:
    - quay.io/example-inc/example-bundle:v0.0.1
    - quay.io/example-inc/example-bundle:v0.0.2
    - quay.io/example-inc/example-bundle:v0.0.3
graph-description:
  package: testoperator
  name: stable
  entries:
    - testoperator.v0.1.0
    - testoperator.v0.2.0
    - testoperator.v0.2.1
    - testoperator.v0.2.2
    - testoperator.v0.2.3
    - testoperator.v0.3.0
    - testoperator.v0.3.1
    - testoperator.v0.3.2
    - testoperator.v1.0.0
    - testoperator.v1.0.1
  tombstones:
    - testoperator.v0.2.0
    - testoperator.v0.2.1
    - testoperator.v0.2.2
    - testoperator.v0.3.0
    - testoperator.v0.3.1
    - testoperator.v1.0.0
  tailEdges:
    skips:
      - testoperator.v0.0.1
      - testoperator.v0.0.2
      - testoperator.v0.0.3
`
