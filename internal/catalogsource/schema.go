package catalogsource

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/olmgraft/graft/deploy/crds"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/schema"
	"github.com/olmgraft/graft/internal/yamledit"
)

// definition holds the schema of a CatalogSource by version. The schema of Next is derived from that of Stored,
// in the same way as deploy/crds/v1alpha2.yaml.
var definition = sync.OnceValue(func() map[string]*schema.Schema {
	versions := map[string]*schema.Schema{}
	for _, v := range schema.Parse("deploy/crds/catalogsources.yaml", crds.CatalogSources).Get("spec").Get("versions").Items() {
		root := v.Get("schema").Get("openAPIV3Schema")
		versions[v.Get("name").Text()] = schema.Compile(root, structural)
		if v.Get("name").Text() == Stored {
			versions[Next] = schema.Compile(root, func(doc map[string]any) {
				structural(doc)
				spec := doc["properties"].(map[string]any)["spec"].(map[string]any)["properties"].(map[string]any)
				for _, name := range deprecatedFields() {
					delete(spec, name)
				}
			})
		}
	}
	for _, s := range versions {
		s.Kubernetes = true
	}
	return versions
})

// structural reduces a schema to the existence and types of fields, and forbids other fields in a mapping.
// Separate checks cover rules about several fields.
func structural(s map[string]any) {
	delete(s, "oneOf")
	if s["format"] == "int32" {
		s["minimum"], s["maximum"] = math.MinInt32, math.MaxInt32
	}
	below, closed := s["properties"].(map[string]any)
	for _, property := range below {
		structural(property.(map[string]any))
	}
	for _, keyword := range []string{"items", "additionalProperties"} {
		if inner, ok := s[keyword].(map[string]any); ok {
			structural(inner)
			closed = false
		}
	}
	if closed {
		s["additionalProperties"] = false
	}
}

// checker collects the faults of one CatalogSource.
type checker struct {
	source           *Source
	faults, warnings []*failure.Error
}

func (c *checker) fault(n *yamledit.Node, format string, args ...any) *failure.Error {
	f := n.Failure(failure.CatalogSourceInvalid, "checking %s: %s", c.source, fmt.Sprintf(format, args...))
	c.faults = append(c.faults, f)
	return f
}

func (c *checker) warn(n *yamledit.Node, format string, args ...any) *failure.Error {
	f := n.Failure(failure.CatalogSourceInvalid, "%s: %s", c.source, fmt.Sprintf(format, args...))
	c.warnings = append(c.warnings, f)
	return f
}

// structure checks the CatalogSource against a schema, as an API server does.
func (c *checker) structure(s *schema.Schema) {
	for _, f := range s.Check(c.source.root) {
		c.inWords(f)
	}
}

func (c *checker) inWords(f schema.Fault) {
	n := f.Node
	switch k := f.Kind.(type) {
	case schema.Duplicate:
		c.fault(n, "%s occurs twice", schema.Join(f.Path, string(k))).Fix("Remove one of the two.")
	case *kind.AdditionalProperties:
		c.warn(n, "%s is not a field of a %s, and API servers drop it", schema.Join(f.Path, n.Value), c.source.Kind()).Fix("Correct the name of the field, or remove it.")
	case *kind.Required:
		if n.Get(k.Missing[0]) == nil { // no merge key provides it either
			c.fault(n, "%s is missing", schema.Join(f.Path, k.Missing[0])).Fix("Add %s.", k.Missing[0])
		}
	case *kind.Type:
		due := noun(k.Want[0])
		switch {
		case n.IsNull():
			c.fault(n, "%s has no value", f.Path).Fix("Write %s, or remove the key.", due)
		case k.Want[0] == "string" && n.Kind == yamledit.Scalar:
			c.fault(n, "%s is %s, want %s", f.Path, found(n, k), due).Fix("Write %s, with the value in quotes.", due)
		default:
			c.fault(n, "%s is %s, want %s", f.Path, found(n, k), due).Fix("Write %s.", due)
		}
	case *kind.Enum:
		c.fault(n, "%s is %q", f.Path, n.Value).Fix("Write one of %s.", strings.Join(f.Schema.Get("enum").Strings(), ", "))
	case *kind.MinLength, *kind.MaxLength:
		c.fault(n, "%s has %d characters", f.Path, utf8.RuneCountInString(n.Value)).Fix("Write %s to %s characters.", cmp.Or(f.Schema.Get("minLength").Text(), "0"), f.Schema.Get("maxLength").Text())
	case *kind.Pattern:
		c.fault(n, "%s is %q", f.Path, n.Value).Fix("Write a text that matches %s.", k.Want)
	case *kind.Format:
		c.fault(n, "%s is %q, which is not a time", f.Path, n.Value).Fix("Write a time as in 2021-07-19T23:00:00Z.")
	default:
		c.fault(n, "%s is %s, which is out of range", f.Path, n.Value).Fix("Write a number that is in range.")
	}
}

// found names the type of a node's value.
func found(n *yamledit.Node, k *kind.Type) string {
	if n.Tag == "!!int" && k.Want[0] != "integer" {
		return noun("integer")
	}
	return noun(k.Got)
}

func noun(kind string) string {
	switch kind {
	case "object":
		return "a mapping"
	case "array":
		return "a list"
	case "integer":
		return "an integer"
	}
	return "a " + kind
}
