package relay

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/olmgraft/graft/internal/oci"
	"github.com/olmgraft/graft/internal/testkit/effort"
	"github.com/olmgraft/graft/internal/testkit/fakegithub"
)

// lapse is a fault of one request of the relay. The server may execute the request before it.
type lapse struct {
	name   string
	status int // 0 breaks the connection
	header http.Header
	acted  bool
	hangs  bool
}

// lapses are the faults that each request has, once.
var lapses = []lapse{
	{name: "500", status: 500},
	{name: "502 after it acted", status: 502, acted: true},
	{name: "cut"},
	{name: "cut after it acted", acted: true},
	{name: "hang", hangs: true},
	{name: "401", status: 401},
	{name: "403", status: 403},
	{name: "403 with a limit", status: 403, header: http.Header{"X-Ratelimit-Remaining": {"0"}}},
	{name: "429", status: 429, header: http.Header{"Retry-After": {"30"}}},
	{name: "404", status: 404},
	{name: "422", status: 422},
}

// outside serves GitHub, a registry and Google's keys without a network. It numbers the requests, and one of
// them fails.
type outside struct {
	hub  http.Handler
	keys []byte

	mu    sync.Mutex
	asked []string
	fails int // the number of the request that fails, from 1; 0: none
	how   lapse
}

// RoundTrip implements http.RoundTripper.
func (o *outside) RoundTrip(req *http.Request) (*http.Response, error) {
	o.mu.Lock()
	o.asked = append(o.asked, req.Method+" "+req.URL.Host+req.URL.Path)
	fails := len(o.asked) == o.fails
	o.mu.Unlock()
	if !fails {
		return o.serve(req)
	}
	if o.how.hangs {
		select {
		case <-req.Context().Done():
			return nil, req.Context().Err()
		case <-time.After(newTransport().ResponseHeaderTimeout):
			return nil, errors.New("timeout awaiting response headers")
		}
	}
	if o.how.acted {
		if resp, err := o.serve(req); err != nil {
			return resp, err
		}
	}
	if o.how.status == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	header := http.Header{"Content-Type": {"application/json"}}
	for name, values := range o.how.header {
		header[name] = values
	}
	if header.Get("X-Ratelimit-Remaining") != "" {
		header.Set("X-Ratelimit-Reset", fmt.Sprint(time.Now().Add(time.Hour).Unix()))
	}
	message := `{"message": "it fails"}`
	return &http.Response{StatusCode: o.how.status, Header: header, Body: io.NopCloser(strings.NewReader(message)), ContentLength: int64(len(message)), Request: req}, nil
}

func (o *outside) serve(req *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	switch req.URL.Host {
	case "api.github.example":
		o.hub.ServeHTTP(w, req)
	case "keys.example":
		_, _ = w.Write(o.keys)
	default:
		manifest := []byte(`{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json"}`)
		if strings.Contains(req.URL.Path, "/manifests/") {
			w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
			w.Header().Set("Docker-Content-Digest", digestOf(manifest))
			_, _ = w.Write(manifest)
		}
	}
	resp := w.Result()
	resp.Request = req
	return resp, nil
}

// kindOf returns the kind of a request.
func kindOf(asked string) string {
	switch {
	case strings.HasSuffix(asked, "/dispatches"):
		return "dispatch"
	case strings.HasSuffix(asked, "/access_tokens"):
		return "token"
	case strings.HasSuffix(asked, "/app/installations"):
		return "list"
	case strings.Contains(asked, "keys.example"):
		return "keys"
	}
	return "registry"
}

// world holds the keys that all runs share, because generating keys is slow.
type world struct {
	appFile string
	app     *rsa.PublicKey
	google  *rsa.PrivateKey
}

// came is the result of a run.
type came struct {
	asked    []string
	statuses map[string][]int    // by announcement
	ids      map[string][]string // of the dispatches, by image
	dead     []string            // reasons of the dead letters
	results  map[string]float64  // of the attempts
}

