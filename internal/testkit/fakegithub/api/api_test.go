package api

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/testkit/fakegithub"
)

const (
	basicError = `{"message": "Server Error", "documentation_url": "https://docs.github.com/rest"}`
	aLabel     = `{"id": 1, "node_id": "n", "url": "u", "name": "x", "color": "c", "description": null, "default": false}`
)

func TestCheck(t *testing.T) {
	labels := "/repos/a/b/issues/1/labels"
	for name, tt := range map[string]struct {
		method, target, body string
		status               int
		answer               string
		want                 string // how the error ends; "" if there is no error
	}{
		"labels as described":        {"POST", labels, `{"labels": ["x"]}`, 200, `[` + aLabel + `]`, ""},
		"a bare list of labels":      {"POST", labels, `["x"]`, 200, `[]`, `the request: $: ["x"], want object`},
		"no labels at all":           {"POST", labels, `{"labels": []}`, 200, `[]`, "the request: $.labels: a size of 0, want [string 1..]"},
		"a label that is a number":   {"POST", labels, `{"labels": ["x", 1]}`, 200, `[]`, "the request: $.labels[1]: 1, want string"},
		"below an Enterprise Server": {"POST", "/api/v3" + labels, `{"labels": ["x"]}`, 200, `[]`, ""},
		"no such operation":          {"GET", "/repos/a/b/nowhere", "", 404, basicError, "no such operation"},
		"another method":             {"PUT", "/repos/a/b/pulls", "", 404, basicError, "no such operation"},
		"no number":                  {"GET", "/repos/a/b/pulls/one", "", 404, basicError, "no such operation"},
		"a name that is escaped":     {"GET", "/repos/a/b/git/trees/a%2Fb", "", 404, basicError, ""},
		"a name with a slash":        {"GET", "/repos/a/b/git/trees/a/b", "", 404, basicError, "no such operation"},
		"slashes in a reference":     {"GET", "/repos/a/b/git/ref/heads/graft/etcd/1.0.0", "", 404, basicError, ""},
		"GraphQL":                    {"POST", "/api/graphql", `{"query": "q"}`, 200, `{"data": {"x": 1}}`, ""},
		"GraphQL without a query":    {"POST", "/graphql", `{}`, 200, `{}`, "the request: $.query: missing"},
		"an unknown parameter":       {"GET", "/repos/a/b/pulls?stat=open", "", 200, `[]`, "the request: ?.stat: not described"},
		"a wrong parameter":          {"GET", "/repos/a/b/pulls?state=ajar", "", 200, `[]`, `the request: ?.state: "ajar", want open|closed|all`},
		"a parameter given twice":    {"GET", "/repos/a/b/pulls?state=open&state=all", "", 200, `[]`, `the request: ?.state: "open,all", want open|closed|all`},
		"a refused wrong parameter":  {"GET", "/repos/a/b/pulls?state=ajar", "", 422, basicError, ""},
		"a page":                     {"GET", "/repos/a/b/pulls?page=2&state=all&head=7", "", 200, `[]`, ""},
		"a page that is no number":   {"GET", "/repos/a/b/pulls?page=two", "", 200, `[]`, `the request: ?.page: "two", want integer`},
		"no query where none is":     {"GET", "/user?page=2", "", 401, basicError, ""},
		"a query where none is":      {"GET", "/repos/a/b?page=2", "", 500, basicError, "the request: ?.page: not described"},
		"no head":                    {"POST", "/repos/a/b/pulls", `{"title": "t", "base": "main"}`, 201, `{}`, "the request: $.head: missing"},
		"an unknown field":           {"POST", "/repos/a/b/pulls", `{"head": "h", "base": "b", "labels": []}`, 201, `{}`, "the request: $.labels: not described"},
		"a refused request":          {"POST", "/repos/a/b/pulls", `{}`, 422, `{"message": "m", "documentation_url": "d"}`, ""},
		"no body":                    {"POST", "/repos/a/b/pulls", "", 201, `{}`, "the request: $.base: missing; $.head: missing"},
		"a body that may be missing": {"POST", "/app/installations/1/access_tokens", "", 201, `{"token": "t", "expires_at": "2024-01-02T03:04:05Z"}`, ""},
		"a body that may not be":     {"GET", "/repos/a/b", "{}", 0, "", "the request: a body where none may be"},
		"no JSON":                    {"POST", "/repos/a/b/merge-upstream", "branch=x", 200, `{}`, "the request: invalid character 'b' looking for beginning of value"},
		"half an answer":             {"GET", labels, "", 200, `[{"id": 1, "name": "x", "color": "c", "description": "d", "default": false}]`, "the answer: $[0].node_id: missing; $[0].url: missing"},
		"an invented field":          {"GET", labels, "", 200, `[` + strings.Replace(aLabel, "{", `{"colour": "c", `, 1) + `]`, "the answer: $[0].colour: not described"},
		"a wrong null":               {"GET", labels, "", 200, `[` + strings.Replace(aLabel, `"x"`, "null", 1) + `]`, "the answer: $[0].name: null, want string"},
		"an answer without a body":   {"GET", "/repos/a/b", "", 200, "", `the answer: the content type is ""`},
		"a server error":             {"GET", "/repos/a/b", "", 502, basicError, ""},
		"an error without a message": {"GET", "/repos/a/b", "", 502, `{}`, "the answer: $.message: missing"},
		"an undescribed status":      {"GET", "/repos/a/b", "", 418, basicError, "the answer: the status 418 is not described"},
		"a cut connection":           {"GET", "/repos/a/b", "", 0, "", ""},
		"nothing where nothing is":   {"POST", "/repos/a/b/dispatches", `{"event_type": "x"}`, 204, "", ""},
		"a body where none may be":   {"POST", "/repos/a/b/dispatches", `{"event_type": "x"}`, 204, `{}`, "the answer: a body where none may be"},
		"no type of event":           {"POST", "/repos/a/b/dispatches", `{"event_type": ""}`, 204, "", "the request: $.event_type: a size of 0, want string 1..100"},
		"ten properties":             {"POST", "/repos/a/b/dispatches", dispatch(10), 204, "", ""},
		"too many properties":        {"POST", "/repos/a/b/dispatches", dispatch(11), 204, "", "the request: $.client_payload: a size of 11, want object ..10"},
	} {
		err := exchange(t, tt.method, tt.target, tt.body, tt.status, tt.answer)
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case tt.want != "" && (err == nil || !strings.HasSuffix(err.Error(), tt.want)):
			t.Errorf("%s: %v, want an error with %q", name, err, tt.want)
		}
	}
}

