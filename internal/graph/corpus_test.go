package graph

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/testkit/corpus"

	"github.com/olmgraft/graft/internal/fbc"
)

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

func realCatalogs(t testing.TB) []string {
	t.Helper()
	return corpus.Files(t, "validate/real/*.yaml.gz")
}

func TestPublishedCatalogsAreAccepted(t *testing.T) {
	for _, file := range realCatalogs(t) {
		name := strings.TrimSuffix(filepath.Base(file), ".gz")
		found := Verify(load(name, corpus.Gunzip(t, file)), nil, Levels{})
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
	dir := filepath.Dir(corpus.Files(t, "validate/broken/broken.tar.gz")[0])
	var verdicts map[string]struct {
		Ops   []string
		OK    bool
		Error string
	}
	src, err := os.ReadFile(filepath.Join(dir, "verdicts.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(src, &verdicts); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for name, src := range corpus.Untar(t, filepath.Join(dir, "broken.tar.gz")) {
		want, ok := verdicts[strings.TrimSuffix(filepath.Base(name), ".yaml")]
		if !ok {
			continue
		}
		seen++
		errs := errorsIn(Verify(load(name, src), nil, Levels{}))
		if (len(errs) == 0) != want.OK {
			t.Errorf("%s (%v): opm accepts: %v (%s); we find %v", name, want.Ops, want.OK, want.Error, errs)
		}
		for _, e := range errs {
			if e.Line == 0 || e.File == "" {
				t.Errorf("%s: %s has no place: %s", name, e.ID, e.Message)
			}
		}
	}
	if seen != len(verdicts) {
		t.Errorf("saw %d of %d catalogs", seen, len(verdicts))
	}
}
