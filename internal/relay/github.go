package relay

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/forge"
	"github.com/olmgraft/graft/internal/forge/github"
	"github.com/olmgraft/graft/internal/outbound"
)

// outcome is the result of an attempt: delivered, refused permanently, or failed for now with err.
type outcome struct {
	delivered bool
	refused   string
	err       error
	limited   bool
	again     time.Time // the earliest time for the next attempt, by GitHub
}

// githubSender sends deliveries, each with the present token for the owner of its repository.
type githubSender struct {
	config    GitHub
	tokens    tokens
	userAgent string
	transport http.RoundTripper
	retry     outbound.Retry
	limits    rateLimits

	mu      sync.Mutex
	clients map[string]client // by owner
}

type client struct {
	*github.Client
	held grant
}

// newSender returns a sender that makes one attempt. The dispatcher waits and repeats.
func newSender(c GitHub, t tokens, userAgent string, transport http.RoundTripper) *githubSender {
	return &githubSender{
		config: c, tokens: t, userAgent: userAgent, transport: transport,
		retry: outbound.Retry{Attempts: 1, LongestAsked: time.Nanosecond}, limits: rateLimits{of: map[string]rateLimit{}}, clients: map[string]client{},
	}
}

// newTransport gives up if GitHub accepts a request and does not answer.
func newTransport() *http.Transport { return outbound.Standard(20 * time.Second) }

// send makes one attempt.
func (d *githubSender) send(ctx context.Context, l delivery) outcome {
	repo := repositoryOf(l.To)
	c, err := d.client(ctx, repo.Owner)
	if none := new(uninstalled); errors.As(err, &none) && none.until.IsZero() {
		return outcome{refused: none.reason, err: err}
	} else if err != nil {
		return outcome{err: err, again: none.until}
	}
	err = c.Dispatch(ctx, repo, l.Type, l.Payload)
	now := time.Now()
	if github.AnswerOf(err, now).Status == http.StatusUnauthorized {
		d.tokens.refused(c.held.token)
	}
	return outcomeOf(err, now)
}

func repositoryOf(to string) forge.Repository {
	owner, name, _ := strings.Cut(to, "/")
	return forge.Repository{Owner: owner, Name: name}
}

// client returns the client of an owner, with the present token.
func (d *githubSender) client(ctx context.Context, owner string) (client, error) {
	g, err := d.tokens.grant(ctx, owner)
	if err != nil {
		return client{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if c, ok := d.clients[owner]; ok && c.held == g {
		return c, nil
	}
	made, err := github.New(github.Options{
		APIURL: d.config.APIURL, Token: g.token, UserAgent: d.userAgent, Retry: d.retry,
		Transport: noting{d.transport, d.config.accountOf(owner), &d.limits},
	})
	if err != nil {
		return client{}, err
	}
	d.clients[owner] = client{made, g}
	return d.clients[owner], nil
}

// outcomeOf distinguishes temporary errors from permanent ones:
//
// 1. A rate limit is temporary, until a known time. 2. A refused token (401) can be replaced, and a server or
// network can recover. 3. Not found, not permitted and not valid are permanent until a person acts, who can
// then send the dead letter again.
func outcomeOf(err error, now time.Time) outcome {
	if err == nil {
		return outcome{delivered: true}
	}
	f, answer := failure.Of(err), github.AnswerOf(err, now)
	v := outcome{err: err, again: answer.RetryAt}
	switch f.Code {
	case failure.ForgeRateLimited:
		v.limited = true
		if !v.again.After(now) {
			v.again = now.Add(time.Minute)
		}
	case failure.ForgeAuth, failure.PullRequestRefused, failure.Usage:
		if answer.Status != http.StatusUnauthorized {
			v.refused = f.Message
		}
	}
	return v
}
