package yaml11

import (
	"bytes"
	"encoding/json"
	"testing"
)

var jsonTexts = []string{
	`{}`, `[]`, ` {"a" : [1, 2.5e3, -0, true, null, "x\n\u00e9\ud83d\ude00\/"] } `, `{"b":1,"a":2,"b":3}`, `"\ud800x"`, "\"\xff\xfe\"", `1e400`, `1E400`, `-1e-400`, `01`, `1.`, `.5`, `+1`, `nul`, `truex`, `{"a":1,}`, `[1,]`, `{a:1}`, "\"\t\"", `"\x"`, `"\u12"`, `"abc`, `[`, `{`, `{"a"`, `{"a":`, ``, ` `, `[[]`, `123456789012345678901234567890`, `{"a":{"b":[{}]}}`, "\"\u2028<>&\"", `[1 2]`, `"a" "b"`, "\ufeff{}",
}

func compareJSON(t *testing.T, src []byte) {
	t.Helper()
	tree, err := ParseJSON(src)
	if valid := json.Valid(src); valid != (err == nil) {
		t.Fatalf("%q: valid is %v, but %v", src, valid, err)
	}
	if err != nil {
		return
	}
	var v any
	jsonErr := json.Unmarshal(src, &v)
	got, err := tree.AppendJSON(nil, Loaded)
	if (err == nil) != (jsonErr == nil) {
		t.Fatalf("%q: %v, want %v", src, err, jsonErr)
	}
	if err == nil && !bytes.Equal(got, throughAny(t, src)) {
		t.Fatalf("%q\n got %s\nwant %s", src, got, throughAny(t, src))
	}
	var want bytes.Buffer
	if err := json.Indent(&want, bytes.TrimSpace(src), "", "    "); err != nil {
		t.Fatal(err)
	}
	if got, err := Indent(src, "    "); err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Fatalf("%q indented\n got %s, %v\nwant %s", src, got, err, want.Bytes())
	}
}

// JSON is read and laid out as encoding/json does.
func TestJSON(t *testing.T) {
	for _, s := range jsonTexts {
		compareJSON(t, []byte(s))
	}
}

func FuzzJSON(f *testing.F) {
	for _, s := range jsonTexts {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) { compareJSON(t, src) })
}

func TestMembers(t *testing.T) {
	src := []byte(`x {"a" : 1 , "b\n":[ 2,{"c":3}],"a":"d"} y`)
	members, end, err := Members(nil, src, SkipSpace(src, 1))
	if err != nil || string(src[end:]) != " y" {
		t.Fatalf("ends before %q, %v", src[end:], err)
	}
	got := ""
	for _, m := range members {
		got += string(m.Key) + "=" + string(src[m.Start:m.End]) + ";"
	}
	if want := "a=1;b\n=[ 2,{\"c\":3}];a=\"d\";"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	got = ""
	err = Elements(src, members[1].Start, func(start, end int, members []Member) {
		got += string(src[start:end])
		for _, m := range members {
			got += ":" + string(m.Key) + "=" + string(src[m.Start:m.End])
		}
		got += ";"
	})
	if want := `2;{"c":3}:c=3;`; err != nil || got != want {
		t.Errorf("elements %s, %v, want %s", got, err, want)
	}
	if text, ok := JSONString(src[members[2].Start:members[2].End]); !ok || string(text) != "d" {
		t.Errorf("text %q, %v", text, ok)
	}
	if _, ok := JSONString([]byte("1")); ok {
		t.Error("a number is no text")
	}
}
