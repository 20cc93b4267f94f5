package publish

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/bundle"
	"github.com/olmgraft/graft/internal/event"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/testkit/registry"
)

// build pushes a version whose CSV says more.
func (w *setup) build(t *testing.T, tag, version, spec string) event.Publication {
	t.Helper()
	b := registry.Small("op", "op.v"+version, version)
	b.Files["manifests/csv.yaml"] = append(b.Files["manifests/csv.yaml"], "  "+spec+"\n"...)
	digest, err := w.Push("op:"+tag, b, registry.Form{})
	if err != nil {
		t.Fatal(err)
	}
	return event.Publication{Repository: w.Addr + "/op", Tag: tag, Digest: digest}
}

// rebuilds has every request replace what stands there.
func (w *setup) rebuilds() {
	made := w.o.Setup
	w.o.Setup = func(base Base, b kind.Bundle) (*plan.Setup, error) {
		s, err := made(base, b)
		s.Rebuild = plan.Replace
		return s, err
	}
}

// What differs is told from the registry, else from the catalog, which may hold no manifests;
// where neither has the former bundle that is said.
func TestRebuildTellsWhatChanged(t *testing.T) {
	const permissions = "install: {strategy: deployment, spec: {deployments: [], clusterPermissions: [{serviceAccountName: op, rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]}]}}"
	for name, test := range map[string]struct {
		gone      bool // from the registry
		catalog   bool // there is one
		want, not string
	}{
		"from the registry": {want: "- cluster permission <code>op: pods</code> added: <code>get</code>\n", not: "holds no manifests", catalog: true},
		"from the catalog":  {gone: true, catalog: true, want: "A catalog tells of the former one, and it holds no manifests", not: "cluster permission"},
		"from nobody":       {gone: true, want: "neither the registry nor a catalog has the bundle", not: "What changed:"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newSetup(t)
			w.rebuilds()
			first := w.build(t, "v1.1.0", "1.1.0", "minKubeVersion: 1.28.0")
			w.repo.merge(w.publish(t, first).Branch)
			if test.gone {
				w.SetScript(func(r registry.Request) registry.Fault {
					if r.Reference == first.Digest || r.Reference == "v1.1.0" {
						return registry.Fault{Status: http.StatusNotFound}
					}
					return registry.Fault{}
				})
			}
			if !test.catalog {
				delete(w.repo.files, "catalogs/v4.20/op/catalog.yaml")
			}
			second := w.build(t, "v1.1.0-2", "1.1.0", "minKubeVersion: 1.29.0\n  "+permissions)
			r := w.publish(t, second)
			if one := w.forge.all[len(w.forge.all)-1]; one.Title != "Rebuild op 1.1.0" || one.Branch != "graft/op/1.1.0" {
				t.Errorf("%+v", one)
			}
			if !strings.Contains(r.Body, "Rebuild of bundle") || !strings.Contains(r.Body, test.want) || strings.Contains(r.Body, test.not) {
				t.Errorf("want %q\n%s", test.want, r.Body)
			}
			if told := strings.Contains(r.Body, "minKubeVersion"); told != test.catalog {
				t.Errorf("the field is told: %v\n%s", told, r.Body)
			}
		})
	}
}

// What differs is of any length and says anything.
func TestWhatChangedIsBounded(t *testing.T) {
	r := replacement{Change: kind.Change{What: kind.BundleRebuilt, From: "a/b:c</code>@all"}, digest: "sha256:ab"}
	for i := range 1000 {
		r.changes = append(r.changes, bundle.Change{Part: bundle.PartImage, Name: fmt.Sprint(i) + "</details>@everyone", Before: strings.Repeat("fixes #1 ", 1000), How: bundle.Gone})
	}
	var b strings.Builder
	r.describe(&b)
	body := b.String()
	if len(body) > 200_000 || !strings.Contains(body, "1000 related images</summary>") || !strings.Contains(body, "- and 800 more\n") {
		t.Errorf("%d bytes: %.500s", len(body), body)
	}
	for _, bad := range []string{"</code>@", "@everyone", "@all", "fixes #1", "</details>@"} {
		if strings.Contains(body, bad) {
			t.Errorf("the body holds %q", bad)
		}
	}
}
