// Package openapi holds exchanges with the stand-in for GitHub against GitHub's own
// description of its API. It is for tests only: nothing that is shipped links it.
package openapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// outside are the operations that the description, an excerpt, leaves out, and that
// are used all the same. Any other is a mistake.
var outside = []string{
	"POST /graphql",
	"GET /repos/{owner}/{repo}/milestones",
	"GET /repos/{owner}/{repo}/issues/{issue_number}/events",
	"PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge",
	"DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}",
}

// anywhere are the statuses that any request may get, whatever is described for it.
var anywhere = []int{
	http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusTooManyRequests,
	http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
}

// Validator checks requests and answers.
type Validator struct {
	doc *openapi3.T
}

// loaded are the descriptions by path: to read one takes longer than most tests.
var loaded sync.Map

// Load reads a description. Where there is none, the error is fs.ErrNotExist.
func Load(path string) (*Validator, error) {
	if known, ok := loaded.Load(path); ok {
		return known.(*Validator), nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	doc, err := openapi3.NewLoader().LoadFromData(data)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	v := &Validator{doc: doc}
	loaded.Store(path, v)
	return v, nil
}

// Reporter is a testing.TB.
type Reporter interface {
	Helper()
	Errorf(format string, args ...any)
	Logf(format string, args ...any)
}

// Observer gives what forge.Options.Observe takes: each exchange that is not as
// described is an error of the test. Without the description it says so, and checks
// nothing.
func Observer(t Reporter, path string) func(*http.Request, []byte, int, http.Header, []byte) {
	t.Helper()
	v, err := Load(path)
	if errors.Is(err, fs.ErrNotExist) {
		t.Logf("%s is absent: requests and answers are not validated", path)
		return nil
	}
	if err != nil {
		t.Errorf("%v", err)
		return nil
	}
	return func(req *http.Request, reqBody []byte, status int, header http.Header, body []byte) {
		if err := v.Check(req, reqBody, status, header, body); err != nil {
			t.Errorf("%s %s: %v\nrequest: %.2000s\nanswer: %d %.2000s", req.Method, req.URL, err, reqBody, status, body)
		}
	}
}

// Check holds one exchange against the description. A status of 0 is an answer that
// was never sent.
func (v *Validator) Check(req *http.Request, reqBody []byte, status int, header http.Header, body []byte) error {
	at := req.URL.EscapedPath()
	if rest, ok := strings.CutPrefix(at, "/api/v3/"); ok {
		at = "/" + rest
	} else if at == "/api/graphql" {
		at = "/graphql"
	}
	template, params := v.find(req.Method, at)
	if template == "" {
		for _, known := range outside {
			method, pattern, _ := strings.Cut(known, " ")
			if _, ok := matches(pattern, at); ok && method == req.Method {
				return nil
			}
		}
		return fmt.Errorf("the API has no such operation")
	}
	item := v.doc.Paths.Value(template)
	input := &openapi3filter.RequestValidationInput{
		Request:    req.Clone(context.Background()),
		PathParams: params,
		Route: &routers.Route{
			Spec: v.doc, Path: template, PathItem: item, Method: req.Method, Operation: item.GetOperation(req.Method),
		},
		Options: &openapi3filter.Options{
			IncludeResponseStatus: true, RejectWhenRequestBodyNotSpecified: true,
			SkipSettingDefaults: true, AuthenticationFunc: openapi3filter.NoopAuthenticationFunc,
		},
	}
	input.Request.Body = io.NopCloser(bytes.NewReader(reqBody))
	input.Request.ContentLength = int64(len(reqBody))
	// A bad request is one that the server must refuse; one that it took is the fault.
	err := openapi3filter.ValidateRequest(context.Background(), input)
	if err == nil {
		err = unknownQuery(input.Route, req.URL.Query())
	}
	if err != nil && (status < 300 || status >= 500) {
		return fmt.Errorf("the request: %w", err)
	}
	if status == 0 {
		return nil
	}
	return v.checkAnswer(input, status, header, body)
}

func (v *Validator) checkAnswer(input *openapi3filter.RequestValidationInput, status int, header http.Header, body []byte) error {
	responses := input.Route.Operation.Responses
	described := responses.Status(status)
	if described == nil && slices.Contains(anywhere, status) {
		if err := v.checkBody("basic-error", body); err != nil {
			return fmt.Errorf("the answer: %w", err)
		}
		return nil
	}
	if described != nil && len(described.Value.Content) == 0 {
		if status == http.StatusNoContent && len(body) > 0 {
			return errors.New("the answer: a body where none may be")
		}
		return nil
	}
	answer := (&openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: status, Header: header, Options: input.Options,
	}).SetBodyBytes(body)
	err := openapi3filter.ValidateResponse(context.Background(), answer)
	if err != nil && status >= 400 && strings.Contains(err.Error(), "matches more than one oneOf") {
		// The kinds of errors that are described have no field that one of them needs, so
		// whatever fits one fits all.
		err = v.checkBody("basic-error", body)
	}
	if err != nil {
		return fmt.Errorf("the answer: %w", err)
	}
	return nil
}

func (v *Validator) checkBody(schema string, body []byte) error {
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return err
	}
	if err := v.doc.Components.Schemas[schema].Value.VisitJSON(value); err != nil {
		return fmt.Errorf("no %s: %w", schema, err)
	}
	return nil
}

// unknownQuery finds parameters that GitHub would ignore.
func unknownQuery(route *routers.Route, query url.Values) error {
	for name := range query {
		if route.Operation.Parameters.GetByInAndName("query", name) == nil && route.PathItem.Parameters.GetByInAndName("query", name) == nil {
			return fmt.Errorf("there is no parameter %q", name)
		}
	}
	return nil
}

// find is the operation's path in the description, and what stands in its braces; of
// several the one with the fewest braces.
func (v *Validator) find(method, at string) (template string, params map[string]string) {
	for path, item := range v.doc.Paths.Map() {
		values, ok := matches(path, at)
		if ok && item.GetOperation(method) != nil && (template == "" || len(values) < len(params)) {
			template, params = path, values
		}
	}
	return template, params
}

// open are the parameters that may hold slashes, where they come last.
var open = []string{"{ref}", "{branch}", "{path}", "{basehead}"}

func matches(template, at string) (map[string]string, bool) {
	pattern, segments := strings.Split(template, "/"), strings.Split(strings.TrimSuffix(at, "/"), "/")
	if last := len(pattern) - 1; slices.Contains(open, pattern[last]) && len(segments) > len(pattern) {
		segments = append(segments[:last:last], strings.Join(segments[last:], "/"))
	}
	if len(pattern) != len(segments) {
		return nil, false
	}
	values := map[string]string{}
	for i, want := range pattern {
		plain, err := url.PathUnescape(segments[i])
		if name, ok := strings.CutPrefix(want, "{"); ok && err == nil && plain != "" {
			values[strings.TrimSuffix(name, "}")] = plain
		} else if plain != want {
			return nil, false
		}
	}
	return values, true
}
