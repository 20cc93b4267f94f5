package fakegithub_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/testkit/fakegithub"
	"github.com/olmgraft/graft/internal/testkit/fakegithub/api"
)

// hub is a forge with the repository acme/catalog, and a client of the forge.
type hub struct {
	*fakegithub.Server
	t     *testing.T
	url   string
	token string
}

func start(t *testing.T, o fakegithub.Options, r fakegithub.Repository) *hub {
	t.Helper()
	if o.Observe == nil {
		o.Observe = api.Observer(t)
	}
	s := fakegithub.New(o)
	r.Owner, r.Name = "acme", "catalog"
	if r.Files == nil {
		r.Files = map[string]string{"template.yaml": "a: 1\nb: 2\nc: 3\nd: 4\n", "docs/README.md": "read\n"}
	}
	if err := s.AddRepository(r); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return &hub{Server: s, t: t, url: server.URL}
}

// ask sends a request below /repos/acme/catalog, or to a path with a leading slash, and returns the answer.
func (h *hub) ask(method, path string, body any, want int) map[string]any {
	h.t.Helper()
	status, raw := h.raw(method, path, body)
	if status != want {
		h.t.Fatalf("%s %s: %d, want %d: %s", method, path, status, want, raw)
	}
	var answer any
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &answer); err != nil {
			h.t.Fatal(err)
		}
	}
	switch a := answer.(type) {
	case map[string]any:
		return a
	default:
		return map[string]any{"list": a}
	}
}

