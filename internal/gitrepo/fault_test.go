package gitrepo

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/testkit/gitremote"
)

const secret = "ghs_0123456789abcdefABCDEF/+="

// fault makes n requests of a kind fail.
func (h *host) fault(kind gitremote.Kind, n int, f gitremote.Fault) {
	h.SetScript(func(q gitremote.Request) gitremote.Fault {
		if q.Kind != kind || n == 0 {
			return gitremote.Fault{}
		}
		n--
		return f
	})
}

func TestCredentials(t *testing.T) {
	eachBackend(t, func(t *testing.T, h *host) {
		h.SetTokens(gitremote.None, map[string]gitremote.Right{secret: gitremote.Write, "reader": gitremote.Read, "stranger": gitremote.None})
		inURL := func(user string) func(*Options) {
			return func(o *Options) { o.URL = strings.Replace(o.URL, "://", "://"+user+"@", 1) }
		}
		for name, tt := range map[string]struct {
			change func(*Options)
			says   []string
		}{
			"none":      {nil, []string{"authentication required", "contents: read"}},
			"wrong":     {func(o *Options) { o.Token = "wrong" }, []string{"authentication required", "has not expired"}},
			"not found": {func(o *Options) { o.Token = "stranger" }, []string{"repository not found", "with access to it"}},
			"in URL":    {inURL("x-access-token:" + "wrongwrong"), []string{"authentication required", "has not expired"}},
		} {
			_, err := h.tryOpen(t, tt.change)
			f := failed(t, err, failure.GitFailed, append(tt.says, h.repo.URL())...)
			if f.Retryable || strings.Contains(err.Error(), "wrongwrong") {
				t.Errorf("%s: %+v", name, f)
			}
		}
		for name, change := range map[string]func(*Options){
			"token":         func(o *Options) { o.Token = secret },
			"other user":    func(o *Options) { o.Token, o.Username = secret, "oauth2" },
			"in URL":        inURL("me:ghs_0123456789abcdefABCDEF%2F+="),
			"token and URL": func(o *Options) { inURL("me:wrong")(o); o.Token = secret },
		} {
			h.Reset()
			r := h.open(t, change)
			deliver(t, r, "graft/a", map[string]string{cat: name})
			if user := h.Requests()[0].User; (name == "token" || name == "token and URL") && user != "x-access-token" || name == "other user" && user != "oauth2" {
				t.Errorf("%s: as %s", name, user)
			}
			if strings.Contains(r.URL(), "@") {
				t.Errorf("%s: %s", name, r.URL())
			}
		}
		r := h.open(t, func(o *Options) { o.Token = "reader" })
		_, err := r.Deliver(context.Background(), delivery(r, "graft/b", map[string]string{cat: "x"}))
		f := failed(t, err, failure.GitFailed, "authorization failed", "Permission to acme/catalog.git denied", "contents: write")
		if f.Retryable {
			t.Errorf("%+v", f)
		}
	})
}

func TestPassingFaults(t *testing.T) {
	eachBackend(t, func(t *testing.T, h *host) {
		for name, f := range map[string]gitremote.Fault{
			"503":                  {Status: http.StatusServiceUnavailable, Body: "<html>down</html>"},
			"500":                  {Status: http.StatusInternalServerError},
			"429":                  {Status: http.StatusTooManyRequests, Header: map[string]string{"Retry-After": "1"}},
			"reset":                {Reset: true},
			"lost":                 {Lose: true},
			"cut":                  {Truncate: 30},
			"cut short of the end": {Truncate: 200},
		} {
			t.Run(name, func(t *testing.T) {
				for _, kind := range []gitremote.Kind{gitremote.FetchRefs, gitremote.Fetch, gitremote.PushRefs, gitremote.Push} {
					h.fault(kind, 2, f)
					branch := "graft/" + strings.ReplaceAll(name, " ", "-") + "/" + string(kind)
					r := h.open(t, nil)
					got := deliver(t, r, branch, map[string]string{cat: branch})
					if log := h.log(t, branch); len(log) != 2 || log[0].SHA != got.Commit || !got.Changed {
						t.Errorf("%s: %+v", kind, log)
					}
				}
			})
		}
		h.sound(t)
	})
}

func TestLastingFaults(t *testing.T) {
	eachBackend(t, func(t *testing.T, h *host) {
		for name, tt := range map[string]struct {
			fault     gitremote.Fault
			says      string
			retryable bool
			requests  int
		}{
			"503":            {gitremote.Fault{Status: 503, Body: "the disk is full"}, "HTTP 503 Service Unavailable the disk is full", true, 4},
			"page":           {gitremote.Fault{Status: 502, Body: "<!DOCTYPE html>much"}, "HTTP 502 Bad Gateway", true, 4},
			"429 for long":   {gitremote.Fault{Status: 429, Header: map[string]string{"Retry-After": "7200"}}, "HTTP 429", true, 1},
			"reset":          {gitremote.Fault{Reset: true}, "reset by peer", true, 4},
			"501":            {gitremote.Fault{Status: 501}, "HTTP 501", false, 1},
			"not a git host": {gitremote.Fault{Status: 400, Body: "what?"}, "HTTP 400 Bad Request what?", false, 1},
		} {
			t.Run(name, func(t *testing.T) {
				r := h.open(t, nil)
				h.Reset()
				h.fault(gitremote.Push, -1, tt.fault)
				_, err := r.Deliver(context.Background(), delivery(r, "graft/x", map[string]string{cat: "x"}))
				h.SetScript(nil)
				f := failed(t, err, failure.GitFailed, "pushing the branch graft/x to "+h.repo.URL(), tt.says)
				if f.Retryable != tt.retryable || strings.Contains(f.Message, "DOCTYPE") || h.Count(gitremote.Push) != tt.requests {
					t.Errorf("%+v after %d requests", f, h.Count(gitremote.Push))
				}
				if head := must[string](t)(h.repo.Head("graft/x")); head != "" {
					t.Errorf("the branch is at %s", head)
				}
			})
		}
	})
}

