package bundle

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/olmgraft/graft/internal/testkit/corpus"

	"github.com/olmgraft/graft/internal/bundle/object"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/yamlread"
)

const corpusHost = "127.0.0.1:5555/"

// Graft renders every bundle in opm's outputs for the corpus as opm did, byte for byte, in both metadata formats.
func TestCorpus(t *testing.T) { corpus.Each(t, renderCorpus) }

func renderCorpus(t *testing.T, c corpus.Corpus) {
	all := corpusBundles(t, c, "*")
	rendered := 0
	for level, format := range map[string]MetadataFormat{"none": BundleObjects, "migr": CSVMetadata} {
		for _, file := range c.Files(t, "render/oracle/"+level+"/*.yaml") {
			t.Run(level+"/"+corpus.Name(file), func(t *testing.T) {
				for _, want := range yamlDocuments(c.Read(t, file)) {
					ref := imageOfBundle(want)
					if _, known := all[ref]; !known {
						continue // not a bundle, or one that the template contains in full
					}
					rendered++
					if got := renderYAML(t, all[ref], format); !bytes.Equal(got, want) {
						t.Errorf("%s:\n got %s\nwant %s", ref, around(got, want), around(want, got))
					}
				}
			})
		}
	}
	if rendered < 2*len(all)/3 {
		t.Errorf("opm's outputs have %d bundles, in two formats, of %d", rendered, len(all))
	}
}

func renderYAML(t *testing.T, img Image, format MetadataFormat) []byte {
	t.Helper()
	doc, err := Render(t.Context(), img, format)
	if err != nil {
		t.Fatal(err)
	}
	text, err := Document(doc)
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(text) {
		t.Fatalf("%s: the document is not valid JSON", img.Ref)
	}
	out, err := fbc.Encode(fbc.YAML, text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// around returns the place where a differs from b.
func around(a, b []byte) []byte {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return a[max(0, i-200):min(len(a), i+200)]
}

// corpusBundles returns the bundles of an operator by reference, as images with labels taken from their
// annotations.
func corpusBundles(t testing.TB, c corpus.Corpus, operator string) map[string]Image {
	t.Helper()
	images := map[string]Image{}
	for ref, dir := range c.Bundles(t, operator) {
		img := Image{Ref: corpusHost + ref, Labels: map[string]string{}, Files: Files{}}
		for name, file := range dir {
			img.Files[name] = file.Data
		}
		label(t, img)
		images[img.Ref] = img
	}
	return images
}

func label(t testing.TB, img Image) {
	v, _, err := object.ReadMetadata(img.Files["metadata/annotations.yaml"], yamlread.Usual)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range v.At("annotations").Items {
		img.Labels[m.Key] = m.Value.Text
	}
}

// yamlDocuments splits opm's output: a line of dashes precedes each document.
func yamlDocuments(stream []byte) [][]byte {
	var docs [][]byte
	for _, doc := range bytes.Split(append([]byte("\n"), stream...), []byte("\n---\n"))[1:] {
		docs = append(docs, append(bytes.TrimSuffix(doc, []byte("\n")), '\n'))
	}
	return docs
}

func imageOfBundle(doc []byte) string {
	if !bytes.Contains(doc, []byte("\nschema: olm.bundle\n")) {
		return ""
	}
	line, _, _ := bytes.Cut(doc, []byte("\n"))
	image, _ := bytes.CutPrefix(line, []byte("image: "))
	return string(image)
}

// largest returns the bundle of an operator with the most bytes.
func largest(t testing.TB, operator string) (img Image, size int) {
	for _, one := range corpusBundles(t, corpus.Shared(t), operator) {
		sum := 0
		for _, content := range one.Files {
			sum += len(content)
		}
		if sum > size || sum == size && one.Ref < img.Ref {
			img, size = one, sum
		}
	}
	return img, size
}

func BenchmarkRender(b *testing.B) {
	for _, operator := range []string{"kube-green", "konflux", "alloydb-omni-operator"} {
		img, size := largest(b, operator)
		for name, format := range map[string]MetadataFormat{"objects": BundleObjects, "metadata": CSVMetadata} {
			b.Run(operator+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					doc, err := Render(b.Context(), img, format)
					if err != nil {
						b.Fatal(err)
					}
					if _, err := Document(doc); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkFacts(b *testing.B) {
	img, size := largest(b, "konflux")
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := FactsOf(b.Context(), img); err != nil {
			b.Fatal(err)
		}
	}
}
