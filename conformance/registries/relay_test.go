package registries

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/olmgraft/graft/internal/testkit/fakegithub"
	"github.com/olmgraft/graft/internal/testkit/gitremote"
	"github.com/olmgraft/graft/internal/testkit/registry"
	"github.com/olmgraft/graft/internal/testkit/servers"
)

const secret = "correct-horse-battery-staple"

// TestFromPushToPullRequest pushes bundles to the registry, which notifies the relay, which notifies GitHub,
// whose workflow runs graft publish. The result is pull requests.
func TestFromPushToPullRequest(t *testing.T) {
	archive, err := txtar.ParseFile("../../testdata/script/relay_publish.txtar")
	if err != nil {
		t.Fatal(err)
	}
	relay := freeAddress(t)
	heard := &listener{}
	registryAt := startRegistry(t, heard.before(t, "http://"+relay), secret)
	hub := catalogRepository(t, archive, registryAt)
	log := startRelay(t, relay, registryAt, hub)
	var announced []string // by the testkit
	for _, version := range []string{"v1.0.0", "v1.1.0"} {
		announced = append(announced, push(t, archive, version, registryAt)...)
	}
	until(t, "both are dispatched", log, func() bool { return len(hub.Forge.Dispatches()) == 2 })
	until(t, "the queue is empty", log, func() bool {
		return strings.Contains(get(t, "http://"+relay+"/metrics"), "\ngraft_relay_queue_items 0\n")
	})
	for _, d := range hub.Forge.Dispatches() {
		publish(t, hub, d)
	}
	// The older one has a pull request too, because the catalog was never rendered.
	var pulls []string
	for _, pull := range hub.PullRequests() {
		pulls = append(pulls, pull.State+" "+pull.Head+" "+pull.Title)
	}
	slices.Sort(pulls)
	if want := []string{"open graft/op/1.0.0 Publish op 1.0.0", "open graft/op/1.1.0 Publish op 1.1.0"}; !slices.Equal(pulls, want) {
		t.Fatalf("the pull requests are %q, want %q", pulls, want)
	}
	template, err := hub.Repo.Read("graft/op/1.1.0", "catalog-templates/basic.yaml")
	if err != nil || !strings.Contains(template, "image: "+registryAt+"/operators/op") || !strings.Contains(template, "name: op.v1.1.0") {
		t.Errorf("the template is %v\n%s", err, template)
	}
	if said := read(t, log); strings.Contains(said, secret) || strings.Contains(said, servers.Token) {
		t.Errorf("a secret is in the log\n%s", said)
	}
	heard.compare(t, announced)
}

// listener records a registry's announcements.
type listener struct {
	mu     sync.Mutex
	bodies [][]byte
}

// before forwards to another address and returns its own.
func (l *listener) before(t *testing.T, address string) string {
	t.Helper()
	to, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		l.mu.Lock()
		l.bodies = append(l.bodies, body)
		l.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// compare compares the testkit's announcements of the same pushes with the recorded ones, except for parts that
// differ each time. An existing blob is announced once.
func (l *listener) compare(t *testing.T, announced []string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	said := map[string]bool{}
	for _, body := range announced {
		said[lasting(t, body)] = true
	}
	heard := map[string]bool{}
	for _, body := range l.bodies {
		heard[lasting(t, string(body))] = true
	}
	if len(heard) < 4 || !maps.Equal(said, heard) {
		t.Errorf("the registry says\n%s\nand the testkit\n%s", strings.Join(slices.Sorted(maps.Keys(heard)), "\n"), strings.Join(slices.Sorted(maps.Keys(said)), "\n"))
	}
}

var passing = regexp.MustCompile(`"(id|timestamp|addr|useragent|instanceID)":"[^"]+"`)

// lasting returns an announcement without the parts that differ each time.
func lasting(t *testing.T, body string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return passing.ReplaceAllString(string(text), `"$1":"..."`)
}

// startRelay starts graft-relay and returns the file of its log.
func startRelay(t *testing.T, address, registryAt string, hub *servers.Servers) string {
	t.Helper()
	text := "listen: \"" + address + "\"\n" +
		"queue: {dir: " + filepath.Join(t.TempDir(), "queue") + "}\n" +
		"github: {apiURL: \"" + hub.API + "\", pace: 0s}\n" +
		"routes: [{path: /distribution, from: distribution, secretEnv: SECRET}]\n" +
		"targets: [{images: [\"" + registryAt + "/operators/*\"], repositories: [" + servers.Repository + "]}]\n"
	config := filepath.Join(t.TempDir(), "relay.yaml")
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return launch(t, "http://"+address+"/readyz", []string{"SECRET=" + secret, "GITHUB_TOKEN=" + servers.Token}, program(t, "graft-relay"), "--config", config)
}

// push makes a bundle image from a folder of the archive and pushes it to a registry. It returns the testkit's
// announcements for that push.
func push(t *testing.T, archive *txtar.Archive, version, to string) (announced []string) {
	t.Helper()
	files := fstest.MapFS{}
	for _, f := range archive.Files {
		if path, ok := strings.CutPrefix(f.Name, "bundles/"+version+"/"); ok {
			files[path] = &fstest.MapFile{Data: f.Data}
		}
	}
	b, err := registry.FromDir(files)
	if err != nil {
		t.Fatal(err)
	}
	workshop := startWorkshop(t)
	image := "operators/op:" + version
	if _, err := workshop.Push(image, b, registry.Form{}); err != nil {
		t.Fatal(err)
	}
	copyImage(t, workshop.Addr+"/"+image, to+"/"+image)
	bodies, err := workshop.Announcements(image)
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range bodies {
		announced = append(announced, strings.ReplaceAll(string(body), workshop.Addr, to))
	}
	return announced
}

// catalogRepository puts the repository of the archive on a git remote and a forge.
func catalogRepository(t *testing.T, archive *txtar.Archive, registryAt string) *servers.Servers {
	t.Helper()
	files := map[string]string{}
	for _, f := range archive.Files {
		if path, ok := strings.CutPrefix(f.Name, "repo/"); ok {
			files[path] = strings.ReplaceAll(string(f.Data), "REGISTRY", registryAt)
		}
	}
	hub, err := servers.Start(gitremote.GoBackend)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = hub.Close() })
	if err := hub.Create(files); err != nil {
		t.Fatal(err)
	}
	return hub
}

func get(t *testing.T, at string) string {
	t.Helper()
	resp, err := http.Get(at)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s %v", at, resp.Status, err)
	}
	return string(text)
}

// publish runs the steps of the workflow that GitHub starts for an event.
func publish(t *testing.T, hub *servers.Servers, d fakegithub.Dispatch) {
	t.Helper()
	dir := t.TempDir()
	body, err := json.Marshal(map[string]any{
		"action": d.EventType, "branch": "main", "client_payload": d.Payload,
		"repository": map[string]any{"full_name": d.Owner + "/" + d.Repo}, "sender": map[string]any{"login": d.Sender},
	})
	if err != nil {
		t.Fatal(err)
	}
	event, checkout := filepath.Join(dir, "event.json"), filepath.Join(dir, "checkout")
	if err := os.WriteFile(event, body, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := hub.Checkout(checkout); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program(t, "graft"), "publish", "--event", event)
	cmd.Dir, cmd.Env = checkout, os.Environ()
	for key, value := range hub.Env() {
		cmd.Env = append(cmd.Env, key+"="+value)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("graft publish: %v\n%s", err, out)
	}
}
