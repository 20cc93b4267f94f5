package yaml11

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestToJSON(t *testing.T) {
	for _, c := range []struct{ rule, yaml, json string }{
		{"an empty text is null", "", "null"},
		{"as is one of comments", "# a\n", "null"},
		{"keys are sorted by byte", "b: 1\nB: 2\na10: 3\na9: 4\n", `{"B":2,"a10":3,"a9":4,"b":1}`},
		{"the last of equal keys counts", "a: 1\nb: 2\na: 3\n", `{"a":3,"b":2}`},
		{"words of YAML 1.1 are booleans", "a: [y, Yes, on, TRUE]\nb: [n, NO, off, False]\n", `{"a":[true,true,true,true],"b":[false,false,false,false]}`},
		{"but not in any spelling", "a: [yEs, tRUE, oN]\n", `{"a":["yEs","tRUE","oN"]}`},
		{"nor in quotes", "a: ['yes', \"no\"]\n", `{"a":["yes","no"]}`},
		{"null in four spellings", "a: [~, null, Null, NULL, nULL]\nb:\n", `{"a":[null,null,null,null,"nULL"],"b":null}`},
		{"integers in several bases", "a: [0x1F, 0o17, 017, 0b11, +7, -0, 1_000]\n", `{"a":[31,15,15,3,7,0,1000]}`},
		{"what is no octal number is a float", "a: [08, 019]\n", `{"a":[8,19]}`},
		{"integers up to 64 bits keep their digits", "a: [9223372036854775807, 18446744073709551615]\n", `{"a":[9223372036854775807,18446744073709551615]}`},
		{"larger ones are floats", "a: 18446744073709551616\n", `{"a":18446744073709552000}`},
		{"floats", "a: [1.50, .5, 1., 1e3, 1E-7, 1.5e+300]\n", `{"a":[1.5,0.5,1,1000,1e-7,1.5e+300]}`},
		{"not numbers: too large, to base 60, versions", "a: [1e400, 12:30, 1.2.3, 0x, 1e]\n", `{"a":["1e400","12:30","1.2.3","0x","1e"]}`},
		{"timestamps stay texts", "a: [2001-01-01, 2001-12-14t21:59:43.10-05:00]\n", `{"a":["2001-01-01","2001-12-14t21:59:43.10-05:00"]}`},
		{"keys become texts", "1: a\n1.5: b\ntrue: c\n0x10: d\n", `{"1":"a","1.5":"b","16":"d","true":"c"}`},
		{"lists flush with their key", "a:\n- b\n-\n- - c\n  - d: e\n    f: g\nh: i\n", `{"a":["b",null,["c",{"d":"e","f":"g"}]],"h":"i"}`},
		{"plain texts are folded", "a: b\n  c\n\n  d # e\nf: g#h\n", `{"a":"b c\nd","f":"g#h"}`},
		{"single quotes", "a: 'b''c\n  d\n\n  e'\n", `{"a":"b'c d\ne"}`},
		{"double quotes", `a: "\x41\u00e9\U0001F600\t\n\\\e\N"` + "\n", "{\"a\":\"A\u00e9\U0001F600\\t\\n\\\\\\u001b\u0085\"}"},
		{"an escaped line end", "a: \"b \\\n   c\"\n", `{"a":"b c"}`},
		{"literal blocks", "a: |\n  b\n   c\n\n  d\n\ne: |-\n  f\ng: |+\n  h\n\n", `{"a":"b\n c\n\nd\n","e":"f","g":"h\n\n"}`},
		{"folded blocks", "a: >\n  b\n  c\n\n  d\n   e\n  f\n", `{"a":"b c\nd\n e\nf\n"}`},
		{"an indentation hint", "a: |2\n    b\n  c\n", `{"a":"  b\nc\n"}`},
		{"flow style", "{a: [b, {c: d},], 'e':f, \"g\":1, h}", `{"a":["b",{"c":"d"}],"e":"f","g":1,"h":null}`},
		{"pairs in a list", "[a: b, ? c : d]", `[{"a":"b"},{"c":"d"}]`},
		{"explicit keys", "? a\n: b\n? c\n", `{"a":"b","c":null}`},
		{"anchors and aliases", "a: &x [1]\nb: *x\n", `{"a":[1],"b":[1]}`},
		{"an anchor may be defined anew", "a: &x 1\nb: &x 2\nc: *x\n", `{"a":1,"b":2,"c":2}`},
		{"a merge overrides what comes before it", "a: {b: 1, <<: {b: 2, c: 3}, c: 4}\n", `{"a":{"b":2,"c":4}}`},
		{"of merged mappings the first counts", "<<: [{a: 1}, {a: 2, b: 3}]\n", `{"a":1,"b":3}`},
		{"in quotes it is a key", "\"<<\": a\n", `{"\u003c\u003c":"a"}`},
		{"tags", "a: !!str 1\nb: !!int '2'\nc: !!float 3\nd: !x y\ne: !!binary aGk=\nf: ! 5\n", `{"a":"1","b":2,"c":3,"d":"y","e":"hi","f":"5"}`},
		{"what follows the document is not read", "a: b\n...\n]]]\n", `{"a":"b"}`},
		{"CR, CRLF and next line end lines", "a: b\r\nc: d\re: f\u0085g: h\n", `{"a":"b","c":"d","e":"f","g":"h"}`},
		{"a BOM is no part of the text", "\uFEFFa: b\n", `{"a":"b"}`},
		{"signs of HTML and separators are escaped", "a: <&>\u2028\n", `{"a":"\u003c\u0026\u003e"}`},
		{"tabs may follow an indicator", "a:\tb\n-: c\n", `{"-":"c","a":"b"}`},
		{"infinity has no form in JSON", "a: .inf\n", ""},
		{"but as a key it has", ".inf: a\n", `{".inf":"a"}`},
		{"null is no key", "~: a\n", ""},
		{"nor is a list", "? [a]\n: b\n", ""},
		{"a colon and a space need quotes", "a: b: c\n", ""},
		{"tabs do not indent", "a:\n\tb: c\n", ""},
		{"an alias needs its anchor", "a: *b\n", ""},
		{"an anchor cannot hold itself", "a: &b [*b]\n", ""},
		{"a merge takes mappings", "<<: a\n", ""},
		{"a tag must fit", "a: !!int b\n", ""},
		{"an unknown escape", `a: "\q"`, ""},
		{"a slash is not escaped", `a: "\/"`, ""},
		{"half a surrogate pair", `a: "\ud83d"`, ""},
		{"a control character", "a: \x01\n", ""},
		{"no UTF-8", "a: \xff\n", ""},
		{"an open quote", "a: 'b\n", ""},
		{"another version", "%YAML 1.2\n---\na: b\n", ""},
	} {
		got, err := ToJSON([]byte(c.yaml))
		if c.json == "" {
			var e *Error
			if !errors.As(err, &e) || e.Line < 1 || e.Col < 1 || e.Msg == "" {
				t.Errorf("%s: %q gives %s, %v", c.rule, c.yaml, got, err)
			}
			continue
		}
		if err != nil || string(got) != c.json {
			t.Errorf("%s: %q\n got %s, %v\nwant %s", c.rule, c.yaml, got, err, c.json)
		}
	}
}

