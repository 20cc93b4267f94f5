package internal_test

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/olmgraft/graft/"

// house is the order of the packages: each imports only those after it. A package that is not listed has its
// parent's place.
var house = []string{
	"bench", "cmd/graft", "cmd/graft-controller", "cmd/graft-demo", "cmd/graft-relay", "internal/extending", "internal/demo", "internal/cli", "internal/controller",
	"internal/action", "internal/publish", "internal/relay/command", "internal/relay", "internal/command",
	"internal/forge", "internal/gitrepo", "internal/scratch", "internal/event", "internal/config", "internal/survey", "internal/plan", "internal/template",
	"internal/render", "internal/bundle", "internal/oci", "internal/explorer", "internal/graph", "internal/draw",
	"internal/catalogsource", "internal/catalogimage", "internal/operand", "internal/fbc", "internal/schema", "internal/shape", "internal/field", "internal/yamledit", "internal/yamlread",
	"internal/markdown", "internal/reference", "internal/runner", "internal/atomicfile", "internal/failure", "internal/outbound", "internal/budget", "internal/pause", "internal/testkit", "formulary", "deploy/crds",
}

// pure packages are functions over bytes and values.
var pure = []string{
	"internal/event", "internal/config", "internal/survey", "internal/plan", "internal/template", "internal/explorer", "internal/graph", "internal/draw",
	"internal/catalogsource", "internal/catalogimage", "internal/operand", "internal/fbc", "internal/schema", "internal/shape", "internal/field", "internal/yamledit",
	"internal/markdown", "internal/reference", "internal/failure", "internal/budget", "formulary",
}

var impure = []string{
	"os", "net", "net/http", "github.com/go-git/", "github.com/google/go-github/", "github.com/google/go-containerregistry/",
}

type pkg struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,Deps", "./...")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p pkg
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if len(all) == 0 {
		t.Fatal("go list names no packages")
	}
	return all
}

// room returns the listed package that a package belongs to, and its index in the order.
func room(importPath string) (string, int) {
	for p := strings.TrimPrefix(importPath, module); p != "."; p = path.Dir(p) {
		if i := slices.Index(house, p); i >= 0 {
			return p, i
		}
	}
	return "", -1
}

func TestImportsGoDownward(t *testing.T) {
	for _, p := range packages(t) {
		from, at := room(p.ImportPath)
		if at < 0 {
			if p.ImportPath != strings.TrimSuffix(module, "/")+"/internal" {
				t.Errorf("%s is not in the list of packages", p.ImportPath)
			}
			continue
		}
		for _, imp := range p.Imports {
			if !strings.HasPrefix(imp, module) {
				continue
			}
			if to, i := room(imp); i < at {
				t.Errorf("%s imports %s, which is above it", from, to)
			}
		}
	}
}

func TestPurePackages(t *testing.T) {
	for _, p := range packages(t) {
		name, _ := room(p.ImportPath)
		if !slices.Contains(pure, name) {
			continue
		}
		for _, imp := range p.Imports {
			if slices.ContainsFunc(impure, func(i string) bool {
				return imp == i || strings.HasSuffix(i, "/") && strings.HasPrefix(imp, i)
			}) {
				t.Errorf("%s is pure and imports %s", p.ImportPath, imp)
			}
		}
	}
}

// writes lists the rooms that write files, and why those are not files that a person names. All others use
// atomicfile, which stays within the repository.
var writes = map[string]string{
	"internal/atomicfile": "it is the door", "internal/action": "the files that a runner names", "internal/scratch": "a copy of its own", "internal/gitrepo": "a store of its own",
	"internal/oci/cache.go": "names by digest", "internal/relay": "its queue", "internal/demo": "a folder of its own", "internal/testkit": "tests",
	"internal/controller/suite": "tests", "bench": "measures",
}

var writing = regexp.MustCompile(`\bos\.(WriteFile|Create|CreateTemp|OpenFile|Mkdir|MkdirAll|MkdirTemp|Rename|Remove|RemoveAll|Symlink|Link|Chmod|Truncate)\(`)

