package publish

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/olmgraft/graft/internal/bundle"
	"github.com/olmgraft/graft/internal/event"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/testkit/registry"
)

// build pushes a version with additions to its CSV.
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

// rebuilds makes every request a rebuild.
func (w *setup) rebuilds() {
	made := w.o.Setup
	w.o.Setup = func(base Base, b kind.Bundle) (*plan.Setup, error) {
		s, err := made(base, b)
		s.Rebuild = plan.Replace
		return s, err
	}
}

// Differences come from the registry, or else from the catalog, which may have no manifests. If neither has the
// old bundle, the pull request says so.
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
				t.Errorf("the body has the field: %v\n%s", told, r.Body)
			}
		})
	}
}

// The same tag with another digest is a rebuild: refused, or made if requested. A catalog from another program
// holds the same build.
func TestTagThatMoved(t *testing.T) {
	w := newSetup(t)
	first := w.build(t, "v1.1.0", "1.1.0", "minKubeVersion: 1.28.0")
	w.repo.merge(w.publish(t, first).Branch)
	const catalog = "catalogs/v4.20/op/catalog.yaml"
	text := string(w.repo.files[catalog].Data)
	other := strings.ReplaceAll(text, "    version: 1.1.0\n", "    version: 1.1.0\n    written: {}\n")
	w.repo.files[catalog].Data = []byte(other)
	if r := w.publish(t, first); r.Result != Unchanged || other == text {
		t.Errorf("the same again: %+v", r)
	}
	second := w.build(t, "v1.1.0", "1.1.0", "minKubeVersion: 1.29.0")
	r := w.try(second, w.o)
	if err := failure.Of(r.Err); err.Code != failure.BundleConflict || err.File != catalog || !strings.Contains(err.Remedy, "--rebuild replace") {
		t.Errorf("%+v", err)
	}
	w.rebuilds()
	r = w.publish(t, second)
	if w.forge.all[0].Title != "Rebuild op 1.1.0" || !strings.Contains(r.Body, "minKubeVersion") || len(r.Work.Changed()) != 1 {
		t.Errorf("%v\n%s", r.Work.Changed(), r.Body)
	}
	w.repo.merge(r.Branch)
	if r := w.publish(t, second); r.Result != Unchanged {
		t.Errorf("the same again: %+v", r)
	}
	// A late event names a digest that the tag no longer has.
	if r := w.try(first, w.o); !failure.Is(r.Err, failure.DigestMismatch) {
		t.Errorf("%v", r.Err)
	}
}

// A rebuild replaces the earlier build in the pull request that has it: the rolling one, or a newer one that
// took it over.
func TestRebuildInSharedPullRequests(t *testing.T) {
	for name, share := range map[string]func(*setup){"rolling": (*setup).rolling, "superseded": func(w *setup) { w.o.Supersede = true }} {
		t.Run(name, func(t *testing.T) {
			w := newSetup(t)
			share(w)
			w.publish(t, w.build(t, "v1.1.0", "1.1.0", "minKubeVersion: 1.28.0"))
			w.publish(t, w.push(t, "1.2.0"))
			for i, tag := range []string{"v1.1.0-2", "v1.1.0-2"} {
				r := w.publish(t, w.build(t, tag, "1.1.0", fmt.Sprintf("minKubeVersion: 1.29.%d", i)))
				text, catalog := w.template(r.Branch), string(w.repo.branches[r.Branch].Files["catalogs/v4.20/op/catalog.yaml"].Data)
				if len(r.Subjects) != 2 || strings.Contains(text, "/op:v1.1.0\n") || !strings.Contains(text, "/op:v1.1.0-2\n") || !strings.Contains(text, "op.v1.2.0") || !strings.Contains(catalog, fmt.Sprintf("minKubeVersion: 1.29.%d", i)) {
					t.Errorf("build %d: %+v\n%s\n%s", i, r, text, catalog)
				}
			}
			if open, err := w.forge.Open(t.Context(), ""); err != nil || len(open) != 1 {
				t.Errorf("%+v %v", open, err)
			}
		})
	}
}

// A newer bundle takes over an open rebuild, which stays a rebuild.
func TestRebuildIsTakenOver(t *testing.T) {
	w := newSetup(t)
	w.o.Supersede = true
	w.repo.merge(w.publish(t, w.build(t, "v1.1.0", "1.1.0", "minKubeVersion: 1.28.0")).Branch)
	w.forge.all = nil
	r := Request{Publication: w.build(t, "v1.1.0-2", "1.1.0", "minKubeVersion: 1.29.0"), Asked: plan.Asked{Rebuild: plan.Replace}}
	if _, err := Publish(t.Context(), []Request{r}, w.o); err != nil {
		t.Fatal(err)
	}
	got := w.publish(t, w.push(t, "1.2.0"))
	if len(got.Superseded) != 1 || !strings.Contains(got.Body, "Rebuild of bundle <code>op.v1.1.0</code>") || !strings.Contains(w.template(got.Branch), "/op:v1.1.0-2\n") {
		t.Errorf("%+v\n%s", got, got.Body)
	}
}

