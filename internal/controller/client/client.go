// Package client asks graft-controller about a cluster, without linking a client of clusters.
package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/olmgraft/graft/internal/catalogsource"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/outbound"
)

// program is the command that can log in to clusters.
const program = "graft-controller"

// Cluster answers lookups through graft-controller. Object and Path are those of catalogsource.Values.
type Cluster struct {
	// Version is the cluster's version.
	Version string

	command *exec.Cmd
	kill    context.CancelFunc
	in      io.WriteCloser
	ask     *json.Encoder
	answers *json.Decoder
	said    *tail // the end of its standard error
	lost    error // why it does not answer
}

// Open starts graft-controller for the cluster of a kubeconfig.
func Open(ctx context.Context, kubeconfig string) (*Cluster, error) {
	name, err := find()
	if err != nil {
		return nil, err
	}
	ctx, kill := context.WithCancel(ctx)
	c := &Cluster{command: exec.CommandContext(ctx, name, "--answer", "--kubeconfig", kubeconfig), kill: kill, said: &tail{}} //nolint:gosec // the command beside this one, or in PATH
	c.command.Stderr, c.command.WaitDelay = c.said, time.Second
	in, err := c.command.StdinPipe()
	out, outErr := c.command.StdoutPipe()
	if err := errors.Join(err, outErr); err != nil {
		kill()
		return nil, failure.New(failure.Internal, "asking the cluster: %w", err)
	}
	c.in, c.ask, c.answers = in, json.NewEncoder(in), json.NewDecoder(out)
	if err := c.command.Start(); err != nil {
		kill()
		return nil, failure.New(failure.Usage, "running %s: %w", name, err).Fix("Install %s again.", program)
	}
	first, err := c.next()
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	c.Version = first.Version
	return c, nil
}

// tail keeps the end of the written text.
type tail struct{ text []byte }

func (t *tail) Write(p []byte) (int, error) {
	const most = 4 << 10
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-most):]
	return len(p), nil
}

// find returns the graft-controller beside this command, or else in PATH.
func find() (string, error) {
	name := program
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if own, err := os.Executable(); err == nil {
		if beside := filepath.Join(filepath.Dir(own), name); isFile(beside) {
			return beside, nil
		}
	}
	found, err := exec.LookPath(name)
	if err != nil {
		return "", failure.New(failure.Usage, "reading the command line: --kubeconfig takes %s, which is neither beside graft nor in PATH", program).
			Fix("Install it with go install github.com/olmgraft/graft/cmd/%s@latest, or give --kube-version and --object.", program)
	}
	return found, nil
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// next reads one answer. If there is none, it ends the command, because nothing else can follow.
func (c *Cluster) next() (catalogsource.Answer, error) {
	var a catalogsource.Answer
	err := c.answers.Decode(&a)
	switch {
	case err != nil:
		c.kill()
		_ = c.command.Wait()
		text := strings.TrimSpace(string(c.said.text))
		if errors.Is(err, io.EOF) {
			err = errors.New("it ended")
		}
		c.lost = failure.New(failure.ClusterUnavailable, "asking %s: %w: %s", program, err, outbound.OneLine(text[strings.LastIndexByte(text, '\n')+1:])).
			Fix("Install %s of the same version as graft.", program)
	case a.Code != 0:
		c.lost = failure.New(a.Code, "%s", a.Error)
	}
	return a, c.lost
}

// Object returns the lookup itself, because object and value are one question.
func (c *Cluster) Object(l catalogsource.Lookup) (any, error) { return l, nil }

// Path returns the value of a lookup.
func (c *Cluster) Path(object any, _ string) (string, error) {
	if c.lost != nil {
		return "", c.lost
	}
	if err := c.ask.Encode(object); err != nil {
		c.lost = failure.New(failure.ClusterUnavailable, "asking %s: %w", program, err)
		return "", c.lost
	}
	a, err := c.next()
	if err == nil && a.Error != "" {
		err = errors.New(a.Error)
	}
	return a.Value, err
}

// Close ends the command, after a few seconds by force, and returns an error if it failed to answer.
func (c *Cluster) Close() error {
	_ = c.in.Close()
	patience := time.AfterFunc(5*time.Second, c.kill)
	defer patience.Stop()
	_ = c.command.Wait() // every failure was an answer
	c.kill()
	return c.lost
}
