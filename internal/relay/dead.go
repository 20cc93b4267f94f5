package relay

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/olmgraft/graft/internal/atomicfile"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/forge"
	"github.com/olmgraft/graft/internal/forge/github"
	"github.com/olmgraft/graft/internal/relay/queue"
)

// The file of dead letters has one of them a line. When it is full it takes the place of the
// one before.
const (
	deadName    = "dead.jsonl"
	deadBefore  = "dead.1.jsonl"
	deadLongest = 16 << 20
)

// deadLetter is a line of the file.
type deadLetter struct {
	delivery
	Accepted time.Time `json:"accepted"`
	Died     time.Time `json:"died"`
	Reason   string    `json:"reason"`
	Replay   string    `json:"replay"`
}

// deadLetterFile is the file.
type deadLetterFile struct {
	dir string
	mu  sync.Mutex
}

// add writes a delivery down. When it returns it is on the disk.
func (d *deadLetterFile) add(l delivery, item queue.Item, v outcome) error {
	path := filepath.Join(d.dir, deadName)
	line, err := json.Marshal(deadLetter{
		delivery: l, Accepted: item.At.UTC(), Died: time.Now().UTC().Truncate(time.Millisecond),
		Reason: v.refused, Replay: "graft-relay --config FILE --replay " + path,
	})
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if info, err := os.Stat(path); err == nil && info.Size() > deadLongest {
		if err := os.Rename(path, filepath.Join(d.dir, deadBefore)); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(appendLine(f, line), f.Close(), atomicfile.SyncDir(d.dir))
}

// appendLine puts a line at the end, upon a line of its own though an earlier one was torn,
// and takes back what it could not write whole.
func appendLine(f *os.File, line []byte) error {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	last := make([]byte, 1)
	if size > 0 {
		if _, err := f.ReadAt(last, size-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			line = append([]byte{'\n'}, line...)
		}
	}
	if _, err := f.Write(append(line, '\n')); err != nil {
		return errors.Join(err, f.Truncate(size))
	}
	return f.Sync()
}

// Replay sends each dead letter of a file once more, with the id that it had, and tells of
// each. The file stays as it is.
func Replay(ctx context.Context, c *Config, o Options, path string, out io.Writer) error {
	f, err := os.Open(path)
	if err != nil {
		return failure.New(failure.Usage, "reading the dead letters: %w", err).Fix("Give --replay with the dead.jsonl of a queue.")
	}
	defer f.Close()
	tokens, err := openTokens(c.GitHub, o.Env, o.client(), time.Now)
	if err != nil {
		return err
	}
	token, err := tokens.token(ctx)
	if err != nil {
		return failure.New(failure.ForgeAuth, "%w", err)
	}
	client, err := github.New(github.Options{APIURL: c.GitHub.APIURL, Token: token, UserAgent: o.UserAgent})
	if err != nil {
		return err
	}
	var errs []error
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		var dead deadLetter
		if err := json.Unmarshal(lines.Bytes(), &dead); err != nil {
			errs = append(errs, failure.New(failure.Usage, "reading the dead letters: %w", err).At(path, n, 0).Fix("Remove the line."))
			continue
		}
		owner, name, _ := strings.Cut(dead.To, "/")
		if err := client.Dispatch(ctx, forge.Repository{Owner: owner, Name: name}, dead.Type, dead.Payload); err != nil {
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
