package fbc

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/testkit/effort"
)

// readSlowly does the same as Read without the fast path.
func readSlowly(src []byte) ([]Doc, error) {
	r := reader{file: "f", src: src, slow: true}
	err := r.yamlStream(0)
	return r.docs, err
}

// compareFast compares the fast path with the slow one and returns the number of documents that took the fast
// path.
func compareFast(t *testing.T, src []byte) int {
	t.Helper()
	if looksLikeJSON(src) {
		return 0
	}
	fast, fastErr := Read("f", src)
	slow, slowErr := readSlowly(src)
	if (fastErr == nil) != (slowErr == nil) {
		t.Fatalf("%q\nfast: %v\nslow: %v", src, fastErr, slowErr)
	}
	if fastErr != nil {
		if fastErr.Error() != slowErr.Error() {
			t.Fatalf("%q\nfast: %v\nslow: %v", src, fastErr, slowErr)
		}
		return 0
	}
	if len(fast) != len(slow) {
		t.Fatalf("%q\n%d and %d documents", src, len(fast), len(slow))
	}
	n := 0
	for i := range fast {
		f, s := &fast[i], &slow[i]
		if f.canonical {
			n++
		}
		plain := *f
		plain.canonical = false
		if !reflect.DeepEqual(plain, *s) {
			t.Fatalf("%q\nfast: %+v\nslow: %+v", src, plain, *s)
		}
		if a, b := f.EntryLines(), s.EntryLines(); !reflect.DeepEqual(a, b) {
			t.Fatalf("%q\nentries on lines %v and %v", src, a, b)
		}
		if f.Schema == SchemaBundle {
			b, err := s.Blob(YAML)
			if exact := err == nil && bytes.Equal(b.Body, f.Raw()); f.Exact() && !exact || f.canonical && exact && !f.Exact() {
				t.Fatalf("%q\nexact: %v, encoded anew %v\n%s", src, f.Exact(), err, b.Body)
			}
		}
		quick, quickErr := f.JSON()
		want, wantErr := s.JSON()
		if !bytes.Equal(quick, want) || (quickErr == nil) != (wantErr == nil) {
			t.Fatalf("%q\nfast: %s %v\nslow: %s %v", src, quick, quickErr, want, wantErr)
		}
		var full, decoded Bundle
		full, fullErr := f.Bundle()
		decodeErr := s.Decode(&decoded)
		if !reflect.DeepEqual(full, decoded) || (fullErr == nil) != (decodeErr == nil) {
			t.Fatalf("%q\ndirect:  %+v %v\ndecoded: %+v %v", src, full, fullErr, decoded, decodeErr)
		}
		a, aErr := f.BundleLight()
		b, bErr := s.BundleLight()
		if !reflect.DeepEqual(a, b) || (aErr == nil) != (bErr == nil) || aErr != nil && aErr.Error() != bErr.Error() {
			t.Fatalf("%q\nfast: %+v %v\nslow: %+v %v", src, a, aErr, b, bErr)
		}
	}
	return n
}

const sample = `---
defaultChannel: stable
description: |-
  A text.

    Indented: further # no comment
  'quoted'
icon:
  base64data: PHN2Zz4=
  mediatype: image/svg+xml
name: sample
schema: olm.package
---
entries:
- name: sample.v1.0.0
- name: sample.v1.1.0
  replaces: sample.v1.0.0
  skipRange: '>=1.0.0 <1.1.0'
  skips:
  - sample.v1.0.1
  - sample.v1.0.2
- name: 'sample.v1.2.0'
name: stable
package: sample
properties: []
schema: olm.channel
---
image: quay.io/sample/bundle@sha256:0123
name: sample.v1.1.0
package: sample
properties:
- type: olm.gvk
  value:
    group: sample.io
    kind: Sample
    version: v1
- type: olm.package
  value:
    packageName: sample
    version: 1.1.0
- type: olm.constraint
  value:
    all:
      constraints:
      - gvk: {}
      - - nested
        - list: of lists
          num: -1.5
- type: olm.csv.metadata
  value:
    annotations:
      alm-examples: |2-
          [
            {}
          ]
      capabilities: Basic Install
      long: "words that go on \"and\" on \u00e9 \U0001F600 \x1b\n until the line is too
        long for \ two spaces"
      "true": 'it''s a text that goes on beyond the column at which the lines are
        folded'
      plain: a plain text that goes on, and on, until it has to be folded at a space
        somewhere
    keep: |+
      two line feeds

- type: olm.bundle.object
  value:
    data: eyJhIjoiYiJ9
relatedImages:
- image: quay.io/sample/bundle@sha256:0123
  name: ""
schema: olm.bundle
---
entries:
- message: |
    gone
  reference:
    schema: olm.package
package: sample
schema: olm.deprecations
`

