package oci

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/testkit/registry"
)

// onLayers applies a fault to layers only, and to the first requests for each. times is the number of requests;
// 0 means all.
func onLayers(config string, times int, f registry.Fault) func(registry.Request) registry.Fault {
	return on(func(r registry.Request) bool { return r.Kind == registry.Blob && r.Reference != config }, times, f)
}

func onManifests(times int, f registry.Fault) func(registry.Request) registry.Fault {
	return on(func(r registry.Request) bool { return r.Kind == registry.Manifest }, times, f)
}

func on(which func(registry.Request) bool, times int, f registry.Fault) func(registry.Request) registry.Fault {
	return func(r registry.Request) registry.Fault {
		if which(r) && (times == 0 || r.Nth <= times) {
			return f
		}
		return registry.Fault{}
	}
}

func flip(b []byte) []byte {
	b[len(b)/2] ^= 1
	return b
}

func longer(b []byte) []byte { return append(b, "more"...) }

// Each fault gives its code. retries is the number of waits; -1 skips the check, because several concurrent
// requests had the fault.
func TestFaults(t *testing.T) {
	const ok failure.Code = 0
	cases := []struct {
		name    string
		script  func(config string) func(registry.Request) registry.Fault
		code    failure.Code
		retries int
		word    string
	}{
		{"404", manifests(0, registry.Fault{Status: 404}), failure.BundleNotFound, 0, "HTTP 404 MANIFEST_UNKNOWN"},
		{"blob 404", layers(0, registry.Fault{Status: 404}), failure.BundleNotFound, 0, "reading blob sha256:"},
		{"401", manifests(0, registry.Fault{Status: 401}), failure.RegistryAuth, 0, "log in"},
		{"403", manifests(0, registry.Fault{Status: 403}), failure.RegistryAuth, 0, "HTTP 403 DENIED"},
		{"418", manifests(0, registry.Fault{Status: 418}), failure.RegistryUnavailable, 0, "HTTP 418"},
		{"408 once", manifests(1, registry.Fault{Status: 408}), ok, 1, ""},
		{"429 once", manifests(1, registry.Fault{Status: 429, Header: map[string]string{"Retry-After": "7"}}), ok, 1, ""},
		{"429 always", manifests(0, registry.Fault{Status: 429, Header: map[string]string{"Retry-After": "7"}}), failure.RegistryUnavailable, 3, "after 7 s"},
		{"429 for long", manifests(1, registry.Fault{Status: 429, Header: map[string]string{"Retry-After": "7200"}}), failure.RegistryUnavailable, 0, "7200 s"},
		{"500 twice", manifests(2, registry.Fault{Status: 500}), ok, 2, ""},
		{"500 always", manifests(0, registry.Fault{Status: 500}), failure.RegistryUnavailable, 3, "HTTP 500"},
		{"503 on layers", layers(2, registry.Fault{Status: 503}), ok, -1, ""},
		{"truncated once", layers(1, registry.Fault{Truncate: 10}), ok, -1, ""},
		{"truncated always", layers(0, registry.Fault{Truncate: 10}), failure.RegistryUnavailable, -1, "reading blob sha256:"},
		{"truncated manifest", manifests(1, registry.Fault{Truncate: 10}), ok, 1, ""},
		{"altered blob", layers(0, registry.Fault{Alter: flip}), failure.DigestMismatch, 0, "has digest sha256:"},
		{"longer blob", layers(0, registry.Fault{Alter: longer}), failure.DigestMismatch, 0, "has digest sha256:"},
		{"altered manifest", manifests(0, registry.Fault{Alter: flip}), failure.DigestMismatch, 0, "has digest sha256:"},
		{"reset once", manifests(1, registry.Fault{Reset: true}), ok, -1, ""},
		{"reset always", manifests(0, registry.Fault{Reset: true}), failure.RegistryUnavailable, 3, "reading manifest v1"},
		{"reset on layers", layers(1, registry.Fault{Reset: true}), ok, -1, ""},
		{"ping 500 twice", pings(2, registry.Fault{Status: 500}), ok, 2, ""},
		{"ping 404", pings(0, registry.Fault{Status: 404}), ok, 0, ""},
		{"ping 500 always", pings(0, registry.Fault{Status: 500}), failure.RegistryUnavailable, 3, "HTTP 500"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			s := startServer(t)
			bundle := sampleBundle()
			push(t, s, "acme/operator:v1", bundle, registry.Form{})
			s.SetScript(tc.script(configOf(t, s)))
			c, slept := newClient(t, s, nil)
			got, err := c.Pull(context.Background(), testRepo+":v1")
			if tc.retries >= 0 && len(slept.slept) != tc.retries {
				t.Errorf("waited %v, want %d times", slept.slept, tc.retries)
			}
			if tc.code == ok {
				if err != nil {
					t.Fatal(err)
				}
				wantFiles(t, got.Files, bundle.Files)
				return
			}
			f := wantFailure(t, err, tc.code, testRepo+":v1", tc.word)
			if want := tc.code == failure.RegistryUnavailable && tc.name != "418"; f.Retryable != want {
				t.Errorf("retryable is %v", f.Retryable)
			}
			if got != nil {
				t.Errorf("a failed pull gave %v", got)
			}

			// The fault leaves no state in the client.
			s.SetScript(nil)
			if got, err = c.Pull(context.Background(), testRepo+":v1"); err != nil {
				t.Fatalf("after the fault was gone: %v", err)
			}
			wantFiles(t, got.Files, bundle.Files)
		})
	}
}

