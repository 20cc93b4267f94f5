package relay

import (
	"cmp"
	"context"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/outbound"
)

// tokens gives what GitHub is asked with for repositories of an owner, and is told what GitHub refused.
type tokens interface {
	grant(ctx context.Context, owner string) (grant, error)
	refused(token string)
}

// grant is a token. contents is what an installation of an App may do with the contents of
// repositories: "write", "read" or "no"; empty where the token is no App's.
type grant struct{ token, contents string }

// openTokens takes the App where there is one, else the file, else GITHUB_TOKEN.
func openTokens(g GitHub, env func(string) (string, bool), client *http.Client, now func() time.Time) (tokens, error) {
	refuse := func(err error, fix string) error {
		return failure.New(failure.Usage, "reading the token for GitHub: %w", err).Fix("%s", fix)
	}
	if g.App != nil {
		a := &appTokens{app: *g.App, api: strings.TrimRight(g.APIURL, "/"), http: client, now: now}
		a.file = watched{path: g.App.KeyFile, read: func(text string) (err error) {
			if a.key, err = jwt.ParseRSAPrivateKeyFromPEM([]byte(text)); err != nil {
				err = errors.New("it is no PEM file with an RSA private key")
			}
			return err
		}}
		if err := a.file.look(now()); err != nil {
			return nil, refuse(fmt.Errorf("%s: %w", g.App.KeyFile, err), "Give github.app.keyFile the private key of the App, as GitHub gave it.")
		}
		return a, nil
	}
	if g.TokenFile != "" {
		f := &fileToken{now: now}
		f.file = watched{path: g.TokenFile, read: func(text string) error {
			if text = strings.TrimSpace(text); text == "" || strings.ContainsAny(text, " \r\n\t") {
				return errors.New("it is not one token")
			}
			f.text = text
			return nil
		}}
		if err := f.file.look(now()); err != nil {
			return nil, refuse(fmt.Errorf("%s: %w", g.TokenFile, err), "Put the token, and nothing else, into the file.")
		}
		return f, nil
	}
	text, _ := env("GITHUB_TOKEN")
	if text = strings.TrimSpace(text); text == "" {
		return nil, refuse(errors.New("there is none"), "Set github.tokenFile, github.app, or GITHUB_TOKEN.")
	}
	return fixedToken(text), nil
}

type fixedToken string

func (t fixedToken) grant(context.Context, string) (grant, error) {
	return grant{token: string(t)}, nil
}

func (fixedToken) refused(string) {} // there is no other

// fileToken is a file that may be replaced.
type fileToken struct {
	mu   sync.Mutex
	file watched
	text string
	now  func() time.Time
}

func (t *fileToken) grant(context.Context, string) (grant, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	_ = t.file.look(t.now())
	return grant{token: t.text}, nil
}

// refused has nothing to do: a file that was replaced is noticed.
func (*fileToken) refused(string) {}

// renewBefore is how long before its end an installation's token, which lives for an hour,
// is exchanged.
const renewBefore = 5 * time.Minute

// appTokens are those of an installation of a GitHub App.
type appTokens struct {
	app  App
	api  string
	http *http.Client
	now  func() time.Time

	mu      sync.Mutex
	file    watched
	key     *rsa.PrivateKey
	held    grant
	expires time.Time
	ahead   time.Duration // the clock here, of GitHub's
}

func (a *appTokens) grant(ctx context.Context, _ string) (grant, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	if a.held.token != "" && now.Before(a.expires.Add(-renewBefore)) {
		return a.held, nil
	}
	_ = a.file.look(now)
	err := a.renew(ctx, now)
	if errors.Is(err, errAhead) {
		err = a.renew(ctx, now)
	}
	if err != nil {
		return grant{}, fmt.Errorf("asking for a token of the installation %s: %w", a.app.Installation, err)
	}
	return a.held, nil
}

// refused makes sure that the token is not used again, though it is not over by this clock.
func (a *appTokens) refused(token string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.held.token == token {
		a.held = grant{}
	}
}

// errAhead is a proof that GitHub refuses where its clock is known to differ from the one here:
// the next is made by GitHub's.
var errAhead = errors.New("the clock here is not that of GitHub")

func (a *appTokens) renew(ctx context.Context, now time.Time) error {
	// GitHub takes a proof that begins before now and ends within ten minutes, by its clock.
	begins := now.Add(-a.ahead - skew)
	proof, err := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.RegisteredClaims{
		Issuer: a.app.ID, IssuedAt: jwt.NewNumericDate(begins), ExpiresAt: jwt.NewNumericDate(begins.Add(2*skew - time.Minute)),
	}).SignedString(a.key)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.api+"/app/installations/"+a.app.Installation+"/access_tokens", http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+proof)
	req.Header.Set("Accept", "application/vnd.github+json")
	var answer struct {
		Token       string    `json:"token"`
		Expires     time.Time `json:"expires_at"`
		Message     string    `json:"message"`
		Permissions struct {
			Contents string `json:"contents"`
		} `json:"permissions"`
	}
	status, header, err := askJSON(a.http, req, &answer)
	if status == 0 {
		return err
	}
	was, there := a.ahead, outbound.Sent(header, now)
	a.ahead = now.Sub(there)
	switch {
	case status == http.StatusUnauthorized && (a.ahead-was).Abs() > skew/2:
		return fmt.Errorf("%w, it is %v ahead: HTTP %d %.200s", errAhead, a.ahead.Round(time.Second), status, answer.Message)
	case status != http.StatusCreated:
		return fmt.Errorf("HTTP %d %.200s", status, answer.Message)
	case err != nil || answer.Token == "":
		return errors.New("the answer holds no token")
	}
	a.held, a.expires = grant{answer.Token, cmp.Or(answer.Permissions.Contents, "no")}, now.Add(answer.Expires.Sub(there))
	return nil
}

// askJSON reads an answer in JSON. The status is 0 where there is no whole answer.
func askJSON(client *http.Client, req *http.Request, into any) (status int, header http.Header, err error) {
	resp, err := client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return 0, nil, err
	}
	return resp.StatusCode, resp.Header, json.Unmarshal(body, into)
}
