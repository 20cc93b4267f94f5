package fbc

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// corpus gives the unpacked files that match a pattern below the corpus of real
// catalogs, by base name; the small ones only, where the tests run slowly.
// Without the corpus it gives none, and says so.
func corpus(t testing.TB, patterns ...string) map[string][]byte {
	t.Helper()
	root := filepath.Join("..", "..", "..", "shared", "corpus")
	if _, err := os.Stat(root); err != nil {
		t.Skipf("the corpus is absent: %v", err)
	}
	files := map[string][]byte{}
	for _, p := range patterns {
		names, err := filepath.Glob(filepath.Join(root, p))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			f, err := os.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			z, err := gzip.NewReader(f)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(z)
			if err != nil {
				t.Fatal(err)
			}
			if !thorough && len(text) > 2<<20 {
				continue
			}
			files[filepath.Join(filepath.Base(filepath.Dir(name)), filepath.Base(name))] = text
		}
	}
	if len(files) == 0 {
		t.Fatal("the corpus holds none of ", patterns)
	}
	return files
}

// What opm wrote is read and written again, byte for byte: document by document,
// and as a whole from shuffled documents.
func TestOracleRoundTrip(t *testing.T) {
	for name, src := range corpus(t, "render/oracle/*/*.yaml.gz") {
		docs, err := Read(name, src)
		if err != nil {
			t.Fatal(err)
		}
		var blobs, other []Blob
		for i := range docs {
			d := &docs[i]
			if !d.canonical {
				t.Errorf("%s:%d: not on the fast path", name, d.Line)
			}
			if !d.Exact() {
				t.Errorf("%s:%d: not recognized as exact", name, d.Line)
			}
			doc, err := d.JSON()
			if err != nil {
				t.Fatal(err)
			}
			body, err := Encode(YAML, doc)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(body, d.Raw()) {
				t.Errorf("%s:%d: encoded again it differs", name, d.Line)
			}
			b, err := d.Blob(YAML)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(b.Body, d.Raw()) {
				t.Errorf("%s:%d: loaded and written it differs", name, d.Line)
			}
			j, err := d.Blob(JSON)
			if err != nil {
				t.Fatal(err)
			}
			blobs = append([]Blob{b}, blobs...)
			other = append(other, j)
		}
		for _, b := range [][]Blob{blobs, other} {
			var out bytes.Buffer
			if err := Write(&out, YAML, b); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(out.Bytes(), src) {
				t.Errorf("%s: written again it differs", name)
			}
		}
	}
}
