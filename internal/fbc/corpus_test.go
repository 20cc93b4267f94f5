package fbc

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/olmgraft/graft/internal/testkit/corpus"
)

// eachCatalog runs a test on every file of both corpora that matches a pattern.
func eachCatalog(t *testing.T, test func(t *testing.T, name string, src []byte), patterns ...string) {
	corpus.Each(t, func(t *testing.T, c corpus.Corpus) {
		for _, file := range c.Files(t, patterns...) {
			test(t, filepath.Join(filepath.Base(filepath.Dir(file)), corpus.Name(file)), c.Read(t, file))
		}
	})
}

// Graft reads and rewrites opm's output byte for byte: document by document, and as a whole from shuffled
// documents.
func TestOracleRoundTrip(t *testing.T) {
	total, fast := 0, 0
	eachCatalog(t, func(t *testing.T, name string, src []byte) {
		docs, err := Read(name, src)
		if err != nil {
			t.Fatal(err)
		}
		var blobs, other []Blob
		for i := range docs {
			d := &docs[i]
			if total++; d.canonical {
				fast++
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
				t.Errorf("%s:%d: differs after encoding", name, d.Line)
			}
			b, err := d.Blob(YAML)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(b.Body, d.Raw()) {
				t.Errorf("%s:%d: differs after loading and writing", name, d.Line)
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
				t.Errorf("%s: differs after writing", name)
			}
		}
	}, "render/oracle/*/*.yaml")
	t.Logf("%d of %d documents are on the fast path", fast, total)
	if fast*20 < total*19 {
		t.Errorf("only %d of %d documents are on the fast path", fast, total)
	}
}
