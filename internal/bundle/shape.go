package bundle

import (
	_ "embed"
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/bundle/object"
)

// opm decodes CRDs, deployments and CSVs into the types of Kubernetes and rejects a
// bundle in which one value has the wrong type. shapes.txt is a table of those types,
// a line for each: its name, then field:type. A test beside the other comparisons
// with opm writes it. Checking a tree against it takes a small part of the time that
// decoding would.
//
//go:embed shapes.txt
var shapesText string

// The types that manifests are checked against.
const (
	shapeCSV        = "operators/v1alpha1.ClusterServiceVersion"
	shapeDeployment = "apps/v1.DeploymentSpec"
	shapeMeta       = "meta/v1.ObjectMeta"
	shapeCRD        = "apiextensions/v1.CustomResourceDefinition"
	shapeCRDBeta    = "apiextensions/v1beta1.CustomResourceDefinition"
)

// shape is a type: a record of fields, a list or a mapping of elem, or a leaf with a
// test of its own.
type shape struct {
	fields  map[string]*shape // of a record, by exact name
	folded  map[string]*shape // of a record, by lower case name
	elem    *shape
	kind    object.Kind // List or Map with elem, Map with fields
	want    string      // what a leaf must be, for a person
	accepts func(object.Value) bool
	choose  func(object.Value) *shape // where the type depends on the value
	notNull bool                      // null is not accepted, as it is by all others
}

var shapes = sync.OnceValue(func() map[string]*shape {
	all := map[string]*shape{}
	for name, leaf := range leaves {
		all[name] = leaf
	}
	lines := strings.Split(strings.TrimSpace(shapesText), "\n")
	for _, line := range lines {
		name, _, _ := strings.Cut(line, " ")
		all[name] = &shape{kind: object.Map, fields: map[string]*shape{}, folded: map[string]*shape{}}
	}
	for _, line := range lines {
		fields := strings.Fields(line)
		record := all[fields[0]]
		for _, field := range fields[1:] {
			name, typ, _ := strings.Cut(field, ":")
			s := shapeOf(typ, all)
			record.fields[name] = s
			record.folded[strings.ToLower(name)] = s
		}
	}
	return all
})

// shapeOf gives the shape of a type expression: a name, []T, {}T or choice|T.
func shapeOf(typ string, all map[string]*shape) *shape {
	if s, known := all[typ]; known {
		return s
	}
	s := &shape{}
	all[typ] = s
	if elem, ok := strings.CutPrefix(typ, "[]"); ok {
		s.kind, s.elem = object.List, shapeOf(elem, all)
		return s
	}
	if elem, ok := strings.CutPrefix(typ, "{}"); ok {
		s.kind, s.elem = object.Map, shapeOf(elem, all)
		return s
	}
	choice, elem, _ := strings.Cut(typ, "|")
	one, any := shapeOf(elem, all), leaves["any"]
	list := shapeOf("[]"+elem, all)
	if choice == "or-strings" {
		list = shapeOf("[]string", all)
	}
	s.choose = func(v object.Value) *shape {
		switch {
		case v.Kind == object.Map:
			return one
		case choice == "or-bool":
			return leaves["schema-or-bool"]
		case v.Kind == object.List:
			return list
		}
		return any
	}
	return s
}

// mismatch is a value of the wrong type.
type mismatch struct {
	path string
	got  object.Value
	want string
}

func (m *mismatch) Error() string {
	got := m.got.Kind.String()
	if m.got.Text != "" && len(m.got.Text) < 40 {
		got += " (" + m.got.Text + ")"
	}
	return fmt.Sprintf("%s is %s where %s is wanted", strings.TrimPrefix(m.path, "."), got, m.want)
}

// check reports the first value under v that opm could not decode into the type.
// anyCase says that fields are found in any letter case, as encoding/json does; the
// decoder that opm uses for CRDs wants them exact.
func check(v object.Value, typ string, anyCase bool) error {
	if m := shapes()[typ].check(v, anyCase); m != nil {
		return m
	}
	return nil
}

