package graph

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/fbc"
)

const corpus = "../../../shared/corpus/validate"

// load reads a catalog as the command line does: what the reader cannot read is
// a fault of the catalog.
func load(file string, src []byte) *Catalog {
	var b Builder
	docs, err := fbc.Read(file, src)
	if err != nil {
		b.Fail(err)
	}
	b.Add(docs)
	return b.Catalog()
}

func errorsIn(found []Finding) (errs []Finding) {
	for _, f := range found {
		if f.Level == Error {
			errs = append(errs, f)
		}
	}
	return errs
}

func unzip(t testing.TB, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func realCatalogs(t testing.TB) []string {
	t.Helper()
	files, _ := filepath.Glob(corpus + "/real/*.yaml.gz")
	if len(files) == 0 {
		t.Log("the corpus is not there: " + corpus)
	}
	return files
}

func TestPublishedCatalogsAreAccepted(t *testing.T) {
	for _, file := range realCatalogs(t) {
		name := strings.TrimSuffix(filepath.Base(file), ".gz")
		found := Verify(load(name, unzip(t, file)), nil, Levels{})
		for _, f := range errorsIn(found) {
			t.Errorf("%s:%d: %s: %s", f.File, f.Line, f.ID, f.Message)
		}
		counts := map[string]int{}
		for _, f := range found {
			counts[f.ID]++
		}
		t.Logf("%s: %v", name, counts)
	}
}

func TestVerdictsOnBrokenCatalogs(t *testing.T) {
	f, err := os.Open(corpus + "/broken/broken.tar.gz")
	if errors.Is(err, fs.ErrNotExist) {
		t.Log("the corpus is not there: " + corpus)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var verdicts map[string]struct {
		Ops   []string
		OK    bool
		Error string
	}
	src, err := os.ReadFile(corpus + "/broken/verdicts.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(src, &verdicts); err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for tr := tar.NewReader(z); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		want, ok := verdicts[strings.TrimSuffix(filepath.Base(h.Name), ".yaml")]
		if h.Typeflag != tar.TypeReg || !ok {
			continue
		}
		src, err := io.ReadAll(tr)
		if err != nil {
			t.Fatal(err)
		}
		seen++
		errs := errorsIn(Verify(load(h.Name, src), nil, Levels{}))
		if (len(errs) == 0) != want.OK {
			t.Errorf("%s (%v): opm accepts: %v (%s); we find %v", h.Name, want.Ops, want.OK, want.Error, errs)
		}
		for _, e := range errs {
			if e.Line == 0 || e.File == "" {
				t.Errorf("%s: %s has no place: %s", h.Name, e.ID, e.Message)
			}
		}
	}
	if seen != len(verdicts) {
		t.Errorf("saw %d of %d catalogs", seen, len(verdicts))
	}
}
