package openapi

import (
	"errors"
	"io/fs"
	"net/http"
	"strings"
	"testing"
)

func load(t *testing.T) *Validator {
	t.Helper()
	v, err := Load("../../../../../shared/github/openapi.json")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the description is absent")
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

const basicError = `{"message": "Server Error", "documentation_url": "https://docs.github.com/rest"}`

func TestCheck(t *testing.T) {
	v := load(t)
	for name, tt := range map[string]struct {
		method, target, body string
		status               int
		answer               string
		want                 string // part of the error, "" for none
	}{
		"labels as described":        {"POST", "/repos/a/b/issues/1/labels", `{"labels": ["x"]}`, 200, `[]`, ""},
		"a bare list of labels":      {"POST", "/repos/a/b/issues/1/labels", `["x"]`, 200, `[]`, "the request"},
		"below an Enterprise Server": {"POST", "/api/v3/repos/a/b/issues/1/labels", `{"labels": ["x"]}`, 200, `[]`, ""},
		"no such operation":          {"GET", "/repos/a/b/nowhere", "", 404, basicError, "no such operation"},
		"one that is left out":       {"GET", "/repos/a/b/milestones", "", 200, `[]`, ""},
		"GraphQL":                    {"POST", "/api/graphql", `{}`, 200, `{}`, ""},
		"an unknown parameter":       {"GET", "/repos/a/b/pulls?stat=open", "", 200, `[]`, "no parameter"},
		"a wrong parameter":          {"GET", "/repos/a/b/pulls?state=ajar", "", 200, `[]`, "the request"},
		"a refused wrong parameter":  {"GET", "/repos/a/b/pulls?state=ajar", "", 422, `{"message": "x", "documentation_url": "y"}`, ""},
		"no head":                    {"POST", "/repos/a/b/pulls", `{"title": "t", "base": "main"}`, 201, `{}`, "the request"},
		"a half answer":              {"GET", "/repos/a/b", "", 200, `{"id": 1}`, "the answer"},
		"a server error":             {"GET", "/repos/a/b", "", 502, basicError, ""},
		"an undescribed status":      {"GET", "/repos/a/b", "", 418, basicError, "the answer"},
		"a cut connection":           {"GET", "/repos/a/b", "", 0, "", ""},
		"slashes in a reference":     {"GET", "/repos/a/b/git/ref/heads/graft/etcd/1.0.0", "", 404, basicError, ""},
		"a body where none may be":   {"POST", "/repos/a/b/dispatches", `{"event_type": "x"}`, 204, `{}`, "the answer"},
		"too many properties": {"POST", "/repos/a/b/dispatches",
			`{"event_type": "x", "client_payload": {"1":1,"2":1,"3":1,"4":1,"5":1,"6":1,"7":1,"8":1,"9":1,"10":1,"11":1}}`, 204, "", "the request"},
	} {
		req, err := http.NewRequest(tt.method, "https://forge.test"+tt.target, strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		err = v.Check(req, []byte(tt.body), tt.status, http.Header{"Content-Type": {"application/json; charset=utf-8"}}, []byte(tt.answer))
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: %v, want an error with %q", name, err, tt.want)
		}
	}
}

type reporter struct{ logged, failed int }

func (r *reporter) Helper()               {}
func (r *reporter) Errorf(string, ...any) { r.failed++ }
func (r *reporter) Logf(string, ...any)   { r.logged++ }

func TestObserverWithoutDescription(t *testing.T) {
	r := &reporter{}
	if Observer(r, "nowhere.json") != nil || r.logged != 1 || r.failed != 0 {
		t.Errorf("%+v", r)
	}
}
