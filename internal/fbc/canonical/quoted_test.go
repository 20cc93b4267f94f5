package canonical

import (
	"testing"

	"sigs.k8s.io/yaml"
)

// Unquote reads a quoted text as the library does. It leaves rare forms to the library.
func TestUnquote(t *testing.T) {
	for quoted, known := range map[string]bool{
		`'a'`: true, `''`: true, `'it''s'`: true, `"a\tb\u00e9\x41\U0001F600\e\0"`: true, `"\"\\"`: true,
		"'a\n  b'": true, "\"a \n  b\"": true, "\"a\\\n  \\ b\"": true, "\"a\\t\n  b\"": true, "\"a \\ \n  b\"": true,
		`"\N\_\L\P"`: true, "'a  b'": true,
		"'a\n\n  b'": false, "\"a\n\n  b\"": false, `"\d"`: false, `"\ud800"`: false, `"\u12"`: false, `"\`: false, `'`: false, `'a"`: false,
	} {
		text, ok := Unquote([]byte(quoted))
		if ok != known {
			t.Errorf("%q: known %v", quoted, ok)
		}
		if !ok {
			continue
		}
		var whole struct{ A string }
		if err := yaml.Unmarshal([]byte("a: "+quoted+"\n"), &whole); err != nil || whole.A != string(text) {
			t.Errorf("%q gives %q, the library %q, %v", quoted, text, whole.A, err)
		}
	}
}
