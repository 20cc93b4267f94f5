package relay

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/event"
	"github.com/olmgraft/graft/internal/testkit/fakegithub"
)

const everything = `[{images: ["**/*"], repositories: [octo/catalog]}]`

func signature(body, secret string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

func basic(password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte("graft:"+password))
}

// Each registry's events are accepted with that registry's proof and with no other.
func TestSenders(t *testing.T) {
	t.Parallel()
	github := func(name string) func(string, string) (string, []string) {
		return func(body, secret string) (string, []string) {
			return "", []string{"X-GitHub-Event", name, "X-Hub-Signature-256", signature(body, secret), "X-GitHub-Delivery", "d-1"}
		}
	}
	inPath := func(_, secret string) (string, []string) { return "/" + secret, nil }
	inQuery := func(_, secret string) (string, []string) { return "?token=" + secret, nil }
	inBasic := func(_, secret string) (string, []string) { return "", []string{"Authorization", basic(secret)} }
	inBearer := func(_, secret string) (string, []string) {
		return "", []string{"Authorization", "Bearer " + secret}
	}
	inHeader := func(_, secret string) (string, []string) { return "", []string{"Authorization", secret} }
	for _, tt := range []struct {
		from, proof, file string
		show              func(body, secret string) (suffix string, head []string)
		image             string
	}{
		{"quay", "", "quay.json", inPath, "quay.io/example/kiosk-operator-bundle:v1.4.0"},
		{"quay", "url", "quay.json", inQuery, "quay.io/example/kiosk-operator-bundle:v1.4.0"},
		{"quay", "", "quay.json", inBasic, "quay.io/example/kiosk-operator-bundle:v1.4.0"},
		{"docker-hub", "", "docker-hub.json", inQuery, "docker.io/kiosk/operator-bundle:v1.4.0"},
		{"docker-hub", "", "docker-hub.json", inPath, "docker.io/kiosk/operator-bundle:v1.4.0"},
		{"harbor", "", "harbor.json", inHeader, "harbor.example.com:8443/operators/kiosk-operator-bundle:v1.4.0"},
		{"harbor", "", "harbor-cloudevent.json", inBearer, "harbor.example.com:8443/operators/kiosk-operator-bundle:v1.4.0"},
		{"distribution", "", "distribution.json", inBearer, "registry.example.com:5000/operators/kiosk-operator-bundle:v1.4.0"},
		{"azure", "", "azure.json", inBearer, "kiosk.azurecr.io/operators/kiosk-operator-bundle:v1.4.0"},
		{"azure", "url", "azure-event-grid.json", inQuery, "kiosk.azurecr.io/operators/kiosk-operator-bundle:v1.4.0"},
		{"azure", "", "azure-cloudevent.json", inBasic, "kiosk.azurecr.io/operators/kiosk-operator-bundle:v1.4.0"},
		{"google", "url", "google.json", inQuery, "europe-docker.pkg.dev/kiosk-prod/operators/kiosk-operator-bundle:v1.4.0"},
		{"google", "url", "google-cloudevent.json", inPath, "europe-docker.pkg.dev/kiosk-prod/operators/kiosk-operator-bundle:v1.4.0"},
		{"github", "", "package.json", github("package"), "ghcr.io/example-org/bundles/kiosk-operator:v1.4.0"},
		{"github", "", "registry_package.json", github("registry_package"), "ghcr.io/example-org/bundles/kiosk-operator:v1.4.0"},
		{"client_payload", "", "client_payload.json", inBearer, "quay.io/example/kiosk-operator-bundle:v1.4.0"},
	} {
		t.Run(tt.from+"/"+tt.file, func(t *testing.T) {
			t.Parallel()
			route := "{path: /in/" + tt.from + ", from: " + tt.from + ", secretEnv: SECRET"
			if tt.proof != "" {
				route += ", proof: " + tt.proof
			}
			w := begin(t, setup{config: map[string]string{"routes": "[" + route + "}]", "targets": everything}})
			body := testdata(t, tt.file)
			for _, wrong := range []string{"", secret[1:], secret + "x", strings.ToUpper(secret)} {
				suffix, head := tt.show(body, wrong)
				if status, said := w.post("/in/"+tt.from+suffix, body, head...); status != http.StatusUnauthorized && status != http.StatusNotFound || said != "" {
					t.Errorf("the secret %q: %d %s", wrong, status, said)
				}
			}
			suffix, head := tt.show(body, secret)
			if status, said := w.post("/in/"+tt.from+suffix, body, head...); status != http.StatusAccepted {
				t.Fatalf("%d %s", status, said)
			}
			if status, said := w.post("/in/"+tt.from+suffix, body, head...); status != http.StatusOK || !strings.Contains(said, duplicate) {
				t.Errorf("the second time: %d %s", status, said)
			}
			w.settled()
			got := w.hub.Dispatches()
			if len(got) == 0 || len(got) != strings.Count(testdata(t, tt.file), `"tag": "v0.9.1"`)+1 || got[0].EventType != "bundle" {
				t.Fatalf("%+v", got)
			}
			for _, result := range []string{accepted, duplicate} {
				if n := w.metric("graft_relay_announcements_total" + `{result="` + result + `",route="/in/` + tt.from + `"}`); n != float64(len(got)) {
					t.Errorf("%d events, and the metrics say that %g were %s", len(got), n, result)
				}
			}
			a, err := event.Parse(event.ClientPayload, got[0].Payload, nil)
			if err != nil {
				t.Fatal(err)
			}
			p := a.Publications[0]
			if image := p.Repository + ":" + p.Tag; image != tt.image || p.ID == "" {
				t.Errorf("dispatched %s, id %q, want %s", image, p.ID, tt.image)
			}
			for _, hidden := range []string{secret, ghToken, "?token"} {
				if strings.Contains(w.log.String(), hidden) {
					t.Errorf("%s is in the log:\n%s", hidden, w.log)
				}
			}
		})
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	w := begin(t, setup{config: map[string]string{
		"limits": "{body: 8192}",
		"routes": "[{path: /hook, from: client_payload, secretEnv: SECRET}, {path: /dist, from: distribution, secretEnv: SECRET}," +
			"{path: /github, from: github, secretEnv: SECRET}, {path: /azure, from: azure, secretEnv: SECRET}]",
		"replayWindow": "1h",
	}})
	ping := `{"zen": "x"}`
	grid := `[{"eventType": "Microsoft.EventGrid.SubscriptionValidationEvent", "data": {"validationCode": "512d38b6"}}]`
	for _, tt := range []struct {
		name, method, path, body string
		head                     []string
		status                   int
		says                     string
	}{
		{"unknown path", "POST", "/other", "{}", nil, 404, ""},
		{"below a route", "POST", "/hook/" + secret, "{}", nil, 404, ""},
		{"GET", "GET", "/hook", "", nil, 405, ""},
		{"GET with the secret", "GET", "/hook", "", []string{"Authorization", secret}, 405, ""},
		{"nothing shown", "POST", "/hook", "{}", nil, 401, ""},
		{"empty shown", "POST", "/hook", "{}", []string{"Authorization", ""}, 401, ""},
		{"too long", "POST", "/hook", strings.Repeat(" ", 8193), []string{"Authorization", secret}, 413, ""},
		{"no JSON", "POST", "/hook", "{", []string{"Authorization", secret}, 400, "is not JSON"},
		{"another form", "POST", "/dist", testdata(t, "quay.json"), []string{"Authorization", secret}, 200, "ignored"},
		{"malformed", "POST", "/hook", `{"image": 7}`, []string{"Authorization", secret}, 400, "is not a text"},
		{"not mapped", "POST", "/hook", `{"image": "quay.io/else/op:v1"}`, []string{"Authorization", secret}, 200, "no target matches"},
		{"skipped", "POST", "/hook", `{"image": "quay.io/example/op:latest"}`, []string{"Authorization", secret}, 200, "announces no image"},
		{"too old", "POST", "/dist", testdata(t, "distribution.json"), []string{"Authorization", secret}, 200, "replay window"},
		{"ping", "POST", "/github", ping, []string{"X-GitHub-Event", "ping", "X-Hub-Signature-256", signature(ping, secret)}, 200, "announces no image"},
		{"star", "POST", "/github", ping, []string{"X-GitHub-Event", "star", "X-Hub-Signature-256", signature(ping, secret)}, 200, "announces no image"},
		{"no signature", "POST", "/github", ping, []string{"X-GitHub-Event", "ping"}, 401, ""},
		{"Event Grid asks", "POST", "/azure", grid, []string{"Authorization", secret}, 200, `"validationResponse":"512d38b6"`},
		{"CloudEvents ask", "OPTIONS", "/azure", "", []string{"Authorization", secret, "WebHook-Request-Origin", "eventgrid.azure.net"}, 200, ""},
		{"a stranger asks", "OPTIONS", "/azure", "", []string{"WebHook-Request-Origin", "eventgrid.azure.net"}, 401, ""},
		{"health", "GET", "/healthz", "", nil, 200, "ok"},
		{"ready", "GET", "/readyz", "", nil, 200, "ok"},
		{"health by POST", "POST", "/healthz", "", nil, 405, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w.t = t
			status, said := w.request(tt.method, tt.path, strings.NewReader(tt.body), tt.head...)
			if status != tt.status || !strings.Contains(said, tt.says) || tt.says == "" && said != "" {
				t.Errorf("%d %q, want %d and %q", status, said, tt.status, tt.says)
			}
		})
	}
	w.t = t
	// Without a length, the body is measured while it is read.
	if status, _ := w.request("POST", "/hook", struct{ *strings.Reader }{strings.NewReader(strings.Repeat(" ", 9000))}, "Authorization", secret); status != 413 {
		t.Errorf("a long body without a length: %d", status)
	}
	if n := len(w.hub.Dispatches()); n != 0 || w.Relay.queue.State(t.Context()).Items != 0 {
		t.Errorf("%d events were sent", n)
	}
	for name, want := range map[string]float64{
		`graft_relay_requests_total{code="404",route=""}`:                  2,
		`graft_relay_requests_total{code="401",route="/hook"}`:             2,
		`graft_relay_announcements_total{result="unmapped",route="/hook"}`: 1,
		`graft_relay_announcements_total{result="stale",route="/dist"}`:    2,
		`graft_relay_announcements_total{result="skipped",route="/hook"}`:  1,
		`graft_relay_dispatches_total{result="delivered"}`:                 0,
	} {
		if got := w.metric(name); got != want {
			t.Errorf("%s is %g, want %g", name, got, want)
		}
	}
}

