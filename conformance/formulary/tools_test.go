package formulary

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/cli"
	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/testkit/registry"
)

// The test binary runs as graft in recipes. The images that recipes name are in the test's registry: only verbs
// that may pull have the flag for it.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) != "graft" {
		os.Exit(m.Run())
	}
	args := os.Args[1:]
	if len(args) > 0 && slices.Contains([]string{"render", "verify", "diff", "remove"}, args[0]) {
		args = append(args, "--registries-conf", os.Getenv("GRAFT_TEST_MIRRORS"))
	}
	os.Exit(cli.Main(context.Background(), args, command.Process()))
}

// tools holds what all recipes share: the tools and the registry.
type tools struct{ env []string }

func newTools(t *testing.T) *tools {
	t.Helper()
	bin := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string]string{"graft": self, "yq": tool(t, "yq"), "gojq": tool(t, "gojq"), "jq": jq(t)} {
		if err := os.Symlink(at, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	return &tools{[]string{
		"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + bin, "LC_ALL=C",
		"GRAFT_TEST_MIRRORS=" + mirrors(t),
	}}
}

// tool returns the path of a program that go.mod names. Go builds it if needed.
func tool(t *testing.T, name string) string {
	t.Helper()
	cmd := exec.Command("go", "tool", "-n", name)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("building %s: %v\n%s", name, err, &said)
	}
	return strings.TrimSpace(string(out))
}

func jq(t *testing.T) string {
	t.Helper()
	at, err := exec.LookPath("jq")
	if err != nil {
		t.Fatal("the recipes need jq: apt-get install jq")
	}
	return at
}

// mirrors starts a registry with quay.io/example/op-bundle, one bundle for each version that a recipe names,
// and returns a registries.conf for it.
func mirrors(t *testing.T) string {
	t.Helper()
	s, err := registry.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	files, err := filepath.Glob(filepath.Join(pages, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	pushed := map[string]bool{}
	for _, page := range files {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`op-bundle:v([0-9a-z.-]*[0-9a-z])`).FindAllStringSubmatch(string(text), -1) {
			if pushed[m[1]] {
				continue
			}
			pushed[m[1]] = true
			if _, err := s.Push("example/op-bundle:v"+m[1], operator(m[1]), registry.Form{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	conf := filepath.Join(t.TempDir(), "registries.conf")
	text := fmt.Sprintf("[[registry]]\nprefix = \"quay.io/example\"\nlocation = \"%s/example\"\ninsecure = true\n", s.Addr)
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return conf
}

func operator(version string) registry.Bundle {
	csv := "apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata:\n  name: op.v" + version + "\nspec:\n  version: " + version + "\n"
	labels := map[string]string{
		"operators.operatorframework.io.bundle.package.v1":  "op",
		"operators.operatorframework.io.bundle.channels.v1": "stable",
	}
	annotations := "annotations:\n"
	for key, value := range labels {
		annotations += "  " + key + ": " + value + "\n"
	}
	return registry.Bundle{
		Labels: labels,
		Files:  map[string][]byte{"manifests/csv.yaml": []byte(csv), "metadata/annotations.yaml": []byte(annotations)},
	}
}
