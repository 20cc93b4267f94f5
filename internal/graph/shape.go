package graph

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A shape is the type that a field has in opm's own structs. A value that does
// not fit makes opm reject the catalog, with whatever encoding/json says of it;
// here each is found, and named by its path.
type shape struct {
	kind   kind
	fields []shapeField // of an object; keys that are not listed may hold anything
	item   *shape       // of a list, or of a mapping's values
}

type shapeField struct {
	name string
	*shape
}

type kind int

const (
	anything kind = iota
	text
	flag
	whole32
	whole64
	octets
	object
	list
	mapping
)

var kindNames = map[kind]string{
	text: "a string", flag: "true or false", whole32: "a whole number of 32 bits", whole64: "a whole number",
	octets: "a string in base64", object: "a mapping", list: "a list", mapping: "a mapping",
}

var (
	aText   = &shape{kind: text}
	texts   = &shape{kind: list, item: aText}
	textMap = &shape{kind: mapping, item: aText}

	anyProperties = listOf(aText, "type")

	packageShape = &shape{kind: object, fields: append(textFields("schema", "name", "defaultChannel", "description"),
		shapeField{"icon", &shape{kind: object, fields: append(textFields("mediatype"), shapeField{"base64data", &shape{kind: octets}})}},
		shapeField{"properties", anyProperties})}

	channelShape = &shape{kind: object, fields: append(textFields("schema", "name", "package"),
		shapeField{"entries", &shape{kind: list, item: &shape{kind: object,
			fields: append(textFields("name", "replaces", "skipRange"), shapeField{"skips", texts})}}},
		shapeField{"properties", anyProperties})}

	// Of a bundle, the lists are looked at one by one.
	bundleShape        = &shape{kind: object, fields: textFields("schema", "name", "package", "image")}
	relatedImagesShape = listOf(aText, "name", "image")
	propertiesShape    = &shape{kind: list, item: &shape{kind: object}}

	deprecationShape = &shape{kind: object, fields: append(textFields("schema", "package"),
		shapeField{"entries", &shape{kind: list, item: &shape{kind: object, fields: append(textFields("message"),
			shapeField{"reference", &shape{kind: object, fields: textFields("schema", "name")}})}}})}
)

// propertyShapes has the properties whose values opm reads.
var propertyShapes = map[string]*shape{
	"olm.package":          {kind: object, fields: textFields("packageName", "version", "release")},
	"olm.package.required": {kind: object, fields: textFields("packageName", "versionRange")},
	"olm.gvk":              {kind: object, fields: textFields("group", "kind", "version")},
	"olm.gvk.required":     {kind: object, fields: textFields("group", "kind", "version")},
	"olm.bundle.object":    {kind: object, fields: []shapeField{{"data", &shape{kind: octets}}}},
	"olm.channel":          {kind: object, fields: append(textFields("channelName"), shapeField{"priority", &shape{kind: whole64}})},
	"olm.csv.metadata":     csvMetadataShape,
}

var csvMetadataShape = func() *shape {
	descriptors := &shape{kind: list, item: &shape{kind: object,
		fields: append(textFields("path", "displayName", "description"), shapeField{"x-descriptors", texts})}}
	described := func(more ...shapeField) *shape {
		each := &shape{kind: list, item: &shape{kind: object, fields: append(append(
			textFields("name", "version", "kind", "displayName", "description"), more...),
			shapeField{"resources", listOf(aText, "name", "kind", "version")},
			shapeField{"statusDescriptors", descriptors},
			shapeField{"specDescriptors", descriptors},
			shapeField{"actionDescriptors", descriptors})}}
		return &shape{kind: object, fields: []shapeField{{"owned", each}, {"required", each}}}
	}
	return &shape{kind: object, fields: append(
		textFields("description", "displayName", "maturity", "minKubeVersion"),
		shapeField{"annotations", textMap},
		shapeField{"labels", textMap},
		shapeField{"keywords", texts},
		shapeField{"apiServiceDefinitions", described(shapeField{"group", aText}, shapeField{"deploymentName", aText},
			shapeField{"containerPort", &shape{kind: whole32}})},
		shapeField{"crdDescriptions", described()},
		shapeField{"installModes", &shape{kind: list, item: &shape{kind: object,
			fields: append(textFields("type"), shapeField{"supported", &shape{kind: flag}})}}},
		shapeField{"links", listOf(aText, "name", "url")},
		shapeField{"maintainers", listOf(aText, "name", "email")},
		shapeField{"nativeAPIs", listOf(aText, "group", "version", "kind")},
		shapeField{"provider", &shape{kind: object, fields: textFields("name", "url")}})}
}()

func textFields(names ...string) []shapeField {
	all := make([]shapeField, len(names))
	for i, n := range names {
		all[i] = shapeField{n, aText}
	}
	return all
}

// listOf is a list of objects all of whose fields are alike.
func listOf(s *shape, names ...string) *shape {
	all := make([]shapeField, len(names))
	for i, n := range names {
		all[i] = shapeField{n, s}
	}
	return &shape{kind: list, item: &shape{kind: object, fields: all}}
}

