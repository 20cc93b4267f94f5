// Package conformance compares Graft with the libraries that opm is built from.
package conformance

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/operator-framework/operator-registry/alpha/declcfg"
	"sigs.k8s.io/yaml"

	"github.com/olmgraft/graft/internal/fbc/canonical"
	"github.com/olmgraft/graft/internal/yamlread"
)

// opmLoads returns opm's form of one YAML document, or an error.
func opmLoads(src []byte) ([]byte, error) {
	var m declcfg.Meta
	if err := yaml.Unmarshal(src, &m); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(m.Blob), nil
}

func FuzzYAMLToJSON(f *testing.F) {
	for _, s := range yamlSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) { compareToJSON(t, src) })
}

func compareToJSON(t *testing.T, src []byte) {
	t.Helper()
	if incomparable(src) {
		return
	}
	want, wantErr := yaml.YAMLToJSON(src)
	got, err := yamlread.ToJSON(src)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%q\n error %v\n  want %v", src, err, wantErr)
	}
	if err != nil {
		if e := (*yamlread.Error)(nil); !errors.As(err, &e) || e.Line < 1 || e.Col < 1 {
			t.Fatalf("%q: an error without a place: %v", src, err)
		}
		return
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("%q\n got %s\nwant %s", src, got, want)
	}
	if want, err := opmLoads(src); err == nil && string(want) != "" {
		if got, err := yamlread.Loaded(got); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%q loaded, %v\n got %s\nwant %s", src, err, got, want)
		}
	}
	wantYAML, wantErr := yaml.JSONToYAML(want)
	gotYAML, err := canonical.FromJSON(want)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%s\n error %v\n  want %v", want, err, wantErr)
	}
	if !bytes.Equal(gotYAML, wantYAML) && steady(yaml.JSONToYAML, want) {
		t.Fatalf("%s\n got %q\nwant %q", want, gotYAML, wantYAML)
	}
}

// incomparable reports inputs for which opm's libraries give answers that change from run to run, as when two
// keys of different types become the same text, or that depend on the boundaries of their buffers.
func incomparable(src []byte) bool {
	text := string(src)
	return len(src) > 0 && strings.Contains(text[1:], "\uFEFF") || // a BOM after the start
		bytes.HasPrefix(src, []byte("\xFF\xFE")) || bytes.HasPrefix(src, []byte("\xFE\xFF")) || // UTF-16
		!steady(yaml.YAMLToJSON, src)
}

// steady reports whether a conversion always gives the same result.
func steady(convert func([]byte) ([]byte, error), src []byte) bool {
	first, err := convert(src)
	for i := 0; i < 12 && err == nil; i++ {
		if again, _ := convert(src); !bytes.Equal(first, again) {
			return false
		}
	}
	return true
}

func TestSeeds(t *testing.T) {
	for _, s := range yamlSeeds {
		compareToJSON(t, []byte(s))
	}
}

