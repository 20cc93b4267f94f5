package github_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/forge"
	"github.com/olmgraft/graft/internal/forge/github"
	"github.com/olmgraft/graft/internal/testkit/fakegithub"
)

const (
	makeFork = "POST /repos/{owner}/{repo}/forks"
	getRef   = "GET /repos/{owner}/{repo}/git/ref/{ref...}"
)

func (h *hub) useFork(c *github.Client, owner string) (forge.Repository, error) {
	h.t.Helper()
	f, err := h.forge(c, request{repo: catalog, base: "main"})
	if err != nil {
		h.t.Fatal(err)
	}
	return f.UseFork(context.Background(), owner)
}

func TestUseFork(t *testing.T) {
	h := start(t, fakegithub.Repository{Writers: []string{"ann"}})
	h.AddUsers("graft-bot", "robots", "zoe")

	// The token's own account, by name.
	h.AddToken("zoes-token", fakegithub.Identity{Login: "zoe"})
	h.AddToken(token, fakegithub.Identity{Login: "graft-bot"})
	zoe := h.newClient(github.Options{Token: "zoes-token"})
	if fork, err := h.useFork(zoe, "Zoe"); err != nil || fork.Owner != "zoe" {
		t.Errorf("%+v %v", fork, err)
	}

	// The git objects arrive some time after the fork.
	h.faults(getRef, answer(409, "Git Repository is empty."), answer(404, "Not Found"))
	fork, err := h.useFork(h.client, "")
	if err != nil || fork.Owner != "graft-bot" || fork.Name != "catalog" || len(h.slept) != 2 {
		t.Errorf("%+v %v, waited %v", fork, err, h.slept)
	}
	again, err := h.useFork(h.client, "graft-bot")
	if err != nil || again != fork || h.Count(makeFork) != 2 {
		t.Errorf("%+v %v", again, err)
	}

	// Another repository has the name. GitHub gives the fork another one, and finds it again.
	if err := h.AddRepository(fakegithub.Repository{Owner: "robots", Name: "catalog", Files: map[string]string{"x": "y"}}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		other, err := h.useFork(h.client, "robots")
		if err != nil || other.Name != "catalog-1" {
			t.Errorf("%+v %v", other, err)
		}
	}

	_, err = h.useFork(h.client, "acme")
	wantFailure(t, err, failure.Usage)
	_, err = h.useFork(h.client, "nobody")
	wantFailure(t, err, failure.GitFailed, "forking acme/catalog")
	h.AddToken(token, fakegithub.Identity{Login: "github-actions[bot]", App: true, Permissions: map[string]string{"metadata": "read"}})
	_, err = h.useFork(h.client, "")
	wantFailure(t, err, failure.ForgeAuth, "Name the owner of the fork")
	_, err = h.useFork(h.client, "ann")
	wantFailure(t, err, failure.ForgeAuth, "administration: write and contents: read")
}

func TestForkThatStaysEmpty(t *testing.T) {
	h := start(t, fakegithub.Repository{})
	h.AddUsers("graft-bot")
	h.script = func(r fakegithub.Request) *fakegithub.Fault {
		if r.Route == getRef {
			return answer(409, "Git Repository is empty.")
		}
		return nil
	}
	_, err := h.useFork(h.client, "")
	wantFailure(t, err, failure.ForgeUnavailable, "still empty")
}

func TestSyncFork(t *testing.T) {
	h := start(t, fakegithub.Repository{})
	h.AddUsers("graft-bot")
	if _, err := h.useFork(h.client, ""); err != nil {
		t.Fatal(err)
	}
	commit := func(owner, content string) {
		t.Helper()
		if _, err := h.Commit(owner, "catalog", "main", owner, "x", map[string][]byte{"template.yaml": []byte(content)}); err != nil {
			t.Fatal(err)
		}
	}
	commit("acme", "a: 2\n")
	for range 2 {
		if _, err := h.useFork(h.client, ""); err != nil {
			t.Fatal(err)
		}
	}
	if h.Branch("acme", "catalog", "main") != h.Branch("graft-bot", "catalog", "main") {
		t.Error("the fork is behind")
	}
	commit("acme", "a: 3\n")
	commit("graft-bot", "a: 4\n")
	_, err := h.useFork(h.client, "")
	wantFailure(t, err, failure.GitFailed, "There are merge conflicts")
	_, err = h.forge(h.client, request{repo: catalog, base: "none", fork: true})
	wantFailure(t, err, failure.GitFailed, "the branch none of the fork graft-bot/catalog")
}

func TestDispatch(t *testing.T) {
	ctx := context.Background()
	const route = "POST /repos/{owner}/{repo}/dispatches"
	h := start(t, fakegithub.Repository{})
	h.faults(route, fakegithub.ServerError(502, false))
	payload := json.RawMessage(`{"image": "quay.io/a/b@sha256:12"}`)
	if err := h.client.Dispatch(ctx, catalog, "operator-published", payload); err != nil {
		t.Fatal(err)
	}
	if err := h.client.Dispatch(ctx, catalog, "empty", nil); err != nil {
		t.Fatal(err)
	}
	d := h.Dispatches()
	if len(d) != 2 || d[0].EventType != "operator-published" || string(d[0].Payload) != `{"image":"quay.io/a/b@sha256:12"}` || d[1].Payload != nil {
		t.Errorf("%+v", d)
	}

	before := h.Count("")
	many := `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"k":1}`
	for _, tt := range []struct{ event, payload, text string }{
		{"", "{}", "1 to 100 characters"},
		{strings.Repeat("x", 101), "{}", "1 to 100 characters"},
		{"x", "[]", "not a JSON object"},
		{"x", "{", "not a JSON object"},
		{"x", many, "11 properties"},
		{"x", `{"a": "` + strings.Repeat("x", 65536) + `"}`, "bytes"},
	} {
		wantFailure(t, h.client.Dispatch(ctx, catalog, tt.event, json.RawMessage(tt.payload)), failure.Usage, tt.text)
	}
	if h.Count("") != before {
		t.Error("a payload beyond GitHub's limits was sent")
	}
	wantFailure(t, h.client.Dispatch(ctx, forge.Repository{Owner: "acme", Name: "none"}, "x", nil), failure.ForgeAuth, "contents: write")
}