// run lets a relay accept announcements of two accounts and dispatch them, while one of its requests fails.
func (w *world) run(t *testing.T, fails int, how lapse) (c came) {
	synctest.Test(t, func(t *testing.T) {
		hub := fakegithub.New(fakegithub.Options{})
		for i, owner := range []string{"alpha", "beta"} {
			hub.AddApp(fakegithub.GitHubApp{ID: "77", Installation: int64(i + 1), Account: owner, Key: w.app, Permissions: map[string]string{"contents": "write"}})
			if err := hub.AddRepository(fakegithub.Repository{Owner: owner, Name: "catalog"}); err != nil {
				t.Fatal(err)
			}
		}
		keys, err := json.Marshal(map[string]any{"keys": []map[string]string{{"kty": "RSA", "kid": "k1",
			"n": urlBase64.EncodeToString(w.google.N.Bytes()), "e": urlBase64.EncodeToString(big.NewInt(int64(w.google.E)).Bytes())}}})
		if err != nil {
			t.Fatal(err)
		}
		o := &outside{hub: hub, keys: keys, fails: fails, how: how}
		dir := t.TempDir()
		c.statuses, c.ids, c.results = map[string][]int{}, map[string][]string{}, map[string]float64{}
		r, end := w.open(t, dir, o)
		for _, one := range []struct{ path, body, proof string }{
			{"/hook", `{"image": "quay.io/alpha/op:v1"}`, secret},
			{"/hook", `{"image": "quay.io/alpha/op:v2"}`, secret},
			{"/google", googleSays("gcr.io/beta/op", "v1"), ""},
		} {
			c.statuses[one.body] = w.announce(t, r, one.path, one.body, one.proof)
			time.Sleep(10 * time.Second) // so that requests have the same order in each run
		}
		time.Sleep(6 * time.Hour)
		synctest.Wait()
		end()
		for _, d := range hub.Dispatches() {
			var said struct{ Image, ID string }
			if err := json.Unmarshal(d.Payload, &said); err != nil {
				t.Fatal(err)
			}
			c.ids[said.Image] = append(c.ids[said.Image], said.ID)
		}
		c.asked, c.dead = o.asked, lettersIn(t, dir)
		for _, result := range []string{delivered, retried, limited, dead} {
			c.results[result] = testutil.ToFloat64(r.metrics.sends.WithLabelValues(result))
		}
	})
	return c
}

// open opens a relay and lets it hand out and dispatch until end is called.
func (w *world) open(t *testing.T, dir string, o *outside) (r *Relay, end func()) {
	t.Helper()
	c, err := Parse("relay.yaml", []byte(`listen: "127.0.0.1:0"
queue: {dir: `+dir+`}
resolveDigests: true
replayWindow: 24h
github: {apiURL: "https://api.github.example", pace: 0s, app: {id: "77", keyFile: `+w.appFile+`}}
routes:
- {path: /hook, from: client_payload, secretEnv: SECRET}
- {path: /google, from: google, audience: https://relay.example.com/google, account: push@example.com, keysURL: "https://keys.example/"}
targets: [{images: ["quay.io/{org}/*"], repositories: ["{org}/catalog"]}, {images: ["gcr.io/{org}/*"], repositories: ["{org}/catalog"]}]
`))
	if err != nil {
		t.Fatal(err)
	}
	registries, err := oci.New(oci.Options{Transport: o})
	if err != nil {
		t.Fatal(err)
	}
	r, err = Open(t.Context(), c, Options{
		Env: func(string) (string, bool) { return secret, true }, Log: slog.New(slog.DiscardHandler), Transport: o, Resolve: registries.Resolve,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var working sync.WaitGroup
	working.Go(func() { r.dispatcher.run(ctx, context.Background()) })
	working.Go(func() {
		if err := r.queue.Run(ctx, r.dispatcher.add); err != nil {
			t.Error(err)
		}
	})
	return r, func() {
		stop()
		working.Wait()
		if err := errors.Join(r.queue.Close(), r.listener.Close()); err != nil {
			t.Error(err)
		}
	}
}

// announce sends an announcement until the relay has accepted it, as registries do, and returns the answers.
func (w *world) announce(t *testing.T, r *Relay, path, body, proof string) (statuses []int) {
	t.Helper()
	for range 10 {
		if path == "/google" {
			now := time.Now()
			proof = "Bearer " + signedBy(t, w.google, "k1", map[string]any{
				"iss": "https://accounts.google.com", "aud": "https://relay.example.com/google", "sub": "1",
				"email": "push@example.com", "email_verified": true, "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
			})
		}
		req := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
		req.Header.Set("Authorization", proof)
		answer := httptest.NewRecorder()
		r.serveHooks(answer, req)
		if statuses = append(statuses, answer.Code); answer.Code == http.StatusAccepted {
			return statuses
		}
		time.Sleep(time.Minute)
	}
	t.Errorf("%s was never accepted: %v", body, statuses)
	return statuses
}

// googleSays returns the message of Pub/Sub about an image.
func googleSays(repository, tag string) string {
	data := fmt.Sprintf(`{"action": "INSERT", "digest": "%s@sha256:%064d", "tag": "%s:%s"}`, repository, 1, repository, tag)
	return fmt.Sprintf(`{"message": {"data": %q, "messageId": "1"}, "subscription": "s"}`, base64.StdEncoding.EncodeToString([]byte(data)))
}

func digestOf(content []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(content)) }

// lettersIn returns the reasons of the dead letters in a folder.
func lettersIn(t *testing.T, dir string) (reasons []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "dead.jsonl"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var one deadLetter
		if err := json.Unmarshal(line, &one); err != nil {
			t.Fatal(err)
		}
		reasons = append(reasons, one.Reason)
	}
	return reasons
}