func (h *hub) raw(method, path string, body any) (int, []byte) {
	h.t.Helper()
	if !strings.HasPrefix(path, "/") {
		path = strings.TrimSuffix("/repos/acme/catalog/"+path, "/")
	}
	var reader io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			h.t.Fatal(err)
		}
		reader = bytes.NewReader(raw)
	}
	req, err := http.NewRequest(method, h.url+path, reader)
	if err != nil {
		h.t.Fatal(err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if h.token != "" {
		req.Header.Set("Authorization", "Bearer "+h.token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return resp.StatusCode, raw
}

type m = map[string]any

// branch commits a template to a branch by hand.
func (h *hub) branch(name, content string) string {
	h.t.Helper()
	sha, err := h.Commit("acme", "catalog", name, "ann", "Change it", map[string][]byte{"template.yaml": []byte(content)})
	if err != nil {
		h.t.Fatal(err)
	}
	return sha
}

func (h *hub) file(branch, name string) string {
	h.t.Helper()
	content, err := h.File("acme", "catalog", branch, name)
	if err != nil {
		h.t.Fatal(err)
	}
	return string(content)
}

// Every operation answers as GitHub's description says. The observer checks that.
func TestOperationsAreAsDescribed(t *testing.T) {
	h := start(t, fakegithub.Options{}, fakegithub.Repository{
		Teams: []string{"catalog-owners"}, Milestones: []string{"4.17"}, Labels: []string{"bug"}, AutoMerge: true,
	})
	h.AddUsers("ann", "bob")
	head := h.branch("graft/etcd/0.9.4", "a: 1\nb: 2\nc: 3\nd: 5\n")
	base := h.Branch("acme", "catalog", "main")

	h.ask("GET", "/user", nil, 200)
	if got := h.ask("GET", "", nil, 200)["default_branch"]; got != "main" {
		t.Errorf("default branch %v", got)
	}
	h.ask("GET", "milestones", nil, 200)

	pr := h.ask("POST", "pulls", m{"title": "Add etcd 0.9.4", "head": "graft/etcd/0.9.4", "base": "main", "body": "text"}, 201)
	if pr["changed_files"] != 1.0 || pr["additions"] != 1.0 || pr["deletions"] != 1.0 || pr["commits"] != 1.0 {
		t.Errorf("changed %v files, +%v -%v, in %v commits", pr["changed_files"], pr["additions"], pr["deletions"], pr["commits"])
	}
	h.ask("GET", "pulls?state=open&head=acme:graft/etcd/0.9.4&base=main", nil, 200)
	h.ask("GET", "pulls/1", nil, 200)
	h.ask("GET", "pulls/2", nil, 404)
	h.ask("PATCH", "pulls/1", m{"title": "Add etcd v0.9.4", "body": "other"}, 200)
	h.ask("POST", "pulls/1/requested_reviewers", m{"reviewers": []string{"ann"}, "team_reviewers": []string{"catalog-owners"}}, 201)
	h.ask("PATCH", "issues/1", m{"milestone": 1}, 200)
	h.ask("PATCH", "issues/1", m{"milestone": 7}, 422)
	h.ask("POST", "issues/1/labels", m{"labels": []string{"bug", "new"}}, 200)
	h.ask("PUT", "issues/1/labels", m{"labels": []string{"operator"}}, 200)
	h.ask("GET", "issues/1/labels", nil, 200)
	h.ask("DELETE", "issues/1/labels", nil, 204)
	h.ask("POST", "issues/1/assignees", m{"assignees": []string{"bob", "nobody"}}, 201)
	h.ask("POST", "issues/1/comments", m{"body": "hello"}, 201)
	h.ask("GET", "issues/1/comments", nil, 200)
	h.ask("GET", "issues/1/events", nil, 200)

	h.ask("GET", "git/ref/heads/main", nil, 200)
	h.ask("POST", "git/refs", m{"ref": "refs/heads/x/y", "sha": base}, 201)
	h.ask("PATCH", "git/refs/heads/x/y", m{"sha": head}, 200)
	h.ask("GET", "git/commits/"+head, nil, 200)
	h.ask("GET", "git/trees/main", nil, 404)
	h.ask("GET", "git/trees/"+head, nil, 200)
	h.ask("POST", "dispatches", m{"event_type": "graft", "client_payload": m{"image": "quay.io/a/b:1"}}, 204)
	if d := h.Dispatches(); len(d) != 1 || d[0].EventType != "graft" || string(d[0].Payload) != `{"image":"quay.io/a/b:1"}` {
		t.Errorf("dispatched %+v", d)
	}
	if err := h.Merge("acme", "catalog", 1, "merge"); err != nil {
		t.Fatal(err)
	}
	h.ask("PATCH", "pulls/1", m{"state": "open"}, 422)
	h.ask("PATCH", "pulls/1", m{"base": "x"}, 422)
	h.ask("GET", "pulls/1", nil, 200)
	h.ask("GET", "pulls?state=closed", nil, 200)
}

func TestRefusalsAreGitHubs(t *testing.T) {
	h := start(t, fakegithub.Options{}, fakegithub.Repository{NoDrafts: true})
	h.branch("b", "x: 1\n")
	h.ask("POST", "git/refs", m{"ref": "refs/heads/same", "sha": h.Branch("acme", "catalog", "main")}, 201)
	ask := func(head, base string, more ...string) m {
		body := m{"title": "T", "head": head, "base": base}
		for _, key := range more {
			body[key] = true
		}
		return body
	}
	h.ask("POST", "pulls", ask("b", "main"), 201)
	for _, tt := range []struct {
		body m
		want string
	}{
		{ask("b", "main"), "A pull request already exists for acme:b."},
		{ask("same", "main"), "No commits between main and same"},
		{ask("b", "gone"), "PullRequest base invalid"},
		{ask("gone", "main"), "PullRequest head invalid"},
		{ask("b", "same", "draft"), "Draft pull requests are not supported in this repository."},
		{m{"title": "T", "head": "b", "base": "main", "body": strings.Repeat("é", 65537)}, "body is too long (maximum is 65536 characters)"},
	} {
		answer := h.ask("POST", "pulls", tt.body, 422)
		text := fmt.Sprint(answer["message"])
		if list, ok := answer["errors"].([]any); ok {
			e := list[0].(map[string]any)
			if text, _ = e["message"].(string); text == "" {
				text = fmt.Sprint(e["resource"], " ", e["field"], " ", e["code"])
			}
		}
		if text != tt.want {
			t.Errorf("%v: %q, want %q", tt.body["head"], text, tt.want)
		}
	}
	answer := h.ask("POST", "pulls/1/requested_reviewers", m{"reviewers": []string{"nobody"}}, 422)
	if !strings.Contains(fmt.Sprint(answer["message"]), "not a collaborator of the acme/catalog repository") {
		t.Errorf("%v", answer)
	}
}

func TestPermissions(t *testing.T) {
	h := start(t, fakegithub.Options{}, fakegithub.Repository{Writers: []string{"ann"}, Private: true, WorkflowsMayNotOpen: true})
	h.branch("b", "x: 1\n")
	h.AddToken("writer", fakegithub.Identity{Login: "ann"})
	h.AddToken("stranger", fakegithub.Identity{Login: "eve"})
	h.AddToken("reader", fakegithub.Identity{Login: "graft[bot]", App: true, Permissions: map[string]string{"contents": "read", "metadata": "read"}})
	h.AddToken("workflow", fakegithub.Identity{Login: "github-actions[bot]", App: true})
	open := m{"title": "T", "head": "b", "base": "main"}
	for _, tt := range []struct {
		token, method, path string
		body                any
		status              int
		message             string
	}{
		{"", "GET", "", nil, 401, "Bad credentials"},
		{"wrong", "GET", "", nil, 401, "Bad credentials"},
		{"stranger", "GET", "", nil, 404, "Not Found"},
		{"reader", "GET", "", nil, 200, ""},
		{"reader", "GET", "/user", nil, 403, "Resource not accessible by integration"},
		{"reader", "POST", "pulls", open, 403, "Resource not accessible by integration"},
		{"workflow", "POST", "pulls", open, 403, "GitHub Actions is not permitted to create or approve pull requests."},
		{"writer", "POST", "pulls", open, 201, ""},
	} {
		h.token = tt.token
		answer := h.ask(tt.method, tt.path, tt.body, tt.status)
		if tt.message != "" && answer["message"] != tt.message {
			t.Errorf("%s %s %s: %v", tt.token, tt.method, tt.path, answer["message"])
		}
	}
}

func TestFaults(t *testing.T) {
	var next atomic.Pointer[fakegithub.Fault]
	now := time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)
	h := start(t, fakegithub.Options{
		Now:    func() time.Time { return now },
		Script: func(fakegithub.Request) *fakegithub.Fault { return next.Load() },
	}, fakegithub.Repository{})
	h.branch("b", "x: 1\n")
	open := m{"title": "T", "head": "b", "base": "main"}
	const route = "POST /repos/{owner}/{repo}/pulls"

	next.Store(fakegithub.ServerError(502, false))
	h.ask("POST", "pulls", open, 502)
	if len(h.PullRequests("acme", "catalog")) != 0 {
		t.Error("a refused request was executed")
	}
	next.Store(fakegithub.PrimaryLimit(now.Add(time.Hour)))
	h.ask("POST", "pulls", open, 403)
	next.Store(fakegithub.SecondaryLimit(429, time.Minute))
	h.ask("POST", "pulls", open, 429)
	next.Store(fakegithub.ServerError(500, true))
	h.ask("POST", "pulls", open, 500)
	if len(h.PullRequests("acme", "catalog")) != 1 {
		t.Error("the request was not executed before the error")
	}
	next.Store(&fakegithub.Fault{Cut: true})
	if status, _ := h.raw("POST", "pulls", open); status != 0 {
		t.Errorf("status %d over a connection that was cut", status)
	}
	next.Store(nil)
	h.ask("POST", "pulls", open, 422)

	all := h.Requests()
	var got []int
	for _, r := range all {
		if r.Route == route {
			got = append(got, r.Status)
		}
	}
	if want := []int{502, 403, 429, 500, 0, 422}; fmt.Sprint(got) != fmt.Sprint(want) || h.Count(route) != len(want) {
		t.Errorf("recorded %v, want %v", got, want)
	}
	if !strings.Contains(string(all[0].Body), `"head":"b"`) || all[0].Nth != 1 || all[0].Login != "graft-bot" {
		t.Errorf("recorded %+v", all[0])
	}
}

// Lists come in pages, with a link to the next.
func TestPages(t *testing.T) {
	h := start(t, fakegithub.Options{}, fakegithub.Repository{})
	for i := range 5 {
		h.branch(fmt.Sprint("b", i), fmt.Sprint("x: ", i, "\n"))
		h.ask("POST", "pulls", m{"title": "T", "head": fmt.Sprint("b", i), "base": "main"}, 201)
	}
	var numbers []string
	for at := h.url + "/api/v3/repos/acme/catalog/pulls?direction=asc&per_page=2"; at != ""; {
		resp, err := http.Get(at)
		if err != nil {
			t.Fatal(err)
		}
		var list []map[string]any
		err = json.NewDecoder(resp.Body).Decode(&list)
		_ = resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range list {
			numbers = append(numbers, fmt.Sprint(p["number"]))
			if !strings.HasPrefix(p["url"].(string), h.url+"/api/v3/repos/acme/catalog/pulls/") {
				t.Errorf("url %v", p["url"])
			}
		}
		at = ""
		if link := resp.Header.Get("Link"); link != "" {
			at, _, _ = strings.Cut(strings.TrimPrefix(link, "<"), ">")
		}
	}
	if got := strings.Join(numbers, " "); got != "1 2 3 4 5" {
		t.Errorf("pages give %s", got)
	}
}

func TestAutoMerge(t *testing.T) {
	h := start(t, fakegithub.Options{}, fakegithub.Repository{AutoMerge: true})
	h.branch("b", "x: 1\n")
	pr := h.ask("POST", "pulls", m{"title": "T", "head": "b", "base": "main"}, 201)
	answer := h.ask("POST", "/graphql", m{
		"query":     "mutation($id: ID!, $m: PullRequestMergeMethod!) { enablePullRequestAutoMerge(input: {pullRequestId: $id, mergeMethod: $m}) { clientMutationId } }",
		"variables": m{"id": pr["node_id"], "m": "SQUASH"},
	}, 200)
	if answer["errors"] != nil || h.PullRequests("acme", "catalog")[0].AutoMerge != "squash" {
		t.Errorf("%v", answer)
	}
	answer = h.ask("POST", "/api/graphql", m{"query": "mutation { enablePullRequestAutoMerge(input: {pullRequestId: \"PR_none\"}) { clientMutationId } }"}, 200)
	if answer["errors"] == nil {
		t.Error("a pull request that does not exist was found")
	}
}
