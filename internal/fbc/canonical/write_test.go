package canonical

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func TestFromJSON(t *testing.T) {
	words := strings.Repeat("word ", 30)
	wide := strings.Repeat("é", 40) + " " + strings.Repeat("日", 36)
	for _, c := range []struct{ rule, json, yaml string }{
		{"scalars", `[null,true,false,1,-1.50,"a"]`, "- null\n- true\n- false\n- 1\n- -1.5\n- a\n"},
		{"empty collections", `{"a":[],"b":{},"c":""}`, "a: []\nb: {}\nc: \"\"\n"},
		{"lists are flush with their key", `{"a":[{"b":1,"c":2},["d",["e"]]]}`, "a:\n- b: 1\n  c: 2\n- - d\n  - - e\n"},
		{"keys are sorted, numbers in them as numbers", `{"b":1,"a10":2,"a9":3,"a":4,"B":5,"_":6}`, "_: 6\nB: 5\na: 4\na9: 3\na10: 2\nb: 1\n"},
		{"the last of equal keys counts", `{"a":1,"a":2}`, "a: 2\n"},
		{"numbers have one spelling", `[1E3,1e21,1e-7,-0,0.10,123456789012345678,1e6]`, "- 1000\n- 1e+21\n- 1e-07\n- 0\n- 0.1\n- 123456789012345678\n- 1e+06\n"},
		{"texts that would be something else are quoted", `["true","y","null","~","1","1.5","0x1","2001-01-01","12:30","","<<"]`,
			"- \"true\"\n- \"y\"\n- \"null\"\n- \"~\"\n- \"1\"\n- \"1.5\"\n- \"0x1\"\n- \"2001-01-01\"\n- \"12:30\"\n- \"\"\n- <<\n"},
		{"indicators and blanks call for single quotes", `["- a","a: b","a #b","#a","a:","'a'","[a","*a"," a","a ","a'b: c"]`,
			"- '- a'\n- 'a: b'\n- 'a #b'\n- '#a'\n- 'a:'\n- '''a'''\n- '[a'\n- '*a'\n- ' a'\n- 'a '\n- 'a''b: c'\n"},
		{"these do not", `["a:b","a#b","-a","?a",":a","a'b","a\"b","a, b","=","."]`, "- a:b\n- a#b\n- -a\n- ?a\n- :a\n- a'b\n- a\"b\n- a, b\n- =\n- .\n"},
		{"control characters and those beyond the basic plane are escaped", `["a\tb","\u0000\u001b","😀","é日"]`, "- \"a\\tb\"\n- \"\\0\\e\"\n- \"\\U0001F600\"\n- é日\n"},
		{"line feeds make a literal block", `{"a":"b\nc","d":"e\n","f":"g\n\n","h":" i\nj","k":"\n"}`,
			"a: |-\n  b\n  c\nd: |\n  e\nf: |+\n  g\n\nh: |2-\n   i\n  j\nk: |2+\n\n"},
		{"unless there is a space at a line's end", `["a \nb","a\nb ","a\n b"]`, "- \"a \\nb\"\n- \"a\\nb \"\n- |-\n  a\n   b\n"},
		{"blocks are indented by two", `{"a":{"b":["c\nd"]}}`, "a:\n  b:\n  - |-\n    c\n    d\n"},
		{"long texts are folded at the first space after column 80", `{"a":"` + words + `end"}`,
			"a: word word word word word word word word word word word word word word word word\n  word word word word word word word word word word word word word word end\n"},
		{"not at a double space", `{"a":"` + strings.Repeat("x", 90) + `  b c"}`, "a: " + strings.Repeat("x", 90) + "  b\n  c\n"},
		{"columns are characters, not bytes", `{"a":"` + wide + ` b c","d":"- ` + wide + ` b c","e":"\t` + wide + ` b c"}`,
			"a: " + wide + " b\n  c\nd: '- " + wide + "\n  b c'\ne: \"\\t" + wide + "\n  b c\"\n"},
		{"a word without spaces does not fold", `{"a":"` + strings.Repeat("x", 200) + `"}`, "a: " + strings.Repeat("x", 200) + "\n"},
		{"double quotes fold with a backslash before a space", `{"a":"` + strings.Repeat("x", 90) + `\t  b"}`, "a: \"" + strings.Repeat("x", 90) + "\\t\n  \\ b\"\n"},
		{"a long key needs a question mark", `{"` + strings.Repeat("k", 129) + `":["v"]}`, "? " + strings.Repeat("k", 129) + "\n: - v\n"},
		{"as does one with a line feed", `{"a\nb":{"c":1}}`, "? |-\n  a\n  b\n: c: 1\n"},
		{"keys are quoted like texts", `{"true":1,"a: b":2,"":3,"é":4}`, "\"\": 3\n'a: b': 2\n\"true\": 1\né: 4\n"},
		{"a next-line character in JSON is a line break to YAML", "[\"a \u0085 b\"]", "- a b\n"},
		{"a slash must not be escaped", `["\/"]`, ""},
		{"nor a character be made of two", `["\ud83d\ude00"]`, ""},
		{"no control characters", "[\"\x7f\"]", ""},
		{"a key of over 1024 characters", `{"` + strings.Repeat("k", 1030) + `":1}`, ""},
		{"no JSON", `{"a":}`, ""},
		{"more than JSON", `{} {}`, ""},
	} {
		got, err := FromJSON([]byte(c.json))
		if (err == nil) != (c.yaml != "") || string(got) != c.yaml {
			t.Errorf("%s: %s\n got %q, %v\nwant %q", c.rule, c.json, got, err, c.yaml)
		}
	}
}

// Written YAML reads back as the same value.
func TestRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "b ", " ", "\n", "\t", ": ", " #", "-", "'", "\"", "\\", "{", "1", "0x", ".", "~", "y", "é", "😀", "\u2028", "word ", "12:3", "---", "text with some words "}
	text := func() string {
		var b strings.Builder
		for range rng.IntN(20) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		return b.String()
	}
	var value func(depth int) any
	value = func(depth int) any {
		switch rng.IntN(5) {
		case 0:
			return rng.Float64() * 1e6
		case 1:
			if depth < 4 {
				list := make([]any, rng.IntN(4))
				for i := range list {
					list[i] = value(depth + 1)
				}
				return list
			}
		case 2:
			if depth < 4 {
				m := map[string]any{}
				for range rng.IntN(4) {
					m[text()] = value(depth + 1)
				}
				return m
			}
		}
		return text()
	}
	for range 5000 {
		src, err := json.Marshal(value(0))
		if err != nil {
			t.Fatal(err)
		}
		written, err := FromJSON(src)
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		again, err := yaml.YAMLToJSON(written)
		if err != nil || !bytes.Equal(again, src) {
			t.Fatalf("%s\nwritten %q\nand read %s, %v", src, written, again, err)
		}
	}
}

// The order of keys does not depend on their order in the input, even though the order is not strict.
func TestKeyOrderIsSteady(t *testing.T) {
	want, err := FromJSON([]byte(`{"a9":0,"a11":0,"a1A":0}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, src := range []string{`{"a11":0,"a1A":0,"a9":0}`, `{"a1A":0,"a9":0,"a11":0}`, `{"a1A":0,"a11":0,"a9":0}`} {
		if got, err := FromJSON([]byte(src)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: got %q, %v, want %q", src, got, err, want)
		}
	}
}
