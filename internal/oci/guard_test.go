package oci

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/olmgraft/graft/internal/budget"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/testkit/registry"
)

// These registries may direct Graft to these hosts, or not.
func TestGuard(t *testing.T) {
	g := &guard{configured: func(host string) bool { return host == "cache.example:5000" }}
	g.resolved.Store("inside.example:443", netip.MustParseAddr("10.0.0.1"))
	g.resolved.Store("quay.io:443", netip.MustParseAddr("8.8.8.8"))
	for _, tt := range []struct {
		origin, host, ip string
		ok               bool
	}{
		{"quay.io", "quay.io:443", "8.8.8.8", true},
		{"quay.io", "cdn.example:443", "1.1.1.1", true},
		{"quay.io", "cdn.example:443", "10.0.0.1", false},
		{"quay.io", "cdn.example:443", "::ffff:127.0.0.1", false},
		{"quay.io", "cdn.example:443", "169.254.169.254", false},
		{"quay.io", "quay.io:443", "10.0.0.1", false}, // the name was outside before
		{"quay.io", "quay.io:80", "10.0.0.1", false},
		{"mirror.example", "mirror.example:443", "10.0.0.1", true}, // the user configured the name
		{"mirror.example", "mirror.example:80", "10.0.0.1", true},
		{"mirror.example", "mirror.example:443", "169.254.169.254", false},
		{"quay.io", "quay.io:443", "169.254.169.254", false},
		{"quay.io", "quay.io:8443", "10.0.0.1", false},
		{"quay.io", "cache.example:5000", "10.0.0.1", true},
		{"quay.io", "cache.example:443", "10.0.0.1", false},
		{"inside.example", "storage.example:9000", "10.0.0.2", true},
		{"inside.example", "storage.example:9000", "169.254.169.254", false},
		{"10.0.0.1:5000", "10.0.0.2:9000", "10.0.0.2", true},
		{"", "cdn.example:443", "10.0.0.1", false},
	} {
		err := g.allow(withOrigin(t.Context(), tt.origin), tt.host, netip.MustParseAddr(tt.ip))
		if (err == nil) != tt.ok {
			t.Errorf("from %s to %s at %s: %v", tt.origin, tt.host, tt.ip, err)
		}
	}
}

// A name with addresses outside and inside counts as outside, in whatever order they are dialed. Its owner
// could point it inside for a moment, and the registry must not become trusted by that.
func TestGuardHoldsToTheOutside(t *testing.T) {
	outside, inside := netip.MustParseAddr("8.8.8.8"), netip.MustParseAddr("10.0.0.1")
	for _, tt := range []struct {
		seen  []netip.Addr
		leads bool
	}{
		{[]netip.Addr{inside}, true}, {[]netip.Addr{inside, inside}, true},
		{[]netip.Addr{outside}, false}, {[]netip.Addr{outside, inside}, false}, {[]netip.Addr{inside, outside}, false}, {[]netip.Addr{inside, outside, inside}, false},
	} {
		g := &guard{configured: func(string) bool { return false }}
		ctx := withOrigin(t.Context(), "turning.example")
		for _, ip := range tt.seen {
			if err := g.allow(ctx, "turning.example:443", ip); err == nil {
				g.note("turning.example:443", ip)
			}
		}
		if err := g.allow(ctx, "storage.example:443", inside); (err == nil) != tt.leads {
			t.Errorf("after %v the name leads inside: %v", tt.seen, err)
		}
		if err := g.allow(ctx, "turning.example:443", inside); (err == nil) != tt.leads {
			t.Errorf("after %v it is inside: %v", tt.seen, err)
		}
	}
}

// guard checks the address that a name resolves to when it is dialed.
func TestGuardDials(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	g := &guard{configured: func(string) bool { return false }}
	dial := g.dialer()
	for origin, ok := range map[string]bool{"registry.example": false, "localhost:" + port: true} {
		conn, err := dial(withOrigin(t.Context(), origin), "tcp", "localhost:"+port)
		if err == nil {
			_ = conn.Close()
		}
		if (err == nil) != ok || !ok && !errors.As(err, new(errRedirect)) {
			t.Errorf("for %s: %v", origin, err)
		}
	}
}

// Only servers of the registry's owner receive its credentials.
func TestRealms(t *testing.T) {
	k := &keychain{getenv: func(string) string { return "" }, auth: `{"auths": {"token.example": {"auth": "` + basic("u", "p") + `"}}}`}
	for _, tt := range []struct {
		registry, realm string
		ok              bool
	}{
		{"quay.io", "https://quay.io/v2/auth", true},
		{"index.docker.io", "https://auth.docker.io/token", true},
		{"registry.gitlab.com", "https://gitlab.com/jwt/auth", true},
		{"registry.corp.example.com", "https://sso.example.com/token", true},
		{"quay.io", "https://quay.io.evil.example/v2/auth", false},
		{"a.github.io", "https://b.github.io/token", false}, // different owners by the public suffix list
		{"10.0.0.1:5000", "https://10.0.0.1:5001/token", true},
		{"10.0.0.1:5000", "https://10.0.0.2/token", false},
		{"quay.io", "https://token.example/auth", true}, // the realm has its own credentials
		{"quay.io", "::", false},
	} {
		reg, err := name.NewRegistry(tt.registry)
		if err != nil {
			t.Fatal(err)
		}
		if got := k.trusts(context.Background(), tt.realm, reg); got != tt.ok {
			t.Errorf("%s of %s: %v", tt.realm, tt.registry, got)
		}
	}
}

// An endless list of empty pages, each at another address, ends with a failure.
func TestEmptyPages(t *testing.T) {
	s := startServer(t)
	push(t, s, "acme/operator:v1", sampleBundle(), registry.Form{})
	n := 0
	inner := s.Transport()
	c, _ := newClient(t, s, nil, func(o *Options) {
		o.Transport = roundTrip(func(req *http.Request) (*http.Response, error) {
			resp, err := inner.RoundTrip(req)
			if err == nil && strings.HasSuffix(req.URL.Path, "/tags/list") {
				n++
				resp.Header.Set("Link", fmt.Sprintf("</v2/acme/operator/tags/list?n=1000&page=%d>; rel=\"next\"", n))
			}
			return resp, err
		})
	})
	_, err := c.Tags(t.Context(), "registry.example/acme/operator")
	wantFailure(t, err, failure.RegistryUnavailable, "registry.example/acme/operator", "no end")
	if n > 2*budget.TagsIdle {
		t.Errorf("%d pages were read", n)
	}
}
