package github_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/forge"
	"github.com/olmgraft/graft/internal/forge/github"
	"github.com/olmgraft/graft/internal/testkit/fakegithub"
)

func answer(status int, message string, header ...string) *fakegithub.Fault {
	f := &fakegithub.Fault{Status: status, Message: message, Header: http.Header{}}
	for i := 0; i < len(header); i += 2 {
		f.Header.Set(header[i], header[i+1])
	}
	return f
}

// Without a token, the failure says where to give one, not that another token is needed.
func TestNoToken(t *testing.T) {
	h := start(t, fakegithub.Repository{})
	c, err := github.New(github.Options{APIURL: h.url})
	if err != nil {
		t.Fatal(err)
	}
	h.faults(listPulls, answer(401, "Requires authentication"))
	_, err = h.propose(context.Background(), c, h.request())
	wantFailure(t, err, failure.ForgeAuth, "no token is given", "GITHUB_TOKEN")
}

// Each permanent error answer gives its failure, with the action and GitHub's message, and is not retried.
func TestFailureClasses(t *testing.T) {
	const notAccessible = "Resource not accessible by integration"
	for name, tt := range map[string]struct {
		route  string
		fault  *fakegithub.Fault
		change func(*request)
		code   failure.Code
		texts  []string
	}{
		"bad token": {listPulls, answer(401, "Bad credentials"), nil, failure.ForgeAuth,
			[]string{"listing the pull requests of acme/catalog", "Bad credentials"}},
		"no permission, named by GitHub": {createPull, answer(403, notAccessible, "X-Accepted-GitHub-Permissions", "pull_requests=write,contents=read; issues=write"),
			nil, failure.ForgeAuth, []string{"creating the pull request", "pull-requests: write and contents: read, or issues: write"}},
		"no permission, not named": {createPull, answer(403, notAccessible), nil, failure.ForgeAuth, []string{"the permission pull-requests: write"}},
		"no permission, and the last request of the hour": {createPull, answer(403, notAccessible, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "1"),
			nil, failure.ForgeAuth, []string{"pull-requests: write"}},
		"classic token": {createPull, answer(404, "Not Found", "X-Accepted-OAuth-Scopes", "public_repo, repo"), nil,
			failure.ForgeAuth, []string{"one of the scopes public_repo, repo", "Check the names"}},
		"workflows may not open": {createPull, answer(403, "GitHub Actions is not permitted to create or approve pull requests."), nil,
			failure.ForgeAuth, []string{"Settings, Actions, General"}},
		"archived": {createPull, answer(403, "Repository was archived so is read-only."), nil,
			failure.PullRequestRefused, []string{"archived"}},
		"invalid base": {"", nil, func(r *request) { r.base = "gone" }, failure.PullRequestRefused,
			[]string{"to gone", "PullRequest base is invalid"}},
		"no commits": {"", nil, func(r *request) { r.Branch = "main" }, failure.PullRequestRefused,
			[]string{"No commits between main and main"}},
		"token in the answer": {createPull, answer(422, "Validation Failed\nfor "+token), nil, failure.PullRequestRefused, []string{"for ***"}},
		"not GitHub at all":   {listPulls, answer(418, "I am a teapot"), nil, failure.ForgeUnavailable, []string{"HTTP 418", "GITHUB_API_URL"}},
		"not implemented":     {listPulls, answer(501, "Not Implemented"), nil, failure.ForgeUnavailable, []string{"HTTP 501"}},
		"update refused":      {updatePull, answer(422, "Validation Failed"), nil, failure.PullRequestRefused, []string{"updating the pull request acme/catalog#1"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := start(t, fakegithub.Repository{})
			h.AddUsers("ann")
			r := h.request()
			if tt.route == updatePull {
				h.ensure(r, forge.Created)
				r.Title = "Other"
			}
			if tt.change != nil {
				tt.change(&r)
			}
			switch {
			case tt.route == "":
			case tt.fault.Status == 418 || tt.fault.Status == 501:
				// The stand-in's answers are validated, and these differ from GitHub's.
				h.client = h.newClient(github.Options{Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
					return response(req, tt.fault.Status, "<html>"+tt.fault.Message+"</html>"), nil
				})})
			default:
				h.faults(tt.route, tt.fault)
			}
			_, err := h.propose(context.Background(), h.client, r)
			wantFailure(t, err, tt.code, tt.texts...)
			if h.total() != 0 {
				t.Errorf("waited %v for a permanent error", h.slept)
			}
		})
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func response(req *http.Request, status int, body string) *http.Response {
	recorder := httptest.NewRecorder()
	recorder.WriteHeader(status)
	recorder.Body.WriteString(body)
	resp := recorder.Result()
	resp.Request = req
	return resp
}

