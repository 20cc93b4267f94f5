package oci

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/testkit/registry"
)

func mustRepo(t testing.TB, repository string) name.Repository {
	t.Helper()
	repo, err := name.NewRepository(repository)
	if err != nil {
		t.Fatal(err)
	}
	return repo
}

func answerWith(req *http.Request, status int, body string) *http.Response {
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Request: req,
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func TestTLS(t *testing.T) {
	s := startServer(t)
	bundle := sampleBundle()
	push(t, s, "acme/operator:v1", bundle, registry.Form{})
	secured := httptest.NewUnstartedServer(s)
	secured.Config.ErrorLog = log.New(io.Discard, "", 0)
	secured.StartTLS()
	defer secured.Close()
	ref := strings.TrimPrefix(secured.URL, "https://") + "/acme/operator:v1"
	standard := func(o *Options) { o.Transport = nil }

	c, slept := newClient(t, s, nil, standard)
	_, err := c.Pull(context.Background(), ref)
	f := wantFailure(t, err, failure.RegistryUnavailable, ref, "certificate", "--skip-tls-verify")
	if f.Retryable || len(slept.slept) > 0 {
		t.Errorf("a bad certificate is no passing fault: %+v, waited %v", f, slept.slept)
	}
	for _, plainHTTP := range []bool{false, true} {
		c, _ = newClient(t, s, nil, standard, func(o *Options) { o.SkipTLSVerify, o.PlainHTTP = true, plainHTTP })
		got, err := c.Pull(context.Background(), ref)
		if err != nil {
			t.Fatal(err)
		}
		wantFiles(t, got.Files, bundle.Files)
	}
}

func TestPlainHTTPOnLoopback(t *testing.T) {
	s := startServer(t)
	bundle := sampleBundle()
	push(t, s, "acme/operator:v1", bundle, registry.Form{})
	c, _ := newClient(t, s, nil, func(o *Options) { o.Transport = nil })
	got, err := c.Pull(context.Background(), s.Addr+"/acme/operator:v1")
	if err != nil {
		t.Fatal(err)
	}
	wantFiles(t, got.Files, bundle.Files)
}

// Away from loopback no request goes out without TLS unless allowed. go-containerregistry would send one to
// private addresses and .local.
func TestPlainHTTPElsewhere(t *testing.T) {
	for _, host := range []string{"registry.example:5000", "10.1.2.3:5000", "registry.local:5000"} {
		t.Run(host, func(t *testing.T) {
			s := startServer(t)
			bundle := sampleBundle()
			push(t, s, "acme/operator:v1", bundle, registry.Form{})
			ref := host + "/acme/operator:v1"
			plainOnly := func(o *Options) {
				inner := s.Transport()
				o.Transport = roundTrip(func(req *http.Request) (*http.Response, error) {
					if req.URL.Scheme == "https" {
						return nil, http.ErrSchemeMismatch
					}
					return inner.RoundTrip(req)
				})
			}
			c, _ := newClient(t, s, nil, plainOnly)
			_, err := c.Pull(context.Background(), ref)
			f := wantFailure(t, err, failure.RegistryUnavailable, ref, "--use-http")
			if f.Retryable || s.Count() != 0 {
				t.Errorf("retryable %v, requests %v", f.Retryable, s.Requests())
			}
			c, _ = newClient(t, s, nil, plainOnly, func(o *Options) { o.PlainHTTP = true })
			got, err := c.Pull(context.Background(), ref)
			if err != nil {
				t.Fatal(err)
			}
			wantFiles(t, got.Files, bundle.Files)
		})
	}
}

func TestNoSuchHostAndRefused(t *testing.T) {
	s := startServer(t)
	cases := []struct {
		name      string
		err       error
		retryable bool
		waits     int
		word      string
	}{
		{"name", &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "registry.example", IsNotFound: true}}, false, 0, "registry.example"},
		{"name server", &net.OpError{Op: "dial", Err: &net.DNSError{Err: "server misbehaving", Name: "registry.example", IsTemporary: true}}, true, 3, "misbehaving"},
		{"refused", &net.OpError{Op: "dial", Net: "tcp", Err: io.EOF}, true, 3, "dial tcp"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			c, slept := newClient(t, s, nil, func(o *Options) {
				o.Transport = roundTrip(func(*http.Request) (*http.Response, error) { return nil, tc.err })
			})
			ref := "registry.example/acme/operator:v1"
			_, err := c.Pull(context.Background(), ref)
			f := wantFailure(t, err, failure.RegistryUnavailable, ref, tc.word)
			if f.Retryable != tc.retryable || len(slept.slept) != tc.waits {
				t.Errorf("retryable %v after %d waits, want %v after %d", f.Retryable, len(slept.slept), tc.retryable, tc.waits)
			}
		})
	}
}

// Blobs are often stored elsewhere. Graft follows redirects without the credentials, and not into its own network.
func TestRedirects(t *testing.T) {
	cases := []struct {
		name, to string
		ok       bool
	}{
		{"to storage", "https://storage.example", true},
		{"to an address inside", "https://169.254.169.254", false},
		{"without TLS", "http://storage.example", false},
		{"in a circle", "https://quay.example", false},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			s := startServer(t)
			s.SetAuth(registry.Auth{Scheme: "bearer"})
			bundle := sampleBundle()
			push(t, s, "acme/operator:v1", bundle, registry.Form{})
			storage := startServer(t)
			push(t, storage, "acme/operator:v1", bundle, registry.Form{})
			home, away := s.Transport(), storage.Transport()
			c, _ := newClient(t, s, nil, func(o *Options) {
				o.Transport = roundTrip(func(req *http.Request) (*http.Response, error) {
					if req.URL.Host != "quay.example" {
						if req.Header.Get("Authorization") != "" {
							t.Errorf("credentials went to %s", req.URL.Host)
						}
						return away.RoundTrip(req)
					}
					if strings.Contains(req.URL.Path, "/blobs/") {
						resp := answerWith(req, 307, "")
						resp.Header.Set("Location", tc.to+req.URL.Path+"?X-Amz-Signature=signed")
						return resp, nil
					}
					return home.RoundTrip(req)
				})
			})
			ref := "quay.example/acme/operator:v1"
			got, err := c.Pull(context.Background(), ref)
			if tc.ok {
				if err != nil {
					t.Fatal(err)
				}
				wantFiles(t, got.Files, bundle.Files)
				return
			}
			f := wantFailure(t, err, failure.RegistryUnavailable, ref)
			if storage.Count() != 0 || strings.Contains(f.Message, "signed") {
				t.Errorf("requests %v, message %s", storage.Requests(), f.Message)
			}
		})
	}
}

// byHost has a transport for each host and no network.
type byHost map[string]http.RoundTripper

func (b byHost) RoundTrip(req *http.Request) (*http.Response, error) {
	if rt := b[req.URL.Host]; rt != nil {
		return rt.RoundTrip(req)
	}
	return nil, &net.DNSError{Err: "no such host", Name: req.URL.Host, IsNotFound: true}
}
