package conformance

import (
	"testing"

	"github.com/olmgraft/graft/internal/testkit/corpus"

	"sigs.k8s.io/yaml"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/fbc/canonical"
	"github.com/olmgraft/graft/internal/yamlread"
)

// BenchmarkConversion compares Graft's conversions with those of opm's library.
func BenchmarkConversion(b *testing.B) {
	c := corpus.Shared(b)
	for _, kind := range []string{"migr", "none"} {
		src := c.Read(b, c.Files(b, "render/oracle/"+kind+"/konflux__semver.yaml")[0])
		docs, err := fbc.Read("konflux", src)
		if err != nil {
			b.Fatal(err)
		}
		d := &docs[len(docs)-1]
		doc, err := d.JSON()
		if err != nil {
			b.Fatal(err)
		}
		for _, c := range []struct {
			name    string
			in      []byte
			convert func([]byte) ([]byte, error)
		}{
			{"to JSON/Graft", d.Raw(), yamlread.ToJSON},
			{"to JSON/sigs", d.Raw(), yaml.YAMLToJSON},
			{"to YAML/Graft", doc, canonical.FromJSON},
			{"to YAML/sigs", doc, yaml.JSONToYAML},
		} {
			b.Run(kind+"/"+c.name, func(b *testing.B) {
				b.SetBytes(int64(len(c.in)))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := c.convert(c.in); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
