package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/cli/catalogs"
	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/explorer"
)

const servedCatalog = `---
schema: olm.package
name: op
defaultChannel: stable
---
schema: olm.channel
package: op
name: stable
entries: [{name: op.v1.0.0}, {name: op.v1.1.0, replaces: op.v1.0.0}]
---
schema: olm.bundle
package: op
name: op.v1.0.0
image: quay.io/example/op:v1.0.0
properties:
- {type: olm.package, value: {packageName: op, version: 1.0.0}}
---
schema: olm.bundle
package: op
name: op.v1.1.0
image: quay.io/example/op:v1.1.0
properties:
- {type: olm.package, value: {packageName: op, version: 1.1.0}}
- {type: olm.operand.supported, value: {name: etcd, version: 3.x}}
---
schema: olm.operand
name: etcd
version: 3.1.1
images: [{name: etcd, image: quay.io/coreos/etcd:v3.1.1}]
`

const servedStable = `{"nodes":[` +
	`{"version":"1.0.0","payload":"quay.io/example/op:v1.0.0","metadata":{"io.openshift.upgrades.graph.release.channels":"stable"}},` +
	`{"version":"1.1.0","payload":"quay.io/example/op:v1.1.0","metadata":{"io.openshift.upgrades.graph.release.channels":"stable"}}],"edges":[[0,1]]}` + "\n"

func servedBy(t *testing.T, text string) *graphServer {
	t.Helper()
	file := filepath.Join(t.TempDir(), "catalog.yaml")
	writeFile(t, file, text)
	a := &app{command.New(command.IO{Err: io.Discard})}
	o := catalogs.Reader{}
	s := &graphServer{say: a.PrintFailures, every: time.Hour, shown: explorer.Options{Live: true}, hosts: func(string) bool { return true }}
	s.read = func(ctx context.Context) ([]explorer.Platform, error) {
		c, err := o.Whole(ctx, file)
		return []explorer.Platform{{Catalog: c}}, err
	}
	s.stamp = func() string { return stampOf([]source{{"", file, ""}}) }
	return s
}

