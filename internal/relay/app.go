package relay

import (
	"cmp"
	"context"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/olmgraft/graft/internal/outbound"
)

// githubApp is an App that authenticates with its key. The key file may be replaced.
type githubApp struct {
	id, api string
	http    *http.Client
	now     func() time.Time

	mu   sync.Mutex
	file watched
	key  *rsa.PrivateKey
	// ahead is how far the local clock is ahead of GitHub's.
	ahead time.Duration
}

func openApp(g GitHub, client *http.Client, now func() time.Time) (*githubApp, error) {
	a := &githubApp{id: g.App.ID, api: strings.TrimRight(g.APIURL, "/"), http: client, now: now}
	a.file = watched{path: g.App.KeyFile, read: func(text string) error {
		key, err := jwt.ParseRSAPrivateKeyFromPEM([]byte(text))
		if err != nil {
			return errors.New("it is not a PEM file with an RSA private key")
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		a.key = key
		return nil
	}}
	return a, a.file.look(now())
}

// proof returns a token signed by the App. GitHub requires that it begins before now and ends within ten
// minutes, by GitHub's clock.
func (a *githubApp) proof(now time.Time) (string, error) {
	_ = a.file.look(now)
	a.mu.Lock()
	defer a.mu.Unlock()
	begins := now.Add(-a.ahead - skew)
	return jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.RegisteredClaims{
		Issuer: a.id, IssuedAt: jwt.NewNumericDate(begins), ExpiresAt: jwt.NewNumericDate(begins.Add(2*skew - time.Minute)),
	}).SignedString(a.key)
}

// answered is an error answer of GitHub.
type answered struct {
	status  int
	message string
	// moved reports that the local clock differs from GitHub's by a new amount, ahead. The next proof uses
	// GitHub's clock.
	moved bool
	ahead time.Duration
}

func (a *answered) Error() string {
	if a.moved {
		return fmt.Sprintf("the clock of this machine is %v ahead of GitHub: HTTP %d %.200s", a.ahead.Round(time.Second), a.status, a.message)
	}
	return fmt.Sprintf("HTTP %d %.200s", a.status, a.message)
}

// ask sends a request as the App and returns the time of the answer by GitHub's clock. If GitHub refused the
// proof because of a new clock difference, ask sends a new proof.
func (a *githubApp) ask(ctx context.Context, method, path string, due int, into any) (there time.Time, err error) {
	there, err = a.askOnce(ctx, method, path, due, into)
	var said *answered
	if errors.As(err, &said) && said.moved {
		return a.askOnce(ctx, method, path, due, into)
	}
	return there, err
}

func (a *githubApp) askOnce(ctx context.Context, method, path string, due int, into any) (there time.Time, err error) {
	now := a.now()
	proof, err := a.proof(now)
	if err != nil {
		return now, err
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, a.api+path, http.NoBody)
	if err != nil {
		return now, err
	}
	req.Header.Set("Authorization", "Bearer "+proof)
	req.Header.Set("Accept", "application/vnd.github+json")
	var body json.RawMessage
	status, header, err := askJSON(a.http, req, &body)
	if status == 0 {
		return now, err
	}
	there = outbound.Sent(header, now)
	moved := a.clock(now.Sub(there))
	switch {
	case status != due:
		return there, &answered{status, messageIn(body), moved && status == http.StatusUnauthorized, now.Sub(there)}
	case err != nil:
		return there, err
	}
	return there, json.Unmarshal(body, into)
}

// messageIn returns GitHub's message in an answer, or "" if the answer is not JSON.
func messageIn(body []byte) string {
	var said struct {
		Message string `json:"message"`
	}
	_ = json.Unmarshal(body, &said)
	return said.Message
}

// clock records how far the local clock is ahead, and reports whether that is new.
func (a *githubApp) clock(ahead time.Duration) (moved bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	moved = (ahead - a.ahead).Abs() > skew/2
	a.ahead = ahead
	return moved
}

// renewBefore is how long before its end an installation's token, which lives for an hour, is renewed.
const renewBefore = 5 * time.Minute

// installation is one of an App's installations, with its token.
type installation struct {
	*githubApp
	id      string
	account string // if known
	// suspended is the time of the suspension, or zero.
	suspended time.Time
	gone      bool // by the answer to its token

	mu      sync.Mutex
	held    grant
	expires time.Time
}

func (i *installation) grant(ctx context.Context, _ string) (grant, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.held.token != "" && i.now().Before(i.expires.Add(-renewBefore)) {
		return i.held, nil
	}
	var answer struct {
		Token       string    `json:"token"`
		Expires     time.Time `json:"expires_at"`
		Permissions struct {
			Contents string `json:"contents"`
		} `json:"permissions"`
	}
	there, err := i.ask(ctx, http.MethodPost, "/app/installations/"+i.id+"/access_tokens", http.StatusCreated, &answer)
	if err == nil && answer.Token == "" {
		err = errors.New("the answer has no token")
	}
	if err != nil {
		return grant{}, fmt.Errorf("asking for a token of the installation %s: %w", i.id, err)
	}
	i.held, i.expires = grant{answer.Token, cmp.Or(answer.Permissions.Contents, "no")}, i.now().Add(answer.Expires.Sub(there))
	return i.held, nil
}

