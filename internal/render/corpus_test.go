package render_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/olmgraft/graft/internal/testkit/corpus"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/olmgraft/graft/internal/bundle"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/oci"
	"github.com/olmgraft/graft/internal/render"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/testkit/registry"
)

func open(t testing.TB, name string, src []byte) *template.Template {
	t.Helper()
	tmpl, err := template.Parse(name, src)
	if err != nil {
		t.Fatal(err)
	}
	return tmpl
}

func start(t testing.TB) *registry.Server {
	t.Helper()
	s, err := registry.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func client(t testing.TB, s *registry.Server) *oci.Client {
	t.Helper()
	c, err := oci.New(oci.Options{Transport: s.Transport()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func text(t testing.TB, template render.Template, o render.Options) []byte {
	t.Helper()
	r, err := render.Render(context.Background(), template, o)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// pushCorpus fills a registry with the bundles of the corpus, named OPERATOR:VERSION.
func pushCorpus(t testing.TB, c corpus.Corpus, s *registry.Server) {
	t.Helper()
	for ref, files := range c.Bundles(t, "*") {
		b, err := registry.FromDir(files)
		if err != nil {
			t.Fatalf("%s: %v", ref, err)
		}
		if _, err := s.Push(ref, b, registry.Form{}); err != nil {
			t.Fatalf("%s: %v", ref, err)
		}
	}
}

// Each real template renders to opm's bytes in both metadata formats. Rendering again with the result as base
// pulls nothing and changes no byte.
func TestCorpus(t *testing.T) { corpus.Each(t, renderCorpus) }

func renderCorpus(t *testing.T, c corpus.Corpus) {
	s := start(t)
	pushCorpus(t, c, s)
	for _, name := range c.Files(t, "render/templates/*.yaml") {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for dir, metadata := range map[string]bundle.MetadataFormat{"none": bundle.BundleObjects, "migr": bundle.CSVMetadata} {
			t.Run(dir+"/"+filepath.Base(name), func(t *testing.T) {
				want := c.Read(t, c.Files(t, "render/oracle/"+dir+"/"+filepath.Base(name))[0])
				o := render.Options{Registry: client(t, s), Metadata: metadata}
				got := text(t, open(t, name, src), o)
				if !bytes.Equal(got, want) {
					d := diff.Diff("opm", want, "graft", got)
					t.Fatalf("it differs from opm's:\n%.3000s", d)
				}
				docs, err := fbc.Read("catalog.yaml", want)
				if err != nil {
					t.Fatal(err)
				}
				s.Reset()
				o.Base = render.NewBase(docs)
				if again := text(t, open(t, name, src), o); !bytes.Equal(again, want) || s.Count() > 0 {
					t.Errorf("upon the catalog itself: equal %v, %d requests", bytes.Equal(again, want), s.Count())
				}
			})
		}
	}
}

func itoa(n int) string { return strconv.Itoa(n) }

func docsOf(t testing.TB, text []byte) []fbc.Doc {
	t.Helper()
	docs, err := fbc.Read("catalog.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	return docs
}
