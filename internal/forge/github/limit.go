package github

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// limit is a rate limit: nothing may be sent before until.
type limit struct {
	until time.Time
	// kind is primary (so many requests an hour) or secondary (too many at once).
	kind string
}

type errLimited struct{ limit }

func (e *errLimited) Error() string {
	return fmt.Sprintf("the %s rate limit lasts until %s", e.kind, e.until.UTC().Format("2006-01-02 15:04:05 UTC"))
}

// limitOf reads the several ways in which GitHub says that a limit was reached. A
// limit that names no time is waited for a minute, and twice as long each time
// that it is met again, as GitHub's documentation asks. A refusal for lack of
// permission may have been the last request that the limit allowed, and is none.
func limitOf(resp *http.Response, body []byte, before int, now time.Time) (limit, bool) {
	if resp.StatusCode != http.StatusForbidden && resp.StatusCode != http.StatusTooManyRequests {
		return limit{}, false
	}
	var answer struct {
		Message       string `json:"message"`
		Documentation string `json:"documentation_url"`
	}
	_ = json.Unmarshal(body, &answer)
	said := strings.ToLower(answer.Message)
	if strings.Contains(said, "not accessible") || strings.Contains(said, "not permitted") {
		return limit{}, false
	}
	if asked, ok := retryAfter(resp.Header, now); ok {
		return limit{now.Add(max(asked, time.Second)), "secondary"}, true
	}
	unnamed := now.Add(time.Minute << min(before, 6))
	switch {
	case resp.Header.Get("X-RateLimit-Remaining") == "0":
		if reset, ok := resetOf(resp.Header); ok {
			unnamed = later(reset, now.Add(time.Second))
		}
		return limit{unnamed, "primary"}, true
	case resp.StatusCode == http.StatusTooManyRequests,
		strings.Contains(said, "rate limit"), strings.Contains(said, "abuse detection"),
		strings.Contains(answer.Documentation, "rate-limit"):
		return limit{unnamed, "secondary"}, true
	}
	return limit{}, false
}

// exhausted is the limit that the next request would run into, after an answer
// that was the last for this hour.
func exhausted(resp *http.Response, now time.Time) limit {
	defer func() {
		for _, name := range []string{"Limit", "Remaining", "Reset", "Used", "Resource"} {
			resp.Header.Del("X-RateLimit-" + name)
		}
	}()
	resource := resp.Header.Get("X-RateLimit-Resource")
	reset, ok := resetOf(resp.Header)
	if !ok || resp.Header.Get("X-RateLimit-Remaining") != "0" || resource != "" && resource != "core" || !reset.After(now) {
		return limit{}
	}
	return limit{reset, "primary"}
}

// resetOf is the second after the one that the header names: within that one the
// limit may still hold.
func resetOf(h http.Header) (time.Time, bool) {
	seconds, err := strconv.ParseInt(strings.TrimSpace(h.Get("X-RateLimit-Reset")), 10, 64)
	if err != nil || seconds <= 0 {
		return time.Time{}, false
	}
	return time.Unix(seconds+1, 0), true
}

// retryAfter reads the header's two forms: seconds and a date.
func retryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	return max(at.Sub(now), 0), true
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
