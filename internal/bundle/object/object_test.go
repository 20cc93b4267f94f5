package object

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/yamlread"
)

func TestRead(t *testing.T) {
	tests := map[string]struct {
		text, want string
		more       bool
	}{
		"YAML":                       {"b: 1\na: [x, {c: null}]\n", `{"a":["x",{"c":null}],"b":1}`, false},
		"scalars of YAML 1.1":        {"a: [yes, 010, 0x1F, 1_000, 2001-01-01]\n", `{"a":[true,8,31,1000,"2001-01-01"]}`, false},
		"whole numbers of YAML":      {"a: [1.0, 1e3, -0, -0.0]\n", `{"a":[1,1000,0,0]}`, false},
		"numbers beyond int64":       {"a: [9223372036854775808, 1e21]\n", `{"a":[9223372036854776000,1e+21]}`, false},
		"numbers beyond uint64":      {"a: 123456789012345678901234567890\n", `{"a":1.2345678901234568e+29}`, false},
		"escapes":                    {`a: "<&>\u2028\x07\b\"\\"`, `{"a":"\u003c\u0026\u003e\u2028\u0007\b\"\\"}`, false},
		"keys that are no strings":   {"1: a\nyes: b\n1.50: c\n", `{"1":"a","1.5":"c","true":"b"}`, false},
		"keys that are doubled":      {"a: 1\nb: 2\na: 3\n", `{"a":3,"b":2}`, false},
		"JSON":                       {` {"b": "\u003c\/\ud83d\ude00\ud800", "a": [true, false, null, {}, []]} `, `{"a":[true,false,null,{},[]],"b":"\u003c/😀` + "\ufffd" + `"}`, false},
		"numbers of JSON":            {`{"a": [1, 1.0, 1e3, -0, -0.0, 1e-7]}`, `{"a":[1,1,1000,0,-0,1e-7]}`, false},
		"JSON keys that are doubled": {`{"a": 1, "a": {"b": 2}}`, `{"a":{"b":2}}`, false},
		"two JSON values":            {`{"a": 1}{"b": 2}`, `{"a":1}`, true},
		"JSON with a comment":        {"{\"a\": 1, # c\n \"b\": 2}\n", `{"a":1,"b":2}`, false},
		"JSON out of range":          {`{"a": 1e999}`, `{"a":"1e999"}`, false},
		"two documents":              {"a: 1\n---\nb: 2\n", `{"a":1}`, true},
		"a separator at the end":     {"a: 1\n---\n", `{"a":1}`, false},
		"a separator first":          {"--- # c\na: 1\n---\nb: 2\n", `{"a":1}`, true},
		"a comment first":            {"# c\n---\na: 1\n", `null`, true},
		"two separators":             {"---\n---\na: 1\n", `null`, true},
		"dashes within text":         {"a: |\n  ---\n  b\n", `{"a":"---\nb\n"}`, false},
		"line ends CRLF":             {"a: |\r\n  b\r\n  c\r\n---\r\nd: 1\r\n", `{"a":"b\nc\n"}`, true},
		"no line end at the end":     {"a: |+\n  b", `{"a":"b\n"}`, false},
		"two line ends at the end":   {"a: |+\n  b\n\n", `{"a":"b\n\n"}`, false},
		"nothing":                    {"", `null`, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			v, more, err := Read([]byte(test.text), yamlread.Usual)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(v.AppendJSON(nil)); got != test.want || more != test.more {
				t.Errorf("got %s, more %v\nwant %s, more %v", got, more, test.want, test.more)
			}
		})
	}
}

func TestReadFails(t *testing.T) {
	tests := map[string]struct {
		text, want string
		line       int
	}{
		"broken YAML":              {"a: 1\nb: [\n", "not valid YAML", 2},
		"a separator with content": {"a: 1\n--- b\nc: 1\n", `separator is followed by "b"`, 0},
		"not a number":             {"a: .nan\n", "not valid YAML", 1},
		"broken JSON":              {`{"a": `, "not valid JSON", 0},
		"a key of null":            {"~: 1\n", "not valid YAML", 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, err := Read([]byte(test.text), yamlread.Usual)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("%v", err)
			}
			at := &yamlread.Error{}
			if errors.As(err, &at); at.Line != test.line {
				t.Errorf("line %d, want %d", at.Line, test.line)
			}
		})
	}
}