type scripted = func(config string) func(registry.Request) registry.Fault

func manifests(times int, f registry.Fault) scripted {
	return func(string) func(registry.Request) registry.Fault { return onManifests(times, f) }
}

func layers(times int, f registry.Fault) scripted {
	return func(config string) func(registry.Request) registry.Fault { return onLayers(config, times, f) }
}

func pings(times int, f registry.Fault) scripted {
	return func(string) func(registry.Request) registry.Fault {
		return on(func(r registry.Request) bool { return r.Kind == registry.Ping }, times, f)
	}
}

// configOf returns the digest of the configuration of the image at v1.
func configOf(t *testing.T, s *registry.Server) string {
	t.Helper()
	c, _ := newClient(t, s, nil)
	session, err := c.session(context.Background(), mustRepo(t, testRepo))
	if err != nil {
		t.Fatal(err)
	}
	_, image, err := imageOf(context.Background(), session, "v1", defaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	s.Reset()
	return image.Config.Digest.String()
}

func TestMismatchNamesBothDigests(t *testing.T) {
	s := startServer(t)
	digest := push(t, s, "acme/operator:v1", sampleBundle(), registry.Form{})
	other := sampleBundle()
	other.Labels["other"] = "yes"
	otherDigest := push(t, s, "acme/operator:v2", other, registry.Form{})
	c, _ := newClient(t, s, nil)
	session, err := c.session(context.Background(), mustRepo(t, testRepo))
	if err != nil {
		t.Fatal(err)
	}
	m, err := session.manifest(context.Background(), "v2")
	if err != nil {
		t.Fatal(err)
	}
	s.SetScript(onManifests(0, registry.Fault{Alter: func([]byte) []byte { return m.body }}))
	_, err = c.Pull(context.Background(), testRepo+"@"+digest)
	wantFailure(t, err, failure.DigestMismatch, testRepo+"@"+digest, digest, otherDigest)
	_, err = c.Pull(context.Background(), testRepo+":v1")
	wantFailure(t, err, failure.DigestMismatch, testRepo+":v1", digest, otherDigest)
}

// Retries before and within the body share one count.
func TestRetriesDoNotMultiply(t *testing.T) {
	s := startServer(t)
	push(t, s, "acme/operator:v1", sampleBundle(), registry.Form{})
	config := configOf(t, s)
	s.SetScript(func(r registry.Request) registry.Fault {
		switch {
		case r.Kind != registry.Blob || r.Reference != config:
			return registry.Fault{}
		case r.Nth%2 == 1:
			return registry.Fault{Status: 502}
		}
		return registry.Fault{Truncate: 1}
	})
	c, _ := newClient(t, s, nil)
	_, err := c.Pull(context.Background(), testRepo+":v1")
	wantFailure(t, err, failure.RegistryUnavailable, testRepo+":v1")
	n := 0
	for _, r := range s.Requests() {
		if r.Reference == config {
			n++
		}
	}
	if n != 4 {
		t.Errorf("%d attempts, want 4", n)
	}
}

func TestDeadline(t *testing.T) {
	cases := map[string]registry.Fault{
		"slow body":                 {Stall: time.Minute},
		"retry after the deadline":  {Status: 429, Header: map[string]string{"Retry-After": "60"}},
		"retry on a date after it":  {Status: 503, Header: map[string]string{"Retry-After": time.Now().Add(time.Minute).UTC().Format(http.TimeFormat)}},
		"backoff goes past the end": {Status: 500},
	}
	for name, fault := range cases {
		t.Run(name, func(t *testing.T) {
			s := startServer(t)
			push(t, s, "acme/operator:v1", sampleBundle(), registry.Form{})
			s.SetScript(onManifests(0, fault))
			c, slept := newClient(t, s, nil, func(o *Options) { o.Retry.First, o.Retry.Longest = time.Minute, time.Minute })
			ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
			defer cancel()
			_, err := c.Pull(ctx, testRepo+":v1")
			wantFailure(t, err, failure.RegistryUnavailable, testRepo+":v1")
			if len(slept.slept) != 0 {
				t.Errorf("waited %v for what comes after the deadline", slept.slept)
			}
		})
	}
}

func TestSlowAttemptIsTriedAgain(t *testing.T) {
	s := startServer(t)
	push(t, s, "acme/operator:v1", sampleBundle(), registry.Form{})
	s.SetScript(onManifests(1, registry.Fault{Stall: time.Minute}))
	c, slept := newClient(t, s, nil, func(o *Options) { o.Retry.Attempt = 500 * time.Millisecond })
	if _, err := c.Pull(context.Background(), testRepo+":v1"); err != nil {
		t.Fatal(err)
	}
	if len(slept.slept) == 0 {
		t.Error("the slow attempt was not given up")
	}
}

func TestInterrupted(t *testing.T) {
	s := startServer(t)
	push(t, s, "acme/operator:v1", sampleBundle(), registry.Form{})
	ctx, cancel := context.WithCancel(context.Background())
	s.SetScript(func(r registry.Request) registry.Fault {
		if r.Kind == registry.Manifest {
			cancel()
			return registry.Fault{Stall: time.Minute}
		}
		return registry.Fault{}
	})
	c, slept := newClient(t, s, nil)
	_, err := c.Pull(ctx, testRepo+":v1")
	wantFailure(t, err, failure.Interrupted, testRepo+":v1")
	if !errors.Is(err, context.Canceled) || len(slept.slept) != 0 {
		t.Errorf("got %v after waiting %v", err, slept.slept)
	}
}

// A registry that repeats its request must not bring secrets into a log.
func TestNoSecretInMessages(t *testing.T) {
	const password = "s3cret-password"
	for _, scheme := range []string{"basic", "bearer"} {
		t.Run(scheme, func(t *testing.T) {
			s := startServer(t)
			s.SetAuth(registry.Auth{Scheme: scheme, Username: "user", Password: password})
			transport := echoing{s.Transport()}
			env := authFileEnv(t, `{"auths":{"`+testHost+`":{"auth":"`+basic("user", password)+`"}}}`)
			c, _ := newClient(t, s, env, func(o *Options) { o.Transport = transport })
			_, err := c.Pull(context.Background(), testRepo+":v1")
			f := wantFailure(t, err, failure.RegistryAuth, testRepo+":v1", "***", "auth.json")
			for _, secret := range []string{password, basic("user", password), "token-1"} {
				if strings.Contains(f.Message+f.Remedy, secret) {
					t.Errorf("%s is in %s; %s", secret, f.Message, f.Remedy)
				}
			}
		})
	}
}

// echoing answers requests for manifests with the request's headers.
type echoing struct{ http.RoundTripper }

func (e echoing) RoundTrip(req *http.Request) (*http.Response, error) {
	if !strings.Contains(req.URL.Path, "/manifests/") {
		return e.RoundTripper.RoundTrip(req)
	}
	message, err := json.Marshal("you\x1b[31m sent\n" + req.Header.Get("Authorization"))
	return answerWith(req, 403, `{"errors":[{"code":"DENIED","message":`+string(message)+`}]}`), err
}
