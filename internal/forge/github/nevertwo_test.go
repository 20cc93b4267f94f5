package github_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/forge"
	"github.com/olmgraft/graft/internal/forge/github"
	"github.com/olmgraft/graft/internal/testkit/fakegithub"
)

func TestNeverTwo(t *testing.T) {
	t.Run("renamed branch", func(t *testing.T) {
		h := start(t, fakegithub.Repository{})
		r := h.request()
		h.ensure(r, forge.Created)
		if err := h.RenameBranch("acme", "catalog", r.Branch, "better-name"); err != nil {
			t.Fatal(err)
		}
		h.branch(r.Branch, "a: 3\n")
		r.Title = "Again"
		got := h.ensure(r, forge.Updated)
		if p := h.one(); p.Head != "better-name" || p.Title != "Again" {
			t.Errorf("%+v %+v", got, p)
		}
		h.notes(got, "made from the branch better-name")
		found, err := h.of(catalog).Open(context.Background(), r.Key)
		if err != nil || len(found) != 1 || found[0].Head != "better-name" || found[0].Marker.Key != r.Key {
			t.Errorf("%+v %v", found, err)
		}
	})
	t.Run("other base", func(t *testing.T) {
		h := start(t, fakegithub.Repository{})
		h.branch("release", "a: 9\n")
		r := h.request()
		h.ensure(r, forge.Created)
		r.base = "release"
		h.ensure(r, forge.Updated)
		if h.one().Base != "release" {
			t.Errorf("%+v", h.one())
		}
	})
	t.Run("closed is history", func(t *testing.T) {
		h := start(t, fakegithub.Repository{})
		r := h.request()
		first := h.ensure(r, forge.Created)
		if err := h.of(catalog).Close(context.Background(), first.Number, forge.Closing{}, func() error { return nil }); err != nil {
			t.Fatal(err)
		}
		if got := h.ensure(r, forge.Created); got.Number != 2 {
			t.Errorf("%+v", got)
		}
	})
	t.Run("body rewritten by a person", func(t *testing.T) {
		h := start(t, fakegithub.Repository{})
		r := h.request()
		h.ensure(r, forge.Created)
		if err := h.Edit("acme", "catalog", 1, func(string) string { return "mine" }); err != nil {
			t.Fatal(err)
		}
		h.ensure(r, forge.Updated)
		if m, ok := forge.ParseMarker(h.one().Body); !ok || m.Key != r.Key {
			t.Errorf("%q", h.one().Body)
		}
	})
	t.Run("answer lost", func(t *testing.T) {
		for name, fault := range map[string]*fakegithub.Fault{
			"502": fakegithub.ServerError(502, true), "cut": {Cut: true, Acted: true},
		} {
			h := start(t, fakegithub.Repository{})
			h.AddUsers("ann")
			h.faults(createPull, fault)
			r := h.request()
			r.Reviewers = []string{"ann"}
			h.ensure(r, forge.Created)
			if p := h.one(); fmt.Sprint(p.Reviewers) != "[ann]" {
				t.Errorf("%s: %+v", name, p)
			}
			h.ensure(r, forge.Unchanged)
		}
	})
}

// Anyone can write a body: a stranger's pull request with Graft's marker does not count.
func TestMarkerOfAStranger(t *testing.T) {
	h := start(t, fakegithub.Repository{Writers: []string{"graft-bot"}})
	h.AddUsers("graft-bot", "eve")
	h.AddToken(token, fakegithub.Identity{Login: "graft-bot"})
	h.AddToken("eves-token", fakegithub.Identity{Login: "eve"})
	eve := h.newClient(github.Options{Token: "eves-token"})
	r := h.request()
	hostile := r
	hostile.Branch, hostile.fork = "evil", true
	theirs, err := h.forge(eve, hostile)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Commit("eve", "catalog", "evil", "eve", "x", map[string][]byte{"template.yaml": []byte("evil\n")}); err != nil {
		t.Fatal(err)
	}
	if _, err := theirs.Propose(context.Background(), hostile.Change); err != nil {
		t.Fatal(err)
	}

	h.ensure(r, forge.Created)
	open, err := h.of(catalog).Open(context.Background(), "etcd/")
	if err != nil || len(open) != 1 || open[0].Number != 2 {
		t.Errorf("%+v %v", open, err)
	}
	all, err := theirs.Open(context.Background(), "")
	if err != nil || len(all) != 1 || all[0].Number != 1 {
		t.Errorf("%+v %v", all, err)
	}
	none, err := theirs.Open(context.Background(), "prometheus/")
	if err != nil || len(none) != 0 {
		t.Errorf("%+v %v", none, err)
	}
}

