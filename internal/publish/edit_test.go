package publish

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/template/kind"
)

func (w *setup) edit(t *testing.T, e Edit) *Result {
	t.Helper()
	w.o.EditBranches = "graft"
	e.Package = "op"
	all, _ := Publish(t.Context(), []Request{{Edit: e}}, w.o)
	return all[0]
}

// A bundle in a file of its own loses that file, on the branch and in the directory.
func TestRemoveTakesFilesAway(t *testing.T) {
	w := newSetup(t)
	w.repo.files = fstest.MapFS{
		"catalog/package.yaml":      {Data: []byte("schema: olm.package\nname: op\ndefaultChannel: stable\n")},
		"catalog/channel.yaml":      {Data: []byte("schema: olm.channel\npackage: op\nname: stable\nentries:\n- name: op.v1.0.0\n- name: op.v1.1.0\n  replaces: op.v1.0.0\n  skipRange: <1.1.0\n")},
		"catalog/bundles/v1.0.yaml": {Data: []byte(rawBundle(w.Addr, "1.0.0"))},
		"catalog/bundles/v1.1.yaml": {Data: []byte(rawBundle(w.Addr, "1.1.0"))},
	}
	w.o.Setup = func(Base, kind.Bundle) (*plan.Setup, error) {
		return &plan.Setup{Targets: []plan.TargetSetup{{Template: "catalog"}}}, nil
	}
	r := w.edit(t, Edit{Remove: []string{"op.v1.0.0"}, AllowStranded: true})
	if r.Err != nil || r.Branch != "graft/op/remove-op.v1.0.0" {
		t.Fatalf("%+v", r)
	}
	if d := w.repo.branches[r.Branch]; !slices.Equal(d.Deleted, []string{"catalog/bundles/v1.0.yaml"}) || len(d.Files) != 1 {
		t.Errorf("%v %v", d.Deleted, d.Files)
	}
	if !strings.Contains(r.Body, "entry-pruned") {
		t.Errorf("%s", r.Body)
	}
	w.repo.merge(r.Branch)
	w.forge.all = nil
	if r := w.edit(t, Edit{Remove: []string{"op.v1.0.0"}, AllowStranded: true}); r.Err != nil || r.Result != Unchanged {
		t.Errorf("%+v", r)
	}
}

func rawBundle(addr, version string) string {
	return "schema: olm.bundle\npackage: op\nname: op.v" + version + "\nimage: " + addr + "/op:v" + version + "\nproperties:\n- type: olm.package\n  value: {packageName: op, version: " + version + "}\n"
}

// A bundle that is published after a proposed removal does not supersede it. The removal is made again beside it.
func TestRemovalIsNotSuperseded(t *testing.T) {
	w := newSetup(t)
	w.o.Supersede = true
	w.repo.merge(w.publish(t, w.push(t, "1.1.0")).Branch)
	w.forge.all = nil
	r := w.edit(t, Edit{Remove: []string{"op.v1.0.0"}, AllowStranded: true})
	if r.Err != nil || r.Result != Created {
		t.Fatalf("%+v", r)
	}
	next := w.publish(t, w.push(t, "1.2.0"))
	if next.Result != Created || len(next.Superseded) > 0 || next.Branch == r.Branch {
		t.Errorf("%+v", next)
	}
	w.repo.merge(next.Branch)
	w.forge.all = w.forge.all[:1]
	all, err := Refresh(t.Context(), w.o)
	if err != nil || len(all) != 1 || all[0].Branch != r.Branch || !strings.Contains(w.template(r.Branch), "op.v1.2.0") || strings.Contains(w.template(r.Branch), "v1.0.0") {
		t.Errorf("%+v %v\n%s", all, err, w.template(r.Branch))
	}
	// Once the base lacks the bundle, for whatever reason, the pull request is closed.
	w.repo.files["catalog-templates/v4.20.yaml"].Data = []byte(w.template(r.Branch))
	if all, err := Refresh(t.Context(), w.o); err != nil || all[0].Result != Closed || w.forge.closed[1] != "No template has this any more." {
		t.Errorf("%+v %v %v", all, err, w.forge.closed)
	}
}

// Names become part of branches and texts, so only valid ones are accepted.
func TestEditsAreHeldToNames(t *testing.T) {
	w := newSetup(t)
	for _, e := range []Edit{
		{Remove: []string{"op v1"}}, {RemoveChannels: []string{"../x"}}, {Deprecate: []string{"@all"}, Deprecation: "x"}, {Deprecate: []string{"op.v1.0.0"}},
		{Remove: []string{"op.v1.0.0"}, Deprecation: "x"},
	} {
		if r := w.edit(t, e); !failure.Is(r.Err, failure.Usage) {
			t.Errorf("%+v: %v", e, r.Err)
		}
	}
	for _, name := range []string{"op..v1", "op.lock", "op.", strings.Repeat("x", 200)} {
		e := edition{Request{Edit: Edit{Package: "op", Remove: []string{name}}}}
		branch, err := e.branch(Texts{EditBranches: "graft"})
		if err != nil || len(branch) > 64 || strings.Contains(branch, "..") || strings.HasSuffix(branch, ".lock") {
			t.Errorf("%s: %q %v", name, branch, err)
		}
	}
	// The message for users is not markup in the pull request.
	d := deprecation{edition{Request{Edit: Edit{Package: "op", Deprecation: "fixes #1 <b> @all"}}}}
	var b strings.Builder
	d.describe(&b)
	if text := b.String(); strings.Contains(text, "#1") || strings.Contains(text, "<b>") || strings.Contains(text, "@all") {
		t.Errorf("%s", text)
	}
}
