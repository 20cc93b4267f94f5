package relay

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/olmgraft/graft/internal/forge/github"
	"github.com/olmgraft/graft/internal/relay/queue"
)

// A delivery is not given up because a clock was set: it is tried for an hour at least, and not
// for ever.
func TestAgeOfDelivery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const giveUpAfter = 24 * time.Hour
		for name, stated := range map[string]time.Duration{"now": 0, "a year ahead": -365 * 24 * time.Hour, "a year ago": 365 * 24 * time.Hour} {
			begun := time.Now()
			w := waiting{Item: queue.Item{At: begun.Add(-stated)}, since: begun}
			want := giveUpAfter
			if stated > 0 {
				want = leastTried
			}
			for w.tooOld(giveUpAfter) == (time.Since(begun) > want) && time.Since(begun) < 2*giveUpAfter {
				time.Sleep(10*time.Minute + time.Second)
			}
			if took := time.Since(begun); took < 2*giveUpAfter {
				t.Errorf("stated %s: after %v, given up is %v", name, took, w.tooOld(giveUpAfter))
			}
		}
	})
}

// A token that GitHub refuses is exchanged, though by this clock it is good.
func TestRefusedToken(t *testing.T) {
	t.Parallel()
	w := begin(t, setup{})
	tokens := &exchanged{"ghp_over", ghToken}
	d := newSender(w.config.GitHub, tokens, "graft/test")
	one := delivery{To: "octo/catalog", Type: "publish"}
	if v := d.send(t.Context(), one); v.err == nil || github.AnswerOf(v.err, time.Now()).Status != http.StatusUnauthorized {
		t.Fatalf("%+v", v)
	}
	if v := d.send(t.Context(), one); !v.delivered {
		t.Errorf("%+v", v)
	}
}

// exchanged are tokens, each used until it is refused.
type exchanged []string

func (e *exchanged) grant(context.Context, string) (grant, error) { return grant{token: (*e)[0]}, nil }
func (e *exchanged) refused(string)                               { *e = (*e)[1:] }
