package relay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/olmgraft/graft/internal/failure"
)

// tokens provides the credentials for an owner's repositories. refused reports a token that GitHub refused.
type tokens interface {
	grant(ctx context.Context, owner string) (grant, error)
	refused(token string)
}

// grant is a token. contents is an App installation's permission for the contents of repositories: "write",
// "read" or "no"; "" if the token is not an App's.
type grant struct{ token, contents string }

// openTokens uses the App if there is one, else the file, else GITHUB_TOKEN.
func openTokens(g GitHub, o Options, client *http.Client, now func() time.Time) (tokens, error) {
	refuse := func(err error, fix string) error {
		return failure.New(failure.Usage, "reading the token for GitHub: %w", err).Fix("%s", fix)
	}
	if g.App != nil {
		a, err := openApp(g, client, now)
		if err != nil {
			return nil, refuse(fmt.Errorf("%s: %w", g.App.KeyFile, err), "Give github.app.keyFile the private key of the App, as GitHub gave it.")
		}
		if g.App.Installation == "" {
			return &installations{githubApp: a, log: o.Log, known: map[string]*installation{}, doubts: map[string]time.Time{}}, nil
		}
		return &installation{githubApp: a, id: g.App.Installation}, nil
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
	text, _ := o.Env("GITHUB_TOKEN")
	if text = strings.TrimSpace(text); text == "" {
		return nil, refuse(errors.New("no token is set"), "Set github.tokenFile, github.app, or GITHUB_TOKEN.")
	}
	return fixedToken(text), nil
}

type fixedToken string

func (t fixedToken) grant(context.Context, string) (grant, error) {
	return grant{token: string(t)}, nil
}

func (fixedToken) refused(string) {} // there is no other

// fileToken is a token in a file that may be replaced.
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

// refused does nothing: a replaced file is noticed.
func (*fileToken) refused(string) {}

// askJSON reads a JSON answer. The status is 0 if there is no complete answer.
func askJSON(client *http.Client, req *http.Request, into any) (status int, header http.Header, err error) {
	resp, err := client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 4<<20))
	if err != nil {
		return 0, nil, err
	}
	return resp.StatusCode, resp.Header, json.Unmarshal(body, into)
}