// misfit is a value that does not fit: where it stands, as steps of keys and
// indexes, and what is wrong.
type misfit struct {
	path []any
	what string
}

func (m misfit) String() string { return pathString(m.path) + " " + m.what }

func pathString(path []any) string {
	var b strings.Builder
	for _, step := range path {
		if i, ok := step.(int); ok {
			fmt.Fprintf(&b, "[%d]", i)
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		fmt.Fprint(&b, step)
	}
	if b.Len() == 0 {
		return "the value"
	}
	return b.String()
}

// misfits compares a JSON value with a shape. null fits every shape, as it does
// for encoding/json.
func (s *shape) misfits(js []byte) []misfit {
	c := shapeCheck{}
	c.value(js, s)
	return c.found
}

type shapeCheck struct {
	path  []any
	found []misfit
}

func (c *shapeCheck) value(js []byte, s *shape) {
	if s.kind == anything || len(js) == 0 || js[0] == 'n' {
		return
	}
	switch s.kind {
	case object:
		if !c.is(js, '{', s) {
			return
		}
		for key, v := range fields(js) {
			if f := s.field(key); f != nil {
				c.under(key, v, f)
			}
		}
	case mapping:
		if !c.is(js, '{', s) {
			return
		}
		for key, v := range fields(js) {
			c.under(key, v, s.item)
		}
	case list:
		if !c.is(js, '[', s) {
			return
		}
		for i, v := range items(js) {
			c.under(i, v, s.item)
		}
	default:
		if what := s.scalar(js); what != "" {
			c.add(what)
		}
	}
}

func (c *shapeCheck) under(step any, js []byte, s *shape) {
	if s.kind == text && len(js) > 0 && js[0] == '"' {
		return // most values are strings that are strings
	}
	c.path = append(c.path, step)
	c.value(js, s)
	c.path = c.path[:len(c.path)-1]
}

func (c *shapeCheck) is(js []byte, first byte, s *shape) bool {
	if js[0] != first {
		c.add(s.wrong(js))
	}
	return js[0] == first
}

func (c *shapeCheck) add(what string) {
	c.found = append(c.found, misfit{append([]any(nil), c.path...), what})
}

// field finds a field as encoding/json does: by its exact name, else without
// regard to case.
func (s *shape) field(key string) *shape {
	for _, f := range s.fields {
		if f.name == key {
			return f.shape
		}
	}
	for _, f := range s.fields {
		if strings.EqualFold(f.name, key) {
			return f.shape
		}
	}
	return nil
}

// scalar tells what is wrong with a value that should be a scalar.
func (s *shape) scalar(js []byte) string {
	switch c := js[0]; {
	case s.kind == text && c == '"', s.kind == flag && (c == 't' || c == 'f'):
		return ""
	case (s.kind == whole32 || s.kind == whole64) && (c == '-' || c >= '0' && c <= '9'):
		if fitsWhole(js, s.kind) {
			return ""
		}
	case s.kind == octets && c == '"':
		if _, err := decodeOctets(js); err != nil {
			return "is not base64: " + err.Error()
		}
		return ""
	case s.kind == octets && c == '[':
		return octetList(js)
	}
	return s.wrong(js)
}

func (s *shape) wrong(js []byte) string {
	got := "a number"
	switch js[0] {
	case '"':
		got = "a string"
	case '{':
		got = "a mapping"
	case '[':
		got = "a list"
	case 't', 'f':
		got = "true or false"
	default:
		if s.kind == whole32 || s.kind == whole64 {
			got = string(js)
		}
	}
	return "must be " + kindNames[s.kind] + ", not " + got
}

// fitsWhole tells whether the number is whole after opm has read it as a
// floating-point number and written it again.
func fitsWhole(js []byte, k kind) bool {
	f, err := strconv.ParseFloat(string(js), 64)
	if err != nil || math.Abs(f) >= 1e21 {
		return false
	}
	bits := 64
	if k == whole32 {
		bits = 32
	}
	_, err = strconv.ParseInt(strconv.FormatFloat(f, 'f', -1, 64), 10, bits)
	return err == nil
}

func decodeOctets(js []byte) ([]byte, error) {
	if bytes.IndexByte(js, '\\') < 0 {
		js = js[1 : len(js)-1]
	} else {
		js = []byte(unquote(js))
	}
	out := make([]byte, base64.StdEncoding.DecodedLen(len(js)))
	n, err := base64.StdEncoding.Decode(out, js)
	return out[:n], err
}

// octetList tells what is wrong with bytes that are written as a list of
// numbers, which encoding/json takes as well.
func octetList(js []byte) string {
	for _, v := range items(js) {
		n, err := strconv.ParseFloat(string(v), 64)
		if string(v) != "null" && (err != nil || n != math.Trunc(n) || n < 0 || n > 255) {
			return "must be a string in base64"
		}
	}
	return ""
}