// Temporary errors are retried, after the requested wait or with growing waits.
func TestPassing(t *testing.T) {
	for name, tt := range map[string]struct {
		faults      func(now time.Time) []*fakegithub.Fault
		least, most time.Duration
	}{
		"server errors": {func(time.Time) []*fakegithub.Fault {
			return []*fakegithub.Fault{fakegithub.ServerError(500, false), fakegithub.ServerError(502, false), fakegithub.ServerError(503, false), {Cut: true}}
		}, 1750 * time.Millisecond, 8 * time.Second}, // net/http itself retries after a cut
		"server error with a time": {func(time.Time) []*fakegithub.Fault {
			return []*fakegithub.Fault{answer(503, "", "Retry-After", "45")}
		}, 45 * time.Second, 46 * time.Second},
		"primary": {func(now time.Time) []*fakegithub.Fault {
			return []*fakegithub.Fault{fakegithub.PrimaryLimit(now.Add(5 * time.Minute))}
		}, 5 * time.Minute, 5*time.Minute + 3*time.Second},
		"primary as 429": {func(now time.Time) []*fakegithub.Fault {
			f := fakegithub.PrimaryLimit(now.Add(time.Minute))
			f.Status = 429
			return []*fakegithub.Fault{f}
		}, time.Minute, time.Minute + 3*time.Second},
		"secondary with 403": {func(time.Time) []*fakegithub.Fault {
			return []*fakegithub.Fault{fakegithub.SecondaryLimit(403, 30*time.Second), fakegithub.SecondaryLimit(403, 30*time.Second)}
		}, time.Minute, time.Minute + 3*time.Second},
		"secondary with 429": {func(time.Time) []*fakegithub.Fault {
			return []*fakegithub.Fault{fakegithub.SecondaryLimit(429, 30*time.Second)}
		}, 30 * time.Second, 32 * time.Second},
		"secondary without a time": {func(time.Time) []*fakegithub.Fault {
			return []*fakegithub.Fault{fakegithub.SecondaryLimit(403, 0), fakegithub.SecondaryLimit(403, 0)}
		}, 3 * time.Minute, 3*time.Minute + 3*time.Second},
		"a date": {func(now time.Time) []*fakegithub.Fault {
			return []*fakegithub.Fault{answer(429, "slow down", "Retry-After", now.Add(20*time.Second).UTC().Format(http.TimeFormat))}
		}, 20 * time.Second, 22 * time.Second},
		"a reset that has passed": {func(now time.Time) []*fakegithub.Fault {
			return []*fakegithub.Fault{fakegithub.PrimaryLimit(now.Add(-time.Hour))}
		}, time.Second, 3 * time.Second},
	} {
		for _, route := range []string{listPulls, createPull} {
			h := start(t, fakegithub.Repository{})
			r := h.request()
			h.faults(route, tt.faults(h.Now())...)
			h.ensure(r, forge.Created)
			if got := h.total(); got < tt.least || got > tt.most {
				t.Errorf("%s: waited %v, want %v to %v", name, got, tt.least, tt.most)
			}
		}
	}
}

