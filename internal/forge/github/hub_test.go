package github_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/forge"
	"github.com/olmgraft/graft/internal/forge/github"
	"github.com/olmgraft/graft/internal/testkit/fakegithub"
	"github.com/olmgraft/graft/internal/testkit/fakegithub/api"
)

const (
	listPulls  = "GET /repos/{owner}/{repo}/pulls"
	createPull = "POST /repos/{owner}/{repo}/pulls"
	updatePull = "PATCH /repos/{owner}/{repo}/pulls/{number}"
	addLabels  = "POST /repos/{owner}/{repo}/issues/{number}/labels"
	reviewers  = "POST /repos/{owner}/{repo}/pulls/{number}/requested_reviewers"
	token      = "ghs_0123456789abcdef"
)

var catalog = forge.Repository{Owner: "acme", Name: "catalog"}

// clock advances only in Sleep.
type clock struct {
	mu    sync.Mutex
	now   time.Time
	slept []time.Duration
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	c.slept = append(c.slept, d)
	return ctx.Err()
}

func (c *clock) total() (sum time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range c.slept {
		sum += d
	}
	return sum
}

// hub is a forge with the repository acme/catalog and a client of it. It validates every request and answer.
type hub struct {
	*fakegithub.Server
	*clock
	t      *testing.T
	url    string
	client *github.Client

	mu     sync.Mutex
	script func(fakegithub.Request) *fakegithub.Fault
}

func start(t *testing.T, r fakegithub.Repository) *hub {
	t.Helper()
	h := &hub{t: t, clock: &clock{now: time.Now().Truncate(time.Second)}}
	h.Server = fakegithub.New(fakegithub.Options{
		Observe: api.Observer(t),
		Now:     h.Now,
		Script: func(req fakegithub.Request) *fakegithub.Fault {
			h.mu.Lock()
			defer h.mu.Unlock()
			if h.script == nil {
				return nil
			}
			return h.script(req)
		},
	})
	r.Owner, r.Name = "acme", "catalog"
	if r.Files == nil {
		r.Files = map[string]string{"template.yaml": "a: 1\n", "docs/README.md": "read\n"}
	}
	if err := h.AddRepository(r); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h.Server)
	t.Cleanup(server.Close)
	h.url = server.URL
	h.client = h.newClient(github.Options{})
	return h
}

func (h *hub) newClient(o github.Options) *github.Client {
	h.t.Helper()
	if o.APIURL == "" {
		o.APIURL = h.url
	}
	if o.Token == "" {
		o.Token = token
	}
	o.Retry.Now, o.Retry.Sleep = h.Now, h.Sleep
	c, err := github.New(o)
	if err != nil {
		h.t.Fatal(err)
	}
	return c
}

// faults makes the next requests of a route fail in turn.
func (h *hub) faults(route string, list ...*fakegithub.Fault) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.script = func(r fakegithub.Request) *fakegithub.Fault {
		if (route == "" || r.Route == route) && len(list) > 0 {
			var f *fakegithub.Fault
			f, list = list[0], list[1:]
			return f
		}
		return nil
	}
}

func (h *hub) branch(name, content string) string {
	h.t.Helper()
	sha, err := h.Commit("acme", "catalog", name, "ann", "Change it", map[string][]byte{"template.yaml": []byte(content)})
	if err != nil {
		h.t.Fatal(err)
	}
	return sha
}

// request is a change with its settings.
type request struct {
	forge.Change
	forge.Settings
	repo forge.Repository
	base string
	fork bool // of the token's account
}

// request returns one for an existing branch.
func (h *hub) request() request {
	h.t.Helper()
	const head = "graft/etcd/0.9.4"
	if h.Branch("acme", "catalog", head) == "" {
		h.branch(head, "a: 2\n")
	}
	return request{repo: catalog, base: "main", Change: forge.Change{
		Branch: head, Title: "Add etcd 0.9.4", Body: "It adds **etcd**.\n",
		Key: "etcd/0.9.4", Requests: []string{"quay.io/a/etcd@sha256:12"},
	}}
}

