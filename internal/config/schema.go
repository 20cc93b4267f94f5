package config

import (
	_ "embed" // the schema
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/yamledit"
)

// Schema is the JSON Schema of graft.yaml. Parse holds files to it, editors can, and
// Reference is made of it, so that the three agree.
//
//go:embed graft.schema.json
var Schema []byte

// schema is its top node. As nodes its keys keep their order.
var schema = sync.OnceValue(func() *yamledit.Node {
	file, err := yamledit.Open("graft.schema.json", Schema)
	if err != nil {
		panic(err) // it is part of the program, and a test reads it
	}
	root, err := file.Docs[0].Root()
	if err != nil {
		panic(err)
	}
	return root
})

// check holds a value to a schema and gives every failure, each at its place. Where names
// the value for people.
func check(v, s *yamledit.Node, where string) (errs []error) {
	v, s = v.Resolve(), resolved(s)
	if !isOf(v, s.Get("type").Text()) {
		return []error{mistyped(v, s.Get("type").Text(), where)}
	}
	switch v.Kind {
	case yamledit.Mapping:
		return checkMapping(v, s, where)
	case yamledit.Sequence:
		return checkList(v, s, where)
	}
	if err := checkText(v, s, where); err != nil {
		return []error{err}
	}
	return nil
}

// resolved follows a reference within the schema.
func resolved(s *yamledit.Node) *yamledit.Node {
	ref := s.Get("$ref")
	if ref == nil {
		return s
	}
	return schema().Get("$defs").Get(strings.TrimPrefix(ref.Value, "#/$defs/"))
}

func isOf(v *yamledit.Node, typ string) bool {
	switch typ {
	case "object":
		return v.Kind == yamledit.Mapping
	case "array":
		return v.Kind == yamledit.Sequence
	case "boolean":
		return v.Kind == yamledit.Scalar && v.Tag == "!!bool"
	}
	return v.Kind == yamledit.Scalar && v.Tag == "!!str"
}

func mistyped(v *yamledit.Node, typ, where string) error {
	nouns := map[string]string{"object": "a mapping", "array": "a list", "boolean": "true or false", "string": "a text"}
	err := at(v, "reading %s: it is %s and must be %s", where, noun(v), nouns[typ])
	switch {
	case v.IsNull():
		return err.Fix("Give it a value, or remove the key.")
	case typ == "string" && v.Kind == yamledit.Scalar:
		return err.Fix("Write it in quotes: %q.", v.Value)
	}
	return err
}

func noun(v *yamledit.Node) string {
	switch {
	case v.Kind == yamledit.Mapping:
		return "a mapping"
	case v.Kind == yamledit.Sequence:
		return "a list"
	case v.IsNull():
		return "empty"
	case v.Tag == "!!bool":
		return "true or false"
	case v.Tag == "!!int", v.Tag == "!!float":
		return "a number"
	case v.Tag == "!!timestamp":
		return "a date"
	case v.Tag == "!!str":
		return "a text"
	}
	return "of a type of its own"
}

func checkMapping(v, s *yamledit.Node, where string) (errs []error) {
	known, rest := s.Get("properties"), s.Get("additionalProperties")
	seen := map[string]bool{}
	for i := 0; i+1 < len(v.Children); i += 2 {
		key, value := v.Children[i].Resolve(), v.Children[i+1]
		inside := join(where, key.Value)
		switch sub := known.Get(key.Value); {
		case key.Kind != yamledit.Scalar || key.Tag != "!!str":
			errs = append(errs, mistyped(key, "string", "a key of "+where))
		case seen[key.Value]:
			errs = append(errs, at(key, "reading %s: the key %s stands there twice", where, key.Value).Fix("Keep one of the two."))
		case sub != nil:
			errs = append(errs, check(value, sub, inside)...)
		case rest == nil || rest.Kind != yamledit.Mapping:
			errs = append(errs, unknownKey(key, keysOf(known), where))
		default:
			if names := s.Get("propertyNames"); names != nil {
				errs = append(errs, check(key, names, "a key of "+where)...)
			}
			errs = append(errs, check(value, rest, inside)...)
		}
		seen[key.Value] = true
	}
	for _, r := range s.Get("required").Strings() {
		if !seen[r] {
			errs = append(errs, at(v, "reading %s: %s is missing", where, r).Fix("Add %s.", r))
		}
	}
	if both := s.Get("not").Get("required").Strings(); len(both) > 0 && !slices.ContainsFunc(both, func(k string) bool { return !seen[k] }) {
		errs = append(errs, at(v, "reading %s: it has both %s", where, strings.Join(both, " and ")).Fix("Keep one of them."))
	}
	return errs
}

func checkList(v, s *yamledit.Node, where string) (errs []error) {
	if s.Get("minItems").Text() == "1" && len(v.Children) == 0 {
		return []error{at(v, "reading %s: the list is empty", where).Fix("Give it an item, or remove the key.")}
	}
	seen := map[string]bool{}
	for i, item := range v.Children {
		inside := fmt.Sprintf("%s[%d]", where, i)
		found := check(item, s.Get("items"), inside)
		errs = append(errs, found...)
		text := item.Resolve().Value
		if s.Get("uniqueItems").Text() == "true" && len(found) == 0 && seen[text] {
			errs = append(errs, at(item, "reading %s: %q stands there twice", inside, text).Fix("Remove one of the two."))
		}
		seen[text] = true
	}
	return errs
}

func checkText(v, s *yamledit.Node, where string) error {
	text := v.Value
	if enum := s.Get("enum").Strings(); len(enum) > 0 && !slices.Contains(enum, text) {
		return unknownWord(v, enum, where)
	}
	if p := s.Get("pattern"); p != nil && !matches(p.Value, text) {
		return malformed(v, s, where)
	}
	if p := s.Get("not").Get("pattern"); p != nil && matches(p.Value, text) {
		return malformed(v, s, where)
	}
	if s.Get("minLength") != nil && text == "" {
		return at(v, "reading %s: it is empty", where).Fix("Give it a value, or remove the key.")
	}
	if limit := s.Get("maxLength"); limit != nil {
		if n := utf8.RuneCountInString(text); n > number(limit.Value) {
			return at(v, "reading %s: it has %d characters, more than %s", where, n, limit.Value).Fix("Shorten it.")
		}
	}
	return nil
}

// malformed explains a text by what it is, for a pattern explains nothing.
func malformed(v, s *yamledit.Node, where string) error {
	err := at(v, "reading %s: %q is none", where, v.Value)
	for _, noun := range nouns {
		if s == schema().Get("$defs").Get(noun.def) || strings.HasSuffix(where, noun.key) && noun.key != "" {
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

func keysOf(properties *yamledit.Node) []string {
	var keys []string
	if properties != nil {
		for i := 0; i < len(properties.Children); i += 2 {
			keys = append(keys, properties.Children[i].Value)
		}
	}
	return keys
}

func join(where, key string) string {
	if where == root {
		return key
	}
	return where + "." + key
}

// root is what the top of a configuration is called.
const root = "the configuration"

// matches keeps the compiled form: the schema has a few dozen patterns.
func matches(pattern, text string) bool {
	compiled, ok := compiledPatterns.Load(pattern)
	if !ok {
		compiled, _ = compiledPatterns.LoadOrStore(pattern, regexp.MustCompile(pattern))
	}
	return compiled.(*regexp.Regexp).MatchString(text)
}

var compiledPatterns sync.Map

func number(digits string) (n int) {
	for _, d := range digits {
		n = 10*n + int(d-'0')
	}
	return n
}

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
