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

// hosts is the transport below everything, go-containerregistry's pings and token requests
// too: it knows which hosts may be asked without TLS, and with which certificates.
type hosts struct {
	verified, unverified http.RoundTripper
	insecure             map[string]bool // by any certificate, or without TLS
	plainHTTP            bool
	secrets              outbound.Secrets
	guard                *guard
	badCertificates      sync.Map // hosts, and what is wrong with theirs
}

func newHosts(o Options, conf *registriesConf) *hosts {
	h := &hosts{
		verified: o.Transport, unverified: o.Transport, insecure: conf.insecureHosts(), plainHTTP: o.PlainHTTP, guard: &guard{configured: conf.names},
	}
	if o.Transport == nil {
		// Whoever can be in the way of TLS can be in the way of plain HTTP: to verify
		// certificates would protect nothing then, and opm does not either.
		h.verified = newHTTP(o.Jobs, o.SkipTLSVerify || o.PlainHTTP, h.guard)
		h.unverified = newHTTP(o.Jobs, true, h.guard)
	}
	return h
}

// newTransport bounds the requests to one host and tries them again, whoever makes them.
func newTransport(o Options, next http.RoundTripper) *outbound.Transport {
	return &outbound.Transport{
		Next: next, Retry: o.Retry.WithDefaults(), UserAgent: o.UserAgent, PerHost: o.Jobs,
		Repeatable: func(req *http.Request) bool { // a form that asks for a token
			return req.Header.Get("Content-Type") == "application/x-www-form-urlencoded" && req.GetBody != nil
		},
	}
}

func newHTTP(jobs int, unverified bool, g *guard) *http.Transport {
	t := outbound.Standard(30 * time.Second)
	t.DialContext, t.Proxy = g.dialer(), g.proxy
	// The two that the standard keeps would make most requests of a pool of
	// workers shake hands anew.
	t.MaxIdleConnsPerHost = jobs
	// Layers come compressed, and digests are of what was sent.
	t.DisableCompression = true
	if unverified {
		t.TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
	}
	return t
}

// RoundTrip refuses plain HTTP where it was not allowed, and where the host has TLS
// with a certificate that is no good.
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