// expected returns the result of an attempt to dispatch with a lapse, see docs/relay-reference.md.
func expected(how lapse) string {
	switch how.name {
	case "403", "404", "422":
		return dead
	case "403 with a limit", "429":
		return limited
	}
	return retried
}

// Each request of the relay fails once, in each way. Every accepted event is dispatched under one id, or is a
// dead letter if GitHub refused it for good. Only an event whose answer was lost is dispatched twice.
func TestEachRequestFails(t *testing.T) {
	t.Parallel()
	w := &world{}
	w.appFile, w.app = appKey(t)
	var err error
	if w.google, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
		t.Fatal(err)
	}
	well := w.run(t, 0, lapse{})
	kinds := map[string]int{}
	for _, one := range well.asked {
		kinds[kindOf(one)]++
	}
	if len(kinds) != 5 || kinds["dispatch"] != 3 || len(well.dead) > 0 {
		t.Fatalf("without a fault there are %v, and dead letters %q: %q", kinds, well.dead, well.asked)
	}
	all := len(well.asked) * len(lapses)
	n := effort.Of(t, 20, all, all)
	for i := range n {
		at := i * all / n
		number, how := at/len(lapses)+1, lapses[at%len(lapses)]
		place := kindOf(well.asked[number-1])
		what := fmt.Sprintf("request %d (%s) with %s", number, well.asked[number-1], how.name)
		got := w.run(t, number, how)
		if len(got.asked) < number || got.asked[number-1] != well.asked[number-1] {
			t.Fatalf("%s: the requests are %q", what, got.asked)
		}
		refused := place == "dispatch" && expected(how) == dead
		if dispatched := len(got.ids); dispatched+len(got.dead) != 3 || (len(got.dead) == 1) != refused {
			t.Errorf("%s: dispatched are %v, dead letters %q", what, got.ids, got.dead)
		}
		twice := 0
		for image, ids := range got.ids {
			twice += len(ids) - 1
			if slices.Sort(ids); ids[0] != ids[len(ids)-1] {
				t.Errorf("%s: %s was dispatched as %v", what, image, ids)
			}
		}
		if want := place == "dispatch" && how.acted; (twice == 1) != want || twice > 1 {
			t.Errorf("%s: %d events came again: %v", what, twice, got.ids)
		}
		for body, statuses := range got.statuses {
			if late := len(statuses) > 1; late != (place == "keys" && strings.Contains(body, "messageId")) {
				t.Errorf("%s: %s was answered with %v", what, body, statuses)
			}
		}
		if place == "dispatch" && got.results[expected(how)] != 1 {
			t.Errorf("%s: the results of attempts are %v, want %s once", what, got.results, expected(how))
		}
	}
	t.Logf("%d requests (%v), each in %d ways", len(well.asked), kinds, len(lapses))
}
