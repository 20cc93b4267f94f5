package catalogsource

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/yamledit"
)

// Answer is one line of JSON from graft-controller --answer: first the cluster's version, then a value for each
// Lookup that it reads.
type Answer struct {
	Version string `json:"version,omitempty"`
	Value   string `json:"value,omitempty"`
	// Error is the reason for a missing value. An answer with a failure code is the last one.
	Error string       `json:"error,omitempty"`
	Code  failure.Code `json:"code,omitempty"`
}

// Manifests are objects read from files, in place of a cluster's objects.
type Manifests struct {
	objects []map[string]any
}

// Add reads the objects of a file: YAML or JSON documents, and the lists in them.
func (m *Manifests) Add(name string, src []byte) error {
	file, err := yamledit.Open(name, src)
	if err != nil {
		return unreadable(err)
	}
	for _, d := range file.Docs {
		root, err := d.Root()
		if err != nil {
			return unreadable(err)
		}
		if root == nil {
			continue
		}
		object, ok := plainOf(root).(map[string]any)
		if !ok {
			return root.Failure(failure.Usage, "reading objects: the document is not an object").Fix("Give files with objects as kubectl get -o yaml prints them.")
		}
		m.add(object)
	}
	return nil
}

// unreadable converts a parse failure to a usage failure.
func unreadable(err error) error {
	f := failure.Of(err)
	return failure.New(failure.Usage, "reading objects: %s", f.Message).At(f.File, f.Line, f.Col).Fix("Give files with objects as kubectl get -o yaml prints them.")
}

func (m *Manifests) add(object map[string]any) {
	items, ok := object["items"].([]any)
	if kind, _ := object["kind"].(string); !ok || !strings.HasSuffix(kind, "List") {
		m.objects = append(m.objects, object)
		return
	}
	for _, one := range items {
		if o, ok := one.(map[string]any); ok {
			m.add(o)
		}
	}
}

// Object returns the only object that a lookup matches.
func (m *Manifests) Object(l Lookup) (any, error) {
	var found []any
	for _, o := range m.objects {
		meta, _ := o["metadata"].(map[string]any)
		name, _ := meta["name"].(string)
		namespace, _ := meta["namespace"].(string)
		if o["apiVersion"] == l.Group+"/"+l.Version && o["kind"] == l.Kind && namespace == l.Namespace && (l.Name == "" || name == l.Name) {
			found = append(found, o)
		}
	}
	return OnlyObject(l, found)
}

// OnlyObject returns the only object found, or an error.
func OnlyObject[T any](l Lookup, found []T) (object T, err error) {
	switch len(found) {
	case 0:
		return object, fmt.Errorf("there is no %s", l)
	case 1:
		return found[0], nil
	}
	return object, fmt.Errorf("there are %d objects for %s", len(found), l)
}

// String describes the object of the lookup, such as Sample.v1.foo.example.com ns/one.
func (l Lookup) String() string {
	s := l.Kind + "." + l.Version + "." + l.Group
	switch {
	case l.Namespace != "" && l.Name != "":
		return s + " " + l.Namespace + "/" + l.Name
	case l.Namespace != "":
		return s + " in " + l.Namespace
	case l.Name != "":
		return s + " " + l.Name
	}
	return s
}

// plainOf converts a node as encoding/json would decode it, with whole numbers as int64.
func plainOf(n *yamledit.Node) any {
	n = n.Resolve()
	switch {
	case n.IsNull():
		return nil
	case n.Kind == yamledit.Sequence:
		list := []any{}
		for _, one := range n.Children {
			list = append(list, plainOf(one))
		}
		return list
	case n.Kind == yamledit.Mapping:
		return mapOf(n)
	}
	return scalarOf(n)
}

func mapOf(n *yamledit.Node) map[string]any {
	m := map[string]any{}
	for key, value := range n.Fields() {
		if key = key.Resolve(); key.Kind == yamledit.Scalar {
			m[key.Value] = plainOf(value)
		}
	}
	return m
}

func scalarOf(n *yamledit.Node) any {
	switch n.Tag {
	case "!!bool":
		return strings.EqualFold(n.Value, "true")
	case "!!int":
		if i, err := strconv.ParseInt(n.Value, 0, 64); err == nil {
			return i
		}
	case "!!float":
		if f, err := strconv.ParseFloat(n.Value, 64); err == nil {
			return f
		}
	}
	return n.Value
}
