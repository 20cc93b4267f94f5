package relay

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/outbound"
	"github.com/olmgraft/graft/internal/relay/queue"
)

// deadLetter is a line of the file.
type deadLetter struct {
	delivery
	Accepted time.Time `json:"accepted"`
	Died     time.Time `json:"died"`
	Reason   string    `json:"reason"`
	Replay   string    `json:"replay"`
}

// letter returns a dead letter with the command that sends it again.
func (c *Config) letter(l delivery, item queue.Item, v outcome) ([]byte, error) {
	return json.Marshal(deadLetter{
		delivery: l, Accepted: item.At.UTC(), Died: time.Now().UTC().Truncate(time.Millisecond),
		Reason: v.refused, Replay: c.Queue.replay(),
	})
}

// Replay sends each dead letter of a file again, with its id, and prints the result of each. The file does not
// change.
func Replay(ctx context.Context, c *Config, o Options, path string, out io.Writer) error {
	f, err := os.Open(path)
	if err != nil {
		return failure.New(failure.Usage, "reading the dead letters: %w", err).Fix("Give --replay with the dead.jsonl of a queue.")
	}
	defer f.Close()
	tokens, err := openTokens(c.GitHub, o, o.client(), time.Now)
	if err != nil {
		return err
	}
	sender := newSender(c.GitHub, tokens, o.UserAgent, o.transport())
	sender.retry = outbound.Retry{} // a person waits for the result
	var errs []error
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		var dead deadLetter
		if err := json.Unmarshal(lines.Bytes(), &dead); err != nil {
			errs = append(errs, failure.New(failure.Usage, "reading the dead letters: %w", err).At(path, n, 0).Fix("Remove the line."))
			continue
		}
		repo := repositoryOf(dead.To)
		client, err := sender.client(ctx, repo.Owner)
		if err != nil {
			errs = append(errs, failure.New(failure.ForgeAuth, "sending to %s: %w", dead.To, err))
			continue
		}
		if err := client.Dispatch(ctx, repo, dead.Type, dead.Payload); err != nil {
			errs = append(errs, err)
			continue
		}
		fmt.Fprintf(out, "%s: sent to %s, id %s\n", dead.Image, dead.To, dead.ID)
	}
	if err := lines.Err(); err != nil {
		errs = append(errs, failure.New(failure.Usage, "reading the dead letters: %w", err).At(path, 0, 0).Fix("Give --replay with the dead.jsonl of a queue."))
	}
	return errors.Join(errs...)
}
