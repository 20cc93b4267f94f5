package github

import (
	"context"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/google/go-github/v60/github"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/forge"
)

// GitHub's limits for a repository_dispatch event.
const (
	longestEventType = 100
	mostProperties   = 10
	longestPayload   = 65535
)

// Dispatch sends a repository_dispatch event. If an answer is lost, it sends the event again, so the event
// arrives at least once.
func (c *Client) Dispatch(ctx context.Context, repo forge.Repository, eventType string, payload json.RawMessage) error {
	if err := checkRepository(repo); err != nil {
		return err
	}
	op := operation{
		doing: fmt.Sprintf("sending the event %s to %s", eventType, repo),
		needs: "contents: write",
	}
	options := github.DispatchRequestOptions{EventType: eventType}
	if n := utf8.RuneCountInString(eventType); n == 0 || n > longestEventType {
		return failure.New(failure.Usage, "an event type has 1 to %d characters, and this one has %d", longestEventType, n)
	}
	if len(payload) > 0 {
		var properties map[string]json.RawMessage
		if err := json.Unmarshal(payload, &properties); err != nil {
			return failure.New(failure.Usage, "%s: the payload is not a JSON object: %w", op.doing, err)
		}
		if len(properties) > mostProperties {
			return failure.New(failure.Usage, "%s: the payload has %d properties, and GitHub takes %d",
				op.doing, len(properties), mostProperties).Fix(`Put the values into one object, such as {"bundle": {...}}.`)
		}
		if len(payload) > longestPayload {
			return failure.New(failure.Usage, "%s: the payload has %d bytes, and GitHub takes %d",
				op.doing, len(payload), longestPayload).Fix("Send only the reference of the bundle, and let the workflow fetch the rest.")
		}
		options.ClientPayload = &payload
	}
	if _, _, err := c.gh.Repositories.Dispatch(ctx, repo.Owner, repo.Name, options); err != nil {
		return c.fail(ctx, op, err)
	}
	return nil
}

// TakesEvents checks whether a repository exists and accepts events from the token, without sending one. With
// asAccount, GitHub reports the account's permissions; those of an App come with its token.
func (c *Client) TakesEvents(ctx context.Context, repo forge.Repository, asAccount bool) error {
	if err := checkRepository(repo); err != nil {
		return err
	}
	op := operation{doing: fmt.Sprintf("checking %s", repo), needs: "metadata: read"}
	found, _, err := c.gh.Repositories.Get(ctx, repo.Owner, repo.Name)
	switch {
	case err != nil:
		return c.fail(ctx, op, err)
	case found.GetArchived():
		return failure.New(failure.ForgeAuth, "%s: it is archived, and takes no events", op.doing).Fix("Unarchive it, or name another repository.")
	case asAccount && !found.Permissions["push"]:
		return failure.New(failure.ForgeAuth, "%s: the token may not push to it, and events need contents: write", op.doing).
			Fix("Give the account access to write, or name another repository.")
	}
	return nil
}