func TestProtectedBranch(t *testing.T) {
	eachBackend(t, func(t *testing.T, h *host) {
		message := "error: GH006: Protected branch update failed for refs/heads/main.\nerror: \x1b[31mAt least 1 approving review\x1b[0m is required; not by " + secret
		if err := h.repo.Protect("main", message); err != nil {
			t.Fatal(err)
		}
		r := h.open(t, func(o *Options) { o.Token = secret })
		_, err := r.Deliver(context.Background(), delivery(r, "main", map[string]string{cat: "x"}))
		f := failed(t, err, failure.GitFailed, "pre-receive hook declined", "GH006: Protected branch update failed", "At least 1 approving review is required; not by ***", "bypass the rules that protect the branch main")
		if f.Retryable || strings.ContainsAny(f.Message, "\x1b\n") || strings.Contains(f.Message, "[31m") {
			t.Errorf("%+v", f)
		}
		if r.BaseCommit() != must[string](t)(h.repo.Head("main")) {
			t.Error("the base moved")
		}
		deliver(t, r, "graft/a", map[string]string{cat: "x"})
	})
}

func TestPermissionsByTheHostsWords(t *testing.T) {
	h := newHost(t, gitremote.GitBackend)
	for message, remedy := range map[string]string{
		"refusing to allow a GitHub App to create or update workflow `.github/workflows/ci.yaml` without `workflows` permission": "workflows: write",
		"GH013: Repository rule violations found for refs/heads/graft/a.":                                                        "rules that protect the branch graft/a",
		"denying non-fast-forward refs/heads/graft/a":                                                                            "which the host forbids",
		"Commits must have verified signatures.":                                                                                 "Do what the remote's message asks for",
	} {
		if err := h.repo.Protect("graft/a", message); err != nil {
			t.Fatal(err)
		}
		r := h.open(t, nil)
		_, err := r.Deliver(context.Background(), delivery(r, "graft/a", map[string]string{cat: "x"}))
		wantFailure(t, err, failure.GitFailed, message, remedy)
	}
}

func TestNoHost(t *testing.T) {
	h := newHost(t, gitremote.GoBackend)
	closed := httptest.NewServer(nil)
	closed.Close()
	_, err := h.tryOpen(t, func(o *Options) { o.URL, o.Token = closed.URL+"/acme/catalog", secret })
	if f := failed(t, err, failure.GitFailed, "connection refused"); !f.Retryable || strings.Contains(f.Message, secret) {
		t.Errorf("%+v", f)
	}
	tls := httptest.NewUnstartedServer(http.NotFoundHandler())
	tls.Config.ErrorLog = log.New(io.Discard, "", 0)
	tls.StartTLS()
	defer tls.Close()
	_, err = h.tryOpen(t, func(o *Options) { o.URL = tls.URL })
	if f := failed(t, err, failure.GitFailed, "certificate", "SSL_CERT_FILE"); f.Retryable {
		t.Errorf("%+v", f)
	}
	for _, address := range []string{"https://user:" + secret + "@ho st/x", "ftp://user:" + secret + "@example.com/x", "https://%zz@example.com"} {
		_, err = h.tryOpen(t, func(o *Options) { o.URL = address })
		if f := failed(t, err, failure.Usage, "https://HOST/OWNER/NAME"); strings.Contains(f.Error(), "ghs_") {
			t.Errorf("%+v", f)
		}
	}
}

// A redirect to another host does not receive the token.
func TestRedirect(t *testing.T) {
	h := newHost(t, gitremote.GoBackend)
	moved := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		http.Redirect(w, q, strings.Replace(h.repo.URL(), "127.0.0.1", "localhost", 1)+strings.TrimPrefix(q.URL.Path, "/old/name.git")+"?"+q.URL.RawQuery, http.StatusMovedPermanently)
	}))
	defer moved.Close()
	r := h.open(t, func(o *Options) { o.URL, o.Token = moved.URL+"/old/name.git", secret })
	if r.BaseCommit() != must[string](t)(h.repo.Head("main")) {
		t.Error("a repository that moved is not read")
	}
	for _, q := range h.Requests() {
		if q.Authorized {
			t.Errorf("the token went along: %+v", q)
		}
	}
}

func TestInterrupted(t *testing.T) {
	h := newHost(t, gitremote.GoBackend)
	r := h.open(t, nil)
	ctx, cancel := context.WithCancel(context.Background())
	h.SetScript(func(gitremote.Request) gitremote.Fault {
		cancel()
		time.Sleep(50 * time.Millisecond)
		return gitremote.Fault{}
	})
	_, err := r.Fetch(ctx)
	wantFailure(t, err, failure.Interrupted, "interrupted")
	_, err = r.Deliver(ctx, delivery(r, "graft/a", map[string]string{cat: "x"}))
	wantFailure(t, err, failure.Interrupted)

	h.SetScript(func(gitremote.Request) gitremote.Fault { time.Sleep(50 * time.Millisecond); return gitremote.Fault{} })
	ctx, cancel = context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	_, err = r.Fetch(ctx)
	if f := failed(t, err, failure.GitFailed, "no answer before the deadline"); !f.Retryable {
		t.Errorf("%+v", f)
	}
}
