// Package corpus reads the real releases, bundles and catalogs that tests are held to.
// They stand beside the project, in ../shared/corpus, and may be absent as a whole; a
// part that is missing from it is a fault.
package corpus

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// Dir is the corpus, "" where it is absent.
func Dir(t testing.TB) string {
	t.Helper()
	at, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "action.yml")); err == nil {
			break
		}
		if at == filepath.Dir(at) {
			t.Fatal("the test runs outside of the project")
		}
	}
	dir := filepath.Join(at, "..", "shared", "corpus")
	if _, err := os.Stat(dir); err != nil {
		return ""
	}
	return dir
}

// Files are the files below the corpus that match the patterns, each of which has to
// match some. Where the corpus is absent the test is skipped.
func Files(t testing.TB, patterns ...string) []string {
	t.Helper()
	dir := Dir(t)
	if dir == "" {
		t.Skip("the corpus, ../shared/corpus, is absent")
	}
	var all []string
	for _, p := range patterns {
		files, err := filepath.Glob(filepath.Join(dir, p))
		if err != nil || len(files) == 0 {
			t.Fatalf("the corpus has no %s (%v)", p, err)
		}
		all = append(all, files...)
	}
	return all
}

// Gunzip reads a file that is packed with gzip.
func Gunzip(t testing.TB, file string) []byte {
	t.Helper()
	packed, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Untar reads the files of an archive that is packed with gzip.
func Untar(t testing.TB, file string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for r := tar.NewReader(bytes.NewReader(Gunzip(t, file))); ; {
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
		if all[path.Clean(h.Name)], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

// Bundles are the bundle directories of an operator, by OPERATOR:VERSION; of all
// operators for "*".
func Bundles(t testing.TB, operator string) map[string]fstest.MapFS {
	t.Helper()
	all := map[string]fstest.MapFS{}
	for _, file := range Files(t, "render/bundles/"+operator+".tar.gz") {
		for name, data := range Untar(t, file) {
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
