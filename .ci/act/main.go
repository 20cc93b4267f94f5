// Command act runs workflows of this repository with nektos/act, from the event to the pull request:
// .github/workflows/graft.yml with the image of a release and with the Dockerfile, and the workflow with setup
// in docs/action.md. It checks outputs, exit codes and pull requests, and prints the time of each way. It needs
// act and podman in the PATH and docker's API at DOCKER_HOST; .ci/act/run provides them.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing/fstest"
	"time"

	"github.com/olmgraft/graft/internal/testkit/fakegithub"
	"github.com/olmgraft/graft/internal/testkit/gitremote"
	"github.com/olmgraft/graft/internal/testkit/registry"
	"github.com/olmgraft/graft/internal/testkit/servers"
)

func main() {
	s := &session{}
	flag.StringVar(&s.built, "action", "", "folder of Graft as an action that builds the Dockerfile")
	flag.StringVar(&s.dist, "dist", "", "folder with archives of version 0.0.0-act, and checksums.txt")
	flag.StringVar(&s.checkout, "checkout", "", "folder of the action that checks out")
	flag.StringVar(&s.work, "work", "", "folder for everything that is written")
	flag.Parse()
	if err := s.run(); err != nil {
		fmt.Fprintln(os.Stderr, "act:", err)
		os.Exit(1)
	}
}

type session struct {
	*servers.Servers
	built, released       string // folders with Graft as an action
	dist, checkout, work  string
	usesCheckout, usesOwn string // the names of the checkout and of Graft in workflows
	heads                 []string
	opened                atomic.Int64 // when the last pull request was opened
}

func (s *session) run() error {
	var err error
	if s.Servers, err = servers.Start(gitremote.GoBackend); err != nil {
		return err
	}
	defer s.Close() //nolint:errcheck // the process ends
	s.Forge.SetScript(func(r fakegithub.Request) *fakegithub.Fault {
		if r.Route == "POST /repos/{owner}/{repo}/pulls" {
			s.opened.Store(time.Now().UnixNano())
		}
		return nil
	})
	for _, version := range []string{"1.0.0", "1.1.0", "1.3.0", "1.4.0", "1.5.0", "1.6.0", "1.7.0"} {
		if err := s.push(version, "op"); err != nil {
			return err
		}
	}
	if err := s.push("1.2.0", ""); err != nil {
		return err
	}
	mirror, err := s.release()
	if err != nil {
		return err
	}
	defer mirror.Close() //nolint:errcheck // the process ends
	if err := s.begin("http://" + mirror.Addr); err != nil {
		return err
	}
	const image, setup = "graft.yml", "setup.yml"
	return errors.Join(
		s.expect(run{"the released action, its image pulled", image, s.released, "1.1.0"}, 0, map[string]string{"result": "created", "changed": "true", "bundle-name": "op.v1.1.0", "pull-request-number": "1", "pull-request-operation": "created", "failure-code": "0"}),
		s.expect(run{"the released action", image, s.released, "1.1.0"}, 0, map[string]string{"result": "unchanged", "changed": "false", "pull-request-number": "1", "failure-code": "0"}),
		s.expect(run{"the released action", image, s.released, "1.2.0"}, 23, map[string]string{"result": "failed", "failure-code": "23", "failure-class": "bundle-invalid", "retryable": "false"}),
		s.expect(run{"the released action, its image there", image, s.released, "1.3.0"}, 0, created),
		s.expect(run{"setup and graft publish, downloaded", setup, s.released, "1.4.0"}, 0, created),
		s.expect(run{"setup and graft publish, cached", setup, s.released, "1.5.0"}, 0, created),
		s.expect(run{"a commit without a release, its image built", image, s.built, "1.6.0"}, 0, created),
		s.documented("1.7.0"),
	)
}

var created = map[string]string{"result": "created", "changed": "true", "failure-code": "0"}

// run is one event: the way, the workflow, the folder with Graft, and the version.
type run struct{ way, workflow, action, version string }

// push stores a bundle, or without a package another image.
func (s *session) push(version, pkg string) error {
	b, err := registry.FromDir(fstest.MapFS{
		"manifests/csv.yaml":        {Data: fmt.Appendf(nil, "apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata: {name: op.v%s}\nspec: {version: %s}\n", version, version)},
		"metadata/annotations.yaml": {Data: fmt.Appendf(nil, "annotations:\n  operators.operatorframework.io.bundle.package.v1: %q\n", pkg)},
	})
	if err == nil {
		_, err = s.Registry.Push("example/op-bundle:v"+version, b, registry.Form{})
	}
	return err
}

