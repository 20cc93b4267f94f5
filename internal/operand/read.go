package operand

import (
	"encoding/json"
	"slices"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
)

// ReadEntry reads an entry. A set of related images lists its images under relatedImages, an operand under
// images.
func ReadEntry(d *fbc.Doc) (Entry, error) {
	var doc struct {
		Package       string             `json:"package"`
		Name          string             `json:"name"`
		Version       string             `json:"version"`
		RelatedImages []fbc.RelatedImage `json:"relatedImages"`
		Images        []fbc.RelatedImage `json:"images"`
	}
	if err := d.Decode(&doc); err != nil {
		return Entry{}, err
	}
	e := Entry{Pos: Pos{d.File, d.Line}, Schema: d.Schema, Package: doc.Package, Name: doc.Name, Images: doc.Images}
	list := "images"
	if e.Schema == SchemaRelatedImages {
		e.Images, list = doc.RelatedImages, "relatedImages"
	}
	v, err := semver.Parse(doc.Version)
	if e.Version = v; err != nil {
		return e, malformed(d, "its version %q is not a semantic version: %w", doc.Version, err).Fix("Write a version such as 1.2.3.")
	}
	if e.Name == "" {
		return e, malformed(d, "it has no name")
	}
	if len(e.Images) == 0 {
		return e, malformed(d, "it has no %s", list).Fix("List the images under %s, each with name and image.", list)
	}
	seen := map[string]bool{}
	for _, i := range e.Images {
		switch _, ok := parseReference(i.Image); {
		case i.Name == "":
			return e, malformed(d, "the image %q has no name", i.Image)
		case seen[i.Name]:
			return e, malformed(d, "two of its images are named %s", i.Name)
		case !ok:
			return e, malformed(d, "the image %s is not an image reference: %q", i.Name, i.Image)
		}
		seen[i.Name] = true
	}
	return e, nil
}

func malformed(d *fbc.Doc, format string, args ...any) *failure.Error {
	name := d.Schema
	if d.Name != "" {
		name += " " + d.Name
	}
	return failure.New(failure.TemplateMalformed, "reading "+name+": "+format, args...).At(d.File, d.Line, 1).
		Fix("Correct the document at the line shown.")
}

// ParseClaim reads a property's value. ok is false for properties of other types.
func ParseClaim(typ string, value []byte) (c Claim, ok bool, err error) {
	if typ != TypeRelatedImageBundle && typ != TypeSupported && typ != TypeRequired {
		return c, false, nil
	}
	var v struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	if err := json.Unmarshal(value, &v); err != nil {
		return c, true, failure.New(failure.TemplateMalformed, "property %s: it must have name and version, both texts", typ)
	}
	if v.Name == "" {
		return c, true, failure.New(failure.TemplateMalformed, "property %s: it has no name", typ)
	}
	r, err := ParseRange(v.Version)
	if err != nil {
		return c, true, failure.New(failure.TemplateMalformed, "property %s of %s: %q is not a range of versions: %w", typ, v.Name, v.Version, err)
	}
	return Claim{typ, v.Name, r}, true, nil
}

// readBundle reads a bundle. It uses the name of a property without a type, as in the design document. own holds
// the entries of its graphs.
func readBundle(d *fbc.Doc) (b Bundle, own []Entry, err error) {
	b = Bundle{Pos: Pos{d.File, d.Line}, Package: d.Package, Name: d.Name, Image: d.Image}
	light, err := d.BundleLight()
	if err != nil {
		return b, nil, err
	}
	b.Related = light.RelatedImages
	properties := light.Properties
	if slices.ContainsFunc(properties, func(p fbc.Property) bool { return p.Type == "" }) {
		if properties, err = namedProperties(d); err != nil {
			return b, nil, err
		}
	}
	for _, p := range properties {
		if p.Type == fbc.SchemaPackage {
			var v struct {
				Version string `json:"version"`
			}
			_ = json.Unmarshal(p.Value, &v) // verify reports a fault here; a bundle without a version is the lowest
			b.Version, _ = semver.Parse(v.Version)
		}
		c, ok, err := ParseClaim(p.Type, p.Value)
		if err != nil {
			return b, nil, malformed(d, "%w", err).Fix("Write the value as {name: NAME, version: RANGE}, with a range such as >=1.0.0 <2.0.0.")
		}
		if ok {
			b.Claims = append(b.Claims, c)
		}
		g, ok, err := ParseGraph(p.Type, p.Value)
		if err != nil {
			return b, nil, malformed(d, "%w", err).Fix("Write what graft graph -o property prints.")
		}
		if ok {
			b.Claims, own = append(b.Claims, g.Claim()), append(own, g.Entries(b.Pos, b.Package, b.Name)...)
		}
	}
	return b, own, nil
}

func namedProperties(d *fbc.Doc) ([]fbc.Property, error) {
	var doc struct {
		Properties []struct {
			Type  string          `json:"type"`
			Name  string          `json:"name"`
			Value json.RawMessage `json:"value"`
		} `json:"properties"`
	}
	if err := d.Decode(&doc); err != nil {
		return nil, err
	}
	out := make([]fbc.Property, len(doc.Properties))
	for i, p := range doc.Properties {
		if out[i] = (fbc.Property{Type: p.Type, Value: p.Value}); p.Type == "" {
			out[i].Type = p.Name
		}
	}
	return out, nil
}