// Numbers in metadata keep the digits that opm keeps.
func TestReadMetadata(t *testing.T) {
	v, _, err := ReadMetadata([]byte("{\"a\": [18446744073709551615, 1.10, 1e3, yes]}\n---\nb: 1\n"), yamlread.Usual)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(v.AppendJSON(nil)), `{"a":[18446744073709551615,1.1,1000,true]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	var texts []string
	for _, item := range v.At("a").Items {
		texts = append(texts, item.Value.AsText().Text)
	}
	if got, want := strings.Join(texts, " "), "18446744073709551615 1.1 1000 true"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestIsJSON(t *testing.T) {
	for text, want := range map[string]bool{
		"{":                            true,
		"\n\t {}":                      true,
		"":                             false,
		"a: {}":                        false,
		strings.Repeat(" ", 29) + "{}": true,
		strings.Repeat(" ", 30) + "{}": false,
		"\ufeff{}":                     false,
	} {
		if got := IsJSON(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestIdentity(t *testing.T) {
	for text, want := range map[string]string{
		"kind: A\napiVersion: g/v1\n":  "g v1 A",
		"kind: A\napiVersion: v1\n":    " v1 A",
		"kind: A\n":                    "  A",
		"kind: A\napiVersion: /\n":     "  A",
		"kind: A\napiVersion: 1\n":     "  A",
		"kind: A\napiVersion: a/b/c\n": "error",
		"kind: ''\n":                   "error",
		"kind: 1\n":                    "error",
		"apiVersion: v1\n":             "error",
		"- kind: A\n":                  "error",
	} {
		v, _, err := Read([]byte(text), yamlread.Usual)
		if err != nil {
			t.Fatal(err)
		}
		group, version, kind, err := v.Identity()
		got := group + " " + version + " " + kind
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestOnly(t *testing.T) {
	v, _, err := Read([]byte("Abc: 1\nabc: 2\nABD: 3\nx: 4\n"), yamlread.Usual)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(v.Only("aBc", "X").AppendJSON(nil)), `{"Abc":1,"abc":2,"x":4}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Hostile texts are read or refused in a short time.
func TestReadHostile(t *testing.T) {
	bomb := "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c < 'l'; c++ {
		bomb += string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+string(c-1)+", ", 10) + "]\n"
	}
	const deep = 1_000_000
	for name, text := range map[string]string{
		"aliases that multiply": bomb,
		"deep YAML":             strings.Repeat("[", deep),
		"deep blocks":           strings.Repeat("- ", deep),
		"deep JSON":             `{"a":` + strings.Repeat("[", deep) + strings.Repeat("]", deep) + "}",
		"one long line":         strings.Repeat("a", deep) + ": b\n",
	} {
		if _, _, err := Read([]byte(text), yamlread.Usual); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, _, err := Read([]byte("a: "+strings.Repeat("[", 5000)+strings.Repeat("]", 5000)), yamlread.Usual); err != nil {
		t.Error(err)
	}
}

// FuzzParse compares the reader and the writer of JSON with encoding/json.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{"b":[1,-0.0e+1],"a":"\ud800\u00e9<é\u2028\n"}`, ` [ { } , [ ] , "" , null ] `, `{"a":1,"a":2}`, `"` + "\xff" + `"`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		dec := json.NewDecoder(bytes.NewReader(src))
		dec.UseNumber()
		var any any
		if !json.Valid(src) || dec.Decode(&any) != nil {
			return
		}
		want, err := json.Marshal(any)
		if err != nil {
			t.Fatal(err)
		}
		v, err := parse(string(src), true)
		if err != nil {
			t.Fatal(err)
		}
		if got := v.AppendJSON(nil); !bytes.Equal(got, want) {
			t.Errorf("%q\n got %s\nwant %s", src, got, want)
		}
	})
}

// FuzzRead checks that a value survives writing and reading.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"a: 1\n---\n", "{a: b}", `{"a": 1e400}`, "--- # c\n- &x y\n- *x\n", "\r\n", "a: |\n  b\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		v, _, err := Read(src, yamlread.Usual)
		if err != nil {
			return
		}
		first := v.AppendJSON(nil)
		again, err := parse(string(first), false)
		if err != nil {
			t.Fatal(err)
		}
		if second := again.AppendJSON(nil); !bytes.Equal(first, second) {
			t.Errorf("%q\n first %s\nsecond %s", src, first, second)
		}
	})
}