var yamlSeeds = []string{
	"", "\n", "# c\n", "---\n", "--- a\n", "...\n", "a", "a: b\n", "a: b\n...\nc: d\n", "a: b\n---\nc: d\n",
	"a:\n- b\n- c: d\n  e: f\n-\n- - x\n  - y\n", "a:\n  - b\n  -\n    c: d\n",
	"{a: b, c: [d, e,], f: {g: h}}", "{a: b, c}", "[a: b, ? c : d, ? e, ? , f]", "{? a : b, ? c, ?}", "{a:1}", "{\"a\":1}", "[a:1]",
	"a: 'it''s'\nb: \"x\\ty\\u00e9\\x41\\U0001F600\\n\\\\\"\nc: \"a\n  b\n\n  c\\\n  d\"\n",
	"a: |\n  x\n   y\n\n  z\n\nb: >-\n  x\n  y\n\n  z\n   w\n  v\nc: |+\n  x\n\n\nd: |2\n   x\n  y\ne: >+\n  a\n\n",
	"a: y\nb: no\nc: On\nd: ~\ne: null\nf: 0x1F\ng: 0777\nh: 0o17\ni: 1_000\nj: 1.5e3\nk: .5\nl: +1\nm: -0\nn: 0b11\no: 08\np: 1e3\nq: 1.\n",
	"a: 2001-01-01\nb: 2001-12-14t21:59:43.10-05:00\nc: 12:30:45\nd: 190:20:30.15\ne: 9223372036854775808\nf: 18446744073709551616\ng: 1e400\n",
	"a: .inf\n", "a: .nan\n", ".5: a\n1: b\n1.5: c\ntrue: d\non: e\n", "~: a\n", "9223372036854775808: a\n", "? [a]\n: b\n", "? a\n: b\n? c\n",
	"a: &x [1, 2]\nb: *x\n", "a: *x\n", "a: &x [*x]\n", "a: &x {b: c}\nd:\n  <<: *x\n  e: f\n", "d:\n  b: z\n  <<: {b: c}\n", "d:\n  <<: [{a: 1}, {a: 2, b: 3}]\n", "<<: a\n", "\"<<\": a\n", "<<: [a]\n",
	"a: !!str 1\nb: !!int '2'\nc: !!float 3\nd: !foo bar\ne: !!binary aGVsbG8=\nf: !!null ''\ng: !!bool yes\nh: ! 5\n", "a: !!int x\n", "a: !!float 2001-01-01\n", "a: !!timestamp 2001-01-01\n", "a: !!binary x\n", "a: !!binary /w==\n", "!!map {a: b}\n", "a: !<tag:yaml.org,2002:int> 5\n", "%TAG !e! tag:yaml.org,2002:\n---\na: !e!str 1\n", "%YAML 1.1\n---\na: 1\n", "%YAML 1.2\n---\na: 1\n", "%FOO\n",
	"a: b: c\n", "a: b\n c: d\n", " a: b\nc: d\n", "a:\n\t- b\n", "a: \tb\n", "- a\nb: c\n", "a: [\n", "a: 'b\n", "a: @b\n", "a: `b\n", "a: %b\n", "a:\n  - b\n - c\n",
	"a: b # c\nd: e#f\ng: 'h' # i\n# j\nk: # l\n  m\n", "a: b\n\n\n  c\n  d # e\nf: g\n", "a: b\r\nc: |\r\n  d\r\n  e\r\n", "a: b\rc: d\r", "\uFEFFa: b\n", "a: b\u0085c: d\n", "a: \"b\u2028c\"\nd: e\u2028 f\n",
	"a: 'b\n  c\n\n  d'\n", "a: b\n'c': d\n\"e\": f\n", "a:\nb:\n", "- \n- a\n-\n", "&a a: &b b\n*a : *b\n", "&a a: b\nc: *a\n", "? |\n  a\n: |\n  b\n", "a: <b> & c\n", "a: \"\x7f\"\n", "a: \"\\u2028\\u0000\\ud800\"\n", "a: \"\\/\"\n", "a: \"😀 é\"\n",
	"a: ''\nb: \"\"\nc: ' x'\nd: 'x '\ne: '- x'\nf: 'x: y'\ng: 'x #y'\nh: \"a\\tb\"\ni: '1'\nj: 'true'\nk: '~'\nl: '12:30'\nm: \"x\\n\"\nn: \" x\\ny\"\no: \"x \\ny\"\np: \"\\n\"\nq: \"x\\n\\n\"\n",
	"a10: 1\na9: 2\nA: 3\n_a: 4\nab: 5\na-b: 6\na.b: 7\na/b: 8\na01: 9\na1: 10\n",
	"k: " + strings.Repeat("word ", 40) + "\n", "k: '" + strings.Repeat("word: ", 40) + "'\n", "k: \"" + strings.Repeat("wörd\\t ", 40) + "\"\n", "k: " + strings.Repeat("x", 200) + " y  z\n",
	strings.Repeat("k", 129) + ": v\n", strings.Repeat("k", 1025) + ": v\n", "? " + strings.Repeat("key ", 40) + "\n: v\n", "{" + strings.Repeat("k", 1025) + ": v}\n",
	"a: !!set {b, c}\n", "- !!str\n- !!null\n- &x\n- *x\n", "a: - b\n", "a: -b\nc: ?d\ne: :f\n", "a: b:c\nd: e?f\n", "[a, b]: c\n", "{a: b}: c\n", "- - - a\n    - b\n", "--- |\n a\n", "--- >\n a\n b\n", "a: |x\n", "a: |0\n", "a: |9+\n          b\n", "a: |\n\tb\n", "a: >\n\n\n  b\n\n\n", "a: |-\n\n\n", "- |\n a\n- >2\n   b\n",
	"[a\n]: b\n", "a\nb: c\n", "a: 'b'c\n", "a: b]\n", "]\n", "}\n", "a: b}\n", ",\n", "a: ,\n", "? a\n? b\n: c\n", ": a\n", "- ? a\n  : b\n", "a: &b\nc: d\n", "a: &b\n  c: d\n", "a: &b - c\n", "a: !!str\n  b\n", "*a\n", "a: *b:c\n",
}
