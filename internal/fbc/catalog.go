package fbc

import (
	"encoding/json"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/failure"
)

// Catalog is what a template expands to. Bundles by image are left to the renderer,
// which has their documents; a template that holds rendered ones gives them whole.
type Catalog struct {
	Packages     []Package
	Channels     []Channel
	Deprecations []Deprecation
	Others       []Other
	Images       []string
	Bundles      []Bundle
	// Loaded says that Bundles are those of a catalog, which opm puts in order and
	// migrates as it loads it; those in a template it leaves as they are.
	Loaded bool
	// Notes are what its maker says to people, of what it leaves out.
	Notes []string
}

// Other is a document of a schema that OLM does not know, as compact JSON.
type Other struct {
	Schema, Package, Name string
	JSON                  []byte
}

// Facts are what the upgrade graph needs to know of a bundle.
type Facts struct {
	Name    string
	Package string
	Image   string
	Version string
	Release string
	// Substitutes says that the bundle names one that it substitutes.
	Substitutes bool
}

// Bundles gives what is known of bundles by their image.
type Bundles interface {
	// Bundle gives the facts of a bundle.
	Bundle(image string) (Facts, error)
	// Showcase gives what a package shows of a bundle.
	Showcase(image string) (Showcase, error)
}

// Showcase is what a package takes from the bundle at its head.
type Showcase struct {
	Description string
	Icon        *Icon
}

// Parsed is the version of the facts.
func (f Facts) Parsed() (semver.Version, error) {
	v, err := semver.Parse(f.Version)
	if err != nil {
		return v, failure.New(failure.RenderFailed, "reading bundle %s: its version %q is no semantic version: %w", f.Name, f.Version, err).
			Fix("Publish the bundle with a version such as 1.2.3 in its CSV.")
	}
	return v, nil
}

// FactsOf reads from a rendered bundle what the graph needs.
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

// Facts are those of a rendered bundle, whose manifests are read only where they count: they
// tell whether build metadata is the release of a substitute.
func (d *Doc) Facts() (Facts, error) {
	light, err := d.BundleLight()
	if err != nil {
		return Facts{}, err
	}
	return d.FactsOf(light)
}

// FactsOf is Facts for one whose BundleLight is at hand.
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
			_ = json.Unmarshal(p.Value, &meta) // without annotations there are none
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

// OrderedRelease is the release by which bundles of one version are ordered. Before releases
// had a field of their own, those who substitute a bundle wrote them as build metadata.
func (f Facts) OrderedRelease() string {
	if _, build, ok := strings.Cut(f.Version, "+"); ok && f.Release == "" && f.Substitutes {
		return build
	}
	return f.Release
}

// csv is what is read of a ClusterServiceVersion.
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

// Docs are the documents of the catalog that it has whole.
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

// DocOf is a bundle's document with no more than the facts.
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

// Canonical reports whether the fast path understands the document: it is laid out as
// opm lays out documents. Exact tells whether it is so to the byte.
func (d *Doc) Canonical() bool { return d.canonical }