// Twenty runs, each with its own client, propose one bundle at once.
func TestConcurrentEnsure(t *testing.T) {
	h := start(t, fakegithub.Repository{})
	h.AddUsers("ann")
	r := h.request()
	r.Labels, r.Reviewers = []string{"operator"}, []string{"ann"}
	results := make([]forge.Result, 20)
	var wg sync.WaitGroup
	for i := range results {
		wg.Go(func() {
			var err error
			if results[i], err = h.propose(context.Background(), h.newClient(github.Options{}), r); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	created := 0
	for _, got := range results {
		if got.Number != 1 {
			t.Errorf("%+v", got)
		}
		if got.Operation == forge.Created {
			created++
		}
	}
	if p := h.one(); created != 1 || len(h.pulls()) != 1 || fmt.Sprint(p.Labels, p.Reviewers) != "[operator] [ann]" {
		t.Errorf("%d created; %+v", created, h.pulls())
	}
}

// The pull request is found among many, over several pages.
func TestFindByMarkerOverPages(t *testing.T) {
	h := start(t, fakegithub.Repository{})
	for i := range 130 {
		h.branch(fmt.Sprint("b", i), fmt.Sprint("n: ", i, "\n"))
		body := map[string]any{"title": "T", "head": fmt.Sprint("b", i), "base": "main", "body": "text"}
		if i == 120 {
			marker, err := forge.FormatMarker(forge.Marker{Key: "etcd/0.9.4"})
			if err != nil {
				t.Fatal(err)
			}
			body["body"] = marker
		}
		if err := h.post("repos/acme/catalog/pulls", body); err != nil {
			t.Fatal(err)
		}
	}
	before := h.Count(listPulls)
	got := h.ensure(h.request(), forge.Updated)
	if n := h.Count(listPulls) - before; got.Number != 121 || n != 3 {
		t.Errorf("#%d after %d lists", got.Number, n)
	}
}

func TestClose(t *testing.T) {
	ctx := context.Background()
	const route = "POST /repos/{owner}/{repo}/issues/{number}/comments"
	for name, faults := range map[string][]*fakegithub.Fault{
		"":              nil,
		"lost":          {fakegithub.ServerError(502, true)},
		"cut":           {{Cut: true, Acted: true}},
		"not done":      {fakegithub.ServerError(502, false)},
		"limited first": {fakegithub.SecondaryLimit(403, 0), fakegithub.ServerError(500, true)},
	} {
		h := start(t, fakegithub.Repository{})
		n := h.ensure(h.request(), forge.Created).Number
		h.faults(route, faults...)
		err := h.of(catalog).Close(ctx, n, forge.Closing{Why: "Superseded by #2."}, func() error { return nil })
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if p := h.pulls()[0]; p.State != "closed" || !slices.Equal(p.Comments, []string{"Superseded by #2."}) {
			t.Errorf("%s: %+v", name, p)
		}
		if err = h.of(catalog).Close(ctx, n, forge.Closing{Why: "Superseded by #2."}, func() error { return nil }); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(h.pulls()[0].Comments) != 1 {
			t.Errorf("%s: %q", name, h.pulls()[0].Comments)
		}
	}
	// GitHub closes a pull request whose branch is deleted. The marker must have the closing by then, because the
	// next request may fail, and a closed pull request is not read again.
	h := start(t, fakegithub.Repository{})
	n := h.ensure(h.request(), forge.Created).Number
	err := h.of(catalog).Close(ctx, n, forge.Closing{Within: 2}, func() error {
		h.faults("PATCH /repos/{owner}/{repo}/pulls/{number}", &fakegithub.Fault{Status: 403})
		return h.SetState("acme", "catalog", n, "closed")
	})
	wantFailure(t, err, failure.ForgeAuth, "acme/catalog#1")
	if past, err := h.of(catalog).Numbered(ctx, n); err != nil || past.Rejected || past.Marker.Within != 2 {
		t.Errorf("%+v, %v", past, err)
	}
	h = start(t, fakegithub.Repository{})
	err = h.of(catalog).Close(ctx, 7, forge.Closing{Why: "x"}, func() error { return nil })
	wantFailure(t, err, failure.ForgeAuth, "acme/catalog#7")
}

// A branch has ended if a closed or merged pull request ended at its commit and no open one uses it.
func TestEnded(t *testing.T) {
	h := start(t, fakegithub.Repository{})
	r := h.request()
	ended := func() bool {
		t.Helper()
		got, err := h.of(catalog).Ended(context.Background(), r.Branch, h.Branch("acme", "catalog", r.Branch))
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if ended() {
		t.Error("a branch without a proposal has ended")
	}
	made := h.ensure(r, forge.Created)
	if ended() {
		t.Error("it is open")
	}
	if err := h.of(catalog).Close(context.Background(), made.Number, forge.Closing{Why: "no"}, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	if !ended() {
		t.Error("the branch of a closed pull request has not ended")
	}
	h.branch(r.Branch, "a: 9\n")
	if ended() {
		t.Error("a branch that moved since has ended")
	}
}
