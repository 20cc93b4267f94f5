package publish

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/olmgraft/graft/internal/event"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/testkit/registry"
)

// staged publishes bundles in the repository stage, and catalogs name them as in prod. The targets are given.
func staged(t *testing.T, targets ...plan.TargetSetup) *setup {
	t.Helper()
	w := newSetup(t)
	w.o.Setup = func(Base, kind.Bundle) (*plan.Setup, error) {
		return &plan.Setup{File: ".github/graft.yaml", Registries: map[string]string{w.Addr + "/stage": w.Addr + "/prod"}, Targets: targets}, nil
	}
	return w
}

// put pushes a bundle op.vVERSION with its version's tag. Other content has another digest.
func (w *setup) put(t *testing.T, repository, version, content string) event.Publication {
	t.Helper()
	b := registry.Small("op", "op.v"+version, version)
	b.Files["manifests/csv.yaml"] = append(b.Files["manifests/csv.yaml"], "  displayName: "+content+"\n"...)
	digest, err := w.Push(repository+":v"+version, b, registry.Form{})
	if err != nil {
		t.Fatal(err)
	}
	return event.Publication{Repository: w.Addr + "/" + repository, Tag: "v" + version, Digest: digest}
}

// A bundle that was published on a stage is named as in production, by the same digest, in all files. A bundle
// that production lacks, or has with other content, goes into no catalog.
func TestPromotion(t *testing.T) {
	const basic, rawFile = "catalog-templates/v4.20.yaml", "raw.yaml"
	catalogs := []plan.CatalogSetup{{Path: "catalogs/v4.20/op/catalog.yaml", Create: true}}
	for name, targets := range map[string][]plan.TargetSetup{
		"a template and its catalog": {{Template: basic, Catalogs: catalogs}},
		"a template":                 {{Template: basic}},
		"a catalog of its own":       {{Template: rawFile}},
	} {
		t.Run(name, func(t *testing.T) {
			w := staged(t, targets...)
			w.repo.files[rawFile] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(rawCatalog, "REGISTRY", w.Addr))}
			p := w.put(t, "stage", "1.1.0", "one")
			if targets[0].Catalogs != nil {
				if r := w.try(p, w.o); !failure.Is(r.Err, failure.BundleNotFound) || len(w.repo.made) > 0 {
					t.Errorf("an image that production lacks: %v", r.Err)
				}
			}
			w.put(t, "prod", "1.1.0", "one")
			r := w.publish(t, p)
			for file, f := range w.repo.branches[r.Branch].Files {
				if text := string(f.Data); !strings.Contains(text, w.Addr+"/prod@"+p.Digest) || strings.Contains(text, "/stage") {
					t.Errorf("%s:\n%s", file, text)
				}
			}
			if r.Subjects[0].Image != w.Addr+"/prod@"+p.Digest || !strings.Contains(r.Body, "/prod@"+p.Digest) {
				t.Errorf("the report has %s", r.Subjects[0].Image)
			}
			w.repo.merge(r.Branch)
			if again := w.publish(t, p); again.Result != Unchanged {
				t.Errorf("once more: %+v", again)
			}
			// The same name with other content, on the stage and then also in production.
			moved := w.put(t, "stage", "1.1.0", "two")
			for range 2 {
				if r := w.try(moved, w.o); !failure.Is(r.Err, failure.BundleConflict) || len(w.repo.made) != 1 {
					t.Errorf("with other content: %v", r.Err)
				}
				w.put(t, "prod", "1.1.0", "two")
			}
		})
	}
}

const rawCatalog = `schema: olm.package
name: op
defaultChannel: stable
---
schema: olm.channel
package: op
name: stable
entries:
- name: op.v1.0.0
---
schema: olm.bundle
package: op
name: op.v1.0.0
image: REGISTRY/op:v1.0.0
properties:
- type: olm.package
  value: {packageName: op, version: 1.0.0}
`

// A tag that is announced with another digest than the recorded one has moved: that is a rebuild.
func TestSumOfAMovedTag(t *testing.T) {
	w := newSetup(t)
	setup := w.o.Setup
	w.o.Setup = func(content Base, b kind.Bundle) (*plan.Setup, error) {
		s, err := setup(content, b)
		s.Sum = "catalog.sum"
		return s, err
	}
	p := w.put(t, "op", "1.1.0", "one")
	w.repo.merge(w.publish(t, p).Branch)
	if r := w.publish(t, p); r.Result != Unchanged {
		t.Errorf("the same again: %+v", r)
	}
	moved := w.put(t, "op", "1.1.0", "two")
	if r := w.try(moved, w.o); !failure.Is(r.Err, failure.BundleConflict) || failure.Of(r.Err).File != "catalog.sum" {
		t.Errorf("got %v", r.Err)
	}
	// The same beside another bundle.
	results, err := Publish(context.Background(), []Request{{Publication: moved}, {Publication: w.put(t, "op", "1.2.0", "one")}}, w.o)
	if !failure.Is(err, failure.BundleConflict) || results[1].Result != Created {
		t.Errorf("%v", err)
	}
}

// A composite template makes each catalog from its own components.
func TestPublishIntoAComposite(t *testing.T) {
	w := newSetup(t)
	one := strings.ReplaceAll(basicTemplate, "REGISTRY", w.Addr)
	component := func(name, input string) string {
		return "- {name: " + name + ", strategy: {template: {schema: olm.builder.basic, config: {input: " + input + "}}}}\n"
	}
	w.repo.files = fstest.MapFS{
		"composite.yaml": {Data: []byte("schema: olm.composite\ncomponents:\n" + component("old", "old.yaml") + component("new", "new.yaml"))},
		"old.yaml":       {Data: []byte(one)}, "new.yaml": {Data: []byte(strings.ReplaceAll(one, "stable", "fast"))},
	}
	w.o.Setup = func(Base, kind.Bundle) (*plan.Setup, error) {
		return &plan.Setup{File: "graft.yaml", Targets: []plan.TargetSetup{{
			Template: "composite.yaml", Rules: []plan.ChannelRule{{Channels: []plan.Pattern{"stable", "fast"}}},
			Catalogs: []plan.CatalogSetup{{Name: "old", Path: "catalogs/old/op/catalog.yaml", Create: true}, {Name: "new", Path: "catalogs/new/op/catalog.json", Metadata: plan.BundleObject, Create: true}},
		}}}, nil
	}
	r := w.publish(t, w.push(t, "1.1.0"))
	files := w.repo.branches[r.Branch].Files
	if len(files) != 4 {
		t.Errorf("written are %v", r.Work.Changed())
	}
	old, now := string(files["catalogs/old/op/catalog.yaml"].Data), string(files["catalogs/new/op/catalog.json"].Data)
	if !strings.Contains(old, "defaultChannel: stable\n") || !strings.Contains(old, "op.v1.1.0") || !strings.Contains(old, "olm.csv.metadata") {
		t.Errorf("old:\n%s", old)
	}
	if !strings.Contains(now, `"defaultChannel": "fast"`) || !strings.Contains(now, "op.v1.1.0") || !strings.Contains(now, "olm.bundle.object") {
		t.Errorf("new:\n%s", now)
	}
}
