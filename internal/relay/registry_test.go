package relay

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/olmgraft/graft/internal/testkit/forge"
	"github.com/olmgraft/graft/internal/testkit/gitremote"
	"github.com/olmgraft/graft/internal/testkit/registry"
	testworld "github.com/olmgraft/graft/internal/testkit/world"
)

// distribution is the registry that is installed where there is none: .ci/run has the same.
const distribution = "github.com/distribution/distribution/v3/cmd/registry@v3.0.0"

// registries are the distribution project's registries at hand: Debian's, and that of
// .ci/run. Where there is neither, one is built; where that fails, so does the test.
func registries(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, name := range []string{"docker-registry", "registry"} {
		if path, err := exec.LookPath(name); err == nil {
			found[name] = path
		}
	}
	if len(found) > 0 {
		return found
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(dir, "graft-test")
	path := filepath.Join(dir, "registry")
	if _, err := os.Stat(path); err != nil {
		cmd := exec.Command("go", "install", distribution)
		cmd.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("there is no registry, and building one failed: %v\n%s\nInstall Debian's docker-registry, or go install %s", err, out, distribution)
		}
	}
	return map[string]string{"registry": path}
}

// TestFromPushToPullRequest pushes a bundle to a real registry, which tells the relay, which
// tells GitHub, whose workflow runs graft publish: in the end a pull request stands.
func TestFromPushToPullRequest(t *testing.T) {
	for name, path := range registries(t) {
		t.Run(name, func(t *testing.T) { fromPushToPullRequest(t, path) })
	}
}

func fromPushToPullRequest(t *testing.T, registryProgram string) {
	relayAt, registryAt := freeAddress(t), freeAddress(t)
	launch(t, "http://"+registryAt+"/v2/", nil, registryProgram, "serve", registryConfig(t, registryAt, relayAt))
	archive, err := txtar.ParseFile("../../testdata/script/publish.txtar")
	if err != nil {
		t.Fatal(err)
	}
	hub := catalogRepository(t, archive, registryAt)
	s := setup{config: map[string]string{
		"listen": `"` + relayAt + `"`, "replayWindow": "72h",
		"routes":  "[{path: /distribution, from: distribution, secretEnv: SECRET}]",
		"targets": `[{images: ["` + registryAt + `/operators/*"], repositories: [octo/catalog]}]`,
	}}
	config := filepath.Join(t.TempDir(), "relay.yaml")
	if err := os.WriteFile(config, []byte(s.yaml(t, hub.API)), 0o600); err != nil {
		t.Fatal(err)
	}
	p := launch(t, "http://"+relayAt+"/readyz", []string{"SECRET=" + secret, "GITHUB_TOKEN=" + testworld.Token}, graft(t), "relay", "--config", config)
	push(t, archive, "v1.0.0", registryAt+"/operators/op:v1.0.0")
	push(t, archive, "v1.1.0", registryAt+"/operators/op:v1.1.0")
	w := &world{t: t, url: "http://" + relayAt, log: p.log}
	w.until("both are dispatched", func() bool { return len(hub.Forge.Dispatches()) == 2 })
	w.settled()
	for _, d := range hub.Forge.Dispatches() {
		publish(t, hub, d)
	}
	// The older one has a pull request too, for the catalog was never rendered.
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
	if strings.Contains(p.log.String(), secret) || strings.Contains(p.log.String(), testworld.Token) {
		t.Errorf("a secret is in the log\n%s", p.log)
	}
}

