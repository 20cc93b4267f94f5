package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/testkit/registry"
)

// runGraft returns the exit code, standard output and standard error of a command.
func runGraft(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Main(context.Background(), args, command.IO{In: strings.NewReader(""), Out: &out, Err: &errs, Env: func(string) (string, bool) { return "", false }})
	return code, out.String(), errs.String()
}

// etcdRegistry has the index etcd:v3 for two platforms, and the image op:v1.
func etcdRegistry(t *testing.T) (s *registry.Server, index, image registry.Member, members []registry.Member) {
	t.Helper()
	s, err := registry.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for _, arch := range []string{"amd64", "arm64"} {
		m, err := s.PushImage("etcd", registry.Image{OCI: true, OS: "linux", Architecture: arch})
		if err != nil {
			t.Fatal(err)
		}
		members = append(members, m)
	}
	if index, err = s.PushIndex("etcd:v3", true, members); err != nil {
		t.Fatal(err)
	}
	if image, err = s.PushImage("op:v1", registry.Image{OS: "linux", Architecture: "s390x"}); err != nil {
		t.Fatal(err)
	}
	return s, index, image, members
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func readFileText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const etcdCSV = `# As it is published.
kind: ClusterServiceVersion
metadata:
  annotations: {containerImage: REGISTRY/op:v1}
spec:
  relatedImages:
  - name: etcd-3
    image: "REGISTRY/etcd:v3"
  install:
    spec:
      deployments:
      - spec:
          template:
            spec:
              containers:
              - image: REGISTRY/op:v1
                env:
                - {name: ETCD_V3, value: 'REGISTRY/etcd:v3'}
`

// The digest of an image for several platforms is that of its index, so that all stay. Each image is looked up
// once, and not at all if all are pinned.
func TestPinFromRegistry(t *testing.T) {
	s, index, image, _ := etcdRegistry(t)
	dir := t.TempDir()
	csv, template := filepath.Join(dir, "bundle", "manifests", "op.clusterserviceversion.yaml"), filepath.Join(dir, "semver.yaml")
	here := strings.NewReplacer("REGISTRY", s.Addr)
	writeFile(t, csv, here.Replace(etcdCSV))
	writeFile(t, filepath.Join(dir, "bundle", "manifests", "crd.yaml"), "kind: CustomResourceDefinition\n")
	writeFile(t, template, here.Replace("schema: olm.semver\nstable:\n  bundles:\n  - image: REGISTRY/op:v1\n"))
	pinned := here.Replace(strings.NewReplacer("op:v1", "op@"+image.Digest, "etcd:v3", "etcd@"+index.Digest).Replace(etcdCSV))

	code, _, stderr := runGraft(t, "pin", "--check", filepath.Join(dir, "bundle"), template)
	if code != 91 || strings.Count(stderr, "image-unpinned") != 5 || !strings.Contains(stderr, "clusterserviceversion.yaml:8:12: relatedImages: "+s.Addr+"/etcd:v3 is named by tag") || s.Count() != 0 {
		t.Errorf("exit code %d, %d requests: %s", code, s.Count(), stderr)
	}
	code, stdout, stderr := runGraft(t, "pin", "--dry-run", filepath.Join(dir, "bundle"), template)
	if code != 0 || !strings.Contains(stdout, "+    image: \""+s.Addr+"/etcd@"+index.Digest+"\"\n") || readFileText(t, csv) == pinned {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
	s.Reset()
	code, stdout, stderr = runGraft(t, "pin", filepath.Join(dir, "bundle"), template)
	if got := readFileText(t, csv); code != 0 || got != pinned || !strings.Contains(stdout, "8:12 relatedImages: "+s.Addr+"/etcd:v3 to "+s.Addr+"/etcd@"+index.Digest+"\n") {
		t.Errorf("exit code %d: %s%s\n%s", code, stdout, stderr, got)
	}
	if n := manifestRequests(s); n != 2 {
		t.Errorf("%d manifests were asked for, not 2", n)
	}
	s.Reset()
	code, stdout, _ = runGraft(t, "pin", filepath.Join(dir, "bundle"), template)
	if code != 0 || s.Count() != 0 || readFileText(t, csv) != pinned || strings.Count(stdout, ": unchanged") != 2 {
		t.Errorf("exit code %d, %d requests: %s", code, s.Count(), stdout)
	}
	if code, _, stderr = runGraft(t, "pin", "--check", filepath.Join(dir, "bundle"), template); code != 0 {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

func manifestRequests(s *registry.Server) (n int) {
	for _, r := range s.Requests() {
		if r.Kind == registry.Manifest {
			n++
		}
	}
	return n
}

// An image that the registry lacks is a failure at its place, and nothing is written.
func TestPinAllOrNothing(t *testing.T) {
	s, _, _, _ := etcdRegistry(t)
	dir := t.TempDir()
	good, bad := filepath.Join(dir, "good.yaml"), filepath.Join(dir, "bad.yaml")
	writeFile(t, good, "schema: olm.bundle\nimage: "+s.Addr+"/op:v1\n")
	writeFile(t, bad, "schema: olm.bundle\nimage: "+s.Addr+"/op:v2\n")
	code, _, stderr := runGraft(t, "pin", good, bad)
	if code != 20 || !strings.Contains(stderr, "bad.yaml:2:8: "+s.Addr+"/op:v2: ") || !strings.Contains(readFileText(t, good), ":v1") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	s.SetAuth(registry.Auth{Scheme: "basic", Username: "u", Password: "p"})
	if code, _, stderr = runGraft(t, "pin", good); code != 21 {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// A lock file that was written with a registry works without one.
func TestPinByLock(t *testing.T) {
	s, index, _, _ := etcdRegistry(t)
	dir := t.TempDir()
	one, two, lock := filepath.Join(dir, "one.yaml"), filepath.Join(dir, "two.yaml"), filepath.Join(dir, "images.lock")
	text := "schema: olm.relatedimages\nrelatedImages:\n- {name: a, image: " + s.Addr + "/etcd:v3}\n"
	writeFile(t, one, text)
	writeFile(t, two, text)
	for range 2 { // the second run finds nothing and forgets nothing
		if code, _, stderr := runGraft(t, "pin", "--write-lock", lock, one); code != 0 {
			t.Fatal(stderr)
		}
		if got := readFileText(t, lock); !strings.HasSuffix(got, "\n"+s.Addr+"/etcd:v3 "+index.Digest+"\n") {
			t.Errorf("got %s", got)
		}
	}
	s.Reset()
	code, _, stderr := runGraft(t, "pin", "--lock", lock, two)
	if code != 0 || s.Count() != 0 || readFileText(t, two) != readFileText(t, one) {
		t.Errorf("exit code %d, %d requests: %s", code, s.Count(), stderr)
	}
	writeFile(t, two, "schema: olm.bundle\nimage: "+s.Addr+"/op:v1\n")
	code, _, stderr = runGraft(t, "pin", "--lock", lock, two)
	if code != 20 || s.Count() != 0 || !strings.Contains(stderr, "two.yaml:2:8: image: the lock file") {
		t.Errorf("exit code %d, %d requests: %s", code, s.Count(), stderr)
	}
}
