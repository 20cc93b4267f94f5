package cli

import (
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/fbc"
)

// TestDiffering checks the documents that init names for a catalog that differs from what its template renders.
func TestDiffering(t *testing.T) {
	read := func(text string) []fbc.Doc {
		docs, err := fbc.Read("catalog.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return docs
	}
	const one, two = "{schema: olm.bundle, name: op.v1.0.0, image: 'quay.io/example/op:v1'}\n", "{schema: olm.bundle, name: op.v2.0.0, image: 'quay.io/example/op:v2'}\n"
	for _, c := range []struct{ standing, rendered, want string }{
		{one + "---\n" + two, two + "---\n" + one, ""},
		{one + "---\n" + two, one, "bundle op.v2.0.0, which the template lacks"},
		{one, one + "---\n" + two, "bundle op.v2.0.0, which the catalog lacks"},
		{one + "---\n" + two, one + "---\n" + one, "bundle op.v1.0.0; bundle op.v2.0.0, which the template lacks"},
		{one, strings.Replace(one, ":v1", ":v9", 1), "bundle op.v1.0.0"},
	} {
		if got := strings.Join(differing(read(c.standing), read(c.rendered)), "; "); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
