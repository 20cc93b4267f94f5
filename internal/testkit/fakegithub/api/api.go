// Package api checks each exchange with the stand-in for GitHub against GitHub's documentation of its API,
// which api.yaml holds. Only tests use it: no released program links it.
package api

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

//go:embed api.yaml
var written []byte

// documented reads the description once, because reading takes longer than many tests.
var documented = sync.OnceValues(func() (*description, error) { return read(written) })

// anywhere lists the statuses that any request may get, whatever its description says.
var anywhere = []int{
	http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusTooManyRequests,
	http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
}

// Observer returns a function for fakegithub.Options.Observe. It reports each exchange that differs from the
// description as an error of the test.
func Observer(t testing.TB) func(*http.Request, []byte, int, http.Header, []byte) {
	t.Helper()
	d, err := documented()
	if err != nil {
		t.Fatal(err)
	}
	return func(req *http.Request, reqBody []byte, status int, header http.Header, body []byte) {
		if err := d.check(req, reqBody, status, header, body); err != nil {
			t.Errorf("%s %s: %v\nrequest: %.2000s\nanswer: %d %.2000s", req.Method, req.URL, err, reqBody, status, body)
		}
	}
}

// check compares one exchange with the description. A status of 0 means that the server sent no answer.
func (d *description) check(req *http.Request, reqBody []byte, status int, header http.Header, body []byte) error {
	at := req.URL.EscapedPath()
	if rest, ok := strings.CutPrefix(at, "/api/v3/"); ok {
		at = "/" + rest
	} else if at == "/api/graphql" {
		at = "/graphql"
	}
	o := d.find(req.Method + " " + strings.TrimSuffix(at, "/"))
	if o == nil {
		return errors.New("the API has no such operation")
	}
	// The server must refuse a bad request, so a bad request that it accepted is a fault.
	faults := append(o.checkQuery(req.URL.Query()), o.checkRequest(req.Header, reqBody)...)
	if len(faults) > 0 && (status < 300 || status >= 500) {
		return fmt.Errorf("the request: %s", strings.Join(faults, "; "))
	}
	if status == 0 {
		return nil
	}
	answer, described := o.answers[status]
	if !described && slices.Contains(anywhere, status) {
		answer, described = d.shapes["error"], true
	}
	if !described {
		return fmt.Errorf("the answer: the status %d is not described", status)
	}
	if faults := checkBody(answer, header, body); len(faults) > 0 {
		return fmt.Errorf("the answer: %s", strings.Join(faults, "; "))
	}
	return nil
}

// checkQuery reads numbers where the description has numbers. It joins repeated values into one text.
func (o *operation) checkQuery(query url.Values) []string {
	object := map[string]any{}
	for name, given := range query {
		text := strings.Join(given, ",")
		object[name] = text
		number, err := strconv.ParseFloat(text, 64)
		if s := o.query[0].fields[name].shape; err == nil && len(s) > 0 && s[0].kind == "integer" {
			object[name] = number
		}
	}
	return o.query.check("?", object)
}

// checkRequest accepts no body where a body without fields would do.
func (o *operation) checkRequest(header http.Header, body []byte) []string {
	if len(body) == 0 && len(o.body) > 0 {
		return o.body.check("$", map[string]any{})
	}
	return checkBody(o.body, header, body)
}

func checkBody(s shape, header http.Header, body []byte) []string {
	if len(s) == 0 && len(body) == 0 {
		return nil
	}
	var value any
	kind, _, _ := mime.ParseMediaType(header.Get("Content-Type"))
	switch err := json.Unmarshal(body, &value); {
	case len(s) == 0:
		return []string{"a body where none may be"}
	case kind != "application/json":
		return []string{"the content type is " + strconv.Quote(kind)}
	case err != nil:
		return []string{err.Error()}
	}
	return s.check("$", value)
}

func (d *description) find(request string) *operation {
	for _, o := range d.operations {
		if o.path.MatchString(request) {
			return o
		}
	}
	return nil
}