func TestOneDoorForWriting(t *testing.T) {
	err := filepath.WalkDir("..", func(name string, d os.DirEntry, err error) error {
		rel := strings.TrimPrefix(filepath.ToSlash(name), "../")
		switch {
		case err != nil:
			return err
		case d.IsDir() && (rel == "conformance" || strings.HasPrefix(d.Name(), ".") && name != ".."):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go"):
			return nil
		}
		for room := range writes {
			if rel == room || strings.HasPrefix(rel, room+"/") {
				return nil
			}
		}
		text, err := os.ReadFile(name)
		if m := writing.Find(text); m != nil {
			t.Errorf("%s calls %s...): files are written through internal/atomicfile", rel, m)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The command links no client of clusters, and nothing of the demo or the relay. None of our packages in it
// uses text/template, which calls methods by names that the linker cannot know, so that it would keep every
// method of every package.
func TestCommandIsLean(t *testing.T) {
	heavy := []string{
		"k8s.io/", "google.golang.org/grpc", "github.com/operator-framework/", "go.etcd.io/", "testing",
		"github.com/prometheus/", "go.opentelemetry.io/",
		module + "internal/testkit", module + "internal/demo", module + "internal/relay",
	}
	all := packages(t)
	for _, p := range all {
		if p.ImportPath != module+"cmd/graft" {
			continue
		}
		for _, dep := range p.Deps {
			if slices.ContainsFunc(heavy, func(h string) bool { return strings.HasPrefix(dep, h) }) {
				t.Errorf("cmd/graft depends on %s", dep)
			}
			for _, q := range all {
				if q.ImportPath == dep && (slices.Contains(q.Imports, "text/template") || slices.Contains(q.Imports, "html/template")) {
					t.Errorf("%s imports text/template", dep)
				}
			}
		}
	}
}

// Only the controller talks to clusters, and it links nothing of the command.
func TestClusterStaysApart(t *testing.T) {
	for _, p := range packages(t) {
		from, _ := room(p.ImportPath)
		for _, imp := range p.Imports {
			if from != "internal/controller" && (strings.HasPrefix(imp, "k8s.io/") || imp == module+"internal/controller" && from != "cmd/graft-controller") {
				t.Errorf("%s imports %s", p.ImportPath, imp)
			}
		}
		if p.ImportPath == module+"cmd/graft-controller" && slices.Contains(p.Deps, module+"internal/cli") {
			t.Errorf("cmd/graft-controller depends on internal/cli")
		}
	}
}

// Only the command line knows the forges, and the relay, whose events are GitHub's.
func TestForgesStayApart(t *testing.T) {
	for _, p := range packages(t) {
		from, _ := room(p.ImportPath)
		for _, imp := range p.Imports {
			if strings.HasPrefix(imp, module+"internal/forge/") && !slices.Contains([]string{"internal/cli", "internal/relay"}, from) {
				t.Errorf("%s imports %s", p.ImportPath, imp)
			}
			if strings.HasPrefix(imp, "github.com/google/go-github/") && p.ImportPath != module+"internal/forge/github" {
				t.Errorf("%s imports %s", p.ImportPath, imp)
			}
		}
	}
}

// Only tests, suites, the demo and the bench use the testkit.
func TestTestkitStaysApart(t *testing.T) {
	for _, p := range packages(t) {
		from, _ := room(p.ImportPath)
		for _, imp := range p.Imports {
			if to, _ := room(imp); to == "internal/testkit" && path.Base(p.ImportPath) != "suite" && !slices.Contains([]string{to, "internal/demo", "bench"}, from) {
				t.Errorf("%s imports %s", p.ImportPath, imp)
			}
		}
	}
}

// Each kind of template is a folder, and each folder is in the list of kinds.
func TestKindsAreFolders(t *testing.T) {
	shared := []string{"kind", "documents"}
	for _, p := range packages(t) {
		if p.ImportPath != module+"internal/template" {
			continue
		}
		for _, q := range packages(t) {
			dir, name := path.Split(q.ImportPath)
			if dir == module+"internal/template/" && !slices.Contains(shared, name) && !slices.Contains(p.Imports, q.ImportPath) {
				t.Errorf("internal/template does not know the kind in %s", q.ImportPath)
			}
		}
	}
}

// packagesIn returns the folders below internal that a function of a script in .ci tests.
func packagesIn(t *testing.T, file, function string) map[string]bool {
	t.Helper()
	script, err := os.ReadFile("../.ci/" + file)
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(script), "\n"+function+"() {\n")
	list, _, _ = strings.Cut(list, "\n}\n")
	all := map[string]bool{}
	for _, m := range regexp.MustCompile(`\./(internal/[a-z0-9/]*)(?:\{([a-z/,0-9]+)\})?`).FindAllStringSubmatch(list, -1) {
		for _, name := range strings.Split(m[2], ",") {
			all[m[1]+name] = true
		}
	}
	if len(all) == 0 {
		t.Fatalf(".ci/%s has no function %s that tests packages", file, function)
	}
	return all
}

// Packages with goroutines are tested with the race detector.
func TestConcurrencyIsRaced(t *testing.T) {
	raced := packagesIn(t, "run", "raced")
	concurrent := regexp.MustCompile(`(?m)^\s*go (func|[a-z])|\.Go\(func|\bsync\.[^O]|\bsync\.Once\b`)
	for _, p := range packages(t) {
		dir := strings.TrimPrefix(p.ImportPath, module)
		files, err := filepath.Glob("../" + dir + "/*.go")
		if err != nil || !strings.HasPrefix(dir, "internal/") {
			continue
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(file, "_test.go") && concurrent.Match(text) && !raced[dir] {
				t.Errorf("%s does several things at a time, and .ci/run does not test %s with -race", file, dir)
			}
		}
	}
}

// Tests that sample are run as a whole, with each change or once a week.
func TestSamplesAreTestedWhole(t *testing.T) {
	whole := packagesIn(t, "run", "whole")
	maps.Copy(whole, packagesIn(t, "thorough", "whole"))
	for _, p := range packages(t) {
		dir := strings.TrimPrefix(p.ImportPath, module)
		files, err := filepath.Glob("../" + dir + "/*_test.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), "effort"+".Of(t") && !whole[dir] && dir != "internal/testkit/effort" {
				t.Errorf("%s takes a sample, and neither .ci/run nor .ci/thorough tests %s with GRAFT_TEST=whole", file, dir)
			}
		}
	}
}