func askGraph(s *graphServer, method, target string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func TestGraphServer(t *testing.T) {
	s := servedBy(t, servedCatalog)
	const stable = graphPath + "?channel=stable"
	for name, test := range map[string]struct {
		method, target string
		headers        []string
		status         int
		body           string
	}{
		"graph":             {"GET", stable + "&arch=amd64&version=1.0.0", []string{"Accept", "application/json"}, 200, servedStable},
		"no Accept":         {"GET", stable, nil, 200, servedStable},
		"HEAD":              {"HEAD", stable, nil, 200, ""},
		"any type":          {"GET", stable, []string{"Accept", "text/html, */*;q=0.1"}, 200, servedStable},
		"a family of types": {"GET", stable, []string{"Accept", "text/html", "Accept", "application/*"}, 200, servedStable},
		"other types":       {"GET", stable, []string{"Accept", "text/html"}, 406, `"kind":"invalid_content_type"`},
		"anything but":      {"GET", stable, []string{"Accept", "*/*, application/json;q=0"}, 406, `"kind":"invalid_content_type"`},
		"unknown channel":   {"GET", graphPath + "?channel=none", nil, 200, `{"nodes":[],"edges":[]}` + "\n"},
		"no channel":        {"GET", graphPath, nil, 400, `"kind":"missing_params"`},
		"other path":        {"GET", "/other", nil, 404, `"kind":"does_not_exist"`},
		"other method":      {"POST", stable, nil, 405, `"kind":"invalid_params"`},
	} {
		t.Run(name, func(t *testing.T) {
			w := askGraph(s, test.method, test.target, test.headers...)
			if w.Code != test.status || w.Header().Get("Content-Type") != "application/json" || w.Header().Get("Vary") != "Accept" || !strings.Contains(w.Body.String(), test.body) {
				t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
			}
		})
	}
	s.name = "etcd"
	if w := askGraph(s, "GET", stable); !strings.Contains(w.Body.String(), `{"version":"3.1.1","payload":"quay.io/coreos/etcd:v3.1.1"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	s.name = "kafka"
	if w := askGraph(s, "GET", stable); w.Code != 500 || !strings.Contains(w.Body.String(), "the catalog has no entry of it") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// Unchanged content is not sent again; changed content is.
func TestGraphServerETag(t *testing.T) {
	s := servedBy(t, servedCatalog)
	const stable = graphPath + "?channel=stable"
	tag := askGraph(s, "GET", stable).Header().Get("ETag")
	if !regexp.MustCompile(`^"[0-9a-f]{64}"$`).MatchString(tag) {
		t.Fatalf("ETag %s", tag)
	}
	for _, match := range []string{tag, "W/" + tag, `"other", ` + tag, "*"} {
		if w := askGraph(s, "GET", stable, "If-None-Match", match); w.Code != 304 || w.Body.Len() > 0 || w.Header().Get("ETag") != tag {
			t.Errorf("%s: %d %s", match, w.Code, w.Body)
		}
	}
	if w := askGraph(s, "GET", graphPath+"?channel=none", "If-None-Match", tag); w.Code != 200 {
		t.Errorf("another channel: %d", w.Code)
	}

	// The catalog is read again after some time. While it is unreadable, the old one is served.
	next := servedBy(t, strings.ReplaceAll(servedCatalog, "quay.io/example/op:v1.1.0", "quay.io/example/op:v1.1.0-2"))
	s.read = next.read
	if w := askGraph(s, "GET", stable, "If-None-Match", tag); w.Code != 304 {
		t.Errorf("it is read again at once: %d", w.Code)
	}
	s.every = 0
	w := askGraph(s, "GET", stable, "If-None-Match", tag)
	if w.Code != 200 || !strings.Contains(w.Body.String(), "v1.1.0-2") || w.Header().Get("ETag") == tag {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	said := 0
	s.read = func(context.Context) ([]explorer.Platform, error) { return nil, errors.New("it is gone") }
	s.say = func(error) { said++ }
	if w := askGraph(s, "GET", stable); w.Code != 200 || !strings.Contains(w.Body.String(), "v1.1.0-2") || said != 1 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// lineWriter returns the written text line by line.
type lineWriter struct {
	mu   sync.Mutex
	text bytes.Buffer
	full chan string
}

func (l *lineWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Write(p)
	if line, err := l.text.ReadString('\n'); err == nil {
		l.full <- line
	}
	return len(p), nil
}

// The command serves until it is stopped, which is not a failure, and serves changes.
func TestGraphServe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "catalog.yaml")
	writeFile(t, file, servedCatalog)
	ctx, stop := context.WithCancel(context.Background())
	errs, ended := &lineWriter{full: make(chan string, 10)}, make(chan error, 1)
	a := &app{command.New(command.IO{In: strings.NewReader(""), Out: io.Discard, Err: errs, Env: os.LookupEnv})}
	cmd := a.graphCommand()
	cmd.SetArgs([]string{"--serve", "127.0.0.1:0", "--refresh", "0s", file})
	go func() { ended <- cmd.ExecuteContext(ctx) }()
	page := regexp.MustCompile(`http://\S+`).FindString(<-errs.full)
	address := regexp.MustCompile(`http://\S+`).FindString(<-errs.full)
	get := func() string {
		resp, err := http.Get(address + "?channel=stable")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	if got := get(); got != servedStable {
		t.Errorf("got %s", got)
	}
	if resp, err := http.Get(page); err != nil || resp.Header.Get("Content-Type") != "text/html; charset=utf-8" || resp.Body.Close() != nil {
		t.Errorf("the explorer: %v", err)
	}
	writeFile(t, file, strings.ReplaceAll(servedCatalog, "op:v1.1.0", "op:v1.1.0-2"))
	if got := get(); !strings.Contains(got, "v1.1.0-2") {
		t.Errorf("got %s", got)
	}
	writeFile(t, file, "---\nschema: [\n")
	if got := get(); !strings.Contains(got, "v1.1.0-2") {
		t.Errorf("got %s", got)
	}
	if said := <-errs.full; !strings.Contains(said, "reading a catalog document") {
		t.Errorf("it said %s", said)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestGraphServeRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "catalog.yaml")
	writeFile(t, file, servedCatalog)
	for want, all := range map[int][][]string{
		2: {{"--serve", "nowhere", file}, {"--serve", "127.0.0.1:0", "-"}, {"--serve", "127.0.0.1:0", "--base", "-", file}, {"--serve", "127.0.0.1:0", file, file},
			{"--serve", "127.0.0.1:0", "--package", "other", file}, {"--serve", "127.0.0.1:0", "--operand", "kafka", file}, {"--operand", "etcd", file}},
		10: {{"--serve", "127.0.0.1:0", file + ".not"}},
	} {
		for _, args := range all {
			if code, _, stderr := runGraft(t, append([]string{"graph"}, args...)...); code != want {
				t.Errorf("%v: exit code %d: %s", args, code, stderr)
			}
		}
	}
	code, stdout, stderr := runGraft(t, "graph", "-o", "cincinnati", "--operand", "etcd", "--channel", "stable", file)
	want := `{"nodes":[{"version":"3.1.1","payload":"quay.io/coreos/etcd:v3.1.1","metadata":{"io.openshift.upgrades.graph.release.channels":"stable"}}],"edges":[]}` + "\n"
	if code != 0 || stdout != want {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
}
