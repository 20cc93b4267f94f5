package workflows

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// rehearsed is the version of the archive that the tests make.
const rehearsed = "1.2.3-rehearsal"

// release is a release that .ci/point has pointed the setup action at.
type release struct {
	version string
	archive string // its name for this machine
	content []byte
	action  string // the folder of the action
}

var (
	building sync.Once
	built    []byte
)

// released makes the archive for this machine, or uses those in the folder that GRAFT_DIST names.
func released(t *testing.T) release {
	t.Helper()
	if dist := os.Getenv("GRAFT_DIST"); dist != "" {
		found, err := filepath.Glob(filepath.Join(dist, "graft_*_"+runtime.GOOS+"_"+runtime.GOARCH+".tar.gz"))
		if err != nil || len(found) != 1 {
			t.Fatalf("%s has %v, %v", dist, found, err)
		}
		name := filepath.Base(found[0])
		version := strings.TrimSuffix(strings.TrimPrefix(name, "graft_"), "_"+runtime.GOOS+"_"+runtime.GOARCH+".tar.gz")
		return pointed(t, version, name, read(t, found[0]), read(t, filepath.Join(dist, "checksums.txt")))
	}
	building.Do(func() {
		built = read(t, build(t, "-ldflags", "-s -w -X github.com/olmgraft/graft/internal/command.Version="+rehearsed))
	})
	return packed(t, built)
}

// packed returns a release whose archive has this binary.
func packed(t *testing.T, binary []byte) release {
	t.Helper()
	var out bytes.Buffer
	packing, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewWriter(packing)
	for name, content := range map[string][]byte{"LICENSE": []byte("text\n"), "graft": binary} {
		if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(content))}); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	if archive.Close() != nil || packing.Close() != nil {
		t.Fatal("packing the archive failed")
	}
	var sums strings.Builder
	for _, platform := range []string{"darwin_amd64", "darwin_arm64", "linux_amd64", "linux_arm64", "windows_amd64"} {
		fmt.Fprintf(&sums, "%x  graft_%s_%s.tar.gz\n", sha256.Sum256(out.Bytes()), rehearsed, platform)
	}
	return pointed(t, rehearsed, "graft_"+rehearsed+"_"+runtime.GOOS+"_"+runtime.GOARCH+".tar.gz", out.Bytes(), []byte(sums.String()))
}

// pointed runs .ci/point on a copy of the actions.
func pointed(t *testing.T, version, archive string, content, checksums []byte) release {
	t.Helper()
	root, err := os.MkdirTemp("", "graft-setup")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	for _, name := range []string{"action.yml", ".ci/point", "setup/action.yml", "setup/install.sh", "setup/checksums.txt", "deploy/tekton/graft-publish.yaml",
		"deploy/controller/base/controller.yaml", "deploy/relay/base/relay.yaml"} {
		write(t, filepath.Join(root, name), read(t, filepath.Join("../..", name)), 0o700)
	}
	write(t, filepath.Join(root, "sums"), checksums, 0o600)
	digest := "@sha256:" + strings.Repeat("5", 64)
	image := "ghcr.io/olmgraft/graft" + digest
	cmd := exec.Command("sh", filepath.Join(root, ".ci/point"), version, filepath.Join(root, "sums"), image, "ghcr.io/olmgraft/graft-controller"+digest, "ghcr.io/olmgraft/graft-relay"+digest)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("pointing: %v\n%s", err, out)
	}
	if !bytes.Contains(read(t, filepath.Join(root, "action.yml")), []byte("\n  image: docker://"+image+"\n")) {
		t.Error("action.yml does not name the image")
	}
	return release{version, archive, content, filepath.Join(root, "setup")}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func write(t *testing.T, file string, content []byte, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, content, mode); err != nil {
		t.Fatal(err)
	}
}

// needed lists the programs that the action may use on a runner, besides gh.
var needed = []string{"sh", "cat", "cp", "curl", "cut", "dirname", "gzip", "mkdir", "mktemp", "mv", "rm", "sed", "sha256sum", "sleep", "tar", "uname"}

// job is a job in which the action runs.
type job struct {
	t    *testing.T
	dir  string
	env  map[string]string
	said string
}

