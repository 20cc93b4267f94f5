package schema

import (
	"cmp"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/yamledit"
)

// maxFile is the largest size of a configuration, in bytes.
const maxFile = 1 << 20

// Configuration returns the mapping that a file contains. A file with any other content is refused.
func Configuration(name string, src []byte) (*yamledit.Node, error) {
	if len(src) > maxFile {
		return nil, failure.New(failure.Config, "reading it: it has more than %d KiB", maxFile>>10).At(name, 1, 1)
	}
	f, err := yamledit.Open(name, src)
	var root *yamledit.Node
	if err == nil && len(f.Docs) > 0 {
		root, err = f.Docs[0].Root()
	}
	if err != nil {
		e := failure.Of(err)
		return nil, failure.New(failure.Config, "%s", e.Message).At(e.File, e.Line, e.Col)
	}
	if root == nil || root.Kind != yamledit.Mapping {
		return nil, failure.New(failure.Config, "reading it: it is not a mapping").At(name, 1, 1)
	}
	if len(f.Docs) > 1 {
		line, col := f.Position(f.Docs[1].Start)
		return nil, failure.New(failure.Config, "reading it: a second document follows").At(name, line, col).Fix("Keep one document in the file.")
	}
	return root, nil
}

// Where names the value at fault for people.
func (f Fault) Where() string {
	if f.Key {
		return "a key of " + f.around()
	}
	return f.around()
}

func (f Fault) around() string { return cmp.Or(f.Path, "the configuration") }

// IsMalformed reports whether the form of a text is at fault. The pattern in the schema would not explain such a
// fault to people.
func (f Fault) IsMalformed() bool {
	switch f.Kind.(type) {
	case *kind.Pattern, *kind.Not:
		return f.Node.Kind == yamledit.Scalar
	}
	return false
}

// Failure returns a failure that says what is wrong with a configuration and how to correct it.
func (f Fault) Failure() *failure.Error {
	n, where := f.Node, f.Where()
	at := func(format string, args ...any) *failure.Error { return n.Failure(failure.Config, format, args...) }
	switch k := f.Kind.(type) {
	case Duplicate:
		return at("reading %s: the key %s occurs twice", f.around(), k).Fix("Keep one of the two.")
	case *kind.AdditionalProperties:
		return UnknownKey(n, f.Schema.Get("properties").Keys(), f.around())
	case *kind.Type:
		return Mistyped(n, k.Want[0], where)
	case *kind.Required:
		return at("reading %s: %s is missing", where, k.Missing[0]).Fix("Add %s.", k.Missing[0])
	case *kind.MinItems:
		return at("reading %s: the list is empty", where).Fix("Give it an item, or remove the key.")
	case *kind.UniqueItems:
		return at("reading %s: %q occurs twice", where, n.Value).Fix("Remove one of the two.")
	case *kind.Enum:
		known := f.Schema.Get("enum").Strings()
		list := strings.Join(known, ", ")
		if len(known) > 10 {
			list = "listed in the documentation of findings"
		}
		return at("reading %s: there is no %q", where, n.Value).Fix("%sThose that exist are %s.", DidYouMean(n.Value, known), list)
	case *kind.MinLength:
		return at("reading %s: it is empty", where).Fix("Give it a value, or remove the key.")
	case *kind.MaxLength:
		return at("reading %s: it has %d characters, more than %d", where, k.Got, k.Want).Fix("Shorten it.")
	case *kind.Not:
		return at("reading %s: it has both %s", where, strings.Join(f.Schema.Get("not").Get("required").Strings(), " and ")).Fix("Keep one of them.")
	}
	return at("reading %s: invalid value %q", where, n.Value)
}

// UnknownKey returns the failure for a key that the mapping does not allow.
func UnknownKey(key *yamledit.Node, known []string, where string) *failure.Error {
	return key.Failure(failure.Config, "reading %s: there is no key %s", where, key.Value).
		Fix("%sIts keys are %s.", DidYouMean(key.Value, known), strings.Join(known, ", "))
}

var typeNouns = map[string]string{
	"object": "a mapping", "array": "a list", "boolean": "true or false", "string": "a text", "integer": "a whole number",
}

// Mistyped returns the failure for a value that does not have the type due.
func Mistyped(v *yamledit.Node, due, where string) *failure.Error {
	err := v.Failure(failure.Config, "reading %s: it is %s and must be %s", where, noun(v), typeNouns[due])
	switch {
	case v.IsNull():
		return err.Fix("Give it a value, or remove the key.")
	case due == "string" && v.Kind == yamledit.Scalar:
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
