package config

import (
	"cmp"
	_ "embed" // the schema
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/schema"
	"github.com/olmgraft/graft/internal/yamledit"
)

// Schema is the JSON Schema of graft.yaml. Parse holds files to it, editors can, and
// Reference is made of it, so that the three agree.
//
//go:embed graft.schema.json
var Schema []byte

// schemaNode is its top node. As nodes its keys keep their order.
var schemaNode = sync.OnceValue(func() *yamledit.Node { return schema.Parse("graft.schema.json", Schema) })

var compiled = sync.OnceValue(func() *schema.Schema { return schema.Compile(schemaNode(), nil) })

// resolved follows a reference within the schema.
func resolved(s *yamledit.Node) *yamledit.Node {
	ref := s.Get("$ref")
	if ref == nil {
		return s
	}
	return schemaNode().Get("$defs").Get(strings.TrimPrefix(ref.Value, "#/$defs/"))
}

// inWords says what is wrong and what to do about it.
func inWords(f schema.Fault) error {
	n, where := f.Node, cmp.Or(f.Path, "the configuration")
	if name, ok := f.Kind.(schema.Duplicate); ok {
		return at(n, "reading %s: the key %s stands there twice", where, name).Fix("Keep one of the two.")
	}
	if _, unknown := f.Kind.(*kind.AdditionalProperties); unknown {
		return unknownKey(n, f.Schema.Get("properties").Keys(), where)
	}
	if f.Key {
		where = "a key of " + where
	}
	switch k := f.Kind.(type) {
	case *kind.Type:
		return mistyped(n, k.Want[0], where)
	case *kind.Required:
		return at(n, "reading %s: %s is missing", where, k.Missing[0]).Fix("Add %s.", k.Missing[0])
	case *kind.MinItems:
		return at(n, "reading %s: the list is empty", where).Fix("Give it an item, or remove the key.")
	case *kind.UniqueItems:
		return at(n, "reading %s: %q stands there twice", where, n.Value).Fix("Remove one of the two.")
	case *kind.Enum:
		return unknownWord(n, f.Schema.Get("enum").Strings(), where)
	case *kind.MinLength:
		return at(n, "reading %s: it is empty", where).Fix("Give it a value, or remove the key.")
	case *kind.MaxLength:
		return at(n, "reading %s: it has %d characters, more than %d", where, k.Got, k.Want).Fix("Shorten it.")
	}
	if n.Kind == yamledit.Mapping { // which has keys that exclude each other
		return at(n, "reading %s: it has both %s", where, strings.Join(f.Schema.Get("not").Get("required").Strings(), " and ")).Fix("Keep one of them.")
	}
	return malformed(n, f.Schema, where)
}

var typeNouns = map[string]string{"object": "a mapping", "array": "a list", "boolean": "true or false", "string": "a text"}

func mistyped(v *yamledit.Node, typ, where string) error {
	err := at(v, "reading %s: it is %s and must be %s", where, noun(v), typeNouns[typ])
	switch {
	case v.IsNull():
		return err.Fix("Give it a value, or remove the key.")
	case typ == "string" && v.Kind == yamledit.Scalar:
		return err.Fix("Write it in quotes: %q.", v.Value)
	}
	return err
}

func noun(v *yamledit.Node) string {
	switch v.Tag {
	case "!!map":
		return "a mapping"
	case "!!seq":
		return "a list"
	case "!!null":
		return "empty"
	case "!!bool":
		return "true or false"
	case "!!int", "!!float":
		return "a number"
	case "!!timestamp":
		return "a date"
	case "!!str":
		return "a text"
	}
	return "of a type of its own"
}

// malformed explains a text by what it is, for a pattern explains nothing.
func malformed(v, s *yamledit.Node, where string) error {
	err := at(v, "reading %s: %q is none", where, v.Value)
	for _, noun := range nouns {
		if s == schemaNode().Get("$defs").Get(noun.def) || strings.HasSuffix(where, noun.key) && noun.key != "" {
			return at(v, "reading %s: %q is no %s", where, v.Value, noun.is).Fix("%s", noun.fix)
		}
	}
	return err
}

// nouns say what a text is that has a pattern.
var nouns = []struct{ def, key, is, fix string }{
	{"package", "", "name of a package", "Use at most 63 lower case letters, digits and hyphens, beginning and ending with a letter or digit."},
	{"path", "", "path within the repository", "Give a path from the top of the repository, with slashes."},
	{"template", "", "path within the repository", "Give a path from the top of the repository, with slashes; " + placeholders},
	{"pattern", "", "text that Graft can fill in", placeholders},
	{"channel", "", "name of a channel", "Use letters, digits and the signs ._+-; " + placeholders},
	{"repository", "", "repository", "Write REGISTRY/NAME without tag and digest, such as quay.io/example/op-bundle."},
	{"object", "", "name of an object in a cluster", "Use lower case letters, digits, hyphens and dots, beginning and ending with a letter or digit."},
	{"", ".image", "image with a tag", "Write REGISTRY/NAME:TAG, such as quay.io/example/catalog:v4.20."},
	{"person", "", "name with an address", "Write NAME <ADDRESS>."},
	{"", ".path", "file of a catalog", "Give a path from the top of the repository that ends with .yaml, .yml or .json; " + placeholders},
	{"", ".versions", "rule for versions", "Write prerelease, release, or a range such as >=1.2.0 <2.0.0."},
	{"", ".platform", "version of a platform", "Write a version such as \"4.20\"."},
	{"", ".replaces", "pattern for a name", placeholders},
	{"", ".skipRange", "pattern for a range", "Write a range such as >={major}.{minor}.0 <{version}."},
	{"", ".title", "title", "Write one line; " + placeholders},
	{"", ".branch", "name of a branch", placeholders},
	{"", ".base", "name of a branch", "Name a branch of the repository."},
	{"", "]", "name or pattern of one", "Use letters, digits and the signs that such names have, without @ and blanks."},
}

const placeholders = "{package}, {name}, {version}, {major}, {minor} and {patch} may stand in it."

func unknownKey(key *yamledit.Node, known []string, where string) *failure.Error {
	return at(key, "reading %s: there is no key %s", where, key.Value).
		Fix("%sIts keys are %s.", didYouMean(key.Value, known), strings.Join(known, ", "))
}

func unknownWord(v *yamledit.Node, known []string, where string) error {
	list := strings.Join(known, ", ")
	if len(known) > 10 {
		list = "listed in the documentation of findings"
	}
	return at(v, "reading %s: there is no %q", where, v.Value).
		Fix("%sThose that exist are %s.", didYouMean(v.Value, known), list)
}
