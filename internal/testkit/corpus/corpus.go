// Package corpus reads the releases, bundles and catalogs that tests use. There are two corpora with the same
// layout: the project's own in testdata/corpus, and the large one of real material beside the project in
// ../shared/corpus, whose files are packed. The large one may be absent as a whole; a missing part of either
// fails the test.
package corpus

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ulikunitz/xz"
)

// Corpus is one of the two corpora.
type Corpus struct{ dir string }

// Own returns the project's own corpus.
func Own(t testing.TB) Corpus {
	t.Helper()
	return Corpus{filepath.Join(project(t), "testdata", "corpus")}
}

// Shared returns the large corpus. If it is absent, Shared skips the test.
func Shared(t testing.TB) Corpus {
	t.Helper()
	dir := filepath.Join(project(t), "..", "shared", "corpus")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("../shared/corpus is absent")
	}
	return Corpus{dir}
}

// Large returns Shared, and skips the test with -short.
func Large(t testing.TB) Corpus {
	t.Helper()
	if testing.Short() {
		t.Skip("-short leaves ../shared/corpus out")
	}
	return Shared(t)
}

// Each runs a test on both corpora. With -short it skips the large one.
func Each(t *testing.T, test func(t *testing.T, c Corpus)) {
	t.Helper()
	t.Run("own", func(t *testing.T) { test(t, Own(t)) })
	t.Run("shared", func(t *testing.T) {
		test(t, Large(t))
	})
}

// project returns the project's folder.
func project(t testing.TB) string {
	t.Helper()
	at, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(at, "action.yml")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			t.Fatal("the test runs outside of the project")
		}
		at = filepath.Dir(at)
	}
}

// Files returns the files that match the patterns, packed or not. Each pattern must match at least one file.
func (c Corpus) Files(t testing.TB, patterns ...string) []string {
	t.Helper()
	var all []string
	for _, p := range patterns {
		plain, err := filepath.Glob(filepath.Join(c.dir, p))
		packed, _ := filepath.Glob(filepath.Join(c.dir, p+".gz")) // the pattern is malformed only if the first was
		if err != nil || len(plain)+len(packed) == 0 {
			t.Fatalf("%s has no %s (%v)", c.dir, p, err)
		}
		all = append(append(all, plain...), packed...)
	}
	return all
}

// Read returns the content of a file, unpacked.
func (c Corpus) Read(t testing.TB, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err == nil && strings.HasSuffix(file, ".gz") {
		var z *gzip.Reader
		if z, err = gzip.NewReader(bytes.NewReader(data)); err == nil {
			data, err = io.ReadAll(z)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Name returns the base name of a file without .gz.
func Name(file string) string { return strings.TrimSuffix(filepath.Base(file), ".gz") }

// Bundles returns the bundle directories of an operator by OPERATOR:VERSION. "*" selects all operators.
func (c Corpus) Bundles(t testing.TB, operator string) map[string]fstest.MapFS {
	t.Helper()
	all := map[string]fstest.MapFS{}
	for _, at := range c.either(t, "render/bundles/"+operator) {
		for name, data := range c.tree(t, at) {
			parts := strings.SplitN(name, "/", 3)
			if len(parts) < 3 {
				continue
			}
			ref := parts[0] + ":" + parts[1]
			if all[ref] == nil {
				all[ref] = fstest.MapFS{}
			}
			all[ref][parts[2]] = &fstest.MapFile{Data: data}
		}
	}
	return all
}

// Verdict is a catalog with the result of opm validate.
type Verdict struct {
	Text []byte `json:"-"`
	// Ops names the changes that broke the catalog.
	Ops   []string
	OK    bool
	Error string
}

// Verdicts returns the broken catalogs by name.
func (c Corpus) Verdicts(t testing.TB) map[string]Verdict {
	t.Helper()
	var all map[string]Verdict
	if err := json.Unmarshal(c.Read(t, c.Files(t, "validate/broken/verdicts.json")[0]), &all); err != nil {
		t.Fatal(err)
	}
	folder := c.dir + "/validate/broken"
	if packed := folder + "/broken.tar.gz"; exists(packed) {
		folder = packed
	}
	seen := 0
	for name, text := range c.tree(t, folder) {
		base, ok := strings.CutSuffix(path.Base(name), ".yaml")
		if !ok {
			continue
		}
		v, ok := all[base]
		if !ok {
			t.Fatalf("%s has no verdict", name)
		}
		seen++
		v.Text = text
		all[base] = v
	}
	if seen != len(all) {
		t.Fatalf("%d catalogs have %d verdicts", seen, len(all))
	}
	return all
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// either returns the folders, or else the archives, that match a pattern.
func (c Corpus) either(t testing.TB, pattern string) []string {
	t.Helper()
	for _, p := range []string{pattern + ".tar.gz", pattern} {
		if found, err := filepath.Glob(filepath.Join(c.dir, p)); err == nil && len(found) > 0 {
			return found
		}
	}
	t.Fatalf("%s has no %s", c.dir, pattern)
	return nil
}

// tree reads the files of a folder or an archive. Paths begin at the folder's parent.
func (c Corpus) tree(t testing.TB, at string) map[string][]byte {
	t.Helper()
	if strings.HasSuffix(at, ".tar.gz") {
		return untar(t, c.Read(t, at))
	}
	all := map[string][]byte{}
	parent := os.DirFS(filepath.Dir(at))
	err := fs.WalkDir(parent, filepath.Base(at), func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all[name], err = fs.ReadFile(parent, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func untar(t testing.TB, data []byte) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for r := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err == nil && h.Typeflag == tar.TypeReg {
			all[path.Clean(h.Name)], err = io.ReadAll(r)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Archive returns the files of a packed folder by their names in it.
func (c Corpus) Archive(t testing.TB, name string) fstest.MapFS {
	t.Helper()
	packed, err := os.Open(filepath.Join(c.dir, name+".tar.xz"))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	unpacked, err := xz.NewReader(bufio.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	all := fstest.MapFS{}
	for r := tar.NewReader(unpacked); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		all[path.Clean(h.Name)] = &fstest.MapFile{Data: data}
	}
}
