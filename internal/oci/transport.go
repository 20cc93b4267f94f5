package oci

import (
	"crypto/tls"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/olmgraft/graft/internal/outbound"
)

// hosts is the transport below all requests, including go-containerregistry's pings and token requests. It
// knows which hosts may be asked without TLS, and with which certificates.
type hosts struct {
	verified, unverified http.RoundTripper
	insecure             map[string]bool // with any certificate, or without TLS
	plainHTTP            bool
	secrets              outbound.Secrets
	guard                *guard
	badCertificates      sync.Map // hosts, with the fault of their certificate
}

func newHosts(o Options, conf *registriesConf) *hosts {
	h := &hosts{
		verified: o.Transport, unverified: o.Transport, insecure: conf.insecureHosts(), plainHTTP: o.PlainHTTP, guard: &guard{configured: conf.names},
	}
	if o.Transport == nil {
		// An attacker who can intercept TLS can also intercept plain HTTP, so verifying certificates would
		// protect nothing here. opm does not verify them either.
		h.verified = newHTTP(o.Jobs, o.SkipTLSVerify || o.PlainHTTP, h.guard)
		h.unverified = newHTTP(o.Jobs, true, h.guard)
	}
	return h
}

// newTransport limits and retries all requests to one host.
func newTransport(o Options, next http.RoundTripper) *outbound.Transport {
	return &outbound.Transport{
		Next: next, Retry: o.Retry.WithDefaults(), UserAgent: o.UserAgent, PerHost: o.Jobs,
		Repeatable: func(req *http.Request) bool { // a form that requests a token
			return req.Header.Get("Content-Type") == "application/x-www-form-urlencoded" && req.GetBody != nil
		},
	}
}

func newHTTP(jobs int, unverified bool, g *guard) *http.Transport {
	t := outbound.Standard(30 * time.Second)
	t.DialContext, t.Proxy = g.dialer(), g.proxy
	// With the standard limit of two, most requests of a pool of workers would need a new handshake.
	t.MaxIdleConnsPerHost = jobs
	// Layers are already compressed, and digests cover the bytes as sent.
	t.DisableCompression = true
	if unverified {
		t.TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
	}
	return t
}

// RoundTrip refuses plain HTTP unless it is allowed, and for a host that serves TLS with an invalid certificate.
func (h *hosts) RoundTrip(req *http.Request) (*http.Response, error) {
	host := req.URL.Host
	if _, secret, ok := strings.Cut(req.Header.Get("Authorization"), " "); ok {
		h.secrets.Note(secret)
	}
	if req.URL.Scheme == "http" {
		if !h.plainHTTP && !h.insecure[host] && !isLoopback(req.URL.Hostname()) {
			return nil, errPlainHTTP{host}
		}
		if bad, ok := h.badCertificates.Load(host); ok {
			return nil, bad.(error)
		}
	}
	if err := h.guard.check(req); err != nil {
		return nil, err
	}
	through := h.verified
	if h.insecure[host] {
		through = h.unverified
	}
	resp, err := through.RoundTrip(req)
	if err != nil && outbound.IsCertificate(err) {
		h.badCertificates.Store(host, err)
	}
	return resp, err
}

type errPlainHTTP struct{ host string }

func (e errPlainHTTP) Error() string { return e.host + " is to be asked without TLS" }

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}
