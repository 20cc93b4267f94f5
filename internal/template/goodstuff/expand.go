package goodstuff

import (
	"encoding/json"
	"slices"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/template/kind"
)

// Images implements kind.Expander: it returns the images in the repository that match the patterns, and the
// listed images.
func (Kind) Images(s *kind.Source, tags kind.Tags) ([]string, error) {
	t := parse(s)
	out := t.images.Strings()
	if t.repo == "" {
		return kind.Unique(out), nil
	}
	re, within, _ := t.patterns()
	all, err := tags(t.repo)
	if err != nil {
		return nil, err
	}
	slices.Sort(all)
	for _, tag := range all {
		image := t.repo + ":" + tag
		v, ok := kind.ImageVersion(image)
		if re.MatchString(tag) && (within == nil || ok && within(v)) {
			out = append(out, image)
		}
	}
	return kind.Unique(out), nil
}

// Expand implements kind.Expander. The order of the entries is the order of upgrades: a live entry replaces the
// live one before it and skips the tombstones between them; the first one gets the tail edges. A tombstone gets
// neither an entry nor a bundle. A bundle that tail edges name may be installed in clusters, but is not part of
// the catalog.
func (Kind) Expand(s *kind.Source, b kind.Bundles, tags kind.Tags) (*fbc.Catalog, error) {
	t := parse(s)
	images, err := Kind{}.Images(s, tags)
	if err != nil {
		return nil, err
	}
	byName, err := bundlesByName(b, images)
	if err != nil {
		return nil, err
	}
	strays, err := t.strays(byName)
	if err != nil {
		return nil, err
	}
	c := &fbc.Catalog{Packages: []fbc.Package{t.packageDoc()}, Notes: strays.notes}
	for _, g := range t.graphs {
		names, err := strays.into(g)
		if err != nil {
			return nil, err
		}
		ch, err := g.expand(t.pkg.FoldText("name"), names, byName)
		if err != nil {
			return nil, err
		}
		c.Channels = append(c.Channels, ch)
		for _, e := range ch.Entries {
			c.Images = append(c.Images, byName[e.Name].Image)
		}
	}
	c.Images = kind.Unique(c.Images)
	return c, nil
}

func (t template) packageDoc() fbc.Package {
	p := fbc.Package{Schema: fbc.SchemaPackage, Name: t.pkg.FoldText("name"), DefaultChannel: t.pkg.FoldText("defaultChannel"), Description: t.pkg.FoldText("description")}
	if _, icon := t.pkg.Fold("icon"); icon != nil {
		var data []byte
		if json.Unmarshal([]byte(`"`+icon.FoldText("base64data")+`"`), &data) == nil {
			p.Icon = &fbc.Icon{Data: data, MediaType: icon.FoldText("mediatype")}
		}
	}
	return p
}

func bundlesByName(b kind.Bundles, images []string) (map[string]fbc.Facts, error) {
	out := map[string]fbc.Facts{}
	for _, image := range images {
		f, err := b.Bundle(image)
		if err != nil {
			return nil, err
		}
		if other, ok := out[f.Name]; ok && other.Image != f.Image {
			return nil, failure.New(failure.RenderFailed, "rendering the template: %s and %s are the same bundle, %s", other.Image, f.Image, f.Name).
				Fix("Name one of the images, or narrow tagRegex and semverRange.")
		}
		out[f.Name] = f
	}
	return out, nil
}

// mentions returns all names that the channel knows: its entries and the names in its tail edges.
func (c channel) mentions() []string { return append(c.entries.Strings(), c.tail()...) }

// tail returns the names in the tail edges.
func (c channel) tail() []string {
	tail := c.node.FoldValue("tailEdges")
	return append(tail.FoldValue("skips").Strings(), tail.FoldText("replaces"))
}

func (c channel) expand(pkg string, names []string, byName map[string]fbc.Facts) (fbc.Channel, error) {
	ch := fbc.Channel{Schema: fbc.SchemaChannel, Name: c.name, Package: pkg, Entries: c.edges(names)}
	for _, item := range c.entries.Items() {
		name := item.Text()
		if _, ok := byName[name]; !ok && !slices.Contains(c.tombstones, name) {
			return ch, item.Failure(failure.RenderFailed, "rendering graph-description %s: there is no bundle for the entry %s", c.name, name).
				Fix("Add its image to bundles.images, change repo, tagRegex or semverRange so that they find it, or make it a tombstone.")
		}
	}
	if !c.ends(names) {
		return ch, c.node.Failure(failure.RenderFailed, "rendering graph-description %s: no live entry comes after the tombstones", c.name).
			Fix("Add an entry that supersedes the tombstones.")
	}
	return ch, nil
}

// edges returns the entries with the edges that result from names in this order.
func (c channel) edges(names []string) []fbc.Entry {
	out := []fbc.Entry{}
	var dead []string
	for _, name := range names {
		if slices.Contains(c.tombstones, name) {
			dead = append(dead, name)
			continue
		}
		e := fbc.Entry{Name: name, Skips: dead}
		if n := len(out); n > 0 {
			e.Replaces = out[n-1].Name
		} else {
			c.addTail(&e)
		}
		out, dead = append(out, e), nil
	}
	return out
}

// ends reports whether the last name is live.
func (c channel) ends(names []string) bool {
	return len(names) > 0 && !slices.Contains(c.tombstones, names[len(names)-1])
}

func (c channel) addTail(e *fbc.Entry) {
	tail := c.node.FoldValue("tailEdges")
	e.Replaces, e.SkipRange = tail.FoldText("replaces"), tail.FoldText("skipRange")
	e.Skips = append(tail.FoldValue("skips").Strings(), e.Skips...)
}
