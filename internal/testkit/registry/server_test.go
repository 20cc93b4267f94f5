package registry

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

func start(t *testing.T) *Server {
	t.Helper()
	s, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func get(t *testing.T, s *Server, url string, header ...string) (status int, h http.Header, body string, err error) {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := (&http.Client{Transport: s.Transport()}).Do(req)
	if err != nil {
		return 0, nil, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header, string(b), err
}

var sample = Bundle{
	Files:  map[string][]byte{"manifests/a.yaml": []byte("a: 1\n"), "metadata/annotations.yaml": []byte("annotations:\n  x: y\n")},
	Labels: map[string]string{"x": "y"},
}

func TestPushIsTheSameEachTime(t *testing.T) {
	for _, form := range []Form{{}, {OCI: true}, {OCI: true, Compression: Zstd}, {Compression: Plain}, {Platforms: []string{"linux/amd64", "linux/arm64"}}} {
		first, err := start(t).Push("acme/op:v1", sample, form)
		if err != nil {
			t.Fatal(err)
		}
		second, err := start(t).Push("acme/op:v1", sample, form)
		if err != nil || first != second {
			t.Errorf("%+v: %s and %s, %v", form, first, second, err)
		}
	}
}

func TestServesAnyHost(t *testing.T) {
	s := start(t)
	digest, err := s.Push("acme/op:v1", sample, Form{})
	if err != nil {
		t.Fatal(err)
	}
	for _, base := range []string{"http://" + s.Addr, "http://127.0.0.1:5555", "https://quay.io"} {
		status, h, body, err := get(t, s, base+"/v2/acme/op/manifests/v1")
		if err != nil || status != 200 || h.Get("Docker-Content-Digest") != digest || digestOf([]byte(body)) != digest {
			t.Errorf("%s: %d %v %v", base, status, h, err)
		}
	}
	if s.Count(Manifest) != 3 || s.Count() != 3 || s.Requests()[2].Host != "quay.io" || s.Bytes() == 0 {
		t.Errorf("requests: %+v", s.Requests())
	}
	s.Reset()
	if s.Count() != 0 {
		t.Errorf("after Reset: %v", s.Requests())
	}
}

func TestFromDir(t *testing.T) {
	got, err := FromDir(fstest.MapFS{
		"manifests/a.yaml":          {Data: []byte("a: 1\n")},
		"metadata/annotations.yaml": {Data: []byte("annotations:\n  x: y\n")},
		"README.md":                 {Data: []byte("no part of it")},
	})
	if err != nil || len(got.Files) != 2 || got.Labels["x"] != "y" {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestFaultsShow(t *testing.T) {
	s := start(t)
	if _, err := s.Push("acme/op:v1", sample, Form{}); err != nil {
		t.Fatal(err)
	}
	const url = "http://registry.example/v2/acme/op/manifests/v1"
	_, _, whole, err := get(t, s, url)
	if err != nil {
		t.Fatal(err)
	}
	try := func(f Fault) (int, http.Header, string, error) {
		s.SetScript(func(Request) Fault { return f })
		return get(t, s, url)
	}
	if status, h, body, _ := try(Fault{Status: 429, Header: map[string]string{"Retry-After": "3"}}); status != 429 || h.Get("Retry-After") != "3" || !json.Valid([]byte(body)) {
		t.Errorf("status: %d %v %s", status, h, body)
	}
	if _, _, body, err := try(Fault{Alter: func([]byte) []byte { return []byte("other") }}); body != "other" || err != nil {
		t.Errorf("alter: %q %v", body, err)
	}
	if _, _, body, err := try(Fault{Truncate: 5}); body != whole[:5] || err == nil {
		t.Errorf("truncate: %q %v", body, err)
	}
	if _, _, _, err := try(Fault{Reset: true}); err == nil || !strings.Contains(err.Error(), "reset") {
		t.Errorf("reset: %v", err)
	}
	if _, _, body, err := try(Fault{Stall: 20 * time.Millisecond}); body != whole || err != nil {
		t.Errorf("stall: %q %v", body, err)
	}
	s.SetScript(nil)
	s.SetLatency(30 * time.Millisecond)
	begin := time.Now()
	if _, _, body, _ := get(t, s, url); body != whole || time.Since(begin) < 30*time.Millisecond {
		t.Errorf("latency: %v", time.Since(begin))
	}
}

func TestCloseEndsAnswers(t *testing.T) {
	s, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	s.SetLatency(time.Hour)
	done := make(chan error)
	go func() {
		_, _, _, err := get(t, s, "http://registry.example/v2/")
		done <- err
	}()
	time.Sleep(20 * time.Millisecond)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if <-done == nil {
		t.Error("the answer came")
	}
}

func TestAsksForCredentials(t *testing.T) {
	s := start(t)
	if _, err := s.Push("acme/op:v1", sample, Form{}); err != nil {
		t.Fatal(err)
	}
	const url = "http://registry.example/v2/acme/op/manifests/v1"
	s.SetAuth(Auth{Scheme: "basic", Username: "u", Password: "p"})
	if status, h, _, _ := get(t, s, url); status != 401 || !strings.HasPrefix(h.Get("WWW-Authenticate"), "Basic ") {
		t.Errorf("%d %v", status, h)
	}
	if status, _, _, _ := get(t, s, url, "Authorization", "Basic dTpw"); status != 200 {
		t.Errorf("with credentials: %d", status)
	}

	s.SetAuth(Auth{Scheme: "bearer", Username: "u", Password: "p", Public: []string{"acme/pub"}, TokenUses: 2})
	const realm = "http://registry.example/token?service=registry&scope=repository:acme/op:pull"
	if status, h, _, _ := get(t, s, url); status != 401 || !strings.Contains(h.Get("WWW-Authenticate"), `realm="http://registry.example/token"`) {
		t.Errorf("%d %v", status, h)
	}
	if status, _, _, _ := get(t, s, realm); status != 401 {
		t.Errorf("a token without credentials: %d", status)
	}
	if status, _, _, _ := get(t, s, "http://registry.example/token?scope=repository:acme/pub:pull"); status != 200 {
		t.Errorf("no token for a public repository: %d", status)
	}
	_, _, body, _ := get(t, s, realm, "Authorization", "Basic dTpw")
	var token struct{ Token string }
	if err := json.Unmarshal([]byte(body), &token); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{200, 200, 401} {
		if status, _, _, _ := get(t, s, url, "Authorization", "Bearer "+token.Token); status != want {
			t.Errorf("use %d: %d, want %d", i+1, status, want)
		}
	}
}

func TestWaitEndsWithTheClient(t *testing.T) {
	s := start(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if s.wait(ctx, time.Hour) {
		t.Error("waited for a client that is gone")
	}
}