// newJob returns a job on a runner that has the needed programs and no gh.
func newJob(t *testing.T, url string) *job {
	t.Helper()
	j := &job{t: t, dir: t.TempDir()}
	j.env = map[string]string{
		"GRAFT_URL": url, "GRAFT_ATTESTATION": "false", "PATH": filepath.Join(j.dir, "bin"), "HOME": j.dir, "GITHUB_ACTIONS": "true",
		"RUNNER_TEMP": filepath.Join(j.dir, "temp"), "RUNNER_TOOL_CACHE": filepath.Join(j.dir, "cache"),
		"GITHUB_PATH": filepath.Join(j.dir, "path"), "GITHUB_OUTPUT": filepath.Join(j.dir, "output"),
	}
	for _, dir := range []string{"bin", "temp", "cache"} {
		if err := os.Mkdir(filepath.Join(j.dir, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, program := range needed {
		at, err := exec.LookPath(program)
		if err != nil {
			t.Fatal(err)
		}
		j.link(program, at)
	}
	return j
}

func (j *job) link(name, to string) {
	j.t.Helper()
	if err := os.Symlink(to, filepath.Join(j.dir, "bin", name)); err != nil {
		j.t.Fatal(err)
	}
}

// program replaces a program by a script.
func (j *job) program(name, script string) {
	j.t.Helper()
	j.without(name)
	write(j.t, filepath.Join(j.dir, "bin", name), []byte("#!/bin/sh\n"+script), 0o700)
}

func (j *job) without(name string) { _ = os.Remove(filepath.Join(j.dir, "bin", name)) }

// run runs the action's script like its step.
func (j *job) run(r release) error {
	j.t.Helper()
	cmd := exec.Command("/bin/sh", filepath.Join(r.action, "install.sh"))
	cmd.Dir = j.dir
	for _, name := range slices.Sorted(maps.Keys(j.env)) {
		cmd.Env = append(cmd.Env, name+"="+j.env[name])
	}
	out, err := cmd.CombinedOutput()
	j.said = string(out)
	return err
}

var annotation = regexp.MustCompile(`(?m)^::error title=([a-z-]+)::([^\n]+\.)$`)

// refuses checks that the step fails with one annotation of a class and leaves nothing on PATH.
func (j *job) refuses(r release, class, part string) {
	j.t.Helper()
	err := j.run(r)
	found := annotation.FindAllStringSubmatch(j.said, -1)
	if err == nil || len(found) != 1 || found[0][1] != class || !strings.Contains(found[0][2], part) {
		j.t.Errorf("it ends with %v, want %s with %q in\n%s", err, class, part, j.said)
	}
	if commands := regexp.MustCompile(`(?m)^\s*::|##\[`).FindAllString(j.said, -1); len(commands) != 1 {
		j.t.Errorf("the runner reads %d commands in\n%s", len(commands), j.said)
	}
	for _, file := range []string{"GITHUB_PATH", "GITHUB_OUTPUT"} {
		if text, err := os.ReadFile(j.env[file]); err == nil {
			j.t.Errorf("%s has %q", file, text)
		}
	}
	j.clean()
}

// clean checks that no download is left beside the binary.
func (j *job) clean() {
	j.t.Helper()
	if left, _ := filepath.Glob(filepath.Join(j.env["RUNNER_TEMP"], "*", "work")); len(left) > 0 {
		j.t.Errorf("%v is left", left)
	}
}

// installs checks that the binary is on the PATH of later steps and runs.
func (j *job) installs(r release) {
	j.t.Helper()
	if err := j.run(r); err != nil {
		j.t.Fatalf("%v\n%s", err, j.said)
	}
	dir := strings.TrimSuffix(string(read(j.t, j.env["GITHUB_PATH"])), "\n")
	dir = dir[strings.LastIndex(dir, "\n")+1:]
	out, err := exec.Command(filepath.Join(dir, "graft"), "version").Output()
	if err != nil || !strings.HasPrefix(string(out), "graft "+r.version+",") {
		j.t.Errorf("graft says %q, %v", out, err)
	}
	output := string(read(j.t, j.env["GITHUB_OUTPUT"]))
	if want := "version=" + r.version + "\npath=" + dir + "/graft\n"; !strings.HasSuffix(output, want) {
		j.t.Errorf("the outputs are %q, want %q", output, want)
	}
	j.clean()
}