// registryConfig is that of deploy/compose, at other addresses.
func registryConfig(t *testing.T, address, relay string) string {
	t.Helper()
	text, err := os.ReadFile("../../deploy/compose/registry.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{
		{"addr: :5000", "addr: " + address}, {"http://relay:8080/", "http://" + relay + "/"},
		{"/var/lib/registry", t.TempDir()}, {"only-for-this-example-0123456789", secret},
	} {
		if !strings.Contains(string(text), change[0]) {
			t.Fatalf("deploy/compose/registry.yaml has no %s", change[0])
		}
		text = []byte(strings.ReplaceAll(string(text), change[0], change[1]))
	}
	file := filepath.Join(t.TempDir(), "config.yml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// push makes a bundle image of a folder of the archive, and pushes it as docker push does.
func push(t *testing.T, archive *txtar.Archive, bundle, to string) {
	t.Helper()
	files := fstest.MapFS{}
	for _, f := range archive.Files {
		if path, ok := strings.CutPrefix(f.Name, "bundles/"+bundle+"/"); ok {
			files[path] = &fstest.MapFile{Data: f.Data}
		}
	}
	b, err := registry.FromDir(files)
	if err != nil {
		t.Fatal(err)
	}
	b.Labels["operators.operatorframework.io.bundle.manifests.v1"] = "manifests/"
	b.Labels["operators.operatorframework.io.bundle.metadata.v1"] = "metadata/"
	workshop, err := registry.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer workshop.Close()
	if _, err := workshop.Push("op:"+bundle, b, registry.Form{}); err != nil {
		t.Fatal(err)
	}
	copyImage(t, "http://"+workshop.Addr+"/v2/op", bundle, "http://"+strings.Replace(to, "/", "/v2/", 1))
}

// copyImage copies an image from one repository to another, REPOSITORY:TAG, by the protocol
// of registries: blobs first, then the manifest.
func copyImage(t *testing.T, from, tag, to string) {
	t.Helper()
	to, toTag := to[:strings.LastIndexByte(to, ':')], to[strings.LastIndexByte(to, ':')+1:]
	manifest, head := exchange(t, http.MethodGet, from+"/manifests/"+tag, "", nil)
	var parts struct {
		Config struct{ Digest string }
		Layers []struct{ Digest string }
	}
	if err := json.Unmarshal(manifest, &parts); err != nil {
		t.Fatal(err)
	}
	for _, blob := range append(parts.Layers, parts.Config) {
		content, _ := exchange(t, http.MethodGet, from+"/blobs/"+blob.Digest, "", nil)
		_, begun := exchange(t, http.MethodPost, to+"/blobs/uploads/", "", nil)
		place, err := url.Parse(begun.Get("Location"))
		if err != nil {
			t.Fatal(err)
		}
		query := place.Query()
		query.Set("digest", blob.Digest)
		place.RawQuery = query.Encode()
		exchange(t, http.MethodPut, place.String(), "application/octet-stream", content)
	}
	exchange(t, http.MethodPut, to+"/manifests/"+toTag, head.Get("Content-Type"), manifest)
}

func exchange(t *testing.T, method, at, kind string, body []byte) ([]byte, http.Header) {
	t.Helper()
	req, err := http.NewRequest(method, at, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", kind)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= 300 {
		t.Fatalf("%s %s: %d %s %v", method, at, resp.StatusCode, answer, err)
	}
	return answer, resp.Header
}

// catalogRepository is the repository of the archive, on a git remote and a forge.
func catalogRepository(t *testing.T, archive *txtar.Archive, registryAt string) *testworld.World {
	t.Helper()
	files := map[string]string{}
	for _, f := range archive.Files {
		if path, ok := strings.CutPrefix(f.Name, "repo/"); ok {
			files[path] = strings.ReplaceAll(string(f.Data), "REGISTRY/op", registryAt+"/operators/op")
		}
	}
	hub, err := testworld.Start(gitremote.GoBackend)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = hub.Close() })
	if err := hub.Create(files); err != nil {
		t.Fatal(err)
	}
	return hub
}

// publish does what the workflow does that GitHub starts for an event.
func publish(t *testing.T, hub *testworld.World, d forge.Dispatch) {
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
	cmd := exec.Command(graft(t), "publish", "--event", event)
	cmd.Dir, cmd.Env = checkout, os.Environ()
	for key, value := range hub.Env() {
		cmd.Env = append(cmd.Env, key+"="+value)
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("graft publish: %v\n%s", err, out)
	}
	t.Logf("%s", bytes.TrimSpace(out))
}
