package catalogsource

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/olmgraft/graft/deploy/crds"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/yamledit"
)

// schema is what the definition of CatalogSource uses of OpenAPI.
type schema struct {
	Type                 string             `yaml:"type"`
	Format               string             `yaml:"format"`
	Pattern              string             `yaml:"pattern"`
	Enum                 []string           `yaml:"enum"`
	MinLength            int                `yaml:"minLength"`
	MaxLength            int                `yaml:"maxLength"`
	Minimum              *int64             `yaml:"minimum"`
	Required             []string           `yaml:"required"`
	Properties           map[string]*schema `yaml:"properties"`
	AdditionalProperties *schema            `yaml:"additionalProperties"`
	Items                *schema            `yaml:"items"`
}

// definition is the schema of a CatalogSource, by version. That of Next follows from that of
// Stored, as deploy/crds/v1alpha2.yaml makes it.
var definition = sync.OnceValue(func() map[string]*schema {
	var crd struct {
		Spec struct {
			Versions []struct {
				Name   string `yaml:"name"`
				Schema struct {
					OpenAPI *schema `yaml:"openAPIV3Schema"`
				} `yaml:"schema"`
			} `yaml:"versions"`
		} `yaml:"spec"`
	}
	if err := yaml.Unmarshal(crds.CatalogSources, &crd); err != nil {
		panic(fmt.Sprintf("deploy/crds/catalogsources.yaml: %v", err))
	}
	versions := map[string]*schema{}
	for _, v := range crd.Spec.Versions {
		versions[v.Name] = v.Schema.OpenAPI
	}
	next, spec := *versions[Stored], *versions[Stored].Properties["spec"]
	spec.Properties = maps.Clone(spec.Properties)
	for _, name := range deprecatedFields() {
		delete(spec.Properties, name)
	}
	next.Properties = maps.Clone(next.Properties)
	next.Properties["spec"] = &spec
	versions[Next] = &next
	return versions
})

// fits reports whether a value has the types of a schema, as encoding/json and whole have
// them.
func (s *schema) fits(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for name, one := range v {
			of := s.Properties[name]
			if of == nil {
				of = s.AdditionalProperties
			}
			if of != nil && !of.fits(one) {
				return false
			}
		}
		return s.Type == "object"
	case []any:
		return s.Type == "array" && !slices.ContainsFunc(v, func(one any) bool { return !s.Items.fits(one) })
	case string:
		return s.Type == "string"
	case bool:
		return s.Type == "boolean"
	case int64:
		return s.Type == "integer"
	}
	return false
}

// checker collects what is wrong with one CatalogSource.
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

// structure holds a node to a schema, as an API server does.
func (c *checker) structure(path string, at *yamledit.Node, s *schema) {
	n := at.Resolve()
	switch {
	case n.IsNull():
		c.fault(at, "%s has no value", path).Fix("Write %s, or remove the key.", noun(s.Type))
	case typeOf(n) != s.Type:
		c.fault(at, "%s is %s where %s is due", path, noun(typeOf(n)), noun(s.Type)).Fix("Write %s%s.", noun(s.Type), quotes(n, s))
	case s.Type == "object":
		c.object(path, n, s)
	case s.Type == "array":
		for i, item := range n.Children {
			c.structure(fmt.Sprintf("%s[%d]", path, i), item, s.Items)
		}
	default:
		c.scalar(path, n, s)
	}
}

func quotes(n *yamledit.Node, s *schema) string {
	if s.Type == "string" && n.Kind == yamledit.Scalar {
		return ", with the value in quotes"
	}
	return ""
}

func (c *checker) object(path string, n *yamledit.Node, s *schema) {
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Children); i += 2 {
		key, value := n.Children[i], n.Children[i+1]
		name := key.Resolve().Value
		below := strings.TrimPrefix(path+"."+name, ".")
		switch {
		case name == "<<" && key.Style == yamledit.Plain:
			continue
		case seen[name]:
			c.fault(key, "%s stands there twice", below).Fix("Remove one of the two.")
		case s.Properties[name] != nil:
			c.structure(below, value, s.Properties[name])
		case s.AdditionalProperties != nil:
			c.structure(below, value, s.AdditionalProperties)
		case s.Properties != nil:
			c.warn(key, "%s is no field of a CatalogSource, and API servers drop it", below).Fix("Correct the name of the field, or remove it.")
		}
		seen[name] = true
	}
	for _, name := range s.Required {
		if n.Get(name) == nil {
			c.fault(n, "%s is missing", strings.TrimPrefix(path+"."+name, ".")).Fix("Add %s.", name)
		}
	}
}

func (c *checker) scalar(path string, n *yamledit.Node, s *schema) {
	length := utf8.RuneCountInString(n.Value)
	switch {
	case len(s.Enum) > 0 && !slices.Contains(s.Enum, n.Value):
		c.fault(n, "%s is %q", path, n.Value).Fix("Write one of %s.", strings.Join(s.Enum, ", "))
	case s.Type == "string" && (length < s.MinLength || s.MaxLength > 0 && length > s.MaxLength):
		c.fault(n, "%s has %d characters", path, length).Fix("Write %d to %d characters.", s.MinLength, s.MaxLength)
	case s.Pattern != "" && !regexp.MustCompile(s.Pattern).MatchString(n.Value):
		c.fault(n, "%s is %q", path, n.Value).Fix("Write what matches %s.", s.Pattern)
	case s.Format == "date-time" && !isTime(n.Value):
		c.fault(n, "%s is %q, which is no time", path, n.Value).Fix("Write a time as in 2021-07-19T23:00:00Z.")
	case s.Type == "integer":
		if v, err := strconv.ParseInt(n.Value, 0, 64); err != nil || s.Minimum != nil && v < *s.Minimum {
			c.fault(n, "%s is %s, which is out of range", path, n.Value).Fix("Write a number that is in range.")
		}
	}
}

func isTime(s string) bool {
	_, err := time.Parse(time.RFC3339, s)
	return err == nil
}

// oldBooleans are booleans to the YAML reader of Kubernetes, though not to that of Graft.
var oldBooleans = []string{"y", "n", "yes", "no", "on", "off"}

func typeOf(n *yamledit.Node) string {
	switch {
	case n.Kind == yamledit.Mapping:
		return "object"
	case n.Kind == yamledit.Sequence:
		return "array"
	case n.Tag == "!!int":
		return "integer"
	case n.Tag == "!!float":
		return "number"
	case n.Tag == "!!bool", n.Style == yamledit.Plain && slices.Contains(oldBooleans, strings.ToLower(n.Value)):
		return "boolean"
	}
	return "string"
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
