package conformance

import (
	"testing"

	"github.com/olmgraft/graft/internal/testkit/corpus"
)

// corpusCatalogs returns the catalogs of a corpus by name.
func corpusCatalogs(t *testing.T, c corpus.Corpus) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for name, v := range c.Verdicts(t) {
		all[name+".yaml"] = v.Text
	}
	for _, f := range c.Files(t, "validate/real/*.yaml") {
		all[corpus.Name(f)] = c.Read(t, f)
	}
	return all
}
