package github_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/forge"
	"github.com/olmgraft/graft/internal/forge/github"
	"github.com/olmgraft/graft/internal/testkit/fakegithub"
)

func TestEnsure(t *testing.T) {
	h := start(t, fakegithub.Repository{
		Teams: []string{"owners"}, Milestones: []string{"4.17", "4.18"}, AutoMerge: true,
	})
	h.AddUsers("ann", "bob")
	r := h.request()
	r.Labels, r.Reviewers, r.TeamReviewers = []string{"operator", "new"}, []string{"ann"}, []string{"acme/owners"}
	r.Assignees, r.Milestone, r.Draft, r.AutoMerge = []string{"bob"}, "4.18", true, "squash"

	got := h.ensure(r, forge.Created)
	if got.Number != 1 || got.URL != h.url+"/acme/catalog/pull/1" || len(got.Notes) != 0 {
		t.Errorf("%+v", got)
	}
	p := h.one()
	if p.Title != r.Title || !strings.HasPrefix(p.Body, "It adds **etcd**.\n\n<!-- graft: {") || p.Base != "main" || p.Head != r.Branch || p.Author != "graft-bot" || !p.Draft {
		t.Errorf("%+v", p)
	}
	if got := fmt.Sprintln(p.Labels, p.Reviewers, p.Teams, p.Assignees, p.Milestone, p.AutoMerge); got != "[operator new] [ann] [owners] [bob] 4.18 squash\n" {
		t.Errorf("%+v", p)
	}
	if m, ok := forge.ParseMarker(p.Body); !ok || m.Key != r.Key || string(m.Request) != `["quay.io/a/etcd@sha256:12"]` {
		t.Errorf("marker %+v", m)
	}

	// The second time changes nothing, with one request.
	before := h.Count("")
	h.ensure(r, forge.Unchanged)
	if n := h.Count("") - before; n != 1 {
		t.Errorf("%d requests to change nothing", n)
	}

	r.Body = "It adds etcd 0.9.4."
	h.ensure(r, forge.Updated)
	if p := h.one(); !strings.HasPrefix(p.Body, r.Body) || h.Count(updatePull) != 1 || h.Count(addLabels) != 1 {
		t.Errorf("%+v", p)
	}
	r.Title = "Add etcd v0.9.4"
	h.ensure(r, forge.Updated)
	if p := h.one(); p.Title != r.Title {
		t.Errorf("%+v", p)
	}
}

// A title that another person set stays, whatever title Graft would give.
func TestEnsureLeavesTheTitlesOfOthers(t *testing.T) {
	h := start(t, fakegithub.Repository{})
	r := h.request()
	h.ensure(r, forge.Created)
	h.title(1, "Catalog update [etcd] [v4.20]")
	h.ensure(r, forge.Unchanged)
	r.Title, r.Body = "Add etcd v0.9.5", "It adds more."
	h.ensure(r, forge.Updated)
	r.Body = "It adds even more."
	h.ensure(r, forge.Updated)
	if p := h.one(); p.Title != "Catalog update [etcd] [v4.20]" || !strings.HasPrefix(p.Body, r.Body) {
		t.Errorf("%+v", p)
	}
}

// Line ends changed by a browser make no difference.
func TestEnsureTakesEditedLineEnds(t *testing.T) {
	h := start(t, fakegithub.Repository{})
	r := h.request()
	h.ensure(r, forge.Created)
	if err := h.Edit("acme", "catalog", 1, func(body string) string { return strings.ReplaceAll(body, "\n", "\r\n") }); err != nil {
		t.Fatal(err)
	}
	h.ensure(r, forge.Unchanged)
}

func TestLabels(t *testing.T) {
	h := start(t, fakegithub.Repository{})
	r := h.request()
	r.Labels = []string{"one", "Two", "two", ""}
	h.ensure(r, forge.Created)
	people := func(labels ...string) {
		t.Helper()
		req := map[string][]string{"labels": labels}
		if err := h.post("repos/acme/catalog/issues/1/labels", req); err != nil {
			t.Fatal(err)
		}
	}
	people("theirs")
	r.Labels = []string{"ONE", "three"}
	h.ensure(r, forge.Updated)
	if got := fmt.Sprint(h.one().Labels); got != "[one theirs three]" {
		t.Errorf("labels %s: ours that is no longer asked for goes, theirs stays", got)
	}
	h.ensure(r, forge.Unchanged)

	// A label that people added stays, even if it is no longer requested.
	r.Labels = []string{"ONE", "three", "theirs"}
	h.ensure(r, forge.Unchanged)
	r.Labels = nil
	h.ensure(r, forge.Updated)
	if got := fmt.Sprint(h.one().Labels); got != "[theirs]" {
		t.Errorf("labels %s", got)
	}
	h.ensure(r, forge.Unchanged)

	// The last label is removed too.
	r.Branch, r.Key, r.Labels = "other", "other", []string{"only"}
	h.branch(r.Branch, "a: 5\n")
	h.ensure(r, forge.Created)
	r.Labels = nil
	h.ensure(r, forge.Updated)
	if got := fmt.Sprint(h.pulls()[1].Labels); got != "[]" {
		t.Errorf("labels %s", got)
	}
	r = h.request()

	r.Labels = []string{"good", strings.Repeat("x", 51), "fine"}
	h.notes(h.ensure(r, forge.Updated), "the label xxx")
	if got := fmt.Sprint(h.pulls()[0].Labels); got != "[theirs good fine]" {
		t.Errorf("labels %s after a refusal of another", got)
	}
}

