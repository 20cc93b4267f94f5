package field_test

import (
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/field"
)

const (
	images = "# by hand\nspec:\n  imageDigestMirrors:\n  - source: a.io/one # kept\n    mirrors: [b.io/one]\n  - source: 'a.io/two'\n    mirrors:\n    - b.io/two\n" +
		"  annotations:\n    olm.image/name: x\n    \"7\": y\n    empty:\n  alias: &a text\n  other: *a\n"
	list = "[\n  {\"name\": \"one\", \"image\": \"a.io/one@sha256:1\"},\n  {\"name\": \"two\", \"image\": null}, {\"name\": \"two\"}\n]"
	env  = "# a comment with ONE=1\nONE=first\r\n export TWO=\"second\" # why\nTHREE = 'third'\nFOUR=\nFIVE= # none yet\nSIX=a\"b\"\nSEVEN=a \\\nb\nEIGHT=\"a\nNINE=\"a\"b\nTEN=10\nTEN=11\nONE_MORE=x y #z"
)

func TestSet(t *testing.T) {
	for _, tt := range []struct{ name, src, at, before, from, to string }{
		{"m.yaml", images, "spec.imageDigestMirrors[0].source", "a.io/one", "source: a.io/one #", "source: NEW #"},
		{"m.yaml", images, ".spec.imageDigestMirrors.1.mirrors.[0]", "b.io/two", "- b.io/two", "- NEW"},
		{"m.yaml", images, "spec.imageDigestMirrors[source=a.io/one].mirrors[0]", "b.io/one", "[b.io/one]", "[NEW]"},
		{"m.yml", images, "spec.imageDigestMirrors.[source='a.io/two'].mirrors[0]", "b.io/two", "- b.io/two", "- NEW"},
		{"m.yaml", images, "spec.imageDigestMirrors[1].source", "a.io/two", "'a.io/two'", "'NEW'"},
		{"m.yaml", images, "spec.annotations[olm.image/name]", "x", "name: x", "name: NEW"},
		{"m.yaml", images, `spec.annotations.["olm.image/name"]`, "x", "name: x", "name: NEW"},
		{"m.yaml", images, "spec.annotations.7", "y", "\"7\": y", "\"7\": NEW"},
		{"m.yaml", images, "spec.annotations.empty", "", "empty:\n", "empty: NEW\n"},
		{"m.yaml", images + "---\nmore: {one: 1.0}\n", "more.one", "1.0", "1.0", "NEW"},
		{"l.json", list, "[name=one].image", "a.io/one@sha256:1", "a.io/one@sha256:1", "NEW"},
		{"l.json", list, "1.image", "", "null", `"NEW"`},
		{"c.env", env, "ONE", "first", "=first\r", "=NEW\r"},
		{"c.env", env, "TWO", "second", `"second"`, `"NEW"`},
		{"c.env", env, "THREE", "third", "'third'", "'NEW'"},
		{"c.env", env, "FOUR", "", "FOUR=", "FOUR=NEW"},
		{"c.env", env, "FIVE", "", "FIVE=", "FIVE=NEW"},
		{"versions", "\ufeff" + env, "ONE_MORE", "x y", "x y", "NEW"},
	} {
		before, after, err := field.Set(tt.name, []byte(tt.src), tt.at, "NEW")
		if err != nil || before != tt.before || string(after) != strings.Replace(tt.src, tt.from, tt.to, 1) {
			t.Errorf("%s: was %q, err %v, now\n%s", tt.at, before, err, after)
			continue
		}
		before, again, err := field.Set(tt.name, after, tt.at, "NEW")
		if err != nil || before != "NEW" || string(again) != string(after) {
			t.Errorf("%s a second time: was %q, err %v", tt.at, before, err)
		}
		if err := field.Check(tt.name, tt.at); err != nil {
			t.Errorf("%s is refused: %v", tt.at, err)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, tt := range []struct{ name, src, at, value, want string }{
		{"m.yaml", images, "spec.mirrors.x", "v", "m.yaml:3:3: setting spec.mirrors.x: mirrors is not here"},
		{"m.yaml", images, "spec.imageDigestMirrors[2].source", "v", "m.yaml:4:3: setting spec.imageDigestMirrors[2].source: [2] is not here"},
		{"m.yaml", images, "spec.imageDigestMirrors[0]", "v", "m.yaml:4:5: setting spec.imageDigestMirrors[0]: it is no text"},
		{"m.yaml", images, "spec.other", "v", "m.yaml:13:13: editing inside of the anchor &a"},
		{"m.yaml", "a: 1\n---\na: 2\n", "a", "v", "m.yaml:3:4: setting a: it is here and at line 1"},
		{"l.json", list, "[name=two].name", "v", "l.json:3:44: setting [name=two].name: it is here and at line 3"},
		{"m.yaml", "# nothing\n", "a", "v", "m.yaml:1:1: setting a: the file is empty"},
		{"m.yaml", "a: |\n  b\n", "a", "v", "replacing a value that is not on one line"},
		{"m.yaml", "a: [", "a", "v", "m.yaml:1:"},
		{"c.env", env, "NONE", "v", "c.env:1:1: setting NONE: no line begins with NONE="},
		{"c.env", env, "TEN", "v", "c.env:13:1: setting TEN: it is set here and at line 12"},
		{"c.env", env, "SIX", "v", "c.env:7:5: setting SIX: its value is put together of parts"},
		{"c.env", env, "SEVEN", "v", "c.env:8:7: setting SEVEN: its value goes on in the next line"},
		{"c.env", env, "EIGHT", "v", "c.env:10:7: setting EIGHT: the quote is not closed on its line"},
		{"c.env", env, "NINE", "v", "c.env:11:6: setting NINE: its value is put together of parts"},
		{"c.env", env, "ONE", "a b", "setting ONE: the new value would be read as something else there"},
		{"c.env", env, "TWO", "a$b", "setting TWO: the new value would be read as something else there"},
		{"c.env", env, "THREE", "a\nb", "setting THREE: the new value would be read as something else there"},
	} {
		_, _, err := field.Set(tt.name, []byte(tt.src), tt.at, tt.value)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.at, err, tt.want)
		}
		if !failure.Is(err, failure.EditRefused) && !failure.Is(err, failure.TemplateMalformed) {
			t.Errorf("%s: %v is %d", tt.at, err, failure.Of(err).Code)
		}
	}
	for _, at := range []string{"", ".", "a..b", "a[0", "a[]", "a]b.", "a[0]b", "a."} {
		if err := field.Check("m.yaml", at); err == nil {
			t.Errorf("%q is accepted as a path", at)
		}
	}
	for _, at := range []string{"", "a b", "A=1", "1A", "a[0]"} {
		if err := field.Check("c.env", at); err == nil {
			t.Errorf("%q is accepted as a variable", at)
		}
	}
}