// refused makes sure that the token is not used again, even if it has not expired by this clock.
func (i *installation) refused(token string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.held.token == token {
		i.held = grant{}
	}
}

// Installations are listed once in a while, and sooner for an account that is not among them or whose token was
// refused. Senders of announcements cannot raise that rate.
const (
	listFresh = 10 * time.Minute
	listPause = time.Minute
	perPage   = 100
	mostPages = 100
	// mostDoubts limits the remembered accounts without a usable installation.
	mostDoubts = 10_000
)

// installations finds an App's installations by their accounts.
type installations struct {
	*githubApp
	log *slog.Logger

	mu     sync.Mutex
	listed time.Time
	failed time.Time // the time and error of the last failed listing
	fault  error
	known  map[string]*installation // by account, in lower case
	doubts map[string]time.Time     // accounts without a usable installation, and since when each is asked for; zero: before the list
}

// uninstalled reports that an account has no usable installation. until is the time of the next listing. Zero
// means that the list was read after the account was first asked for.
type uninstalled struct {
	reason string
	until  time.Time
}

func (u *uninstalled) Error() string { return u.reason }

func (s *installations) grant(ctx context.Context, owner string) (grant, error) {
	one, err := s.find(ctx, owner)
	if err != nil {
		return grant{}, err
	}
	g, err := one.grant(ctx, owner)
	var a *answered
	if !errors.As(err, &a) || a.status != http.StatusNotFound && a.status != http.StatusForbidden {
		return g, err
	}
	s.mu.Lock()
	one.gone = true
	s.mu.Unlock()
	if one, err = s.find(ctx, owner); err != nil {
		return grant{}, err
	}
	return one.grant(ctx, owner)
}

func (s *installations) refused(token string) {
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.known))
	s.mu.Unlock()
	for _, one := range all {
		one.refused(token)
	}
}

// find returns the installation of an account. It holds the lock during the listing, because concurrent callers
// need the list too.
func (s *installations) find(ctx context.Context, owner string) (*installation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	account, now := strings.ToLower(owner), s.now()
	good := func() bool {
		one := s.known[account]
		return one != nil && !one.gone && one.suspended.IsZero()
	}
	age := now.Sub(s.listed)
	anew := age < 0 || age > listFresh || !good() && age >= listPause
	if anew {
		if err := s.list(ctx, now); err != nil && !good() {
			return nil, err
		}
	}
	if good() {
		delete(s.doubts, account)
		return s.known[account], nil
	}
	if _, asked := s.doubts[account]; !asked {
		if len(s.doubts) == mostDoubts {
			clear(s.doubts)
		}
		s.doubts[account] = now
	}
	u := &uninstalled{reason: fmt.Sprintf("the App %s is not installed for %s", s.id, owner)}
	if one := s.known[account]; one != nil && !one.suspended.IsZero() {
		u.reason = fmt.Sprintf("the installation of the App %s for %s has been suspended since %s", s.id, owner, one.suspended.Format(time.RFC3339))
	}
	if anew {
		s.doubts[account] = time.Time{}
	} else if !s.listed.After(s.doubts[account]) {
		u.until = s.listed.Add(listPause)
	}
	return nil, u
}

// list reads all installations and logs changes. After a failure it waits before it reads the list again.
func (s *installations) list(ctx context.Context, now time.Time) error {
	if age := now.Sub(s.failed); age >= 0 && age < lookAgain {
		return s.fault
	}
	all := map[string]*installation{}
	for page := 1; page <= mostPages; page++ {
		var found []struct {
			ID      int64 `json:"id"`
			Account struct {
				Login string `json:"login"`
			} `json:"account"`
			Suspended time.Time `json:"suspended_at"`
		}
		path := fmt.Sprintf("/app/installations?per_page=%d&page=%d", perPage, page)
		if _, err := s.ask(ctx, http.MethodGet, path, http.StatusOK, &found); err != nil {
			s.failed, s.fault = now, fmt.Errorf("listing the installations of the App %s: %w", s.id, err)
			return s.fault
		}
		for _, f := range found {
			if f.Account.Login == "" {
				continue // an enterprise, which owns no repositories
			}
			one := &installation{githubApp: s.githubApp, id: strconv.FormatInt(f.ID, 10), account: f.Account.Login, suspended: f.Suspended}
			account := strings.ToLower(one.account)
			if before := s.known[account]; before != nil && before.id == one.id && !before.gone && before.suspended.Equal(one.suspended) {
				one = before // keeps its token
			}
			all[account] = one
		}
		if len(found) < perPage {
			break
		}
	}
	s.tell(all)
	s.known, s.listed = all, now
	return nil
}

// tell logs new, removed and suspended installations.
func (s *installations) tell(all map[string]*installation) {
	for account, one := range all {
		before := s.known[account]
		switch {
		case before == nil || before.id != one.id:
			s.log.Info("the App is installed", "app", s.id, "account", one.account, "installation", one.id, "suspended", !one.suspended.IsZero())
		case !before.suspended.Equal(one.suspended):
			s.log.Warn("an installation of the App was suspended or resumed", "app", s.id, "account", one.account, "suspended", !one.suspended.IsZero())
		}
	}
	for account, before := range s.known {
		if all[account] == nil {
			s.log.Warn("the App is no longer installed", "app", s.id, "account", before.account, "installation", before.id)
		}
	}
}
