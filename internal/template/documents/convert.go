package documents

import (
	"slices"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
)

// Given is a catalog to convert to a template of another kind: one package with rendered bundles. It answers the
// questions of an expansion, so that the catalog of the new template can be compared with the given one.
type Given struct {
	fbc.Catalog
	Package fbc.Package
	facts   map[string]fbc.Facts // by image
	images  map[string]string    // by name
}

// ReadGiven reads the catalog. It refuses content that kinds with their own grammar cannot express.
func ReadGiven(docs []fbc.Doc) (*Given, error) {
	g := &Given{facts: map[string]fbc.Facts{}, images: map[string]string{}}
	for i := range docs {
		d := &docs[i]
		if d.Schema != fbc.SchemaBundle {
			if err := expandDoc(d, true, &g.Catalog); err != nil {
				return nil, err
			}
			continue
		}
		f, err := d.Facts()
		if err != nil {
			return nil, err
		}
		g.facts[f.Image], g.images[f.Name] = f, f.Image
	}
	switch {
	case len(g.Packages) != 1:
		return nil, failure.New(failure.TemplateUnsupported, "converting the catalog: it has %d packages, a template of this kind has one", len(g.Packages)).
			Fix("Convert each package separately.")
	case len(g.Deprecations) > 0 || len(g.Others) > 0:
		return nil, failure.New(failure.TemplateUnsupported, "converting the catalog: it has deprecations or documents of other schemas, which a template of this kind cannot hold").
			Fix("Convert to a basic template.")
	}
	g.Package = g.Packages[0]
	return g, nil
}

// Image returns the image of a bundle, given its name.
func (g *Given) Image(name string) (string, bool) {
	image, ok := g.images[name]
	return image, ok
}

// AllImages returns the images of all bundles.
func (g *Given) AllImages() []string {
	var out []string
	for image := range g.facts {
		out = append(out, image)
	}
	slices.Sort(out)
	return out
}

// Bundle implements kind.Bundles.
func (g *Given) Bundle(image string) (fbc.Facts, error) {
	f, ok := g.facts[image]
	if !ok {
		return f, failure.New(failure.RenderFailed, "converting the catalog: it has no bundle with image %s", image)
	}
	return f, nil
}

// Showcase implements kind.Bundles. It returns what the package shows now.
func (g *Given) Showcase(string) (fbc.Showcase, error) {
	return fbc.Showcase{Description: g.Package.Description, Icon: g.Package.Icon}, nil
}

// Same compares the catalog that a template would produce with the given one, and returns an error that names the
// first edge that would change.
func (g *Given) Same(made *fbc.Catalog) error {
	for _, ch := range g.Channels {
		i := slices.IndexFunc(made.Channels, func(m fbc.Channel) bool { return m.Name == ch.Name })
		if i < 0 {
			return changed("channel %s would be gone", ch.Name)
		}
		if err := sameChannel(ch, made.Channels[i]); err != nil {
			return err
		}
	}
	for _, m := range made.Channels {
		if !slices.ContainsFunc(g.Channels, func(ch fbc.Channel) bool { return ch.Name == m.Name }) {
			return changed("channel %s would come to be", m.Name)
		}
	}
	if d := made.Packages[0].DefaultChannel; d != g.Package.DefaultChannel {
		return changed("the default channel would be %s, not %s", d, g.Package.DefaultChannel)
	}
	if len(made.Images) != len(g.facts) {
		return changed("%d bundles would be left of %d", len(made.Images), len(g.facts))
	}
	return nil
}

func sameChannel(given, made fbc.Channel) error {
	for _, e := range given.Entries {
		i := slices.IndexFunc(made.Entries, func(m fbc.Entry) bool { return m.Name == e.Name })
		if i < 0 {
			return changed("channel %s would lose its entry %s", given.Name, e.Name)
		}
		if m := made.Entries[i]; m.Replaces != e.Replaces || m.SkipRange != e.SkipRange || !slices.Equal(m.Skips, e.Skips) {
			return changed("in channel %s, %s %s now and would be one that %s", given.Name, e.Name, e.InWords(), m.InWords())
		}
	}
	if len(made.Entries) != len(given.Entries) {
		return changed("channel %s would have other entries", given.Name)
	}
	if !slices.EqualFunc(given.Entries, made.Entries, func(a, b fbc.Entry) bool { return a.Name == b.Name }) {
		return changed("the entries of channel %s would be in another order", given.Name)
	}
	return nil
}

func changed(format string, args ...any) error {
	e := failure.New(failure.EdgeConflict, format, args...)
	e.Message = "converting the catalog: " + e.Message
	return e.Fix("Convert to a basic template, which can have any edge.")
}
