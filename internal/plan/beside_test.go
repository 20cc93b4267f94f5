package plan

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/olmgraft/graft/internal/template"
)

// Planning for many templates without bundles does not read those beside them again for each.
func TestManyEmptyTemplates(t *testing.T) {
	const empty = "schema: olm.template.basic\nentries:\n- {schema: olm.package, name: op, defaultChannel: a}\n- {schema: olm.channel, package: op, name: a, entries: []}\n"
	var full strings.Builder
	full.WriteString(empty)
	for i := range 10_000 {
		fmt.Fprintf(&full, "- {schema: olm.bundle, image: quay.io/example/op-bundle:v0.0.%d, name: op.v0.0.%d}\n", i, i)
	}
	files := fstest.MapFS{"v4.999/t.yaml": {Data: []byte(full.String())}}
	for i := range 400 {
		files[fmt.Sprintf("v4.%d/t.yaml", i)] = &fstest.MapFile{Data: []byte(empty)}
	}
	in := Input{Bundle: bundleOf("1.1.0"), Asked: Asked{Channels: []string{"a"}}, Setup: &Setup{File: "graft.yaml", Targets: []TargetSetup{{Template: "v*/t.yaml"}}}}
	p, err := Make(template.NewFiles(files), in)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Targets) != 401 || len(p.Targets[0].Requests[0].Beside) != 10_000 {
		t.Errorf("%d targets, %d bundles beside", len(p.Targets), len(p.Targets[0].Requests[0].Beside))
	}
}
