// Package extending tests that a kind of template and a form of webhook need only their own package: new ones
// that no other package names pass through all of Graft.
package extending

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/cli"
	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/event"
	"github.com/olmgraft/graft/internal/relay"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/testkit/fakegithub"
	"github.com/olmgraft/graft/internal/testkit/gitremote"
	"github.com/olmgraft/graft/internal/testkit/registry"
	"github.com/olmgraft/graft/internal/testkit/servers"
)

// whistle is a form of webhook that names an image, with a handshake.
var whistle = event.Form{
	Name:   "whistle",
	Detect: func(n event.Node) bool { return n.Has("whistle") },
	Read:   func(n event.Node) { n.Found(n.Get("whistle").Image()) },
	Proofs: []event.Proof{event.ByHeader},
	Setup:  "Blow it.",
	Time:   [][]string{{"blown"}},
	Handshake: func(body []byte) string {
		code, ok := strings.CutPrefix(string(body), "hello ")
		if !ok {
			return ""
		}
		return code
	},
}

const secret = "correct-horse-battery-staple"

// run runs a verb, which must succeed.
func run(t *testing.T, env map[string]string, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	code := cli.Main(t.Context(), args, command.IO{In: strings.NewReader(""), Out: &out, Err: &errs, Env: func(key string) (string, bool) {
		v, ok := env[key]
		return v, ok
	}})
	if code != 0 {
		t.Fatalf("graft %s: exit code %d\n%s%s", strings.Join(args, " "), code, out.String(), errs.String())
	}
	return out.String()
}

func has(t *testing.T, text string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A template of a new kind is created, detected, rendered and verified, and init writes a configuration for it.
// A webhook of a new form makes the relay send an event, and publishing that event extends template and
// catalog.
func TestToysGoAllTheWay(t *testing.T) {
	t.Cleanup(template.Register(toy{}))
	t.Cleanup(event.Register(whistle))
	w, err := servers.Start(gitremote.GoBackend)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	repository := w.Registry.Addr + "/example/op-bundle"
	for _, v := range []string{"1.0.0", "1.0.1", "1.0.2"} {
		if _, err := w.Registry.Push("example/op-bundle:v"+v, registry.Small("op", "op.v"+v, v), registry.Form{}); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	file, catalog := filepath.Join(dir, "toy.yaml"), filepath.Join(dir, "catalog.yaml")

	has(t, run(t, nil, "insert", "--create", "toy", "--image", repository+":v1.0.0", "--channel", "stable", file), "created")
	has(t, run(t, nil, "insert", "--image", repository+":v1.0.1", "--channel", "stable", file), "added bundle")
	has(t, run(t, nil, "insert", "--image", repository+":v1.0.1", "--channel", "stable", file), "unchanged")
	has(t, run(t, nil, "detect", file), "toy.yaml: toy\npackage: op\nchannel: stable\n  op.v1.0.0\n  op.v1.0.1\nbundles:\n  "+repository)
	text := run(t, nil, "render", file)
	has(t, text, "replaces: op.v1.0.0")
	write(t, catalog, text)
	run(t, nil, "verify", catalog)
	run(t, nil, "verify", file)

	run(t, nil, "init", dir)
	files := map[string]string{}
	for _, name := range []string{"toy.yaml", "catalog.yaml", ".github/graft.yaml"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(text)
	}
	has(t, files[".github/graft.yaml"], "package: op\n", "- template: toy.yaml\n", "    channels:\n      - stable\n    catalogs:\n", "      - path: catalog.yaml\n", "- "+repository+"\n")
	if err := w.Create(files); err != nil {
		t.Fatal(err)
	}

	sent := relayed(t, w, `{"whistle": "`+repository+`:v1.0.2", "blown": "`+time.Now().Format(time.RFC3339)+`"}`)
	has(t, string(sent), `"source":"whistle"`, repository+":v1.0.2")
	env := w.Env()
	env["GITHUB_ACTIONS"], env["GITHUB_EVENT_NAME"], env["GITHUB_EVENT_PATH"] = "true", "repository_dispatch", filepath.Join(t.TempDir(), "event.json")
	for _, name := range []string{"GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"} {
		env[name] = filepath.Join(t.TempDir(), name)
		write(t, env[name], "")
	}
	// A registry's event may also come through a workflow unchanged.
	for _, of := range []struct{ payload, result string }{{string(sent), "created"}, {`{"whistle": "` + repository + `:v1.0.2"}`, "unchanged"}} {
		write(t, env["GITHUB_EVENT_PATH"], `{"client_payload": `+of.payload+`}`)
		has(t, run(t, env, "publish", "--repository", servers.Repository), "op.v1.0.2: "+of.result)
	}
	changes, err := w.Changes(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		has(t, string(c.After), "op.v1.0.2", "op.v1.0.1")
	}
	if len(changes) != 2 {
		t.Errorf("%+v", changes)
	}
	has(t, w.PullRequests()[0].Body, "A toy template makes the edges itself.")
}

// relayed returns the relay's payload for an event of the form.
func relayed(t *testing.T, w *servers.Servers, body string) []byte {
	t.Helper()
	c, err := relay.Parse("relay.yaml", []byte(`
listen: "127.0.0.1:0"
queue: {dir: `+filepath.Join(t.TempDir(), "queue")+`}
github: {apiURL: "`+w.API+`", pace: 0s}
routes: [{path: /toys, from: whistle, secretEnv: SECRET}]
targets: [{images: ["**/op-bundle"], repositories: [`+servers.Repository+`]}]
`))
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"SECRET": secret, "GITHUB_TOKEN": servers.Token}
	r, err := relay.Open(t.Context(), c, relay.Options{
		Env: func(key string) (string, bool) { return env[key], env[key] != "" }, Log: slog.New(slog.DiscardHandler), Grace: 5 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	t.Cleanup(func() {
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	for text, want := range map[string]string{"hello you": `{"validationResponse":"you"}`, body: `"result":"accepted"`} {
		has(t, post(t, "http://"+r.Addr()+"/toys", text), want)
	}
	var got []fakegithub.Dispatch
	for wait := time.Now().Add(10 * time.Second); len(got) == 0; got = w.Forge.Dispatches() {
		if time.Now().After(wait) {
			t.Fatal("the relay sent nothing")
		}
		time.Sleep(5 * time.Millisecond)
	}
	if len(got) != 1 || !json.Valid(got[0].Payload) {
		t.Fatalf("%+v", got)
	}
	return got[0].Payload
}

func post(t *testing.T, address, body string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+secret)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