// begin creates the repository of a catalog with the workflows in it. Setup gets the release from mirror.
func (s *session) begin(mirror string) error {
	workflows, err := s.workflows(mirror)
	if err != nil {
		return err
	}
	files := map[string]string{
		"template.yaml": "---\nschema: olm.template.basic\nentries:\n- schema: olm.package\n  name: op\n  defaultChannel: stable\n" +
			"- schema: olm.channel\n  package: op\n  name: stable\n  entries:\n  - name: op.v1.0.0\n- schema: olm.bundle\n  image: " + s.Registry.Addr + "/example/op-bundle:v1.0.0\n",
		".github/graft.yaml": "package: op\ntargets:\n- template: template.yaml\n  channels: [stable]\n  catalogs:\n  - path: catalogs/v4.20/op/catalog.yaml\n    create: true\n",
	}
	for name, text := range workflows {
		files[".github/workflows/"+name] = text
	}
	if err := s.Create(files); err != nil {
		return err
	}
	return s.Checkout(filepath.Join(s.work, "catalog"))
}

// expect runs the workflow and checks outputs, the exit code of the step and the pull requests.
func (s *session) expect(r run, code int, want map[string]string) error {
	began, pushes := time.Now(), s.Git.Count(gitremote.Push)
	log, outputs, err := s.dispatch(r)
	if err != nil && code == 0 || err == nil && code != 0 {
		return errors.Join(fmt.Errorf("%s: %s: the step was to end with %d", r.way, r.version, code), err, errors.New(log))
	}
	var errs []error
	for name, value := range want {
		if outputs[name] != value {
			errs = append(errs, fmt.Errorf("%s: the output %s is %q, want %q", r.version, name, outputs[name], value))
		}
	}
	if code != 0 && !strings.Contains(log, fmt.Sprintf("exit with `FAILURE`: %d", code)) {
		errs = append(errs, fmt.Errorf("%s: no step ended with %d", r.version, code))
	}
	took := ""
	if want["result"] == "created" {
		s.heads, pushes = append(s.heads, "graft/op/"+r.version), pushes+1
		took = fmt.Sprintf(", pull request after %.1f s", time.Unix(0, s.opened.Load()).Sub(began).Seconds())
	}
	var heads []string
	for _, pull := range s.PullRequests() {
		heads = append(heads, pull.Head)
	}
	if !slices.Equal(heads, s.heads) || s.Git.Count(gitremote.Push) != pushes {
		errs = append(errs, fmt.Errorf("%s: after %d pushes the pull requests are %v", r.version, s.Git.Count(gitremote.Push), heads))
	}
	if len(errs) > 0 {
		return errors.Join(append(errs, errors.New(log))...)
	}
	fmt.Printf("%s: %s: %s, exit code %d (%.1f s%s)\n", r.version, r.way, outputs["result"], code, time.Since(began).Seconds(), took)
	return nil
}

func (s *session) dispatch(r run) (log string, outputs map[string]string, err error) {
	event := filepath.Join(s.work, "event.json")
	file := filepath.Join(s.work, "outputs.json")
	payload := fmt.Appendf(nil, `{"action": "bundle", "client_payload": {"image": "%s/example/op-bundle:v%s"}}`, s.Registry.Addr, r.version)
	if err := errors.Join(os.WriteFile(event, payload, 0o600), os.RemoveAll(file)); err != nil {
		return "", nil, err
	}
	// Without a container for the job, act passes the host's paths for event and outputs to containers of steps
	// without mounting them, and gives these a network of their own.
	actions := filepath.Join(s.work, "actions")
	args := append([]string{"repository_dispatch", "-e", event, "-P", "ubuntu-latest=-self-hosted", "--no-skip-checkout", "-s", "GITHUB_TOKEN=" + servers.Token,
		"--container-options", "--network=host --volume=" + actions + ":" + actions, "--env", "OUTPUTS_FILE=" + file}, s.here(r, actions)...)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "act", args...)
	cmd.Dir = filepath.Join(s.work, "catalog")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	if text, readErr := os.ReadFile(file); readErr == nil {
		err = errors.Join(err, json.Unmarshal(text, &outputs))
	}
	return out.String(), outputs, err
}

// here returns the arguments with which act finds everything on this machine.
func (s *session) here(r run, actions string) []string {
	args := []string{"-W", filepath.Join(".github", "workflows", r.workflow), "--pull=false", "--container-daemon-socket", "-", "--action-cache-path", actions,
		"--local-repository", s.usesCheckout + "=" + s.checkout, "--local-repository", s.usesOwn + "=" + r.action}
	for key, value := range s.Env() {
		if key != "GITHUB_TOKEN" {
			args = append(args, "--env", key+"="+value)
		}
	}
	return args
}