// A sweep finds tags that moved since they were recorded, or named with a digest.
func TestMissingFindsRebuilds(t *testing.T) {
	w := newSetup(t)
	var sum strings.Builder
	for _, version := range []string{"1.1.0", "1.2.0", "1.3.0", "1.4.0"} {
		p := w.push(t, version)
		switch version {
		case "1.1.0", "1.2.0":
			fmt.Fprintf(&sum, "%s:%s %s h1:x\n", p.Repository, p.Tag, p.Digest)
			fallthrough
		case "1.4.0": // its old digest is unknown
			w.repo.files[version+".yaml"] = &fstest.MapFile{Data: []byte("schema: olm.bundle\nimage: " + p.Repository + ":" + p.Tag + "\n")}
		default:
			w.repo.files[version+".yaml"] = &fstest.MapFile{Data: []byte("schema: olm.bundle\nimage: " + p.Reference() + "\n---\nschema: olm.bundle\nimage: " + p.Repository + ":" + p.Tag + "@" + p.Digest + "\n")}
		}
	}
	w.repo.files["catalog.sum"] = &fstest.MapFile{Data: []byte(sum.String())}
	for _, version := range []string{"1.1.0", "1.3.0", "1.4.0"} {
		w.build(t, "v"+version, version, "minKubeVersion: 1.29.0")
	}
	found, err := Missing(t.Context(), w.repo.files, w.o.Registry, Sweep{Repository: w.Addr + "/op", Sum: "catalog.sum", Jobs: 4})
	if err != nil || len(found) != 2 || found[0].Tag != "v1.1.0" || found[1].Tag != "v1.3.0" {
		t.Errorf("%+v %v", found, err)
	}
	w.repo.files["catalog.sum"].Data = []byte("x")
	if _, err := Missing(t.Context(), w.repo.files, w.o.Registry, Sweep{Repository: w.Addr + "/op", Sum: "catalog.sum", Jobs: 4}); !failure.Is(err, failure.Config) {
		t.Errorf("%v", err)
	}
}

// A sweep finds the earlier build under its own tag. The earlier build does not replace the newer one and
// delays nothing. An image that a tag moved away from is replaced.
func TestSweepTakesNoBuildBack(t *testing.T) {
	for _, rolling := range []bool{false, true} {
		w := newSetup(t)
		if rolling {
			w.rolling()
		}
		w.rebuilds()
		w.push(t, "1.1.0")
		second := w.build(t, "v1.1.0-2", "1.1.0", "minKubeVersion: 1.29.0")
		w.repo.merge(w.publish(t, second).Branch)
		w.forge.all = nil
		sweep := func() []*Result {
			found, err := Missing(t.Context(), w.repo.files, w.o.Registry, Sweep{Repository: w.Addr + "/op", Jobs: 4})
			if err != nil {
				t.Fatal(err)
			}
			var requests []Request
			for _, one := range found {
				requests = append(requests, Request{Publication: one.Publication, Swept: one.Swept})
			}
			results, err := Publish(t.Context(), requests, w.o)
			if err != nil {
				t.Fatal(err)
			}
			return results
		}
		if all := sweep(); len(all) != 1 || all[0].Result != Unchanged || len(all[0].Warnings) != 1 || !strings.Contains(all[0].Warnings[0], "/op:v1.1.0-2, which is tagged still") {
			t.Errorf("%+v", all)
		}
		w.push(t, "1.2.0")
		all := sweep()
		if last := all[len(all)-1]; last.Result != Created || !strings.Contains(w.template(last.Branch), "/op:v1.1.0-2\n") || !strings.Contains(w.template(last.Branch), "op.v1.2.0") {
			t.Errorf("%+v", last)
		}
		// If images are named by digest, a digest that no tag has was moved away from.
		w.forge.all, w.repo.branches = nil, nil
		const file = "catalog-templates/v4.20.yaml"
		w.repo.files[file].Data = []byte(strings.Replace(string(w.repo.files[file].Data), "/op:v1.1.0-2\n", "/op@"+second.Digest+"\n", 1))
		w.tag(t, "v1.1.0-2", "1.2.0")
		for _, r := range sweep() {
			if text := w.template(r.Branch); r.Result != Created || strings.Contains(text, second.Digest) == strings.Contains(r.Body, "Rebuild of bundle") {
				t.Errorf("%+v\n%s", r, text)
			}
		}
	}
}

// Differences have any length and any text.
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
