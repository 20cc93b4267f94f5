package publish

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/testkit/registry"
)

const templateAlone = "catalog-templates/v4.20.yaml"

// alone is a repository with a template and no catalog of it.
func alone(t *testing.T, published ...plan.PublishedSetup) *setup {
	t.Helper()
	w := newSetup(t)
	w.o.Setup = func(Base, kind.Bundle) (*plan.Setup, error) {
		return &plan.Setup{Published: published, Targets: []plan.TargetSetup{{Template: templateAlone}}}, nil
	}
	return w
}

// A template without catalogs is rendered in memory and verified: a change that breaks it fails.
func TestTemplatesAreVerifiedInMemory(t *testing.T) {
	w := alone(t)
	r := w.publish(t, w.push(t, "1.1.0"))
	if !strings.Contains(r.Body, "rendered it in memory and verified its graph") || !strings.Contains(r.Body, "no findings") || strings.Join(r.Work.Changed(), " ") != templateAlone {
		t.Errorf("%v: %s", r.Work.Changed(), r.Body)
	}
	second := Request{Publication: w.push(t, "1.2.0")}
	second.Asked.Edges.SkipRange = "<1.0.0" // a second head
	if _, err := Publish(context.Background(), []Request{second}, w.o); !failure.Is(err, failure.GraphInvalid) || failure.Of(err).File != templateAlone || failure.Of(err).Line != 0 {
		t.Errorf("got %v", err)
	}
}

// If the registry no longer has an older bundle, the change does not fail. The pull request says that the graph
// was not verified, and why.
func TestTemplatesThatCannotBeRendered(t *testing.T) {
	w := alone(t)
	w.SetScript(func(r registry.Request) registry.Fault {
		if r.Reference == "v1.0.0" {
			return registry.Fault{Status: 404}
		}
		return registry.Fault{}
	})
	r := w.publish(t, w.push(t, "1.1.0"))
	if r.Result != Created || !strings.Contains(r.Body, "Graft did not verify the graph of ") || !strings.Contains(r.Body, "op:v1.0.0: reading manifest") || strings.Contains(r.Body, "no findings") {
		t.Errorf("%s: %s", r.Result, r.Body)
	}
	// Graft does not pull this many bundles for verification.
	w = alone(t)
	text := string(w.repo.files[templateAlone].Data)
	for i := range mostFetched {
		text += fmt.Sprintf("- schema: olm.bundle\n  image: %s/op@sha256:%064d\n", w.Addr, i)
	}
	w.repo.files = fstest.MapFS{templateAlone: {Data: []byte(text)}}
	one := w.push(t, "1.1.0")
	w.Reset()
	if r := w.publish(t, one); !strings.Contains(r.Body, "101 bundles would have to be pulled") || w.Count() > 10 {
		t.Errorf("%d requests: %s", w.Count(), r.Body)
	}
}

// Published catalogs have bundles that need no pull. Losses of their users are reported even if the repository
// has no catalog at all.
func TestTemplatesAreHeldToWhatIsPublished(t *testing.T) {
	w := alone(t, plan.PublishedSetup{Catalog: "index:v{platform}"})
	catalog := func(entries string) string {
		text := "schema: olm.package\nname: op\ndefaultChannel: stable\n---\nschema: olm.channel\npackage: op\nname: stable\nentries:\n" + entries
		for _, v := range []string{"0.9.0", "1.0.0"} {
			text += "---\nschema: olm.bundle\npackage: op\nname: op.v" + v + "\nimage: " + w.Addr + "/op:v" + v + "\nproperties:\n- type: olm.package\n  value:\n    packageName: op\n    version: " + v + "\n"
		}
		return text
	}
	has := catalog("- name: op.v1.0.0\n")
	w.o.Catalogs = func(_ context.Context, image, pkg string) ([]fbc.Doc, error) {
		if image != "index:v4.20" || pkg != "op" {
			t.Errorf("asked for %s of %s", pkg, image)
		}
		return fbc.Read(image, []byte(has))
	}
	w.SetScript(func(r registry.Request) registry.Fault {
		if r.Reference == "v1.0.0" {
			t.Errorf("a bundle was pulled that is published")
		}
		return registry.Fault{}
	})
	if r := w.publish(t, w.push(t, "1.1.0")); !strings.Contains(r.Body, "rendered it in memory and verified its graph") {
		t.Errorf("%s", r.Body)
	}
	has = catalog("- name: op.v0.9.0\n- name: op.v1.0.0\n  replaces: op.v0.9.0\n")
	_, err := Publish(context.Background(), []Request{{Publication: w.push(t, "1.2.0")}}, w.o)
	if all := failure.All(err); len(all) != 2 || !strings.HasPrefix(all[1].Message, "upgrade-path-lost: against the published catalog index:v4.20: op.v0.9.0") {
		t.Errorf("got %v", err)
	}
}
