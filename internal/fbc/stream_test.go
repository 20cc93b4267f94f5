package fbc

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// streamed returns the documents that a file yields in pieces, with a copy of their text.
func streamed(src string, piece int) (all []Doc, err error) {
	err = stream("f", strings.NewReader(src), piece, func(docs []Doc) error {
		for _, d := range docs {
			d.raw = []byte(string(d.raw))
			all = append(all, d)
		}
		return nil
	})
	return all, err
}

// checkStream checks that a file read in pieces yields the same documents as the whole file, and that its
// documents can be read again on their own, one or several at a time. Read may accept a file that Stream refuses:
// YAML that looks like JSON.
func checkStream(t *testing.T, src string) {
	t.Helper()
	whole, err := Read("f", []byte(src))
	for _, piece := range []int{1, 7, 64, 4096} {
		got, streamErr := streamed(src, piece)
		if streamErr != nil {
			if err == nil && !looksLikeJSON([]byte(src)) {
				t.Errorf("%q in pieces of %d: %v", src, piece, streamErr)
			}
			continue
		}
		if err != nil || len(got) != len(whole) || len(got) > 0 && !reflect.DeepEqual(got, whole) {
			t.Errorf("%q in pieces of %d: got\n%+v\nthe whole file gives %v\n%+v", src, piece, got, err, whole)
		}
	}
	for i := range whole {
		for j := i; j < len(whole) && whole[j].Format == whole[i].Format; j++ {
			again, err := whole[i].Span().Read("f", []byte(src)[whole[i].Start:whole[j].End])
			if err != nil || !reflect.DeepEqual(again, whole[i:j+1]) {
				t.Errorf("%q: documents %d to %d again: %v\n%+v\n%+v", src, i, j, err, again, whole[i:j+1])
			}
		}
	}
}

func TestStream(t *testing.T) {
	a, b := "schema: s\nname: a\n", "schema: s\npackage: b\n"
	for _, src := range []string{
		"", a, a + "---\n" + b, "---\n" + a + "---\n" + b + "---\n", a + "---\n--- # c\n" + b, a + "---\n---\n---\n" + b, "\n---\n" + a,
		"---\n---\n" + a, a + "---\n---", a + "--- x\n" + b, "# c\n\n" + a + "---\n# d\n" + b, "schema: s\r\nname: a\r\n---\r\n" + b,
		"\uFEFF" + a + "---\n" + b, a + "...\n\nname: z\n---\n" + b, "schema: s\nx: |\n  y\n---\n" + b, a + "---\n" + strings.Repeat("# long\n", 30) + b,
		`{"schema":"s","name":"a"}` + "\n\n" + ` {"package":"b","schema":"s"}{"schema":"s"}`,
		"{\n\"schema\":\"s\"\n}\n{\n\"schema\":\"s\",\"x\":{\n}\n}\n{\"schema\":\"s\"}\n", "{\"schema\":\"s\",\"name\":\"a\"}\n---\n" + b, "{schema: s, name: a}\n",
		"{\"schema\":\"s\"}\n{\"schema\":\"s\"}\n{x\n", "{\"schema\":\"s\"}\n{x: y}\n",
	} {
		checkStream(t, src)
	}
}

func FuzzStream(f *testing.F) {
	f.Add("schema: s\nname: a\n---\nschema: t\n")
	f.Add("{\"schema\":\"s\"}\n{\"schema\":\"s\"}\n")
	f.Fuzz(func(t *testing.T, src string) { checkStream(t, src) })
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("the disk is gone") }

func TestStreamFails(t *testing.T) {
	none := func([]Doc) error { return nil }
	if err := Stream("f", brokenReader{}, none); err == nil || !strings.Contains(err.Error(), "the disk is gone") {
		t.Error(err)
	}
	enough := fmt.Errorf("enough")
	if err := Stream("f", strings.NewReader("schema: s\n"), func([]Doc) error { return enough }); !errors.Is(err, enough) {
		t.Error(err)
	}
}