func TestPlaceOfFaults(t *testing.T) {
	for _, c := range []struct {
		yaml      string
		line, col int
	}{
		{"a: b\nc: d: e\n", 2, 5},
		{"a:\n  - b\n  c: d\n", 3, 3},
		{"a: 'b\n\n", 1, 4},
		{"a: b\nc: *d\n", 2, 4},
		{"a: b\nc: .nan\n", 2, 4},
		{"a: b\nc: \"\\q\"\n", 2, 5},
		{"a: b\nd: e\x02\n", 2, 5},
	} {
		_, err := ToJSON([]byte(c.yaml))
		var e *Error
		if !errors.As(err, &e) || e.Line != c.line || e.Col != c.col {
			t.Errorf("%q: %v, not at %d:%d", c.yaml, err, c.line, c.col)
		}
	}
}

// Loaded is what encoding/json makes of the plain form through float64.
func TestLoaded(t *testing.T) {
	src := "a: [12345678901234567890, 9007199254740993, -9007199254740993, 1, 1e21, 1e-7, -0, 0.1]\nb: <&>\u2028\n"
	tree, err := Parse([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	got, err := tree.AppendJSON(nil, Loaded)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := tree.AppendJSON(nil, Plain)
	if err != nil {
		t.Fatal(err)
	}
	if want := throughAny(t, plain); !bytes.Equal(got, want) {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// throughAny decodes and encodes JSON as opm does when it loads a catalog.
func throughAny(t *testing.T, src []byte) []byte {
	t.Helper()
	var v any
	if err := json.Unmarshal(src, &v); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func TestRest(t *testing.T) {
	for yaml, want := range map[string]string{
		"a: b\n":                          "",
		"a: b\n# c\n":                     "",
		"a: b\n...\n":                     "",
		"a: b\n... # c\n\n# d\n":          "",
		"a: b\n...\n...\n":                "",
		"a: b\n...\nc: d\n":               "c: d\n",
		"a: b\n... \n# c\n  d\n":          "d\n",
		"{a: b} c: d\n":                   "",
		"{} a\n":                          "a\n",
		"--- a\n--- b\n":                  "--- b\n",
		"a: |\n  b\n...\n\n\n\tc\n":       "c\n",
		"'a'\n%YAML 1.1\n---\nb\n":        "%YAML 1.1\n---\nb\n",
		"a: b\n...\n" + "\uFEFF" + "c: d": "\uFEFFc: d",
	} {
		tree, err := Parse([]byte(yaml))
		if err != nil {
			if want != "" || !strings.HasPrefix(yaml, "{a: b}") {
				t.Errorf("%q: %v", yaml, err)
			}
			continue
		}
		got := ""
		if at := tree.Rest(); at >= 0 {
			got = yaml[at:]
		}
		if got != want {
			t.Errorf("%q: the rest is %q, not %q", yaml, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a: b\n", "- 'a'\n- \"b\\n\"\n- |\n  c\n", "{a: [b, c]}", "? a\n: &x b\n", "<<: {a: *b}\n", "%TAG ! x\n--- !a b\n", "a: >2-\n   b\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		plain, err := ToJSON(src)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Line < 1 || e.Col < 1 {
				t.Fatalf("a fault without a place: %v", err)
			}
			return
		}
		tree, err := Parse(src)
		if err != nil {
			t.Fatal(err)
		}
		loaded, err := tree.AppendJSON(nil, Loaded)
		if err != nil || !bytes.Equal(loaded, throughAny(t, plain)) {
			t.Fatalf("loaded: %s, %v\nplain: %s", loaded, err, plain)
		}
		tree.Rest()
		yaml, err := FromJSON(plain)
		if err != nil {
			return // characters that YAML does not take in JSON
		}
		again, err := ToJSON(yaml)
		if err != nil {
			t.Fatalf("%q cannot be read: %v", yaml, err)
		}
		if !bytes.Contains(plain, []byte("\u0085")) && !bytes.Equal(throughAny(t, again), throughAny(t, plain)) {
			t.Fatalf("%s\nwritten %q\nand read %s", plain, yaml, again)
		}
	})
}
