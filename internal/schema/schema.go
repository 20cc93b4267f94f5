// Package schema checks YAML documents against JSON Schemas and reports the node of each fault. A library
// validates; callers word the messages.
package schema

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/olmgraft/graft/internal/yamledit"
)

// Schema is a compiled schema.
type Schema struct {
	// Kubernetes reads documents as API servers do: yes, no, on and off are booleans, dates are strings, and
	// every key is a string. The contents of merge keys are not checked.
	Kubernetes bool

	root     *yamledit.Node
	compiled *jsonschema.Schema
}

// Parse returns the top node of a schema that is embedded in the program, as YAML or JSON. Nodes preserve the
// order of keys.
func Parse(name string, src []byte) *yamledit.Node {
	file, err := yamledit.Open(name, src)
	if err != nil {
		panic(err) // a test parses every embedded schema
	}
	root, err := file.Docs[0].Root()
	if err != nil {
		panic(err)
	}
	return root
}

// Compile compiles a schema that is embedded in the program. adapt, if not nil, changes the schema before
// compilation. A schema with propertyNames must be reached through a $ref, because the library reports the place
// of a reference but not that of a property name.
func Compile(root *yamledit.Node, adapt func(doc map[string]any)) *Schema {
	const location = "mem:///schema.json"
	doc := new(reader).value(root, nil, "").(map[string]any)
	if adapt != nil {
		adapt(doc)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(location, doc); err != nil {
		panic(err) // a test compiles every embedded schema
	}
	return &Schema{root: root, compiled: c.MustCompile(location)}
}

// Fault is one keyword of the schema that the document breaks.
type Fault struct {
	// Node is the value at fault, or the key if the key is at fault.
	Node *yamledit.Node
	// Path leads to the value, or to the mapping that has the key: targets[0].create. It is empty at the top.
	Path string
	Key  bool
	// Kind is one of the library's kinds, or a Duplicate. A Required has exactly one key.
	Kind any
	// Schema is the part of the schema that contains the keyword.
	Schema *yamledit.Node
}

// Duplicate is the name of a key that occurs earlier in the same mapping.
type Duplicate string

// Check returns the faults of a document in order, at most one for a scalar.
func (s *Schema) Check(root *yamledit.Node) []Fault {
	r := reader{schema: s.root, kubernetes: s.Kubernetes}
	err := s.compiled.Validate(r.value(root, s.root, ""))
	c := checker{s.root, root, r.faults}
	var misfit *jsonschema.ValidationError
	if errors.As(err, &misfit) {
		c.collect(misfit, nil, nil)
	}
	slices.SortStableFunc(c.faults, func(a, b Fault) int { // a node comes before the nodes around it
		return cmp.Or(cmp.Compare(a.Node.End, b.Node.End), cmp.Compare(b.Node.Start, a.Node.Start))
	})
	return slices.CompactFunc(c.faults, func(a, b Fault) bool { return a.Node == b.Node && a.Node.Kind == yamledit.Scalar })
}

// Property returns the schema of a field of the mapping.
func (s *Schema) Property(name string) *Schema {
	return &Schema{s.Kubernetes, s.root.Get("properties").Get(name), s.compiled.Properties[name]}
}

// Accepts reports whether a value is valid, not counting fields that the schema does not have.
func (s *Schema) Accepts(value any) bool {
	var misfit *jsonschema.ValidationError
	return !errors.As(s.compiled.Validate(value), &misfit) || lacking(misfit)
}

func lacking(e *jsonschema.ValidationError) bool {
	_, own := e.ErrorKind.(*kind.AdditionalProperties)
	return own || len(e.Causes) > 0 && !slices.ContainsFunc(e.Causes, func(c *jsonschema.ValidationError) bool { return !lacking(c) })
}

type reader struct {
	schema     *yamledit.Node
	kubernetes bool
	faults     []Fault // of keys
}

// value returns a node as encoding/json would decode it, or null if JSON has no such value. The first of several
// equal keys counts. A repeated key is a fault if s, a part of the schema, describes the mapping.
func (r *reader) value(n, s *yamledit.Node, path string) any {
	n = n.Resolve()
	if ref := s.Get("$ref"); ref != nil {
		s = part(r.schema, ref.Value)
	}
	switch n.Kind {
	case yamledit.Mapping:
		all := map[string]any{}
		for key, value := range n.Fields() {
			key = key.Resolve()
			_, twice := all[key.Value]
			below := s.Get("properties").Get(key.Value)
			if below == nil {
				below = s.Get("additionalProperties")
			}
			switch {
			case r.kubernetes && key.Value == "<<" && key.Style == yamledit.Plain:
				continue
			case s != nil && !r.kubernetes && key.Tag != "!!str":
				r.faults = append(r.faults, Fault{Node: key, Path: path, Key: true, Kind: &kind.Type{Want: []string{"string"}}})
			case twice && s != nil:
				r.faults = append(r.faults, Fault{Node: key, Path: path, Key: true, Kind: Duplicate(key.Value)})
				continue
			}
			all[key.Value] = r.value(value, below, Join(path, key.Value))
		}
		return all
	case yamledit.Sequence:
		all := make([]any, len(n.Children))
		for i, item := range n.Children {
			all[i] = r.value(item, s.Get("items"), fmt.Sprintf("%s[%d]", path, i))
		}
		return all
	}
	return r.scalar(n)
}

// oldBooleans are booleans to the YAML reader of Kubernetes, but not to that of Graft.
var oldBooleans = []string{"y", "n", "yes", "no", "on", "off"}

// noInteger replaces numbers that int64 cannot hold. No schema depends on their value.
const noInteger = 0.5

func (r *reader) scalar(n *yamledit.Node) any {
	switch n.Tag {
	case "!!str":
		if r.kubernetes && n.Style == yamledit.Plain && slices.Contains(oldBooleans, strings.ToLower(n.Value)) {
			return true // no schema asks which of the two it is
		}
		return n.Value
	case "!!bool":
		return strings.EqualFold(n.Value, "true")
	case "!!int":
		if i, err := strconv.ParseInt(n.Value, 0, 64); err == nil {
			return json.Number(strconv.FormatInt(i, 10))
		}
		return noInteger
	case "!!float":
		return noInteger
	default:
		if r.kubernetes && !n.IsNull() {
			return n.Value
		}
	}
	return nil
}

// Join returns the path of a key in a mapping.
func Join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

type checker struct {
	schema, root *yamledit.Node
	faults       []Fault
}

// collect adds the faults in an error of the library. location is the place of the enclosing value; key is the
// key at fault there, or nil.
func (c *checker) collect(e *jsonschema.ValidationError, location []string, key *yamledit.Node) {
	names, isName := e.ErrorKind.(*kind.PropertyNames)
	if key == nil && !isName && len(e.InstanceLocation) > 0 {
		location = e.InstanceLocation
	}
	node, path := c.locate(location)
	switch k := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.PropertyNames:
		if isName {
			key = keyOf(node, names.Property)
		}
		for _, cause := range e.Causes {
			c.collect(cause, location, key)
		}
		return
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			c.add(e, Fault{Node: keyOf(node, name), Path: path, Key: true, Kind: k})
		}
		return
	case *kind.Required:
		for _, name := range k.Missing {
			c.add(e, Fault{Node: node, Path: path, Kind: &kind.Required{Missing: []string{name}}})
		}
		return
	case *kind.UniqueItems:
		node, path = c.locate(append(slices.Clone(location), strconv.Itoa(k.Duplicates[1])))
	}
	if key != nil {
		node = key
	}
	c.add(e, Fault{Node: node, Path: path, Key: key != nil, Kind: e.ErrorKind})
}