// The last answer within the hourly limit delays the next request before GitHub refuses it.
func TestExhaustedLimitIsWaitedForAhead(t *testing.T) {
	h := start(t, fakegithub.Repository{})
	r := h.request()
	reset := h.Now().Add(time.Minute)
	limited := false
	h.client = h.newClient(github.Options{Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err == nil && !limited {
			limited = true
			resp.Header.Set("X-RateLimit-Remaining", "0")
			resp.Header.Set("X-RateLimit-Reset", strconv.FormatInt(reset.Unix(), 10))
		}
		return resp, err
	})})
	h.ensure(r, forge.Created)
	if got := h.total(); got < time.Minute || got > time.Minute+3*time.Second {
		t.Errorf("waited %v", got)
	}
}

func TestNotPassingInTime(t *testing.T) {
	always := func(f func(now time.Time) *fakegithub.Fault) func(h *hub) {
		return func(h *hub) {
			now := h.Now()
			h.script = func(fakegithub.Request) *fakegithub.Fault { return f(now) }
		}
	}
	for name, tt := range map[string]struct {
		set      func(*hub)
		deadline time.Duration // 0 means none
		code     failure.Code
		requests int
		texts    []string
	}{
		"server errors": {always(func(time.Time) *fakegithub.Fault { return fakegithub.ServerError(502, false) }), 0, failure.ForgeUnavailable, 5,
			[]string{"listing the pull requests of acme/catalog", "HTTP 502"}},
		"cut connections": {always(func(time.Time) *fakegithub.Fault { return &fakegithub.Fault{Cut: true} }), 0, failure.ForgeUnavailable, 5, []string{"EOF"}},
		"server errors before the deadline": {always(func(time.Time) *fakegithub.Fault { return answer(503, "", "Retry-After", "600") }), time.Minute,
			failure.ForgeUnavailable, 1, nil},
		"primary limit beyond the deadline": {always(func(now time.Time) *fakegithub.Fault { return fakegithub.PrimaryLimit(now.Add(time.Hour)) }), time.Minute,
			failure.ForgeRateLimited, 1, []string{"the primary rate limit lasts until "}},
		"primary limit beyond patience": {always(func(now time.Time) *fakegithub.Fault { return fakegithub.PrimaryLimit(now.Add(time.Hour)) }), 0,
			failure.ForgeRateLimited, 1, []string{"Run again after "}},
		"secondary limit that does not end": {always(func(time.Time) *fakegithub.Fault { return fakegithub.SecondaryLimit(429, time.Second) }), 0,
			failure.ForgeRateLimited, 21, []string{"secondary"}},
	} {
		h := start(t, fakegithub.Repository{})
		r := h.request()
		tt.set(h)
		ctx := context.Background()
		if tt.deadline > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithDeadline(ctx, h.Now().Add(tt.deadline))
			defer cancel()
		}
		_, err := h.propose(ctx, h.client, r)
		wantFailure(t, err, tt.code, tt.texts...)
		if !failure.Of(err).Retryable {
			t.Errorf("%s: not retryable", name)
		}
		if tt.code == failure.ForgeRateLimited && tt.requests == 1 {
			until := h.Now().Add(time.Hour + time.Second).UTC().Format("15:04:05")
			wantFailure(t, err, tt.code, until)
		}
		if n := h.Count(""); n != tt.requests {
			t.Errorf("%s: %d requests, want %d", name, n, tt.requests)
		}
	}
}

// All goroutines respect a limit that one of them ran into.
func TestLimitIsShared(t *testing.T) {
	h := start(t, fakegithub.Repository{})
	ctx, cancel := context.WithDeadline(context.Background(), h.Now().Add(time.Minute))
	defer cancel()
	h.faults("", fakegithub.PrimaryLimit(h.Now().Add(time.Hour)))
	for range 3 {
		_, err := h.of(catalog).Tip(ctx)
		wantFailure(t, err, failure.ForgeRateLimited)
	}
	if n := h.Count(""); n != 1 {
		t.Errorf("%d requests", n)
	}
}

