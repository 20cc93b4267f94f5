package github

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/olmgraft/graft/internal/outbound"
)

// carrier is the transport below go-github, which adds the token. go-github's own
// bookkeeping of rate limits refuses to send where this one waits, so it is kept from
// seeing them.
type carrier struct {
	*outbound.Transport
	next  http.RoundTripper
	api   *url.URL
	token string
	now   func() time.Time
	sleep func(context.Context, time.Duration) error
}

func newCarrier(o Options, api *url.URL) *carrier {
	retry := outbound.Retry{Attempts: o.Attempts, LongestAsked: o.Patience, Now: o.Now, Sleep: o.Sleep}
	if retry.Attempts <= 0 {
		retry.Attempts = 5
	}
	if retry.LongestAsked <= 0 {
		retry.LongestAsked = 10 * time.Minute
	}
	retry = retry.WithDefaults()
	c := &carrier{next: o.Transport, api: api, token: strings.TrimSpace(o.Token), now: retry.Now, sleep: retry.Sleep}
	if c.next == nil {
		c.next = http.DefaultTransport
	}
	c.Transport = &outbound.Transport{
		Next: authorized{c}, Retry: retry, UserAgent: o.UserAgent, RateLimit: limitOf,
		Repeatable: func(*http.Request) bool { return true }, // but for what outbound.Once holds
	}
	return c
}

// authorized gives the token to the API and to nobody else: a redirect may lead elsewhere.
type authorized struct{ *carrier }

func (a authorized) RoundTrip(req *http.Request) (*http.Response, error) {
	out := req.Clone(req.Context())
	out.Header.Del("Authorization")
	if a.token != "" && req.URL.Host == a.api.Host && (req.URL.Scheme == "https" || req.URL.Scheme == a.api.Scheme) {
		out.Header.Set("Authorization", "Bearer "+a.token)
	}
	return a.next.RoundTrip(out)
}
