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

// What GitHub takes of a repository_dispatch event.
const (
	longestEventType = 100
	mostProperties   = 10
	longestPayload   = 65535
)

// Dispatch sends a repository_dispatch event. After an answer that was lost it is
// sent again, so it arrives at least once.
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
			return failure.New(failure.Usage, "%s: the payload is no JSON object: %w", op.doing, err)
		}
		if len(properties) > mostProperties {
			return failure.New(failure.Usage, "%s: the payload has %d properties, and GitHub takes %d",
				op.doing, len(properties), mostProperties).Fix(`put the values into one object, such as {"bundle": {...}}`)
		}
		if len(payload) > longestPayload {
			return failure.New(failure.Usage, "%s: the payload has %d bytes, and GitHub takes %d",
				op.doing, len(payload), longestPayload).Fix("send what names the bundle, and let the workflow fetch the rest")
		}
		options.ClientPayload = &payload
	}
	if _, _, err := c.gh.Repositories.Dispatch(ctx, repo.Owner, repo.Name, options); err != nil {
		return c.fail(ctx, op, err)
	}
	return nil
}