func TestFullQueue(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	w := begin(t, setup{
		config: map[string]string{"queue": "{dir: " + t.TempDir() + ", items: 2}"},
		script: func(fakegithub.Request) *fakegithub.Fault { <-hold; return nil },
	})
	for _, tag := range []string{"v1", "v2"} {
		if status, said := w.hook("quay.io/example/op:" + tag); status != 202 {
			t.Fatalf("%d %s", status, said)
		}
	}
	resp := w.ask("POST", "/hook", strings.NewReader(`{"image": "quay.io/example/op:v3"}`), "Authorization", secret)
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" {
		t.Errorf("%d, Retry-After %q", resp.StatusCode, resp.Header.Get("Retry-After"))
	}
	if status, said := w.request("GET", "/readyz", nil); status != 503 || said != "the queue is full" {
		t.Errorf("%d %s", status, said)
	}
	close(hold)
	w.settled()
	if status, _ := w.hook("quay.io/example/op:v3"); status != 202 {
		t.Errorf("%d once there is room", status)
	}
}

// A secret can be exchanged without a restart. For a while both are valid.
func TestSecretIsExchanged(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(secret + "\n")
	s, err := openSecrets(Route{SecretFile: file}, nil, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	fits := func(after time.Duration, shown string) bool {
		return s.fits(time.Now().Add(after), func(one string) bool { return same(one, shown) })
	}
	const next = "another-secret-of-some-length"
	write(secret + "\n" + next + "\n")
	if fits(0, next) || !fits(time.Minute, next) || !fits(time.Minute, secret) {
		t.Error("a second line is not accepted as a second secret")
	}
	write(next)
	if fits(2*time.Minute, secret) || !fits(2*time.Minute, next) {
		t.Error("the old secret is still accepted")
	}
	write("short")
	if !fits(3*time.Minute, next) || fits(3*time.Minute, "short") {
		t.Error("an invalid file was accepted")
	}
}

// Duplicates of an announcement without a digest.
func TestKeys(t *testing.T) {
	c, err := Parse("relay.yaml", []byte(setup{config: map[string]string{"targets": `[{images: ["quay.io/example/*"], repositories: [octo/catalog, octo/other]},
  {images: ["quay.io/**"], repositories: [octo/catalog]}, {images: ["quay.io/**"], repositories: [octo/catalog], eventType: second}]`}}.yaml(t, "https://api.github.com")))
	if err != nil {
		t.Fatal(err)
	}
	base := event.Publication{Repository: "quay.io/example/op", Tag: "v1", Source: event.Quay}
	write := func(change func(*event.Publication), mark string) (keys, ids []string, within time.Duration) {
		p := base
		if change != nil {
			change(&p)
		}
		entries, err := c.deliveries(p, mark, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			var l delivery
			if err := json.Unmarshal(e.Data, &l); err != nil {
				t.Fatal(err)
			}
			keys, ids, within = append(keys, e.Key), append(ids, l.ID), e.Within
		}
		return keys, ids, within
	}
	digest := func(p *event.Publication) { p.Digest = "sha256:" + strings.Repeat("a", 64) }
	keys, ids, within := write(nil, "")
	if len(keys) != 3 || within != tagWindow || keys[0] == ids[0] || keys[0] == keys[1] || keys[0] == keys[2] || keys[1] == keys[2] {
		t.Fatalf("%v %v %v: three repositories and types, each once", keys, ids, within)
	}
	if again, newIDs, _ := write(nil, ""); again[0] != keys[0] || newIDs[0] == ids[0] {
		t.Error("by tag alone the key must be the same and the id must differ")
	}
	c.ReplayWindow = tagWindow / 2
	if _, _, within := write(nil, ""); within != c.ReplayWindow {
		t.Errorf("by tag alone the key is known for %v; the replay window is %v", within, c.ReplayWindow)
	}
	c.ReplayWindow = 72 * time.Hour
	marked, ids, within := write(nil, "mark")
	if marked[0] == keys[0] || ids[0] != marked[0] || within != c.ReplayWindow {
		t.Error("with a mark the key is not known for the window")
	}
	known, ids, within := write(digest, "mark")
	if other, _, _ := write(digest, "another"); other[0] != known[0] || ids[0] != known[0] || within != c.ReplayWindow {
		t.Error("with a digest the mark changes the key")
	}
	for name, change := range map[string]func(*event.Publication){
		"tag":    func(p *event.Publication) { digest(p); p.Tag = "v2" },
		"digest": func(p *event.Publication) { p.Digest = "sha256:" + strings.Repeat("b", 64) },
		"claim":  func(p *event.Publication) { digest(p); p.Said.Channels = []string{"stable"} },
		"name":   func(p *event.Publication) { digest(p); p.ID = "build-7" },
	} {
		if other, _, _ := write(change, ""); other[0] == known[0] {
			t.Errorf("another %s gives the same announcement", name)
		}
	}
	if other, _, _ := write(func(p *event.Publication) { digest(p); p.Source = event.Package }, ""); other[0] != known[0] {
		t.Error("the sender changes the key")
	}
}

// The relay asks a registry for a missing digest, unless no target receives the image. If the registry does not
// answer, the tag is sent.
func TestDigestIsAskedFor(t *testing.T) {
	t.Parallel()
	digest := "sha256:" + strings.Repeat("d", 64)
	var asked []string
	w := begin(t, setup{
		config: map[string]string{"resolveDigests": "true"},
		resolve: func(_ context.Context, ref string) (string, error) {
			asked = append(asked, ref)
			if strings.HasSuffix(ref, ":v2") {
				return "", errors.New("no answer")
			}
			return digest, nil
		},
	})
	for _, image := range []string{"quay.io/example/op:v1", "quay.io/else/op:v1", "quay.io/example/op:v2", "quay.io/example/op@sha256:" + strings.Repeat("e", 64)} {
		w.hook(image)
		w.settled()
	}
	var sent []string
	for _, d := range w.hub.Dispatches() {
		var p event.Payload
		if err := json.Unmarshal(d.Payload, &p); err != nil {
			t.Fatal(err)
		}
		sent = append(sent, p.Image+" "+strings.TrimRight(p.Digest, "de"))
	}
	if want := "quay.io/example/op:v1 sha256:,quay.io/example/op:v2 "; !strings.HasPrefix(strings.Join(sent, ","), want) || len(sent) != 3 {
		t.Errorf("sent %q", sent)
	}
	if want := "quay.io/example/op:v1 quay.io/example/op:v2"; strings.Join(asked, " ") != want {
		t.Errorf("asked for %v", asked)
	}
	if status, said := w.hook("quay.io/example/op:v1"); status != 200 || !strings.Contains(said, duplicate) {
		t.Errorf("the same digest again: %d %s", status, said)
	}
	digest = "sha256:" + strings.Repeat("c", 64)
	if status, said := w.hook("quay.io/example/op:v1"); status != 202 {
		t.Errorf("the tag was moved: %d %s", status, said)
	}
}
