// Command act runs the workflow of .github/workflows/graft.yml with nektos/act: to a pull
// request, then to none since nothing changed, then to the failure of a bad bundle. It
// wants act in the PATH and docker's API at DOCKER_HOST; .ci/act/run sees to both.
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
	"regexp"
	"strings"
	"testing/fstest"
	"time"

	"github.com/olmgraft/graft/internal/testkit/gitremote"
	"github.com/olmgraft/graft/internal/testkit/registry"
	"github.com/olmgraft/graft/internal/testkit/servers"
)

func main() {
	action := flag.String("action", "", "folder of Graft as an action")
	checkout := flag.String("checkout", "", "folder of the action that checks out")
	work := flag.String("work", "", "folder for everything that is written")
	flag.Parse()
	if err := run(*action, *checkout, *work); err != nil {
		fmt.Fprintln(os.Stderr, "act:", err)
		os.Exit(1)
	}
}

type session struct {
	*servers.Servers
	action, checkout, work string
	workflow               string
	uses                   string // the name by which the workflow uses the checkout
	own                    string // and Graft
}

func run(action, checkout, work string) error {
	w, err := servers.Start(gitremote.GoBackend)
	if err != nil {
		return err
	}
	defer w.Close() //nolint:errcheck // the process ends
	s := &session{Servers: w, action: action, checkout: checkout, work: work}
	for _, version := range []string{"1.0.0", "1.1.0"} {
		if err := s.push(version, "op"); err != nil {
			return err
		}
	}
	if err := s.push("1.2.0", ""); err != nil {
		return err
	}
	if err := s.begin(); err != nil {
		return err
	}
	return errors.Join(
		s.expect("1.1.0", 0, map[string]string{"result": "created", "changed": "true", "bundle-name": "op.v1.1.0", "pull-request-number": "1", "pull-request-operation": "created", "failure-code": "0"}),
		s.expect("1.1.0", 0, map[string]string{"result": "unchanged", "changed": "false", "pull-request-number": "1", "failure-code": "0"}),
		s.expect("1.2.0", 23, map[string]string{"result": "failed", "failure-code": "23", "failure-class": "bundle-invalid", "retryable": "false"}),
	)
}

// push stores a bundle; without a package it is none.
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

// begin makes the repository of a catalog with the example workflow in it.
func (s *session) begin() error {
	text, err := os.ReadFile(filepath.Join(".github", "workflows", "graft.yml"))
	if err != nil {
		return err
	}
	s.workflow = string(text)
	_, rest, _ := strings.Cut(s.workflow, "uses: actions/checkout@")
	s.uses = "actions/checkout@" + strings.Fields(rest + " none")[0]
	own := regexp.MustCompile(`- uses: (olmgraft/graft@[0-9a-f]{40}) `).FindAllStringSubmatch(s.workflow, -1)
	if len(own) != 1 {
		return errors.New("the example workflow does not use Graft once")
	}
	s.own = own[0][1]
	s.workflow = strings.Replace(s.workflow, own[0][0], "- id: graft\n        uses: "+s.own+" ", 1)
	s.workflow += "      - if: always()\n        shell: sh\n        env:\n          OUTPUTS: ${{ toJSON(steps.graft.outputs) }}\n        run: printf '%s' \"$OUTPUTS\" >\"$OUTPUTS_FILE\"\n"
	if err := s.Create(map[string]string{
		".github/workflows/graft.yml": s.workflow,
		"template.yaml": "---\nschema: olm.template.basic\nentries:\n- schema: olm.package\n  name: op\n  defaultChannel: stable\n" +
			"- schema: olm.channel\n  package: op\n  name: stable\n  entries:\n  - name: op.v1.0.0\n- schema: olm.bundle\n  image: " + s.Registry.Addr + "/example/op-bundle:v1.0.0\n",
		".github/graft.yaml": "package: op\ntargets:\n- template: template.yaml\n  channels: [stable]\n  catalogs:\n  - path: catalogs/v4.20/op/catalog.yaml\n    create: true\n",
	}); err != nil {
		return err
	}
	return s.Checkout(filepath.Join(s.work, "catalog"))
}

// expect runs the workflow for a version, and holds outputs, the exit code of the step and
// the pull requests.
func (s *session) expect(version string, code int, want map[string]string) error {
	began := time.Now()
	log, outputs, err := s.dispatch(version)
	if err != nil && code == 0 || err == nil && code != 0 {
		return errors.Join(fmt.Errorf("%s: the step was to end with %d", version, code), err, errors.New(log))
	}
	var errs []error
	for name, value := range want {
		if outputs[name] != value {
			errs = append(errs, fmt.Errorf("%s: the output %s is %q, want %q", version, name, outputs[name], value))
		}
	}
	if code != 0 && !strings.Contains(log, fmt.Sprintf("exit with `FAILURE`: %d", code)) {
		errs = append(errs, fmt.Errorf("%s: no step ended with %d", version, code))
	}
	pulls := s.PullRequests()
	if len(pulls) != 1 || pulls[0].Head != "graft/op/1.1.0" || pulls[0].State != "open" || s.Git.Count(gitremote.Push) != 1 {
		errs = append(errs, fmt.Errorf("%s: after %d pushes the pull requests are %+v", version, s.Git.Count(gitremote.Push), pulls))
	}
	if len(errs) > 0 {
		return errors.Join(append(errs, errors.New(log))...)
	}
	fmt.Printf("%s: %s, exit code %d (%.0fs)\n", version, outputs["result"], code, time.Since(began).Seconds())
	return nil
}

func (s *session) dispatch(version string) (log string, outputs map[string]string, err error) {
	event := filepath.Join(s.work, "event.json")
	file := filepath.Join(s.work, "outputs.json")
	payload := fmt.Appendf(nil, `{"action": "bundle", "client_payload": {"image": "%s/example/op-bundle:v%s"}}`, s.Registry.Addr, version)
	if err := errors.Join(os.WriteFile(event, payload, 0o600), os.RemoveAll(file)); err != nil {
		return "", nil, err
	}
	// Where act has no container for the job, it gives those of the steps the host's paths
	// for event and outputs and mounts them not, and a network of their own.
	actions := filepath.Join(s.work, "actions")
	args := []string{"repository_dispatch", "-e", event, "-P", "ubuntu-latest=-self-hosted", "--pull=false", "--no-skip-checkout",
		"--local-repository", s.uses + "=" + s.checkout, "--local-repository", s.own + "=" + s.action,
		"--container-options", "--network=host --volume=" + actions + ":" + actions, "--container-daemon-socket", "-",
		"--action-cache-path", actions, "--env", "OUTPUTS_FILE=" + file}
	for key, value := range s.Env() {
		if key == "GITHUB_TOKEN" {
			args = append(args, "-s", key+"="+value)
			continue
		}
		args = append(args, "--env", key+"="+value)
	}
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
