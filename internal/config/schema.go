package config

import (
	_ "embed" // the schema
	"strings"
	"sync"

	"github.com/olmgraft/graft/internal/schema"
	"github.com/olmgraft/graft/internal/yamledit"
)

// Schema is the JSON Schema of graft.yaml. Parse and editors validate files with it, and the reference is
// generated from it, so that the three agree.
//
//go:embed graft.schema.json
var Schema []byte

// schemaNode returns the schema's top node. Nodes preserve the order of keys.
var schemaNode = sync.OnceValue(func() *yamledit.Node { return schema.Parse("graft.schema.json", Schema) })

var compiled = sync.OnceValue(func() *schema.Schema { return schema.Compile(schemaNode(), nil) })

// resolved follows a reference inside the schema.
func resolved(s *yamledit.Node) *yamledit.Node {
	ref := s.Get("$ref")
	if ref == nil {
		return s
	}
	return schemaNode().Get("$defs").Get(strings.TrimPrefix(ref.Value, "#/$defs/"))
}

// inWords converts a fault to a failure with a remedy.
func inWords(f schema.Fault) error {
	if f.IsMalformed() {
		return malformed(f.Node, f.Schema, f.Where())
	}
	return f.Failure()
}

// malformed describes what the text should be, because its pattern would explain nothing.
func malformed(v, s *yamledit.Node, where string) error {
	err := at(v, "reading %s: invalid value %q", where, v.Value)
	for _, noun := range nouns {
		if s == schemaNode().Get("$defs").Get(noun.def) || strings.HasSuffix(where, noun.key) && noun.key != "" {
			return at(v, "reading %s: %q is not %s", where, v.Value, noun.is).Fix("%s", noun.fix)
		}
	}
	return err
}

// nouns describe the texts that have a pattern.
var nouns = []struct{ def, key, is, fix string }{
	{"package", "", "the name of a package", "Use at most 63 lower case letters, digits and hyphens, beginning and ending with a letter or digit."},
	{"path", "", "a path within the repository", "Give a path from the top of the repository, with slashes."},
	{"template", "", "a path within the repository", "Give a path from the top of the repository, with slashes; " + placeholders},
	{"pattern", "", "a text that Graft can fill in", placeholders},
	{"channel", "", "the name of a channel", "Use letters, digits and the signs ._+-; " + placeholders},
	{"repository", "", "a repository", "Write REGISTRY/NAME without tag and digest, such as quay.io/example/op-bundle."},
	{"object", "", "the name of an object in a cluster", "Use lower case letters, digits, hyphens and dots, beginning and ending with a letter or digit."},
	{"", ".image", "an image with a tag", "Write REGISTRY/NAME:TAG, such as quay.io/example/catalog:v4.20."},
	{"placed", "", "a list of channels", "Write a list such as [stable], or from-bundle."},
	{"edges", "", "a way to find edges", "Write from-csv, like-siblings, or a mapping of patterns."},
	{"person", "", "a name with an address", "Write NAME <ADDRESS>."},
	{"", ".path", "a file or folder of a catalog", "Give a path from the top of the repository; {template}, {folder}, {platform} and {platformDashed}, " + placeholders},
	{"", ".versions", "a rule for versions", "Write prerelease, release, or a range such as >=1.2.0 <2.0.0."},
	{"platform", "", "a version of a platform", "Write a version such as \"4.20\"."},
	{"", ".platform", "a version of a platform", "Write a version such as \"4.20\"."},
	{"", ".replaces", "a pattern for a name", placeholders},
	{"", ".skipRange", "a pattern for a range", "Write a range such as >={major}.{minor}.0 <{version}."},
	{"", ".from", "the beginning of image names", "Write a registry or a repository without tag and digest, such as quay.io/example or quay.io/example/op-bundle."},
	{"", ".to", "the beginning of image names", "Write a registry or a repository without tag and digest, such as registry.example.com/org."},
	{"", ".value", "a text that Graft can fill in", placeholders + " So may {image}, {repository}, {tag} and {digest}."},
	{"", ".title", "a title", "Write one line; " + placeholders},
	{"", ".branch", "the name of a branch", placeholders},
	{"", ".base", "the name of a branch", "Name a branch of the repository."},
	{"", "]", "a name or pattern of one", "Use letters, digits and the signs that such names have, without @ and blanks."},
}

const placeholders = "{package}, {name}, {version}, {major}, {minor} and {patch} are allowed."
