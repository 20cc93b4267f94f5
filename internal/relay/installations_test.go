package relay

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/testkit/fakegithub"
	"github.com/olmgraft/graft/internal/testkit/fakegithub/api"
)

// appKey makes the key of an App and its file.
func appKey(t *testing.T) (file string, key *rsa.PublicKey) {
	t.Helper()
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(private)}), 0o600); err != nil {
		t.Fatal(err)
	}
	return file, &private.PublicKey
}

// found is an App with its installations at GitHub and its own clock.
type found struct {
	tokens
	t   *testing.T
	hub *fakegithub.Server
	key *rsa.PublicKey
	now time.Time
	log *logBuffer
}

func discover(t *testing.T, accounts ...string) *found {
	t.Helper()
	f := &found{t: t, now: time.Now(), log: &logBuffer{}}
	var file string
	file, f.key = appKey(t)
	f.hub = fakegithub.New(fakegithub.Options{Observe: api.Observer(t), Now: func() time.Time { return f.now }})
	server := httptest.NewServer(f.hub)
	t.Cleanup(server.Close)
	for i, account := range accounts {
		f.install(int64(100+i), account)
	}
	var err error
	o := Options{Log: slog.New(slog.NewJSONHandler(f.log, nil))}
	if f.tokens, err = openTokens(GitHub{APIURL: server.URL, App: &App{ID: "77", KeyFile: file}}, o, http.DefaultClient, func() time.Time { return f.now }); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *found) install(id int64, account string) {
	f.hub.AddApp(fakegithub.GitHubApp{ID: "77", Installation: id, Account: account, Key: f.key, Permissions: map[string]string{"contents": "write"}})
}

// is checks what the owner gets: a token, "gone" permanently, or "later".
func (f *found) is(owner, want string) {
	f.t.Helper()
	g, err := f.grant(f.t.Context(), owner)
	none := new(uninstalled)
	got := "later"
	switch {
	case err == nil && g.token != "" && g.contents == "write":
		got = "token"
	case errors.As(err, &none) && none.until.IsZero():
		got = "gone"
	}
	if got != want {
		f.t.Errorf("%s: %s (%+v, %v), want %s", owner, got, g, err, want)
	}
}

const (
	lists = "GET /app/installations"
	asks  = "POST /app/installations/{id}/access_tokens"
)

func (f *found) asked(listed, granted int) {
	f.t.Helper()
	if l, g := f.hub.Count(lists), f.hub.Count(asks); l != listed || g != granted {
		f.t.Errorf("listed %d times and asked for %d tokens, want %d and %d", l, g, listed, granted)
	}
}

// Each account has its own token, which is requested once. The list is read page by page.
func TestInstallationsAreFound(t *testing.T) {
	t.Parallel()
	var accounts []string
	for n := range 250 {
		accounts = append(accounts, fmt.Sprintf("org-%d", n))
	}
	f := discover(t, accounts...)
	for _, owner := range []string{"org-0", "Org-0", "org-249", "org-0"} {
		f.is(owner, "token")
	}
	f.asked(3, 2)
	f.now = f.now.Add(56 * time.Minute) // renews the tokens and reads the list again
	f.is("org-0", "token")
	f.asked(6, 3)
}

// A missing installation is permanent only if the list was read after the account was first asked for: the App
// may have been installed a moment ago.
func TestInstallationsComeAndGo(t *testing.T) {
	t.Parallel()
	f := discover(t, "octo")
	f.is("octo", "token")
	f.now = f.now.Add(10 * time.Second)
	f.is("late", "later")
	f.is("never", "later")
	f.install(200, "late")
	f.now = f.now.Add(10 * time.Second)
	f.is("late", "later")
	f.asked(1, 1)
	f.now = f.now.Add(listPause)
	f.is("late", "token")
	f.is("never", "gone")
	f.asked(2, 2)

	// A removed installation is noticed when its token is refused or has expired.
	f.hub.Uninstall(100)
	f.is("octo", "token") // GitHub no longer accepts it
	g, _ := f.grant(t.Context(), "octo")
	f.refused(g.token)
	f.is("octo", "later")
	f.now = f.now.Add(listPause)
	f.is("octo", "gone")
	f.is("late", "token")

	// A suspended installation returns with the next list.
	f.hub.Suspend(200, true)
	f.now = f.now.Add(listFresh + time.Second)
	f.is("late", "gone")
	f.now = f.now.Add(time.Second)
	f.is("late", "gone")
	f.hub.Suspend(200, false)
	f.now = f.now.Add(listPause)
	f.is("late", "token")
	for _, want := range []string{`"the App is installed","app":"77","account":"late"`, `"the App is no longer installed","app":"77","account":"octo"`, `was suspended or resumed","app":"77","account":"late","suspended":true`} {
		if !strings.Contains(f.log.String(), want) {
			t.Errorf("the log has no %s: %s", want, f.log)
		}
	}
}

// If the list cannot be read, known accounts are not affected, and the list is not read again at once.
func TestInstallationsCannotBeListed(t *testing.T) {
	t.Parallel()
	f := discover(t, "octo")
	down := func(r fakegithub.Request) *fakegithub.Fault {
		if r.Route == lists {
			return fakegithub.ServerError(502, false)
		}
		return nil
	}
	f.hub.SetScript(down)
	f.is("octo", "later")
	f.is("octo", "later")
	f.asked(1, 0)
	f.hub.SetScript(nil)
	f.now = f.now.Add(lookAgain)
	f.is("octo", "token")
	f.hub.SetScript(down)
	f.now = f.now.Add(listFresh + time.Second)
	f.is("octo", "token")
	f.is("other", "later")
	f.asked(3, 1)
}

// Hundreds of repositories of several accounts need one target and one App. An action that an account does not
// permit the App becomes a dead letter and does not affect other accounts.
func TestFleet(t *testing.T) {
	t.Parallel()
	file, key := appKey(t)
	w := begin(t, setup{
		config: map[string]string{"targets": `[{images: ["quay.io/{org}/{name}-bundle"], repositories: ["{org}/{name}-catalog"]}]`},
		github: map[string]string{"app": `{id: "77", keyFile: ` + file + `}`},
		hub: func(h *fakegithub.Server) {
			for i, owner := range []string{"alpha", "beta", "gamma"} {
				if owner != "gamma" {
					h.AddApp(fakegithub.GitHubApp{ID: "77", Installation: int64(i), Account: owner, Key: key, Permissions: map[string]string{"contents": "write"}})
				}
				for n := range 10 {
					if err := h.AddRepository(fakegithub.Repository{Owner: owner, Name: fmt.Sprintf("op-%d-catalog", n)}); err != nil {
						t.Fatal(err)
					}
				}
			}
			h.Suspend(1, true)
		},
	})
	for _, owner := range []string{"alpha", "beta", "gamma"} {
		for n := range 10 {
			if status, body := w.hook(fmt.Sprintf("quay.io/%s/op-%d-bundle:v1", owner, n)); status != 202 {
				t.Errorf("%d %s", status, body)
			}
		}
	}
	w.until("those of alpha are sent", func() bool { return len(w.hub.Dispatches()) == 10 })
	for _, d := range w.hub.Dispatches() {
		if d.Owner != "alpha" || d.Sender != "app-77[bot]" {
			t.Errorf("%+v", d)
		}
	}
	if n := w.hub.Count(asks); n != 1 {
		t.Errorf("%d tokens were asked for", n)
	}
}
