package relay

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/olmgraft/graft/internal/forge/github"
	"github.com/olmgraft/graft/internal/relay/queue"
)

// A changed clock does not make the relay give up a delivery early. It tries for at least an hour, and not
// forever.
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

// A token that GitHub refuses is replaced, even if it is valid by this clock.
func TestRefusedToken(t *testing.T) {
	t.Parallel()
	w := begin(t, setup{})
	tokens := &exchanged{"ghp_over", ghToken}
	d := newSender(w.config.GitHub, tokens, "graft/test", newTransport())
	one := delivery{To: "octo/catalog", Type: "publish"}
	if v := d.send(t.Context(), one); v.err == nil || github.AnswerOf(v.err, time.Now()).Status != http.StatusUnauthorized {
		t.Fatalf("%+v", v)
	}
	if v := d.send(t.Context(), one); !v.delivered {
		t.Errorf("%+v", v)
	}
}

// exchanged is a list of tokens. Each is used until it is refused.
type exchanged []string

func (e *exchanged) grant(context.Context, string) (grant, error) { return grant{token: (*e)[0]}, nil }
func (e *exchanged) refused(string)                               { *e = (*e)[1:] }

// The local clock jumps forwards and backwards, and the App still gets tokens: the proof uses GitHub's clock if
// the answer has its time, and lifetimes use the local elapsed time. Without GitHub's time, tokens work again
// once the local clock is right.
func TestAppTokensWhileTheClockWalks(t *testing.T) {
	const year = 365 * 24 * time.Hour
	for name, tells := range map[string]bool{"GitHub tells its time": true, "it does not": false} {
		t.Run(name, func(t *testing.T) {
			g := newAppAtGitHub(t, tells)
			var ahead time.Duration
			source, err := openTokens(GitHub{APIURL: "https://github.invalid", App: &App{ID: "77", Installation: "4711", KeyFile: g.file}}, Options{},
				&http.Client{Transport: g}, func() time.Time { return g.now.Add(ahead) })
			if err != nil {
				t.Fatal(err)
			}
			works := func() bool {
				held, err := source.grant(t.Context(), "octo")
				if err == nil && g.now.Before(g.given[held.token]) {
					return true
				}
				if err == nil {
					source.refused(held.token)
				}
				return false
			}
			for step, walk := range []time.Duration{0, year, 2 * time.Hour, 0, -2 * time.Hour, -year, 0, 3 * time.Minute, -3 * time.Minute, 0, -30 * time.Minute, 30 * time.Minute, -year, year, 0} {
				ahead = walk
				for range 5 {
					g.now = g.now.Add(25 * time.Minute)
					right := tells || walk.Abs() < 4*time.Minute
					if first := works(); !first && !works() && right {
						t.Errorf("step %d, %v ahead: no token after two attempts", step, walk)
					}
				}
			}
			if limit := 15*5/2 + 20; tells && g.asked > limit {
				t.Errorf("asked %d times for a token, in %v", g.asked, 15*5*25*time.Minute)
			}
		})
	}
}

// walks lists how far a clock is ahead of the right one, in order.
var walks = []time.Duration{0, 365 * 24 * time.Hour, 2 * time.Hour, 0, -2 * time.Hour, -365 * 24 * time.Hour, 0, time.Hour, -time.Hour, 0}

// The relay knows a new secret within seconds, wherever the clock has jumped meanwhile.
func TestSecretsWhileTheClockWalks(t *testing.T) {
	file, now := filepath.Join(t.TempDir(), "secret"), time.Unix(1_800_000_000, 0)
	write := func(n int) string {
		secret := fmt.Sprintf("a secret of step %04d", n)
		if err := os.WriteFile(file, []byte(strings.ReplaceAll(secret, " ", "-")+strings.Repeat("\n", n)), 0o600); err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(secret, " ", "-")
	}
	write(0)
	s, err := openSecrets(Route{SecretFile: file}, nil, now)
	if err != nil {
		t.Fatal(err)
	}
	for step, ahead := range walks {
		secret := write(step + 1)
		now = now.Add(lookAgain)
		if !s.fits(now.Add(ahead), func(one string) bool { return one == secret }) {
			t.Errorf("step %d, %v ahead: the new secret is not known", step, ahead)
		}
	}
}

// The same holds for a new key of Google, and strangers still cannot raise the rate of requests for keys.
func TestGoogleKeysWhileTheClockWalks(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	asked, id, now := 0, "", time.Unix(1_800_000_000, 0)
	g := &google{keysURL: "https://google.invalid", http: &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
		asked++
		body := fmt.Sprintf(`{"keys": [{"kty": "RSA", "kid": %q, "n": %q, "e": "AQAB"}]}`, id, urlBase64.EncodeToString(key.N.Bytes()))
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Request: r, Body: io.NopCloser(strings.NewReader(body))}, nil
	})}}
	for step, ahead := range walks {
		id, asked = fmt.Sprint("key", step), 0
		now = now.Add(2 * keysPause)
		for range 100 {
			if g.key(t.Context(), id, now.Add(ahead)) == nil {
				t.Errorf("step %d, %v ahead: the new key is not known", step, ahead)
			}
			g.key(t.Context(), "made up", now.Add(ahead))
		}
		if asked != 1 {
			t.Errorf("step %d, %v ahead: asked %d times", step, ahead, asked)
		}
	}
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// appAtGitHub is GitHub as an App sees it, with a clock of its own.
type appAtGitHub struct {
	t     *testing.T
	file  string
	key   *rsa.PublicKey
	tells bool
	now   time.Time
	asked int
	given map[string]time.Time // tokens, and when each ends
}

func newAppAtGitHub(t *testing.T, tells bool) *appAtGitHub {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	g := &appAtGitHub{t: t, file: filepath.Join(t.TempDir(), "key.pem"), key: &key.PublicKey, tells: tells, now: time.Unix(1_800_000_000, 0), given: map[string]time.Time{}}
	if err := os.WriteFile(g.file, pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}), 0o600); err != nil {
		t.Fatal(err)
	}
	return g
}

func (g *appAtGitHub) RoundTrip(r *http.Request) (*http.Response, error) {
	g.asked++
	var claims jwt.RegisteredClaims
	proof := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	parser := jwt.NewParser(jwt.WithIssuedAt(), jwt.WithExpirationRequired(), jwt.WithTimeFunc(func() time.Time { return g.now }))
	_, err := parser.ParseWithClaims(proof, &claims, func(*jwt.Token) (any, error) { return g.key, nil })
	answer := &http.Response{StatusCode: http.StatusCreated, Header: http.Header{}, Request: r}
	if g.tells {
		answer.Header.Set("Date", g.now.UTC().Format(http.TimeFormat))
	}
	token := fmt.Sprint("ghs_", g.asked)
	body := fmt.Sprintf(`{"token": %q, "expires_at": %q}`, token, g.now.Add(time.Hour).UTC().Format(time.RFC3339))
	if err != nil || claims.ExpiresAt.Sub(g.now) > 10*time.Minute {
		answer.StatusCode, body = http.StatusUnauthorized, `{"message": "'Expiration time' claim is too far in the future, or over"}`
	} else {
		g.given[token] = g.now.Add(time.Hour)
	}
	answer.Body = io.NopCloser(strings.NewReader(body))
	return answer, nil
}
