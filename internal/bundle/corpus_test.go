package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/bundle/object"
	"github.com/olmgraft/graft/internal/fbc"
)

const (
	corpusDir  = "../../../shared/corpus/render"
	corpusHost = "127.0.0.1:5555/"
)

// Every bundle in opm's outputs for the templates of the corpus is rendered as opm
// has rendered it, byte for byte, in both metadata formats.
func TestCorpus(t *testing.T) {
	for level, format := range map[string]MetadataFormat{"none": BundleObjects, "migr": CSVMetadata} {
		for _, file := range corpusFiles(t, "oracle/"+level+"/*.yaml.gz") {
			operator, _, _ := strings.Cut(filepath.Base(file), "__")
			bundles := corpusBundles(t, operator)
			t.Run(level+"/"+filepath.Base(file), func(t *testing.T) {
				rendered := 0
				for _, want := range yamlDocuments(gunzip(t, file)) {
					ref := imageOfBundle(want)
					if ref == "" {
						continue
					}
					rendered++
					if got := renderYAML(t, bundles[ref], format); !bytes.Equal(got, want) {
						t.Errorf("%s:\n got %s\nwant %s", ref, around(got, want), around(want, got))
					}
				}
				if rendered == 0 {
					t.Error("opm's output has no bundles")
				}
			})
		}
	}
}

func renderYAML(t *testing.T, img Image, format MetadataFormat) []byte {
	t.Helper()
	doc, err := Render(img, format)
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

// around gives the place where a differs from b.
func around(a, b []byte) []byte {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return a[max(0, i-200):min(len(a), i+200)]
}

// corpusFiles lists files of the corpus, none where it is absent.
func corpusFiles(t testing.TB, pattern string) []string {
	files, err := filepath.Glob(filepath.Join(corpusDir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Log("the corpus is absent")
	}
	return files
}

// corpusBundles gives the bundles of an operator by reference, as images with the
// labels that their annotations say.
func corpusBundles(t testing.TB, operator string) map[string]Image {
	t.Helper()
	images := map[string]Image{}
	archive := gunzip(t, filepath.Join(corpusDir, "bundles", operator+".tar.gz"))
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		parts := strings.SplitN(strings.TrimPrefix(header.Name, "./"), "/", 3)
		if header.Typeflag != tar.TypeReg || len(parts) < 3 {
			continue
		}
		ref := corpusHost + parts[0] + ":" + parts[1]
		if images[ref].Files == nil {
			images[ref] = Image{Ref: ref, Labels: map[string]string{}, Files: Files{}}
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		images[ref].Files[parts[2]] = content
	}
	for _, img := range images {
		label(t, img)
	}
	return images
}

func label(t testing.TB, img Image) {
	v, err := object.ReadMetadata(img.Files["metadata/annotations.yaml"])
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range v.At("annotations").Items {
		img.Labels[m.Key] = m.Value.Text
	}
}

func gunzip(t testing.TB, file string) []byte {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// yamlDocuments splits what opm writes: each document follows a line of dashes.
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

// largest is the bundle of an operator with the most bytes.
func largest(t testing.TB, operator string) (img Image, size int) {
	for _, one := range corpusBundles(t, operator) {
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
	if len(corpusFiles(b, "bundles/*.tar.gz")) == 0 {
		return
	}
	for _, operator := range []string{"kube-green", "konflux", "alloydb-omni-operator"} {
		img, size := largest(b, operator)
		for name, format := range map[string]MetadataFormat{"objects": BundleObjects, "metadata": CSVMetadata} {
			b.Run(operator+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					doc, err := Render(img, format)
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
	if len(corpusFiles(b, "bundles/*.tar.gz")) == 0 {
		return
	}
	img, size := largest(b, "konflux")
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := FactsOf(img); err != nil {
			b.Fatal(err)
		}
	}
}
