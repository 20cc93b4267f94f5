package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/olmgraft/graft/internal/catalogsource"
	"github.com/olmgraft/graft/internal/failure"
)

// controllerName is the command that knows clusters, and all the ways to log in to them.
const controllerName = "graft-controller"

// cluster has lookups answered by graft-controller. It is Objects and Path of
// catalogsource.Values.
type cluster struct {
	command *exec.Cmd
	in      io.WriteCloser
	ask     *json.Encoder
	answers *json.Decoder
	version string
	lost    error // that the cluster does not answer
}

func openCluster(ctx context.Context, kubeconfig string, errs io.Writer) (*cluster, error) {
	name, err := controllerPath()
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, name, "--answer", "--kubeconfig", kubeconfig) //nolint:gosec // the command that lies beside this one, or in PATH
	in, err := command.StdinPipe()
	if err != nil {
		return nil, failure.New(failure.Internal, "asking the cluster: %w", err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, failure.New(failure.Internal, "asking the cluster: %w", err)
	}
	command.Stderr = errs
	if err := command.Start(); err != nil {
		return nil, failure.New(failure.ClusterUnavailable, "running %s: %w", name, err).Fix("Install %s again.", controllerName)
	}
	c := &cluster{command: command, in: in, ask: json.NewEncoder(in), answers: json.NewDecoder(out)}
	first, err := c.next()
	if err != nil {
		_ = c.close()
		return nil, err
	}
	c.version = first.Version
	return c, nil
}

// controllerPath is the graft-controller beside this command, else that of PATH.
func controllerPath() (string, error) {
	name := controllerName
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
		return "", failure.New(failure.Usage, "reading the command line: --kubeconfig takes %s, which is neither beside graft nor in PATH", controllerName).
			Fix("Install it with go install github.com/olmgraft/graft/cmd/%s@latest, or give --kube-version and --object.", controllerName)
	}
	return found, nil
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

func (c *cluster) next() (catalogsource.Answer, error) {
	var a catalogsource.Answer
	if err := c.answers.Decode(&a); err != nil {
		a.Unavailable = controllerName + " ended without an answer"
	}
	if a.Unavailable != "" {
		c.lost = failure.New(failure.ClusterUnavailable, "%s", a.Unavailable)
		return a, c.lost
	}
	return a, nil
}

// Object is the lookup itself: object and value are one question.
func (c *cluster) Object(l catalogsource.Lookup) (any, error) { return l, nil }

func (c *cluster) path(object any, _ string) (string, error) {
	if c.lost != nil {
		return "", c.lost
	}
	if err := c.ask.Encode(object); err != nil {
		c.lost = failure.New(failure.ClusterUnavailable, "asking the cluster: %w", err)
		return "", c.lost
	}
	a, err := c.next()
	if err == nil && a.Error != "" {
		err = errors.New(a.Error)
	}
	return a.Value, err
}

// close ends the command, and tells whether the cluster answered all along.
func (c *cluster) close() error {
	_ = c.in.Close()
	_ = c.command.Wait() // what failed was answered
	return c.lost
}
