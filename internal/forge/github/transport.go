package github

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/olmgraft/graft/internal/outbound"
)

// authorized sends the token only to the API, because a redirect may lead elsewhere.
type authorized struct {
	next  http.RoundTripper
	api   *url.URL
	token string
}

func (a authorized) RoundTrip(req *http.Request) (*http.Response, error) {
	out := req.Clone(req.Context())
	out.Header.Del("Authorization")
	if a.token != "" && req.URL.Host == a.api.Host && (req.URL.Scheme == "https" || req.URL.Scheme == a.api.Scheme) {
		out.Header.Set("Authorization", "Bearer "+a.token)
	}
	return a.next.RoundTrip(out)
}

// limitOf reads the several ways in which GitHub reports a limit. For a limit without a time, the wait is a
// minute and doubles each time, as GitHub's documentation asks. A refusal for lack of permission is not a
// limit, even if it was the last request that the limit allowed.
//
// The last answer within the hour also reports a limit, which the next request would exceed. go-github's own
// bookkeeping of limits would refuse to send where this client waits, so the headers are hidden from it.
func limitOf(resp *http.Response, before int, now time.Time) (limit outbound.RateLimit, refused bool) {
	if limit, refused = limitReached(resp, before, now); refused {
		return limit, true
	}
	resource := resp.Header.Get("X-RateLimit-Resource")
	if reset, ok := resetOf(resp.Header); ok && resp.Header.Get("X-RateLimit-Remaining") == "0" && (resource == "" || resource == "core") {
		limit = outbound.RateLimit{Until: reset, Kind: "primary"}
	}
	for _, name := range []string{"Limit", "Remaining", "Reset", "Used", "Resource"} {
		resp.Header.Del("X-RateLimit-" + name)
	}
	return limit, false
}

func limitReached(resp *http.Response, before int, now time.Time) (outbound.RateLimit, bool) {
	var none outbound.RateLimit
	if resp.StatusCode != http.StatusForbidden && resp.StatusCode != http.StatusTooManyRequests {
		return none, false
	}
	var answer struct {
		Message       string `json:"message"`
		Documentation string `json:"documentation_url"`
	}
	if body, err := outbound.Body(resp); err == nil {
		_ = json.Unmarshal(body, &answer) // an answer that is not JSON has no message
	}
	said := strings.ToLower(answer.Message)
	if strings.Contains(said, "not accessible") || strings.Contains(said, "not permitted") {
		return none, false
	}
	if asked, ok := outbound.RetryAfter(resp.Header, now); ok {
		return outbound.RateLimit{Until: now.Add(max(asked, time.Second)), Kind: "secondary"}, true
	}
	unnamed := now.Add(time.Minute << min(before, 6))
	switch {
	case resp.Header.Get("X-RateLimit-Remaining") == "0":
		if reset, ok := resetOf(resp.Header); ok {
			unnamed = now.Add(max(reset.Sub(outbound.Sent(resp.Header, now)), time.Second))
		}
		return outbound.RateLimit{Until: unnamed, Kind: "primary"}, true
	case resp.StatusCode == http.StatusTooManyRequests,
		strings.Contains(said, "rate limit"), strings.Contains(said, "abuse detection"),
		strings.Contains(answer.Documentation, "rate-limit"):
		return outbound.RateLimit{Until: unnamed, Kind: "secondary"}, true
	}
	return none, false
}

// resetOf returns the second after the one in the header, because the limit may still apply within that one.
func resetOf(h http.Header) (time.Time, bool) {
	seconds, err := strconv.ParseInt(strings.TrimSpace(h.Get("X-RateLimit-Reset")), 10, 64)
	if err != nil || seconds <= 0 {
		return time.Time{}, false
	}
	return time.Unix(seconds+1, 0), true
}
