package oci

import (
	"crypto/tls"
	"errors"
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
	badCertificates      sync.Map // hosts, and what is wrong with theirs
}

func newHosts(o Options, insecure map[string]bool) *hosts {
	h := &hosts{verified: o.Transport, unverified: o.Transport, insecure: insecure, plainHTTP: o.PlainHTTP}
	if o.Transport == nil {
		// Whoever can be in the way of TLS can be in the way of plain HTTP: to verify
		// certificates would protect nothing then, and opm does not either.
		h.verified = newHTTP(o.Jobs, o.SkipTLSVerify || o.PlainHTTP)
		h.unverified = newHTTP(o.Jobs, true)
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

func newHTTP(jobs int, unverified bool) *http.Transport {
	t := outbound.Standard(30 * time.Second)
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

// followRedirect refuses to be led from a public registry to an address inside
// the network that Graft runs in.
func followRedirect(req *http.Request, via []*http.Request) error {
	if len(via) >= 10 {
		return errors.New("more than 10 redirects")
	}
	from, to := via[0].URL.Hostname(), req.URL.Hostname()
	if from != to && isInside(to) && !isInside(from) {
		return errRedirect{to}
	}
	return nil
}

type errRedirect struct{ to string }

func (e errRedirect) Error() string { return "redirected to the private address " + e.to }

func isInside(host string) bool {
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return host == "localhost"
	}
	ip = ip.Unmap()
	return ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsUnspecified()
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}