func TestReviewers(t *testing.T) {
	h := start(t, fakegithub.Repository{Teams: []string{"owners"}})
	h.AddUsers("ann", "bob", "eve")
	r := h.request()
	r.Reviewers, r.TeamReviewers = []string{"ann", "nobody", "graft-bot"}, []string{"owners", "none"}
	h.notes(h.ensure(r, forge.Created), "nobody was not asked", "the team none was not asked")
	if p := h.one(); fmt.Sprint(p.Reviewers, p.Teams) != "[ann] [owners]" {
		t.Errorf("%v %v", p.Reviewers, p.Teams)
	}
	r.Reviewers, r.TeamReviewers = []string{"Ann"}, []string{"acme/owners"}
	h.ensure(r, forge.Unchanged)

	// A person who has reviewed is not asked again; a new reviewer is.
	if err := h.Review("acme", "catalog", 1, "ann"); err != nil {
		t.Fatal(err)
	}
	h.ensure(r, forge.Unchanged)
	r.Reviewers = append(r.Reviewers, "bob")
	h.ensure(r, forge.Updated)
	if p := h.one(); fmt.Sprint(p.Reviewers) != "[bob]" {
		t.Errorf("%v", p.Reviewers)
	}
}

func TestAssigneesAndMilestone(t *testing.T) {
	h := start(t, fakegithub.Repository{Milestones: []string{"4.17", "next"}})
	h.AddUsers("ann")
	r := h.request()
	r.Assignees, r.Milestone = []string{"nobody", "ann"}, "gone"
	h.notes(h.ensure(r, forge.Created), "nobody was not assigned", "milestone gone was not set: there is no open milestone")
	r.Assignees, r.Milestone = []string{"ANN"}, "2"
	h.ensure(r, forge.Updated)
	if p := h.one(); p.Milestone != "next" || !slices.Equal(p.Assignees, []string{"ann"}) {
		t.Errorf("%+v", p)
	}
	h.ensure(r, forge.Unchanged)
	r.Milestone = "next"
	h.ensure(r, forge.Unchanged)
	r.Milestone = "9"
	h.notes(h.ensure(r, forge.Unchanged), "milestone 9 was not set: Validation Failed")
}

func TestAutoMerge(t *testing.T) {
	h := start(t, fakegithub.Repository{})
	r := h.request()
	r.AutoMerge = "rebase"
	h.notes(h.ensure(r, forge.Created), "auto-merge was not switched on: Auto merge is not allowed for this repository")

	h = start(t, fakegithub.Repository{AutoMerge: true})
	r = h.request()
	r.AutoMerge = "rebase"
	h.ensure(r, forge.Created)
	if h.one().AutoMerge != "rebase" {
		t.Errorf("%+v", h.one())
	}
	h.ensure(r, forge.Unchanged)
	if err := h.DisableAutoMerge("acme", "catalog", 1); err != nil {
		t.Fatal(err)
	}
	h.notes(h.ensure(r, forge.Unchanged), "somebody switched it off")
	if h.one().AutoMerge != "" {
		t.Error("auto-merge was turned on again after a person turned it off")
	}
}

// The reason for a merge by hand takes precedence over the settings.
func TestByHand(t *testing.T) {
	h := start(t, fakegithub.Repository{AutoMerge: true})
	r := h.request()
	r.AutoMerge, r.ByHand = "squash", "operators/op/ci.yaml says merge: false"
	h.notes(h.ensure(r, forge.Created), "auto-merge was not switched on: operators/op/ci.yaml says merge: false")
	if h.one().AutoMerge != "" {
		t.Errorf("%+v", h.one())
	}
}

// A title counts only from a branch of the repository itself with the bot's prefix.
func TestTitled(t *testing.T) {
	h := start(t, fakegithub.Repository{})
	r := h.request()
	r.Title, r.Key = "Auto FBC release op 1.1.0", ""
	h.ensure(r, forge.Created)
	for _, of := range []struct {
		title, prefix string
		want          int
	}{{r.Title, "graft/etcd/", 1}, {r.Title, "add-op-1.1.0-to-fbc-", 0}, {"Auto FBC release op 1.1", "graft/etcd/", 0}} {
		open, err := h.of(catalog).Titled(t.Context(), of.title, of.prefix)
		if err != nil || len(open) != of.want {
			t.Errorf("%+v: %+v %v", of, open, err)
		}
	}
}

