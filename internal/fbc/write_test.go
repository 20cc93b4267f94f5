package fbc

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
)

func blob(t *testing.T, src string, format Format) Blob {
	t.Helper()
	docs, err := Read("f", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	b, err := docs[0].Blob(format)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestWriteOrder(t *testing.T) {
	srcs := []string{
		"schema: yy", "schema: olm.deprecations\npackage: a", "schema: x\npackage: a", "schema: olm.bundle\npackage: a\nname: b10", "schema: olm.bundle\npackage: a\nname: b9",
		"schema: olm.channel\npackage: b\nname: c", "schema: olm.channel\npackage: a\nname: z", "schema: w\npackage: a", "schema: olm.package\nname: a", "schema: v", "schema: olm.channel\npackage: a\nname: c",
	}
	want := "olm.package/a olm.channel/c olm.channel/z olm.bundle/b10 olm.bundle/b9 w/ x/ olm.deprecations/ olm.channel/c yy/ v/"
	for _, format := range []Format{YAML, JSON} {
		for _, other := range []Format{YAML, JSON} {
			var blobs []Blob
			for _, s := range srcs {
				blobs = append(blobs, blob(t, s, other))
			}
			var out bytes.Buffer
			if err := Write(&out, format, blobs); err != nil {
				t.Fatal(err)
			}
			docs, err := Read("f", out.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range docs {
				if d.Format != format {
					t.Errorf("%s is written as %v", d.Name, d.Format)
				}
				got = append(got, d.Schema+"/"+d.Name)
			}
			if s := strings.Join(got, " "); s != want {
				t.Errorf("got %s\nwant %s", s, want)
			}
			if blobs[0].Schema != "yy" {
				t.Error("the order of the blobs was changed")
			}
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	for _, src := range []string{"schema: olm.package", "schema: olm.channel\nname: c", "schema: olm.bundle\nname: b", "schema: olm.deprecations"} {
		if err := Write(&bytes.Buffer{}, YAML, []Blob{blob(t, src, YAML)}); !failure.Is(err, failure.RenderFailed) {
			t.Errorf("%s: %v", src, err)
		}
	}
}

// Blob drops and keeps the same keys as opm.
func TestBlob(t *testing.T) {
	for _, c := range []struct {
		src, yaml, json string
	}{
		{"schema: olm.channel\nname: c\npackage: p\nextra: 1\nentries:\n- Name: a\n  skips: []\n  other: 2\n",
			"entries:\n- name: a\nname: c\npackage: p\nschema: olm.channel\n",
			`{"schema":"olm.channel","name":"c","package":"p","entries":[{"name":"a"}]}`},
		{"schema: olm.channel\nname: c\n",
			"entries: null\nname: c\npackage: \"\"\nschema: olm.channel\n",
			`{"schema":"olm.channel","name":"c","package":"","entries":null}`},
		{"schema: olm.bundle\nname: b\nproperties:\n- type: t\n  value: {b: 1.0, a: 12345678901234567890, c: <&>}\n- value: null\n- type: u\nrelatedImages: []\n",
			"image: \"\"\nname: b\nproperties:\n- type: t\n  value:\n    a: 12345678901234567000\n    b: 1\n    c: <&>\n- type: \"\"\n  value: null\n- type: u\n  value: null\nschema: olm.bundle\n",
			`{"schema":"olm.bundle","name":"b","image":"","properties":[{"type":"t","value":{"a":12345678901234567000,"b":1,"c":"<&>"}},{"type":"","value":null},{"type":"u","value":null}]}`},
		{"schema: x\nb: -0\na: {}\n", "a: {}\nb: 0\nschema: x\n", `{"a":{},"b":0,"schema":"x"}`},
	} {
		if got := string(blob(t, c.src, YAML).Body); got != c.yaml {
			t.Errorf("%q\n got %q\nwant %q", c.src, got, c.yaml)
		}
		var want bytes.Buffer
		if err := json.Indent(&want, []byte(c.json), "", "    "); err != nil {
			t.Fatal(err)
		}
		if got := string(blob(t, c.src, JSON).Body); got != want.String() {
			t.Errorf("%q\n got %s\nwant %s", c.src, got, want.String())
		}
	}
}

func TestCheckObjects(t *testing.T) {
	for value, says := range map[string]string{
		`{data: e30=}`:                   "",
		`{data: IAogewo=}`:               "", // opm does not look into JSON
		`{data: YTogYgo=}`:               "",
		`{}`:                             "",
		`{data: YTogYjogYwo=}`:           "does not parse", // a: b: c
		`{data: "e30"}`:                  "not base64",
		`{data: 1}`:                      "not base64",
		"\n    data: e30=":               "",
		"\n    data: e30":                "not base64",
		"\n    data: YTogYjogYwo=":       "does not parse",
		"\n    data: e30=\n    other: 1": "",
	} {
		src := "image: i\nname: b\npackage: p\nproperties:\n- type: t\n  value: 1\n- type: olm.bundle.object\n  value: " + value + "\nschema: olm.bundle\n"
		src = strings.Replace(src, "value: \n", "value:\n", 1)
		docs, err := Read("f", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		err = docs[0].CheckObjects()
		_, blobErr := docs[0].Blob(YAML)
		if (err == nil) != (says == "") || (blobErr == nil) != (err == nil) || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, %v, want %q", value, err, blobErr, says)
		}
	}
}

// Exact recognizes opm's bytes of any bundle on the fast path, and notices a change that does not affect the
// meaning.
func TestExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	pieces := []string{"a", "B", "kube/x-1", ": ", " #", "-", "'", "\"", "\\", "{", "1", "0x", ".", "~", "no", "é", "日本 ", "😀", "\n", "\n\n", " ", "\t", "12:3", "---", "word ", "text with some words ", "and, more: of it "}
	text := func() string {
		var b strings.Builder
		for range rng.IntN(30) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		return b.String()
	}
	for range 600 {
		annotations := map[string]any{"list": []any{1 << 53, 1e19, 1e21, text(), map[string]any{text(): text()}, rng.Float64() * 1e9, rng.IntN(100), nil, true}}
		for range rng.IntN(4) {
			annotations[text()] = text()
		}
		value, err := Marshal(map[string]any{"annotations": annotations, "description": text()})
		if err != nil {
			t.Fatal(err)
		}
		doc, err := Marshal(Bundle{
			Schema: SchemaBundle, Name: "b", Package: "p", Image: text(),
			Properties:    []Property{{"olm.package", json.RawMessage(`{"packageName":"p","version":"1.0.0"}`)}, {TypeCSVMetadata, value}},
			RelatedImages: []RelatedImage{{text(), text()}},
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, format := range []Format{YAML, JSON} {
			body, err := Encode(format, doc)
			if err != nil {
				t.Fatal(err)
			}
			docs, err := Read("f", body)
			if err != nil {
				if strings.Contains(string(body), "\n---") { // opm cannot read it either
					continue
				}
				t.Fatalf("%q: %v", body, err)
			}
			if len(docs) != 1 || !docs[0].Exact() {
				t.Fatalf("not exact: %q", body)
			}
			again, err := docs[0].Blob(format)
			if err != nil || !bytes.Equal(again.Body, body) {
				t.Fatalf("%q\nwritten again %q, %v", body, again.Body, err)
			}
			changed, _ := Read("f", append(append([]byte(nil), body...), "\n"...))
			if format == YAML && changed[0].Exact() {
				t.Fatalf("exact with a blank line: %q", body)
			}
		}
	}
}
