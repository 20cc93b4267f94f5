package conformance

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/testkit/corpus"
)

// corpusCatalogs gives the catalogs of the corpus by name.
func corpusCatalogs(t *testing.T) map[string][]byte {
	t.Helper()
	all := corpus.Untar(t, corpus.Files(t, "validate/broken/broken.tar.gz")[0])
	for _, f := range corpus.Files(t, "validate/real/*.gz") {
		all[strings.TrimSuffix(filepath.Base(f), ".gz")] = corpus.Gunzip(t, f)
	}
	return all
}
