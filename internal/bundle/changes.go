package bundle

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/reference"
)

// Change is one difference between two bundles. Before or After is empty if that bundle lacks the value, or if
// the value is too long to show.
type Change struct {
	Part          string // such as PartImage
	Name          string // within the part
	Before, After string
	How           How
}

// How is the kind of a difference.
type How string

// The kinds of differences.
const (
	Added How = "added"
	Gone  How = "gone"
	Moved How = "changed"
)

// The parts of a bundle, in the order of Changes.
const (
	PartField             = "field"
	PartAnnotation        = "annotation"
	PartImage             = "related image"
	PartOwned             = "owned API"
	PartRequired          = "required API"
	PartProperty          = "property"
	PartClusterPermission = "cluster permission"
	PartPermission        = "permission"
	PartContainer         = "container image"
	PartDeployment        = "deployment"
	PartWebhook           = "webhook"
	PartManifest          = "manifest"
)

var parts = []string{
	PartField, PartAnnotation, PartImage, PartOwned, PartRequired, PartProperty,
	PartClusterPermission, PartPermission, PartContainer, PartDeployment, PartWebhook, PartManifest,
}

// Changes returns what differs between two builds of a bundle, as catalogs contain them. If one of them has no
// manifests, it compares both without them: all is false, and changes says nothing about permissions,
// deployments, webhooks and manifests.
func Changes(before, after fbc.Bundle) (changes []Change, all bool, err error) {
	_, heldBefore := splitProperties(before.Properties)
	_, heldAfter := splitProperties(after.Properties)
	all = hasManifests(heldBefore) && hasManifests(heldAfter)
	if !all {
		if before, err = Migrate(before); err != nil {
			return nil, false, err
		}
		if after, err = Migrate(after); err != nil {
			return nil, false, err
		}
	}
	old, err := contentsOf(before)
	if err != nil {
		return nil, all, err
	}
	now, err := contentsOf(after)
	if err != nil {
		return nil, all, err
	}
	for _, part := range parts {
		changes = append(changes, compare(part, old[part], now[part])...)
	}
	return changes, all, nil
}

func hasManifests(held []fbc.Property) bool {
	return slices.ContainsFunc(held, func(p fbc.Property) bool { return p.Type == typeBundleObject })
}

func compare(part string, before, after map[string]value) (changes []Change) {
	names := maps.Clone(before)
	if names == nil {
		names = map[string]value{}
	}
	maps.Copy(names, after)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		old, stood := before[name]
		now, stands := after[name]
		switch {
		case !stood:
			changes = append(changes, Change{Part: part, Name: name, After: now.text, How: Added})
		case !stands:
			changes = append(changes, Change{Part: part, Name: name, Before: old.text, How: Gone})
		case old != now:
			changes = append(changes, Change{Part: part, Name: name, Before: old.text, After: now.text, How: Moved})
		}
	}
	return changes
}

// contents holds a bundle's values by part and name.
type contents map[string]map[string]value

// value is compared by both fields and shown as its text.
type value struct{ text, hidden string }

func (c contents) put(part, name, text string) { c.set(part, name, value{text: text}) }

// hide adds a value that is too long to show.
func (c contents) hide(part, name string, content []byte) {
	c.set(part, name, value{hidden: string(content)})
}

// set adds a value. Several values under one name are joined, independent of their order.
func (c contents) set(part, name string, v value) {
	if c[part] == nil {
		c[part] = map[string]value{}
	}
	if old, twice := c[part][name]; twice && old != v {
		v = value{joined(old.text, v.text, ", "), joined(old.hidden, v.hidden, "\n")}
	}
	c[part][name] = v
}

func joined(a, b, by string) string {
	if a == "" || b == "" {
		return a + b
	}
	all := append(strings.Split(a, by), b)
	slices.Sort(all)
	return strings.Join(slices.Compact(all), by)
}

func contentsOf(doc fbc.Bundle) (contents, error) {
	c := contents{}
	c.images(doc)
	for _, p := range doc.Properties {
		var err error
		switch p.Type {
		case typeBundleObject:
			err = c.manifest(p.Value, doc.RelatedImages)
		case typeCSVMetadata:
			err = c.description(p.Value)
		case typePackage:
			var v packageProperty
			if err = json.Unmarshal(p.Value, &v); err == nil {
				c.field("version", v.Version)
				c.field("release", v.Release)
			}
		case typeGVK, typeGVKRequired: // the CSV has more details about these
		default:
			c.put(PartProperty, p.Type, string(p.Value))
		}
		if err != nil {
			return nil, fmt.Errorf("the property %s of %s: %w", p.Type, doc.Name, err)
		}
	}
	return c, nil
}

// images adds the related images by their name, or by their repository if they have none. It skips the bundle's
// own image, which differs in every build.
func (c contents) images(doc fbc.Bundle) {
	for _, i := range doc.RelatedImages {
		if i.Image == doc.Image {
			continue
		}
		repository, _, _ := reference.Cut(i.Image)
		c.put(PartImage, cmp.Or(i.Name, repository), i.Image)
	}
}

func (c contents) field(name, text string) {
	if text != "" {
		c.put(PartField, name, text)
	}
}

// told holds the fields that both olm.csv.metadata and the CSV contain.
type told struct {
	DisplayName, Description, MinKubeVersion, Maturity string
	InstallModes                                       []installMode
	APIServiceDefinitions                              described[definition]
}

func (c contents) description(text []byte) error {
	var d struct {
		Annotations map[string]string
		told
		CRDDescriptions described[definition]
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return err
	}
	c.told(d.told, d.CRDDescriptions, d.Annotations)
	return nil
}

// quiet lists annotations that do not concern users or that change with every build.
var quiet = []string{"createdAt", "operators.operatorframework.io/builder", "operators.operatorframework.io/project_layout"}

func (c contents) told(t told, crds described[definition], annotations map[string]string) {
	c.field("displayName", t.DisplayName)
	c.field("minKubeVersion", t.MinKubeVersion)
	c.field("maturity", t.Maturity)
	if t.Description != "" {
		c.hide(PartField, "description", []byte(t.Description))
	}
	for _, m := range t.InstallModes {
		c.put(PartField, "installModes "+m.Type, fmt.Sprint(m.Supported))
	}
	for _, d := range slices.Concat(crds.Owned, t.APIServiceDefinitions.Owned) {
		c.put(PartOwned, d.inWords(), d.Version)
	}
	for _, d := range slices.Concat(crds.Required, t.APIServiceDefinitions.Required) {
		c.put(PartRequired, d.inWords(), d.Version)
	}
	for name, text := range annotations {
		switch {
		case slices.Contains(quiet, name):
		case name == "alm-examples" || name == "description":
			c.hide(PartAnnotation, name, []byte(text))
		default:
			c.put(PartAnnotation, name, text)
		}
	}
}

func (d definition) inWords() string {
	return strings.TrimSpace(d.Kind + " " + cmp.Or(d.Name, d.Group))
}