func dispatch(properties int) string {
	var all []string
	for i := range properties {
		all = append(all, fmt.Sprintf(`"%d": 1`, i))
	}
	return `{"event_type": "x", "client_payload": {` + strings.Join(all, ", ") + `}}`
}

func exchange(t *testing.T, method, target, body string, status int, answer string) error {
	t.Helper()
	d, err := documented()
	if err != nil {
		t.Fatal(err)
	}
	req, header := request(t, method, target, body), http.Header{}
	if answer != "" {
		header.Set("Content-Type", "application/json; charset=utf-8")
	}
	return d.check(req, []byte(body), status, header, []byte(answer))
}

func request(t *testing.T, method, target, body string) *http.Request {
	t.Helper()
	req, err := http.NewRequest(method, "https://forge.test"+target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	return req
}

// GitHub does not read a body that is not declared as JSON.
func TestContentType(t *testing.T) {
	d, err := documented()
	if err != nil {
		t.Fatal(err)
	}
	body := `{"event_type": "x"}`
	req := request(t, "POST", "/repos/a/b/dispatches", body)
	req.Header.Set("Content-Type", "text/plain")
	if err := d.check(req, []byte(body), 204, nil, nil); err == nil || !strings.Contains(err.Error(), `the content type is "text/plain"`) {
		t.Error(err)
	}
}

// The stand-in serves each operation in the description.
func TestEachIsServed(t *testing.T) {
	d, err := documented()
	if err != nil {
		t.Fatal(err)
	}
	for pattern := range d.operations {
		method, path, _ := strings.Cut(pattern, " ")
		s := fakegithub.New(fakegithub.Options{})
		s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(method, braces.ReplaceAllString(path, "1"), nil))
		if got := s.Requests()[0].Route; got != pattern {
			t.Errorf("%s is served as %q", pattern, got)
		}
	}
}

// recorder is a test that records its errors.
type recorder struct {
	testing.TB
	errors []string
}

func (r *recorder) Helper() {}
func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func TestObserver(t *testing.T) {
	r := &recorder{TB: t}
	observe := Observer(r)
	req := request(t, "GET", "/repos/a/b/milestones?per_page=x", "")
	header := http.Header{"Content-Type": {"application/json"}}
	observe(request(t, "GET", "/repos/a/b/milestones", ""), nil, 200, header, []byte(`[]`))
	observe(req, nil, 200, header, []byte(`[]`))
	if len(r.errors) != 1 || !strings.HasPrefix(r.errors[0], `GET https://forge.test/repos/a/b/milestones?per_page=x: the request: ?.per_page: "x", want integer`) {
		t.Errorf("%q", r.errors)
	}
}
