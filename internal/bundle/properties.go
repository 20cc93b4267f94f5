package bundle

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"sort"

	"github.com/olmgraft/graft/internal/budget"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/yamlread"
)

// The types of properties that have a meaning for opm.
const (
	typePackage         = "olm.package"
	typePackageRequired = "olm.package.required"
	typeGVK             = "olm.gvk"
	typeGVKRequired     = "olm.gvk.required"
	typeBundleObject    = "olm.bundle.object"
	typeCSVMetadata     = "olm.csv.metadata"

	annotationProperties = "olm.properties"
)

// gvk is the value of olm.gvk and olm.gvk.required.
type gvk struct {
	Group   string `json:"group"`
	Kind    string `json:"kind"`
	Version string `json:"version"`
}

// packageProperty is the value of olm.package.
type packageProperty struct {
	PackageName string `json:"packageName"`
	Version     string `json:"version"`
	Release     string `json:"release,omitzero"`
}

// packageRequired is the value of olm.package.required.
type packageRequired struct {
	PackageName  string `json:"packageName"`
	VersionRange string `json:"versionRange"`
}

// collectProperties builds the properties in opm's order. They come from metadata/properties.yaml, the CSV's
// annotation olm.properties, the APIs that the bundle provides and requires, and metadata/dependencies.yaml.
func (b *Bundle) collectProperties(context.Context) error {
	if yamlread.Marks([]byte(b.csv.annotations[annotationProperties])) > budget.BundleValues {
		return b.tooMuch(b.csv.file, "the annotation %s has more than %d values", annotationProperties, budget.BundleValues)
	}
	c := collection{provided: map[gvk]bool{}, required: map[gvk]bool{}}
	if err := c.addProvided(b.declared()); err != nil {
		return b.fail("", "%w", err)
	}
	if err := c.addRequired(b.dependencies); err != nil {
		return b.fail("", "%w", err)
	}
	for a := range b.provided {
		c.provided[gvk{a.group, a.kind, a.version}] = true
	}
	for _, d := range b.csv.requiredCRDs {
		a, err := d.crd()
		if err != nil {
			return b.fail(b.csv.file, "reading spec.customresourcedefinitions.required: %w", err)
		}
		c.required[gvk{a.group, a.kind, a.version}] = true
	}
	for _, d := range b.csv.requiredAPIs {
		c.required[gvk{d.Group, d.Kind, d.Version}] = true
	}
	b.properties = c.sorted()
	return nil
}

// declared returns the declared properties and the one of the package. The order matters, because the last
// olm.package property counts.
func (b *Bundle) declared() []fbc.Property {
	own := build(typePackage, packageProperty{b.pkg, b.csv.version, b.csv.release}, true)
	all := slices.Concat(b.properties, []fbc.Property{own})
	if text, ok := b.csv.annotations[annotationProperties]; ok {
		var annotated []fbc.Property
		if err := json.Unmarshal([]byte(text), &annotated); err != nil {
			b.note(b.csv.file, "opm silently ignores the fault in the annotation %s: %w", annotationProperties, err)
		}
		all = append(all, annotated...)
	}
	return unique(all)
}

// unique drops properties that repeat an earlier one with the same text.
func unique(in []fbc.Property) []fbc.Property {
	seen := map[string]bool{}
	var out []fbc.Property
	for _, p := range in {
		key := "type: " + p.Type + ", value: " + string(p.Value)
		if !seen[key] {
			seen[key] = true
			out = append(out, p)
		}
	}
	return out
}

// collection gathers properties by their meaning.
type collection struct {
	pkg                packageProperty
	provided, required map[gvk]bool
	others             []fbc.Property
}

func (c *collection) addProvided(props []fbc.Property) error {
	for _, p := range props {
		switch p.Type {
		case typeGVK:
			if err := addGVK(c.provided, p); err != nil {
				return err
			}
		case typePackage:
			c.pkg = packageProperty{}
			if err := json.Unmarshal(p.Value, &c.pkg); err != nil {
				return fmt.Errorf("the property %s is not valid: %w", p.Type, err)
			}
		default:
			c.others = append(c.others, p)
		}
	}
	return nil
}

func (c *collection) addRequired(dependencies []fbc.Property) error {
	for _, p := range dependencies {
		switch p.Type {
		case typeGVK:
			if err := addGVK(c.required, p); err != nil {
				return err
			}
		case typePackage:
			var v packageProperty
			if err := json.Unmarshal(p.Value, &v); err != nil {
				return fmt.Errorf("the dependency %s is not valid: %w", p.Type, err)
			}
			c.others = append(c.others, build(typePackageRequired, packageRequired{v.PackageName, v.Version}, false))
		default:
			c.others = append(c.others, p)
		}
	}
	return nil
}

func addGVK(to map[gvk]bool, p fbc.Property) error {
	var v gvk
	if err := json.Unmarshal(p.Value, &v); err != nil {
		return fmt.Errorf("the property or dependency %s is not valid: %w", p.Type, err)
	}
	to[v] = true
	return nil
}

// sorted returns all properties sorted by type and by the text of their value.
func (c *collection) sorted() []fbc.Property {
	props := slices.Concat(c.others, []fbc.Property{build(typePackage, c.pkg, false)})
	for v := range c.provided {
		props = append(props, build(typeGVK, v, false))
	}
	for v := range c.required {
		props = append(props, build(typeGVKRequired, v, false))
	}
	sortProperties(props)
	return props
}

func sortProperties(props []fbc.Property) {
	sort.Slice(props, func(i, j int) bool {
		if props[i].Type != props[j].Type {
			return props[i].Type < props[j].Type
		}
		return bytes.Compare(props[i].Value, props[j].Value) < 0
	})
}

// build encodes a property's value, with or without HTML escapes.
func build(typ string, value any, html bool) fbc.Property {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(html)
	if err := enc.Encode(value); err != nil { // the values are strings or were decoded from JSON
		panic(err)
	}
	return fbc.Property{Type: typ, Value: bytes.TrimSuffix(out.Bytes(), []byte("\n"))}
}

// splitProperties separates the properties that contain manifests, which opm puts last, from the others. The
// author may have written some of the former.
func splitProperties(all []fbc.Property) (others, held []fbc.Property) {
	for _, p := range all {
		if p.Type == typeBundleObject || p.Type == typeCSVMetadata {
			held = append(held, p)
		} else {
			others = append(others, p)
		}
	}
	return others, held
}

// bundleObjects adds every manifest to the objects that the author wrote as properties.
func (b *Bundle) bundleObjects(written []fbc.Property) []fbc.Property {
	props := written
	var text []byte
	for _, m := range b.manifests {
		text = slices.Grow(text[:0], len(b.image.Files[m.file]))
		text = m.object.AppendJSON(text)
		props = append(props, fbc.Property{Type: typeBundleObject, Value: dataOf(text)})
	}
	sortProperties(props)
	return props
}

// dataOf returns the value of an olm.bundle.object.
func dataOf(text []byte) json.RawMessage {
	const before, after = `{"data":"`, `"}`
	value := make([]byte, 0, len(before)+base64.StdEncoding.EncodedLen(len(text))+len(after))
	value = append(value, before...)
	value = base64.StdEncoding.AppendEncode(value, text)
	return append(value, after...)
}
