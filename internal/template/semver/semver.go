// Package semver is the kind of template that lists bundle images by archetype (Candidate, Fast, Stable) and
// computes channels and edges from their versions.
package semver

import (
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/operand"
	"github.com/olmgraft/graft/internal/template/documents"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/yamledit"
)

// Schema is the template's schema.
const Schema = "olm.semver"

// Archetypes are in order of stability, in the default spelling.
var Archetypes = []string{"Candidate", "Fast", "Stable"}

var rootKeys = append([]string{"schema", "generateMajorChannels", "generateMinorChannels", "defaultChannelTypePreference"}, Archetypes...)

// Kind implements kind.Kind.
type Kind struct{}

// Traits implements kind.Kind.
func (Kind) Traits() kind.Traits {
	return kind.Traits{Name: "semver", Schema: Schema, Archetypes: Archetypes}
}

// Lists implements kind.HasLists.
func (Kind) Lists(root *yamledit.Node) operand.Lists {
	var l operand.Lists
	for _, a := range Archetypes {
		l.Images = append(l.Images, operand.List{Field: strings.ToLower(a), Node: root.FoldValue(a).FoldValue("bundles")})
	}
	return l
}

// An archetype is one of the lists of the template.
type archetype struct {
	name    string // as the file writes it
	key     *yamledit.Node
	value   *yamledit.Node
	bundles *yamledit.Node
	images  []image
}

type image struct {
	ref   string
	node  *yamledit.Node // the scalar
	entry *yamledit.Node
}

func archetypes(root *yamledit.Node) []archetype {
	var out []archetype
	for i := 0; i+1 < len(root.Children); i += 2 {
		key := root.Children[i]
		if !isArchetype(key.Value) {
			continue
		}
		a := archetype{name: key.Value, key: key, value: root.Children[i+1]}
		a.bundles = a.value.FoldValue("bundles")
		for _, item := range a.bundles.Items() {
			v := item.FoldValue("image")
			a.images = append(a.images, image{ref: v.Text(), node: v, entry: item})
		}
		out = append(out, a)
	}
	return out
}

func isArchetype(name string) bool { return hasFold(Archetypes, name) }

// hasFold reports whether a name is in the list, in any case.
func hasFold(list []string, name string) bool {
	return slices.ContainsFunc(list, func(n string) bool { return strings.EqualFold(n, name) })
}

// Describe implements kind.Kind.
func (Kind) Describe(s *kind.Source) kind.Description {
	d := kind.Description{}
	root := s.Root()
	documents.CheckKeys(&d, root, rootKeys, "the template")
	checkFlags(&d, root)
	documents.OneDocument(&d, s)
	if key, _ := root.Fold("<<"); key != nil {
		d.Problem(key.Failure(failure.EditRefused, "reading the template: a merge key at the top hides which archetypes are its own").Fix("Write the archetypes out."))
	}
	known := documents.Seen{}
	for _, a := range archetypes(root) {
		c := kind.Channel{Name: a.name}
		c.Line, _ = a.key.Position()
		if !a.value.IsNull() && a.value.Resolve().Kind != yamledit.Mapping {
			d.Problem(a.value.Malformed("reading %s: it is not a mapping", a.name))
			continue
		}
		documents.CheckKeys(&d, a.value, []string{"bundles"}, a.name)
		if !a.bundles.IsNull() && a.bundles.Kind != yamledit.Sequence {
			d.Problem(a.bundles.Malformed("reading %s: its bundles are no list", a.name))
			continue
		}
		seen := documents.Seen{}
		for _, img := range a.images {
			checkImage(&d, a, img, seen)
			c.Entries = append(c.Entries, img.ref)
			if !known.Again(img.ref) {
				line, _ := img.entry.Position()
				d.Bundles = append(d.Bundles, kind.BundleRef{Image: img.ref, Line: line})
			}
		}
		d.Channels = append(d.Channels, c)
	}
	return d
}

func checkImage(d *kind.Description, a archetype, img image, seen documents.Seen) {
	if e := img.entry.Resolve(); e == nil || e.Kind != yamledit.Mapping {
		d.Problem(img.entry.Malformed("reading %s: a bundle is no mapping with an image", a.name))
		return
	}
	documents.CheckKeys(d, img.entry, []string{"image"}, "a bundle of "+a.name)
	if img.ref == "" || img.node.Tag != "!!str" {
		d.Problem(img.entry.Malformed("reading %s: a bundle has no image", a.name))
	}
	if seen.Again(img.ref) {
		d.Problem(img.entry.Malformed("reading %s: image %s occurs twice", a.name, img.ref))
	}
}