// GitHub refuses some settings. The pull request is created without them.
func TestCreateWithoutWhatIsRefused(t *testing.T) {
	h := start(t, fakegithub.Repository{NoDrafts: true, Writers: []string{"ann"}})
	h.AddUsers("graft-bot")
	fork, err := h.of(catalog).UseFork(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Commit(fork.Owner, fork.Name, "b", "graft-bot", "x", map[string][]byte{"new": {1}}); err != nil {
		t.Fatal(err)
	}
	r := h.request()
	r.Branch, r.fork, r.Draft, r.MaintainerCanModify = "b", true, true, true
	h.notes(h.ensure(r, forge.Created), "no draft")
	if p := h.one(); p.Draft || !p.CanModify || p.HeadOwner != "graft-bot" {
		t.Errorf("%+v", p)
	}
	h.ensure(r, forge.Unchanged)

	// A fork that belongs to another account.
	f, err := h.forge(h.client, r)
	if err != nil {
		t.Fatal(err)
	}
	h.AddToken(token, fakegithub.Identity{Login: "robot"})
	r.Branch, r.Key = "c", "other"
	if _, err := h.Commit(fork.Owner, fork.Name, "c", "graft-bot", "x", map[string][]byte{"newer": {1}}); err != nil {
		t.Fatal(err)
	}
	got, err := f.Propose(context.Background(), r.Change)
	if err != nil || got.Operation != forge.Created {
		t.Errorf("%+v %v", got, err)
	}
	h.notes(got, "no draft", "maintainers cannot be allowed")
}

func TestLongTexts(t *testing.T) {
	h := start(t, fakegithub.Repository{})
	r := h.request()
	r.Title = strings.Repeat("é", 300)
	r.Body = strings.Repeat("a line of text\n", 10000)
	h.ensure(r, forge.Created)
	p := h.one()
	if n := len([]rune(p.Title)); n != 256 {
		t.Errorf("title of %d", n)
	}
	if len(p.Body) > github.MaxBody || !strings.Contains(p.Body, "\nThe rest was cut; the summary of the workflow run has it.\n\n<!-- graft: ") {
		t.Errorf("body of %d bytes: ...%s", len(p.Body), p.Body[len(p.Body)-200:])
	}
	h.ensure(r, forge.Unchanged)

	r.Key = strings.Repeat("k", 20000)
	_, err := h.propose(context.Background(), h.client, r)
	wantFailure(t, err, failure.Usage, "too long")
}

func TestEnterpriseServer(t *testing.T) {
	h := start(t, fakegithub.Repository{AutoMerge: true})
	h.client = h.newClient(github.Options{APIURL: h.url + "/api/v3/", ServerURL: h.url})
	r := h.request()
	r.Labels, r.AutoMerge = []string{"operator"}, "merge"
	got := h.ensure(r, forge.Created)
	if got.URL != h.url+"/acme/catalog/pull/1" || h.one().AutoMerge != "merge" || len(got.Notes) != 0 {
		t.Errorf("%+v %+v", got, h.one())
	}
	if h.Count("POST /graphql") != 1 {
		t.Error("GraphQL was not asked")
	}
}

func TestRequestIsChecked(t *testing.T) {
	h := start(t, fakegithub.Repository{})
	for _, spoil := range []func(*request){
		func(r *request) { r.repo.Owner = "" },
		func(r *request) { r.repo.Owner = ".." },
		func(r *request) { r.repo.Name = "catalog/../../user" },
		func(r *request) { r.Branch = "" },
		func(r *request) { r.base = "" },
		func(r *request) { r.Title = " " },
	} {
		r := h.request()
		spoil(&r)
		_, err := h.propose(context.Background(), h.client, r)
		wantFailure(t, err, failure.Usage)
	}
	if h.Count("") != 0 {
		t.Error("an invalid request was sent")
	}
	for _, url := range []string{"ftp://x", "://", "api.github.com", "https://user:secret@host/api/v3"} {
		_, err := github.New(github.Options{APIURL: url})
		wantFailure(t, err, failure.Usage)
	}
}

func TestTip(t *testing.T) {
	h := start(t, fakegithub.Repository{Private: true, DefaultBranch: "trunk"})
	for branch, want := range map[string]string{"trunk": h.Branch("acme", "catalog", "trunk"), "none": ""} {
		f, err := h.forge(h.client, request{repo: catalog, base: branch})
		if err != nil {
			t.Fatal(err)
		}
		if sha, err := f.Tip(context.Background()); sha != want || err != nil || branch == "trunk" && sha == "" {
			t.Errorf("%s: %q %v", branch, sha, err)
		}
	}
	for _, app := range []bool{false, true} {
		h.AddToken(token, fakegithub.Identity{Login: "bot", App: app})
		if signs, err := h.of(catalog).Signs(context.Background()); signs != app || err != nil {
			t.Errorf("%v %v", signs, err)
		}
	}
}
