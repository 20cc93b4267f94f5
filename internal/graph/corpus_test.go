package graph

import (
	"testing"

	"github.com/olmgraft/graft/internal/testkit/corpus"

	"github.com/olmgraft/graft/internal/fbc"
)

// load reads a catalog as the command line does: unreadable content is a fault of the catalog.
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

// eachCatalog runs a test on every published catalog of both corpora.
func eachCatalog(t *testing.T, test func(t *testing.T, name string, src []byte)) {
	corpus.Each(t, func(t *testing.T, c corpus.Corpus) {
		for _, file := range c.Files(t, "validate/real/*.yaml") {
			test(t, corpus.Name(file), c.Read(t, file))
		}
	})
}

func TestPublishedCatalogsAreAccepted(t *testing.T) {
	eachCatalog(t, func(t *testing.T, name string, src []byte) {
		found := Verify(load(name, src), nil, Levels{})
		for _, f := range errorsIn(found) {
			t.Errorf("%s:%d: %s: %s", f.File, f.Line, f.ID, f.Message)
		}
		counts := map[string]int{}
		for _, f := range found {
			counts[f.ID]++
		}
		t.Logf("%s: %v", name, counts)
	})
}

func TestVerdictsOnBrokenCatalogs(t *testing.T) {
	corpus.Each(t, func(t *testing.T, c corpus.Corpus) {
		for name, want := range c.Verdicts(t) {
			errs := errorsIn(Verify(load(name, want.Text), nil, Levels{}))
			if (len(errs) == 0) != want.OK {
				t.Errorf("%s (%v): opm accepts: %v (%s); we find %v", name, want.Ops, want.OK, want.Error, errs)
			}
			for _, e := range errs {
				if e.Line == 0 || e.File == "" {
					t.Errorf("%s: %s has no place: %s", name, e.ID, e.Message)
				}
			}
		}
	})
}