func (c *checker) add(e *jsonschema.ValidationError, f Fault) {
	f.Schema = part(c.schema, e.SchemaURL)
	c.faults = append(c.faults, f)
}

// part returns the part of a schema that a reference leads to.
func part(root *yamledit.Node, reference string) *yamledit.Node {
	_, pointer, _ := strings.Cut(reference, "#")
	for _, step := range strings.Split(pointer, "/")[1:] {
		step, _ = url.PathUnescape(step) // the library escaped it
		root = root.Get(strings.NewReplacer("~1", "/", "~0", "~").Replace(step))
	}
	return root
}

// locate returns the value at a location and its path.
func (c *checker) locate(location []string) (*yamledit.Node, string) {
	n, path := c.root.Resolve(), ""
	for _, step := range location {
		if n.Kind == yamledit.Sequence {
			i, _ := strconv.Atoi(step) // the library counted
			n, path = n.Children[i].Resolve(), path+"["+step+"]"
		} else {
			i := slices.Index(n.Keys(), step)
			n, path = n.Children[2*i+1].Resolve(), Join(path, step)
		}
	}
	return n, path
}

func keyOf(n *yamledit.Node, name string) *yamledit.Node {
	return n.Children[2*slices.Index(n.Keys(), name)].Resolve()
}
