package nats_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/testkit/fakegithub"
)

const (
	secret = "correct-horse-battery-staple"
	// catalogs is the number of repositories that receive images, repositories the number of image repositories
	// of each.
	catalogs     = 8
	repositories = 4
)

var programs string // the folder of graft-relay

func TestMain(m *testing.M) {
	var err error
	if programs, err = os.MkdirTemp("", "graft-nats"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(programs)
	os.Exit(code)
}

var graftRelay = sync.OnceValues(func() (string, error) {
	cmd := exec.Command("go", "build", "-o", programs+"/", "./cmd/graft-relay")
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building graft-relay: %w\n%s", err, out)
	}
	return filepath.Join(programs, "graft-relay"), nil
})

// startForge starts a GitHub with the catalogs.
func startForge(t testing.TB, script func(fakegithub.Request) *fakegithub.Fault) (*fakegithub.Server, string) {
	t.Helper()
	hub := fakegithub.New(fakegithub.Options{Script: script})
	for i := range catalogs {
		if err := hub.AddRepository(fakegithub.Repository{Owner: "octo", Name: fmt.Sprint("catalog", i), Files: map[string]string{"a": "b"}}); err != nil {
			t.Fatal(err)
		}
	}
	api := httptest.NewServer(hub)
	t.Cleanup(api.Close)
	return hub, api.URL
}

// startRelays starts relays, the real program, that share a queue and retry at once.
func startRelays(t testing.TB, n int, queue, forge string) (relays []*process, addresses []string) {
	t.Helper()
	return startRelaysWith(t, n, queue, forge, "firstRetry: 1ms, longestRetry: 20ms")
}

func startRelaysWith(t testing.TB, n int, queue, forge, retries string) (relays []*process, addresses []string) {
	t.Helper()
	path, err := graftRelay()
	if err != nil {
		t.Fatal(err)
	}
	var targets []string
	for i := range catalogs {
		targets = append(targets, fmt.Sprintf("{images: [quay.io/t%d/*], repositories: [octo/catalog%d]}", i, i))
	}
	for _, port := range freePorts(t, n) {
		config := filepath.Join(t.TempDir(), "relay.yaml")
		text := fmt.Sprintf("listen: 127.0.0.1:%d\nqueue: %s\ngithub: {apiURL: %q, pace: 0s, %s}\n"+
			"routes: [{path: /hook, from: client_payload, secretEnv: SECRET}]\ntargets: [%s]\n", port, queue, forge, retries, strings.Join(targets, ", "))
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		relays = append(relays, launch(t, path, []string{"SECRET=" + secret, "GITHUB_TOKEN=ghp_0123456789abcdefghij"}, "--config", config))
		addresses = append(addresses, fmt.Sprintf("127.0.0.1:%d", port))
	}
	for i, address := range addresses {
		begun := time.Now()
		for !answers(address) {
			if time.Sleep(20 * time.Millisecond); time.Since(begun) > time.Minute {
				t.Fatalf("a relay does not answer:\n%s", relays[i].said())
			}
		}
	}
	return relays, addresses
}

// answers reports whether a relay answers.
func answers(address string) bool {
	resp, err := http.Get("http://" + address + "/healthz")
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// registries announce images as registries do: each image to one relay, or to another if that does not answer.
// Each registry has its own repositories and announces one image of a repository after the other.
type registries struct {
	client    *http.Client
	addresses []string

	mu       sync.Mutex
	promised map[string]int // status by image
	answered []time.Time    // times of the promises
	refused  int
}

func newRegistries(addresses []string) *registries {
	return &registries{
		client:    &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
		addresses: addresses, promised: map[string]int{},
	}
}

// announce announces this many images, all repositories concurrently, over at least this time.
func (r *registries) announce(images int, least time.Duration) {
	each := images / (catalogs * repositories)
	var wg sync.WaitGroup
	for repository := range catalogs * repositories {
		wg.Go(func() {
			for n := range each {
				r.one(fmt.Sprintf("quay.io/t%d/op%d:v%d", repository%catalogs, repository/catalogs, n))
				time.Sleep(least / time.Duration(each))
			}
		})
	}
	wg.Wait()
}

// one announces an image until a relay accepts it.
func (r *registries) one(image string) {
	body := fmt.Sprintf(`{"image": %q, "digest": "sha256:%064x"}`, image, rand.Uint64())
	for at := rand.IntN(len(r.addresses)); ; at++ {
		status := r.post(r.addresses[at%len(r.addresses)], body)
		r.mu.Lock()
		if status == http.StatusAccepted || status == http.StatusOK { // 200: it was accepted, and the first answer was lost
			r.promised[image] = status
			r.answered = append(r.answered, time.Now())
			r.mu.Unlock()
			return
		}
		r.refused++
		r.mu.Unlock()
		time.Sleep(20 * time.Millisecond)
	}
}

func (r *registries) post(address, body string) int {
	req, err := http.NewRequest(http.MethodPost, "http://"+address+"/hook", bytes.NewReader([]byte(body)))
	if err != nil {
		return 0
	}
	req.Header.Set("Authorization", secret)
	resp, err := r.client.Do(req)
	if err != nil {
		return 0
	}
	_, _ = io.Copy(io.Discard, resp.Body) // the status suffices
	_ = resp.Body.Close()
	return resp.StatusCode
}

func (r *registries) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.promised)
}

// longestSilence returns the longest time without a promise.
func (r *registries) longestSilence() (longest time.Duration) {
	for i := 1; i < len(r.answered); i++ {
		longest = max(longest, r.answered[i].Sub(r.answered[i-1]))
	}
	return longest
}

// arrivals is what GitHub received: the ids of each image, and the order in which a repository's images first
// arrived.
type arrivals struct {
	ids   map[string]map[string]int
	first map[string][]string
	all   int
}

func arrived(t testing.TB, hub *fakegithub.Server) arrivals {
	t.Helper()
	a := arrivals{ids: map[string]map[string]int{}, first: map[string][]string{}}
	for _, d := range hub.Dispatches() {
		var said struct{ Image, ID string }
		if err := json.Unmarshal(d.Payload, &said); err != nil {
			t.Fatal(err)
		}
		if a.ids[said.Image] == nil {
			a.ids[said.Image] = map[string]int{}
			repository, _, _ := strings.Cut(said.Image, ":v")
			a.first[repository] = append(a.first[repository], said.Image)
		}
		a.ids[said.Image][said.ID]++
		a.all++
	}
	return a
}

// hold compares the arrivals with the promises: each image under one id, in the order in which its repository
// announced.
func (a arrivals) hold(t testing.TB, promised map[string]int) {
	t.Helper()
	for image, status := range promised {
		if len(a.ids[image]) != 1 {
			t.Errorf("%s was answered with %d and dispatched under %d ids", image, status, len(a.ids[image]))
		}
	}
	if len(a.ids) != len(promised) {
		t.Errorf("%d images were promised, and %d arrived", len(promised), len(a.ids))
	}
	disordered := 0
	for repository, images := range a.first {
		for n, image := range images {
			if image != fmt.Sprintf("%s:v%d", repository, n) {
				disordered++
			}
		}
	}
	if disordered > 0 {
		t.Errorf("%d images arrived before an earlier one of their repository", disordered)
	}
}