func (s *shape) check(v object.Value, anyCase bool) *mismatch {
	switch {
	case v.Kind == object.Null && !s.notNull:
		return nil
	case s.choose != nil:
		return s.choose(v).check(v, anyCase)
	case s.accepts != nil:
		if !s.accepts(v) {
			return &mismatch{got: v, want: s.want}
		}
		return nil
	case v.Kind != s.kind:
		return &mismatch{got: v, want: s.kind.String()}
	}
	for i, item := range v.Items {
		elem := s.elem
		if elem == nil {
			if elem = s.field(item.Key, anyCase); elem == nil {
				continue
			}
		}
		if m := elem.check(item.Value, anyCase); m != nil {
			if s.kind == object.List {
				m.path = fmt.Sprintf("[%d]%s", i, m.path)
			} else {
				m.path = "." + item.Key + m.path
			}
			return m
		}
	}
	return nil
}

func (s *shape) field(key string, anyCase bool) *shape {
	if f := s.fields[key]; f != nil || !anyCase {
		return f
	}
	return s.folded[strings.ToLower(key)]
}

// leaves are the types that are no records.
var leaves = map[string]*shape{
	"any":    {accepts: func(object.Value) bool { return true }},
	"string": {want: "a string", accepts: isString},
	"bool":   {want: "a boolean", accepts: func(v object.Value) bool { return v.Kind == object.Bool }},
	"int32":  {want: "a whole number of 32 bits", accepts: func(v object.Value) bool { return isWhole(v, 32) }},
	"int64":  {want: "a whole number of 64 bits", accepts: func(v object.Value) bool { return isWhole(v, 64) }},
	"float64": {want: "a number", accepts: func(v object.Value) bool {
		return v.Kind == object.Int || v.Kind == object.Float
	}},
	"bytes": {want: "a base64 string", accepts: isBytes},
	"time": {want: "a time such as 2006-01-02T15:04:05Z", accepts: func(v object.Value) bool {
		_, err := time.Parse(time.RFC3339, v.Text)
		return isString(v) && err == nil
	}},
	"quantity":       {want: "a quantity such as 500m or 1Gi", accepts: isQuantity},
	"int-or-string":  {want: "a string or a whole number of 32 bits", accepts: func(v object.Value) bool { return isString(v) || isWhole(v, 32) }},
	"schema-or-bool": {want: "a boolean or a schema", accepts: func(v object.Value) bool { return v.Kind == object.Bool }},
	"version": {want: "a semantic version", notNull: true, accepts: func(v object.Value) bool {
		_, err := semver.ParseTolerant(v.Text)
		return isString(v) && err == nil
	}},
	"release": {want: "a release such as 1 or rc.2", notNull: true, accepts: isRelease},
}

func isString(v object.Value) bool { return v.Kind == object.String }

func isWhole(v object.Value, bits int) bool {
	_, err := strconv.ParseInt(v.Text, 10, bits)
	return err == nil && (v.Kind == object.Int || v.Kind == object.Float)
}

func isBytes(v object.Value) bool {
	if v.Kind == object.List {
		return !slices.ContainsFunc(v.Items, func(m object.Member) bool {
			_, err := strconv.ParseUint(m.Value.Text, 10, 8)
			return m.Value.Kind != object.Null && (isString(m.Value) || err != nil)
		})
	}
	_, err := base64.StdEncoding.DecodeString(v.Text)
	return isString(v) && err == nil
}

var quantity = regexp.MustCompile(`^[+-]?[0-9]*(\.[0-9]*)?([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,18})?$`)

func isQuantity(v object.Value) bool {
	switch v.Kind {
	case object.String, object.Int, object.Float:
		text := strings.TrimSpace(v.Text)
		return text != "" && quantity.MatchString(text)
	}
	return false
}

func isRelease(v object.Value) bool {
	if !isString(v) {
		return false
	}
	for _, segment := range strings.Split(v.Text, ".") {
		if _, err := semver.NewPRVersion(segment); err != nil {
			return false
		}
	}
	return true
}