func TestNetworkAndContext(t *testing.T) {
	h := start(t, fakegithub.Repository{})
	r := h.request()
	calls := 0
	through := func(err error) *github.Client {
		calls = 0
		return h.newClient(github.Options{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			calls++
			return nil, err
		})})
	}
	for _, tt := range []struct {
		err       error
		calls     int
		retryable bool
		text      string
	}{
		{&net.DNSError{Name: "github.invalid", IsNotFound: true}, 1, false, "GITHUB_API_URL"},
		{&net.DNSError{Name: "github.invalid", IsTemporary: true}, 5, true, ""},
		{&tls.CertificateVerificationError{Err: errors.New("unknown authority")}, 1, false, "certificate authority"},
		{&net.OpError{Op: "read", Err: errors.New("connection reset by peer")}, 5, true, "connection reset"},
	} {
		_, err := h.propose(context.Background(), through(tt.err), r)
		wantFailure(t, err, failure.ForgeUnavailable, tt.text)
		if f := failure.Of(err); calls != tt.calls || f.Retryable != tt.retryable {
			t.Errorf("%v: %d calls, retryable %v", tt.err, calls, f.Retryable)
		}
	}

	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := h.propose(canceled, h.client, r)
	wantFailure(t, err, failure.Interrupted)
	late, cancel := context.WithDeadline(context.Background(), time.Now().Add(-time.Second))
	defer cancel()
	_, err = h.propose(late, h.client, r)
	wantFailure(t, err, failure.ForgeUnavailable, "deadline")
}

// The token goes only to the API's host.
func TestTokenStaysAtHome(t *testing.T) {
	var elsewhere []string
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		elsewhere = append(elsewhere, req.Header.Get("Authorization"))
	}))
	defer other.Close()
	var home []string
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		home = append(home, req.Header.Get("Authorization"))
		http.Redirect(w, req, other.URL+"/x", http.StatusTemporaryRedirect)
	}))
	defer api.Close()
	c, err := github.New(github.Options{APIURL: api.URL, Token: token + "\n"})
	if err != nil {
		t.Fatal(err)
	}
	f, err := c.Forge(catalog, "main", forge.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = f.Tip(context.Background())
	if !slices.Equal(home, []string{"Bearer " + token}) || !slices.Equal(elsewhere, []string{""}) {
		t.Errorf("home %q, elsewhere %q", home, elsewhere)
	}
}

// Once the pull request exists, missing permission for its settings is a note. A temporary error is a failure,
// and the next run completes the settings.
func TestTroubleAfterTheCreation(t *testing.T) {
	h := start(t, fakegithub.Repository{})
	h.AddUsers("ann")
	h.AddToken(token, fakegithub.Identity{Login: "graft[bot]", App: true, Permissions: map[string]string{
		"metadata": "read", "contents": "write", "pull_requests": "write",
	}})
	r := h.request()
	r.Labels, r.Reviewers = []string{"operator"}, []string{"ann"}
	h.faults(addLabels, answer(403, "Resource not accessible by integration", "X-Accepted-GitHub-Permissions", "issues=write; pull_requests=write"))
	h.notes(h.ensure(r, forge.Created), "the label operator was not added: HTTP 403 Resource not accessible by integration; it needs the permission issues: write, or pull-requests: write")
	h.ensure(r, forge.Updated)

	h = start(t, fakegithub.Repository{})
	h.AddUsers("ann")
	r = h.request()
	r.Labels, r.Reviewers = []string{"operator"}, []string{"ann"}
	h.faults(reviewers, slices.Repeat([]*fakegithub.Fault{fakegithub.ServerError(500, false)}, 5)...)
	got, err := h.propose(context.Background(), h.client, r)
	wantFailure(t, err, failure.ForgeUnavailable, "asking for reviews of acme/catalog#1")
	if got.Number != 1 || got.Operation != forge.Created {
		t.Errorf("%+v", got)
	}
	h.ensure(r, forge.Updated)
	if p := h.one(); strings.Join(append(p.Labels, p.Reviewers...), " ") != "operator ann" {
		t.Errorf("%+v", p)
	}
	h.ensure(r, forge.Unchanged)
}
