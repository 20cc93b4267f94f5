package relay

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/forge"
	"github.com/olmgraft/graft/internal/forge/github"
	"github.com/olmgraft/graft/internal/outbound"
)

// outcome is what became of an attempt: delivered, refused for good, or err for now.
type outcome struct {
	delivered bool
	refused   string
	err       error
	limited   bool
	again     time.Time // when GitHub wants to be asked again
}

// githubSender sends deliveries with the token of the moment.
type githubSender struct {
	config    GitHub
	tokens    tokens
	userAgent string
	transport http.RoundTripper

	mu     sync.Mutex
	held   string // the token of the client
	client *github.Client
}

// newTransport gives up on a GitHub that takes a request and does not answer.
func newTransport() *http.Transport { return outbound.Standard(20 * time.Second) }

// send makes one attempt; to wait and to try again is the dispatcher's.
func (d *githubSender) send(ctx context.Context, l delivery) outcome {
	token, err := d.tokens.token(ctx)
	if err != nil {
		return outcome{err: err}
	}
	client, err := d.clientOf(token)
	if err != nil {
		return outcome{err: err}
	}
	owner, name, _ := strings.Cut(l.To, "/")
	err = client.Dispatch(ctx, forge.Repository{Owner: owner, Name: name}, l.Type, l.Payload)
	now := time.Now()
	if github.AnswerOf(err, now).Status == http.StatusUnauthorized {
		d.tokens.refused(token)
	}
	return outcomeOf(err, now)
}

func (d *githubSender) clientOf(token string) (*github.Client, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.client != nil && d.held == token {
		return d.client, nil
	}
	var err error
	d.client, err = github.New(github.Options{
		APIURL: d.config.APIURL, Token: token, UserAgent: d.userAgent, Transport: d.transport,
		Retry: outbound.Retry{Attempts: 1, LongestAsked: time.Nanosecond},
	})
	d.held = token
	return d.client, err
}

// outcomeOf tells what may pass from what will not:
//
//  1. A rate limit passes, at a time that is known.
//  2. A token that is refused (401) can be exchanged, and a server or network can come back.
//  3. What is not found, not permitted or not valid stays so until a person acts, who can
//     then have the dead letter sent again.
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
