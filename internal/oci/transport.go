package oci

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"
)

// carrier is the transport below everything: go-containerregistry's pings and
// token requests go through it like ours. So the bound for each host and the
// retries hold for all of them, and retries never multiply.
type carrier struct {
	standard, unverified http.RoundTripper
	unverifiedHosts      map[string]bool
	plainHTTP            bool
	userAgent            string
	retry                Retry
	jobs                 int

	mu       sync.Mutex
	slots    map[string]chan struct{}
	secrets  map[string]bool
	badCerts map[string]error
}

func newCarrier(o Options, insecure map[string]bool) *carrier {
	c := &carrier{
		plainHTTP:       o.PlainHTTP,
		unverifiedHosts: insecure,
		userAgent:       o.UserAgent,
		retry:           o.Retry.withDefaults(),
		jobs:            o.Jobs,
		slots:           map[string]chan struct{}{},
		secrets:         map[string]bool{},
		badCerts:        map[string]error{},
	}
	if c.userAgent == "" {
		c.userAgent = "graft"
	}
	if c.jobs <= 0 {
		c.jobs = 8
	}
	c.standard, c.unverified = o.Transport, o.Transport
	if o.Transport == nil {
		// Whoever can be in the way of TLS can be in the way of plain HTTP: to verify
		// certificates would protect nothing then, and opm does not either.
		c.standard = newTransport(c.jobs, o.SkipTLSVerify || o.PlainHTTP)
		c.unverified = newTransport(c.jobs, true)
	}
	return c
}

func newTransport(jobs int, unverified bool) *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	// The two that the standard keeps would make most requests of a pool of
	// workers shake hands anew.
	t.MaxIdleConnsPerHost = jobs
	t.ResponseHeaderTimeout = 30 * time.Second
	// Layers come compressed, and digests are of what was sent.
	t.DisableCompression = true
	if unverified {
		t.TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
	}
	return t
}

// RoundTrip makes one request, in as many attempts as it takes and may take. The
// answer of the last attempt is handed up whatever it is.
func (c *carrier) RoundTrip(req *http.Request) (*http.Response, error) {
	if _, secret, ok := strings.Cut(req.Header.Get("Authorization"), " "); ok {
		c.noteSecrets(secret)
	}
	left := attemptsOf(req.Context(), c.retry.Attempts)
	for {
		resp, err := c.attempt(req)
		if !c.mayPass(req, resp, err) || !left.take() {
			return resp, err
		}
		wait, worthIt := c.pause(req.Context(), left, resp)
		if !worthIt {
			return resp, err
		}
		if resp != nil {
			// A connection is used again only after its body was read.
			_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
			_ = resp.Body.Close()
		}
		if serr := c.retry.Sleep(req.Context(), wait); serr != nil {
			return nil, errors.Join(serr, err)
		}
	}
}

// attempt sends the request once, when the host has a slot free. The slot is held
// until the body is closed.
func (c *carrier) attempt(req *http.Request) (*http.Response, error) {
	host := req.URL.Host
	if err := c.mayAsk(req.URL); err != nil {
		return nil, err
	}
	slot := c.slot(req.URL.Scheme + "://" + host)
	select {
	case slot <- struct{}{}:
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
	ctx, cancel := context.WithTimeout(req.Context(), c.retry.Attempt)
	release := sync.OnceFunc(func() { cancel(); <-slot })

	out := req.Clone(ctx)
	out.Header.Set("User-Agent", c.userAgent)
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			release()
			return nil, err
		}
		out.Body = body
	}
	through := c.standard
	if c.unverifiedHosts[host] {
		through = c.unverified
	}
	resp, err := through.RoundTrip(out)
	if err != nil {
		release()
		if isCertificateError(err) {
			c.mu.Lock()
			c.badCerts[host] = err
			c.mu.Unlock()
		}
		return nil, err
	}
	resp.Request = req
	resp.Body = &heldBody{resp.Body, release}
	return resp, nil
}

// mayAsk refuses plain HTTP where it was not allowed, and where the host has TLS
// with a certificate that is no good.
func (c *carrier) mayAsk(at *url.URL) error {
	if at.Scheme != "http" {
		return nil
	}
	if !c.plainHTTP && !c.unverifiedHosts[at.Host] && !isLoopback(at.Hostname()) {
		return errPlainHTTP{at.Host}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.badCerts[at.Host]
}

type heldBody struct {
	io.ReadCloser
	release func()
}

func (b *heldBody) Close() error {
	defer b.release()
	return b.ReadCloser.Close()
}

// slot goes by the scheme, too: a registry may be asked with and without TLS at the
// same time, and the one must not wait for the other to time out.
func (c *carrier) slot(host string) chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.slots[host] == nil {
		c.slots[host] = make(chan struct{}, c.jobs)
	}
	return c.slots[host]
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
