package relay

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/failure"
)

// turns is a list of tokens. Each is good for one request.
type turns []string

func (*turns) refused(string) {}

func (t *turns) grant(context.Context, string) (grant, error) {
	if len(*t) == 0 {
		return grant{}, errors.New("there are no more")
	}
	one := (*t)[0]
	*t = (*t)[1:]
	return grant{token: one}, nil
}

// An attempt is one request, with the present token and the program's name.
func TestAttempt(t *testing.T) {
	var asked []string
	status := http.StatusServiceUnavailable
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization")+" "+r.UserAgent())
		w.WriteHeader(status)
	}))
	defer server.Close()
	d := newSender(GitHub{APIURL: server.URL}, &turns{"one", "one", "two"}, "graft/x", newTransport())
	l := delivery{To: "octo/catalog", Type: "bundle", Payload: []byte("{}")}
	if v := d.send(t.Context(), l); v.delivered || v.refused != "" || v.err == nil {
		t.Errorf("while GitHub is down: %+v", v)
	}
	status = http.StatusNoContent
	for range 2 {
		if v := d.send(t.Context(), l); !v.delivered {
			t.Errorf("%+v", v)
		}
	}
	const one, two = "POST /repos/octo/catalog/dispatches Bearer one graft/x", "POST /repos/octo/catalog/dispatches Bearer two graft/x"
	if got := strings.Join(asked, ", "); got != strings.Join([]string{one, one, two}, ", ") {
		t.Errorf("asked %s", got)
	}
	if v := d.send(t.Context(), l); v.delivered || v.refused != "" || v.err == nil || len(asked) != 3 {
		t.Errorf("without a token: %+v", v)
	}
}

// The sender gives up if GitHub accepts a request and does not answer.
func TestSilentGitHub(t *testing.T) {
	if wait := newTransport().ResponseHeaderTimeout; wait <= 0 || wait > time.Minute {
		t.Errorf("an answer is waited for for %v", wait)
	}
}

func TestJudge(t *testing.T) {
	now := time.Unix(1_763_650_000, 0)
	for code, want := range map[failure.Code]outcome{
		failure.ForgeRateLimited:   {limited: true, again: now.Add(time.Minute)},
		failure.ForgeAuth:          {refused: "why"},
		failure.PullRequestRefused: {refused: "why"},
		failure.Usage:              {refused: "why"},
		failure.ForgeUnavailable:   {},
		failure.Internal:           {},
	} {
		got := outcomeOf(failure.New(code, "why"), now)
		if got.delivered || got.err == nil || got.limited != want.limited || got.refused != want.refused || !got.again.Equal(want.again) {
			t.Errorf("%s: %+v, want %+v", code.Class(), got, want)
		}
	}
	if got := outcomeOf(nil, now); got != (outcome{delivered: true}) {
		t.Errorf("%+v", got)
	}
}