// forge returns the forge of a request.
func (h *hub) forge(c *github.Client, r request) (*github.Forge, error) {
	h.t.Helper()
	f, err := c.Forge(r.repo, r.base, r.Settings)
	if err == nil && r.fork {
		_, err = f.UseFork(context.Background(), "")
	}
	return f, err
}

// of returns an existing repository with its main branch.
func (h *hub) of(repo forge.Repository) *github.Forge {
	h.t.Helper()
	f, err := h.forge(h.client, request{repo: repo, base: "main"})
	if err != nil {
		h.t.Fatal(err)
	}
	return f
}

func (h *hub) propose(ctx context.Context, c *github.Client, r request) (forge.Result, error) {
	h.t.Helper()
	f, err := h.forge(c, r)
	if err != nil {
		return forge.Result{}, err
	}
	return f.Propose(ctx, r.Change)
}

// ensure proposes and checks the operation.
func (h *hub) ensure(r request, want forge.Operation) forge.Result {
	h.t.Helper()
	got, err := h.propose(context.Background(), h.client, r)
	if err != nil {
		h.t.Fatal(err)
	}
	if got.Operation != want {
		h.t.Fatalf("%s, want %s (%+v)", got.Operation, want, got)
	}
	return got
}

func (h *hub) pulls() []fakegithub.PullRequest { return h.PullRequests("acme", "catalog") }

// one returns the only open pull request.
func (h *hub) one() fakegithub.PullRequest {
	h.t.Helper()
	open := slices.DeleteFunc(h.pulls(), func(p fakegithub.PullRequest) bool { return p.State != "open" })
	if len(open) != 1 {
		h.t.Fatalf("%d pull requests are open", len(open))
	}
	return open[0]
}

// notes checks the notes: each contains its text.
func (h *hub) notes(got forge.Result, want ...string) {
	h.t.Helper()
	if len(got.Notes) != len(want) {
		h.t.Errorf("notes %q, want %d", got.Notes, len(want))
		return
	}
	for i, text := range want {
		if !strings.Contains(got.Notes[i], text) {
			h.t.Errorf("note %q, want it to contain %q", got.Notes[i], text)
		}
	}
}

// wantFailure checks an error's code and parts of its message and remedy.
func wantFailure(t *testing.T, err error, code failure.Code, texts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no failure, want %s", code.Class())
		return
	}
	f := failure.Of(err)
	if f.Code != code {
		t.Errorf("%s, want %s: %v", f.Class, code.Class(), err)
	}
	for _, text := range texts {
		if !strings.Contains(f.Message+" | "+f.Remedy, text) {
			t.Errorf("%q | %q lacks %q", f.Message, f.Remedy, text)
		}
	}
	if strings.Contains(f.Message+f.Remedy, token) || strings.Contains(f.Message, "\n") {
		t.Errorf("the message holds the token or a line break: %q", f.Message)
	}
}

// post sends a request as another client.
func (h *hub) post(path string, body any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequest(http.MethodPost, h.url+"/"+path, bytes.NewReader(raw))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		return fmt.Errorf("%s: %s", path, resp.Status)
	}
	return nil
}

// title changes the title of a pull request, as a person does.
func (h *hub) title(number int, title string) {
	h.t.Helper()
	path := fmt.Sprintf("%s/repos/acme/catalog/pulls/%d", h.url, number)
	req, err := http.NewRequest(http.MethodPatch, path, strings.NewReader(`{"title":`+strconv.Quote(title)+`}`))
	if err != nil {
		h.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil || resp.Body.Close() != nil || resp.StatusCode != http.StatusOK {
		h.t.Fatal(resp, err)
	}
}

// get returns the answer to another client's request.
func (h *hub) get(path string) string {
	h.t.Helper()
	req, err := http.NewRequest(http.MethodGet, h.url+"/"+path, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		h.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return string(raw)
}
