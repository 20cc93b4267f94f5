package bundle

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/olmgraft/graft/internal/budget"
	"github.com/olmgraft/graft/internal/failure"
)

func TestFilesOf(t *testing.T) {
	fsys := fstest.MapFS{
		"manifests/a.yaml":       {Data: []byte("a")},
		"manifests/.b.yaml":      {Data: []byte("b")},
		"manifests/sub/c.yaml":   {Data: []byte("c")},
		"metadata/.d.yaml":       {Data: []byte("d")},
		"metadata/sub/e.yaml":    {Data: []byte("e")},
		"tests/scorecard/f.yaml": {Data: []byte("f")},
		"Dockerfile":             {Data: []byte("g")},
	}
	files, err := FilesOf(fsys)
	if err != nil {
		t.Fatal(err)
	}
	got := slices.Sorted(maps.Keys(files))
	if want := []string{"manifests/a.yaml", "metadata/.d.yaml"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestFilesOfNoBundle(t *testing.T) {
	for _, only := range []string{"manifests/a.yaml", "metadata/a.yaml", "a.yaml"} {
		if _, err := FilesOf(fstest.MapFS{only: {}}); !failure.Is(err, failure.BundleInvalid) {
			t.Errorf("%s: %v", only, err)
		}
	}
}

// As in opm, links to files are followed as far as the file system allows; links to directories and dead links
// are skipped.
func TestFilesOfLinks(t *testing.T) {
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "secret.yaml")
	for _, name := range []string{"manifests/sub/x", "metadata/annotations.yaml", "real.yaml"} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(outside, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"within.yaml": "../real.yaml", "outside.yaml": outside, "dead.yaml": "nowhere", "dir.yaml": "sub"} {
		if err := os.Symlink(target, filepath.Join(dir, "manifests", name)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	files, err := FilesOf(root.FS())
	if err != nil {
		t.Fatal(err)
	}
	got := slices.Sorted(maps.Keys(files))
	if want := []string{"manifests/within.yaml", "metadata/annotations.yaml"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestFilesOfLimits(t *testing.T) {
	many := fstest.MapFS{"metadata/a.yaml": {}}
	for i := range budget.BundleFiles {
		many["manifests/"+strings.Repeat("x", i/100)+string(rune('a'+i%100))] = &fstest.MapFile{}
	}
	large := fstest.MapFS{
		"manifests/a": {Data: make([]byte, budget.BundleText/2)},
		"manifests/b": {Data: make([]byte, budget.BundleText/2)},
		"metadata/c":  {Data: make([]byte, 1)},
	}
	for _, fsys := range []fstest.MapFS{many, large} {
		if _, err := FilesOf(fsys); !failure.Is(err, failure.BundleInvalid) {
			t.Errorf("%v", err)
		}
	}
}