func TestSampleIsCanonical(t *testing.T) {
	if n := compareFast(t, []byte(sample)); n != 4 {
		t.Errorf("%d of 4 documents took the fast path", n)
	}
}

// The last of equal keys in a mapping counts.
func TestFastPathTakesTheLastOfEqualKeys(t *testing.T) {
	const src = "entries:\n- name: a\n  name: c\n  other: 1\n- b: 1\n  a: 2\n  b: 3\nschema: x\n"
	if n := compareFast(t, []byte(src)); n != 1 {
		t.Error("the document did not take the fast path")
	}
	docs, err := Read("f", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	if js, err := docs[0].JSON(); err != nil || string(js) != `{"entries":[{"name":"c","other":1},{"a":2,"b":3}],"schema":"x"}` {
		t.Errorf("%s, %v", js, err)
	}
}

func TestFastPathOnCorpus(t *testing.T) {
	eachCatalog(t, func(t *testing.T, name string, src []byte) {
		t.Logf("%s: %d documents on the fast path", name, compareFast(t, src))
	}, "render/oracle/*/*.yaml", "validate/real/*.yaml")
}

// Nearly canonical documents are the ones that the fast path could get wrong.
func TestFastPathOnMutations(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	lines := strings.SplitAfter(strings.TrimSuffix(sample, "\n"), "\n")
	pieces := []string{
		" ", "  ", "\n", "\n\n", "-", "- ", ":", ": ", "#", " #", "'", "\"", "\\", "|", "|\n", ">", "&a ", "*a", "!!int ", "{", "}", "[", "]", ",", "?", "? ", "\t", "\r",
		"<<: ", "~", "null", "1", "true", ".inf", "...", "...\n", "%", "@", "é", "\u2028", "\u0085", "\ufeff", "schema", "Schema: x\n", "name: y\n", "name:\n", "image: 1\n", "type: olm.csv.metadata\n", "value:\n", "entries:\n",
	}
	n, fast := effort.Of(t, 4000, 10_000, 40_000), 0
	for range n {
		from := 1 + rng.IntN(len(lines)-1)
		for from > 1 && (lines[from-1] == "---\n" || strings.IndexByte(" -\n", lines[from][0]) >= 0) {
			from--
		}
		text := []byte(strings.Join(lines[from:min(len(lines), from+1+rng.IntN(60))], ""))
		if !bytes.HasPrefix(text, []byte("schema")) && rng.IntN(8) > 0 {
			text = append(text, "schema: olm.bundle\n"...)
		}
		for range rng.IntN(3) {
			i := rng.IntN(len(text) + 1)
			switch rng.IntN(4) {
			case 0:
				text = append(text[:i:i], text[min(len(text), i+1+rng.IntN(4)):]...)
			case 1:
				j := bytes.LastIndexByte(text[:i], '\n') + 1
				text = append(text[:j:j], append([]byte(pieces[rng.IntN(len(pieces))]), text[j:]...)...)
			default:
				text = append(text[:i:i], append([]byte(pieces[rng.IntN(len(pieces))]), text[i:]...)...)
			}
		}
		if compareFast(t, text) > 0 {
			fast++
		}
	}
	t.Logf("%d of %d took the fast path", fast, n)
	if fast < n/20 {
		t.Error("hardly any took the fast path")
	}
}

func FuzzFastPath(f *testing.F) {
	for _, doc := range strings.Split(sample, "---\n")[1:] {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, src []byte) { compareFast(t, src) })
}
