package fbc

import (
	"encoding/json"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/failure"
)

// Catalog is the expanded template. Bundles named by image are only listed in Images, because the renderer has
// their documents; Bundles holds those that the template contains as documents.
type Catalog struct {
	Packages     []Package
	Channels     []Channel
	Deprecations []Deprecation
	Others       []Other
	Images       []string
	Bundles      []Bundle
	// Loaded reports that Bundles come from a catalog. opm sorts and migrates these when it loads them, but
	// leaves bundles in a template unchanged.
	Loaded bool
	// Notes tell people what the expansion leaves out.
	Notes []string
}

// Other is a document with a schema that OLM does not know, as compact JSON.
type Other struct {
	Schema, Package, Name string
	JSON                  []byte
}

// Facts holds what the upgrade graph needs to know about a bundle.
type Facts struct {
	Name    string
	Package string
	Image   string
	Version string
	Release string
	// Substitutes reports whether the bundle names a bundle that it substitutes.
	Substitutes bool
}

// Bundles looks up bundles by their image.
type Bundles interface {
	// Bundle returns the facts of a bundle.
	Bundle(image string) (Facts, error)
	// Showcase returns what a package shows of a bundle.
	Showcase(image string) (Showcase, error)
}

// Showcase holds the fields that a package takes from its head bundle.
type Showcase struct {
	Description string
	Icon        *Icon
}

// Parsed returns the parsed version.
func (f Facts) Parsed() (semver.Version, error) {
	v, err := semver.Parse(f.Version)
	if err != nil {
		return v, failure.New(failure.RenderFailed, "reading bundle %s: its version %q is not a semantic version: %w", f.Name, f.Version, err).
			Fix("Publish the bundle with a version such as 1.2.3 in its CSV.")
	}
	return v, nil
}

// FactsOf returns the facts of a rendered bundle.
func FactsOf(b Bundle) (Facts, error) {
	f := Facts{Name: b.Name, Image: b.Image, Package: b.Package}
	found := 0
	for _, p := range b.Properties {
		if p.Type != SchemaPackage {
			continue
		}
		var v struct {
			PackageName string `json:"packageName"`
			Version     string `json:"version"`
			Release     string `json:"release"`
		}
		if err := json.Unmarshal(p.Value, &v); err != nil {
			return f, failure.New(failure.RenderFailed, "reading bundle %s: its olm.package property: %w", b.Name, err)
		}
		f.Package, f.Version, f.Release = v.PackageName, v.Version, v.Release
		found++
	}
	if found != 1 {
		return f, failure.New(failure.RenderFailed, "reading bundle %s: it has %d olm.package properties, not one", b.Name, found)
	}
	f.Substitutes = substitutes(b)
	return f, nil
}

// Facts returns the facts of a rendered bundle. It reads the manifests only for a version with build metadata,
// because they say whether that metadata is the release of a substitute.
func (d *Doc) Facts() (Facts, error) {
	light, err := d.BundleLight()
	if err != nil {
		return Facts{}, err
	}
	return d.FactsOf(light)
}

// FactsOf is Facts for a document whose BundleLight is known.
func (d *Doc) FactsOf(light Bundle) (Facts, error) {
	f, err := FactsOf(light)
	if err != nil || !strings.Contains(f.Version, "+") {
		return f, err
	}
	b, err := d.Bundle()
	if err != nil {
		return Facts{}, err
	}
	return FactsOf(b)
}

func substitutes(b Bundle) bool {
	var meta struct{ Annotations map[string]string }
	for _, p := range b.Properties {
		switch p.Type {
		case "olm.csv.metadata":
			_ = json.Unmarshal(p.Value, &meta) // unreadable annotations count as none
		case "olm.bundle.object":
			if csv, ok := clusterServiceVersion(p); ok {
				meta.Annotations = csv.Metadata.Annotations
			}
		}
		if meta.Annotations["olm.substitutesFor"] != "" {
			return true
		}
	}
	return false
}

// OrderedRelease returns the release that orders bundles of the same version. Before bundles had a release field,
// substitutes carried it as build metadata.
func (f Facts) OrderedRelease() string {
	if _, build, ok := strings.Cut(f.Version, "+"); ok && f.Release == "" && f.Substitutes {
		return build
	}
	return f.Release
}

// csv holds the needed fields of a ClusterServiceVersion.
type csv struct {
	Kind     string
	Metadata struct{ Annotations map[string]string }
	Spec     struct {
		Description json.RawMessage
		Icon        json.RawMessage
	}
}

func clusterServiceVersion(p Property) (csv, bool) {
	var object struct{ Data []byte }
	var c csv
	ok := json.Unmarshal(p.Value, &object) == nil && json.Unmarshal(object.Data, &c) == nil && c.Kind == "ClusterServiceVersion"
	return c, ok
}

// Docs returns the documents that the catalog holds in full.
func (c *Catalog) Docs() ([]Doc, error) {
	var all []any
	for i := range c.Packages {
		all = append(all, c.Packages[i])
	}
	for i := range c.Channels {
		all = append(all, c.Channels[i])
	}
	for i := range c.Bundles {
		all = append(all, c.Bundles[i])
	}
	for i := range c.Deprecations {
		all = append(all, c.Deprecations[i])
	}
	var out []Doc
	for _, v := range all {
		d, err := docOf(v)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

// DocOf returns a bundle's document that contains only the facts.
func DocOf(f Facts) (Doc, error) {
	value, err := json.Marshal(struct {
		PackageName string `json:"packageName"`
		Version     string `json:"version"`
		Release     string `json:"release,omitempty"`
	}{f.Package, f.Version, f.Release})
	if err != nil {
		return Doc{}, failure.New(failure.Internal, "writing a bundle's facts: %w", err)
	}
	return docOf(Bundle{Schema: SchemaBundle, Name: f.Name, Package: f.Package, Image: f.Image,
		Properties: []Property{{Type: SchemaPackage, Value: value}}})
}

func docOf(v any) (Doc, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return Doc{}, failure.New(failure.RenderFailed, "reading a document of the template: %w", err)
	}
	docs, err := Read("the template", text)
	if err != nil {
		return Doc{}, err
	}
	return docs[0], nil
}

// Canonical reports whether the fast path understands the document because it has opm's layout. Exact compares
// the bytes as well.
func (d *Doc) Canonical() bool { return d.canonical }