func checkFlags(d *kind.Description, root *yamledit.Node) {
	for _, key := range []string{"generateMajorChannels", "generateMinorChannels"} {
		if v := root.FoldValue(key); !v.IsNull() && v.Tag != "!!bool" && !isBool11(v.Value) {
			d.Problem(v.Malformed("reading %s: %q is neither true nor false", key, v.Value))
		}
	}
	if v := root.FoldValue("defaultChannelTypePreference"); v.Text() != "" && v.Text() != "major" && v.Text() != "minor" {
		d.Problem(v.Malformed("reading DefaultChannelTypePreference: %q is neither major nor minor", v.Text()))
	}
}

// isBool11 reports whether YAML 1.1, and so opm, reads the word as a boolean.
func isBool11(s string) bool {
	return hasFold([]string{"y", "n", "yes", "no", "on", "off"}, s)
}

// Insert implements kind.Kind: it inserts the image into each requested archetype.
func (Kind) Insert(s *kind.Source, r kind.Request) (*kind.Outcome, error) {
	root, o, e := s.Root(), &kind.Outcome{}, s.File.Edit()
	all := archetypes(root)
	channels := kind.Unique(r.Channels)
	for _, c := range channels {
		if !isArchetype(c) {
			return nil, root.Failure(failure.ChannelUnknown, "inserting %s into %s: a semver template has %s", r.Bundle.Name, c, strings.Join(Archetypes, ", "))
		}
	}
	if r.Explicit() || r.DefaultChannel != "" {
		o.Notes = append(o.Notes, "a semver template computes its edges and default channel; those asked for do not apply")
	}
	r, err := replace(e, s, all, r, o)
	if err != nil {
		return nil, err
	}
	for _, c := range foldUnique(channels) {
		if err := insertInto(e, root, all, c, r, o); err != nil {
			return nil, err
		}
	}
	return o, o.Edited(s.Path, s.File, e)
}

func foldUnique(names []string) []string {
	var out []string
	for _, n := range names {
		if !hasFold(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// replace looks at every image of the template: a bundle in one archetype cannot be in another one with a second
// image. A bundle that the request takes the place of is replaced in all archetypes. The returned request also
// holds the names that were learned.
func replace(e *yamledit.Edits, s *kind.Source, all []archetype, r kind.Request, o *kind.Outcome) (kind.Request, error) {
	var images []image
	for _, a := range all {
		images = append(images, a.images...)
	}
	standing := make([]kind.Standing, len(images))
	for i, img := range images {
		standing[i].Image = img.ref
	}
	found, fail := r.Find(standing, func(string) bool { return true })
	r.Names = found.Names
	switch {
	case fail != nil:
		return r, images[found.At].entry.At(fail)
	case found.Identity == kind.Another && r.InsteadOf != "":
		return r, s.Root().At(r.NothingInstead())
	case found.Identity == kind.Another && len(found.Unknown) > 0:
		o.Notes = append(o.Notes, found.Untold())
	}
	if found.Identity == kind.Another || found.Identity == kind.Same {
		return r, nil
	}
	for _, a := range all {
		for _, img := range a.images {
			if img.ref != standing[found.At].Image {
				continue
			}
			if err := e.SetText(img.node, r.Bundle.Image); err != nil {
				return r, err
			}
			c := r.Change(found.Identity, standing[found.At])
			c.Channel = a.name
			o.Changes = append(o.Changes, c)
		}
	}
	return r, nil
}

// Create implements kind.Creator.
func (Kind) Create(r kind.Request) ([]byte, error) {
	var b documents.Text
	// This is the form of the published documentation, and of the bot of the community catalogs.
	b.WriteString("---\nSchema: olm.semver\nGenerateMajorChannels: true\nGenerateMinorChannels: true\n")
	channels := foldUnique(kind.Unique(r.Channels))
	if len(channels) == 0 {
		return nil, kind.UnknownChannel(r, Archetypes)
	}
	for _, a := range Archetypes {
		if hasFold(channels, a) {
			b.Line(a+":\n  Bundles:\n  - Image: ", r.Bundle.Image)
		}
	}
	for _, c := range channels {
		if !isArchetype(c) {
			return nil, failure.New(failure.ChannelUnknown, "creating a semver template with %s: it has %s", c, strings.Join(Archetypes, ", "))
		}
	}
	return []byte(b.String()), nil
}
