package render_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/testkit/corpus"

	"github.com/olmgraft/graft/internal/bundle"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/render"
	"github.com/olmgraft/graft/internal/template"
)

// Rendering a catalog converted to a template gives the same catalog, or the conversion is refused with the first
// edge that would change.
func TestConvertedCatalogsRenderToThemselves(t *testing.T) { corpus.Each(t, convertCatalogs) }

func convertCatalogs(t *testing.T, c corpus.Corpus) {
	catalogs := c.Files(t, "render/oracle/none/*.yaml", "render/oracle/migr/*.yaml", "validate/real/*.yaml")
	converted := map[string]int{}
	for _, name := range catalogs {
		want := c.Read(t, name)
		docs, err := fbc.Read(filepath.Base(name), want)
		if err != nil {
			t.Fatal(err)
		}
		o := render.Options{Base: render.NewBase(docs)}
		if bytes.Contains(want, []byte("type: "+fbc.TypeCSVMetadata)) {
			o.Metadata = bundle.CSVMetadata
		}
		for _, kind := range template.Convertible() {
			src, err := template.Convert(kind, docs, fbc.YAML, "")
			if failure.Is(err, failure.EdgeConflict) || failure.Is(err, failure.VersionUnordered) || failure.Is(err, failure.TemplateUnsupported) {
				if !strings.Contains(err.Error(), "converting the catalog") || kind == "basic" {
					t.Errorf("%s to %s: %v", name, kind, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s to %s: %v", name, kind, err)
				continue
			}
			converted[kind]++
			if got := text(t, open(t, kind+".yaml", src), o); !bytes.Equal(got, want) {
				t.Errorf("%s, converted to %s and rendered, is another catalog", name, kind)
			}
		}
	}
	t.Logf("of %d catalogs were converted: %v", len(catalogs), converted)
	for _, kind := range template.Convertible() {
		if converted[kind] == 0 {
			t.Errorf("no catalog was converted to %s", kind)
		}
	}
}
