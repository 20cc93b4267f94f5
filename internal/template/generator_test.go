package template

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/template/kind"
)

// generated is a template of one kind in one style. Its contents are described without any of the code that edits
// it.
type generated struct {
	kind  string
	style *printer
	model
	order    []string // of channels
	byDigest bool     // images; otherwise their tags are their versions
	named    bool     // bundles have names
	extras   []string // texts without a meaning
	subs     map[string]string
	list     bool // the graphs of a goodstuff template are a list, not one mapping
	src      []byte
}

var generatedKinds = []string{"basic", "stream", "raw", "semver", "goodstuff", "substitutes", "composite"}

// generate returns the template for a seed.
func generate(seed uint64) *generated {
	rnd := rand.New(rand.NewPCG(seed, 19))
	often := func(n int) bool { return rnd.IntN(n) == 0 }
	g := &generated{kind: generatedKinds[seed%uint64(len(generatedKinds))], style: newPrinter(rnd), byDigest: often(3), list: often(2), subs: map[string]string{}}
	g.named = g.kind == "raw" || g.kind == "substitutes" || often(3) && g.kind != "semver" && g.kind != "goodstuff"
	g.model = model{
		chains: map[string][]string{}, skips: map[[2]string][]string{}, ranges: map[[2]string]string{}, images: map[string]string{}, deprecated: map[string]string{},
	}
	g.order = []string{"stable", "fast", "candidate"}[:1+rnd.IntN(3)]
	g.def = g.order[rnd.IntN(len(g.order))]
	versions := randomVersions(rnd, 1+rnd.IntN(8))
	for _, channel := range g.order {
		for _, v := range versions {
			if often(4) && len(g.chains[channel]) > 0 {
				continue
			}
			g.add(channel, nameOf(v))
			g.images[nameOf(v)] = g.image(v)
		}
	}
	if g.hasEdges() {
		g.edges(rnd)
	}
	for _, v := range []string{"A text.", "Several\nlines: of\n- text # and\n\nmore", "ends: with colon:", "'", "yes", "1.0", "~", "https://example.com/#a", "{}"} {
		if often(3) {
			g.extras = append(g.extras, v)
		}
	}
	if g.kind == "substitutes" {
		for _, name := range slices.Sorted(maps.Keys(g.images)) {
			if often(4) {
				g.subs[name] = "quay.io/example/op:" + name[len("op."):] + "-substitute"
			}
		}
	}
	g.style.stream = g.kind == "raw" || g.kind == "stream"
	g.src = g.style.print(g.documents()...)
	return g
}

// hasEdges reports whether entries of the kind have explicit edges.
func (g *generated) hasEdges() bool { return g.kind != "semver" && g.kind != "goodstuff" }

func (g *generated) image(v semver.Version) string {
	if g.byDigest && g.kind != "semver" {
		return fmt.Sprintf("quay.io/example/op@sha256:%x", sha256.Sum256([]byte(v.String())))
	}
	return "quay.io/example/op:v" + v.String()
}

func (g *generated) edges(rnd *rand.Rand) {
	for _, channel := range g.order {
		chain := g.chains[channel]
		for i, name := range chain {
			key := [2]string{channel, name}
			if i > 1 && rnd.IntN(4) == 0 {
				g.skips[key] = []string{chain[rnd.IntN(i)]}
			}
			if i > 0 && rnd.IntN(4) == 0 {
				g.ranges[key] = ">=0.0.1 <" + versionIn(name).String()
			}
		}
	}
}

// request returns a request for a bundle that the template does not have.
func (g *generated) request(rnd *rand.Rand) kind.Request {
	var v semver.Version
	for v = randomVersions(rnd, 1)[0]; g.images[nameOf(v)] != ""; v = randomVersions(rnd, 1)[0] {
		continue
	}
	r := requestFor(v)
	r.Bundle.Image = g.image(v)
	r.Bundle.Document = func(image string, _ bool) ([]byte, error) { return []byte(renderedBundle(nameOf(v), image)), nil }
	r.Names = map[string]string{}
	for name, image := range g.images {
		r.Names[image] = name
	}
	for _, channel := range g.order {
		if rnd.IntN(2) == 0 || channel == g.order[len(g.order)-1] && len(r.Channels) == 0 {
			r.Channels = append(r.Channels, channel)
		}
	}
	return r
}

// with returns the template with the bundle of a request.
func (g *generated) with(r kind.Request) *generated {
	after := *g
	after.model = *g.clone()
	for _, channel := range r.Channels {
		after.add(channel, r.Bundle.Name)
	}
	after.images[r.Bundle.Name] = r.Bundle.Image
	return &after
}

// archetypes maps the channels to the archetypes of semver templates.
var archetypes = map[string]string{"stable": "Stable", "fast": "Fast", "candidate": "Candidate"}

// documents returns the contents of the template.
func (g *generated) documents() []*value {
	switch g.kind {
	case "semver":
		return []*value{g.semver()}
	case "goodstuff":
		return []*value{g.goodstuff()}
	case "stream", "raw":
		return g.catalog()
	}
	v := mapping("schema", "olm.template.basic", "entries", listOf(g.catalog()...))
	if g.kind == "substitutes" {
		v.items[0] = said("olm.template.substitutes")
		subs := listOf()
		for _, name := range slices.Sorted(maps.Keys(g.subs)) {
			subs.items = append(subs.items, mapping("name", g.subs[name], "base", name))
		}
		v.keys, v.items = append(v.keys, "substitutions"), append(v.items, subs)
	}
	return []*value{v}
}

func (g *generated) semver() *value {
	v := mapping("schema", "olm.semver")
	for _, channel := range g.order {
		list := listOf()
		for _, name := range g.chains[channel] {
			list.items = append(list.items, mapping("image", g.images[name]))
		}
		v.keys, v.items = append(v.keys, archetypes[channel]), append(v.items, mapping("bundles", list))
	}
	return v
}

func (g *generated) goodstuff() *value {
	images := listOf()
	for _, name := range g.names() {
		images.items = append(images.items, said(g.images[name]))
	}
	graphs := listOf()
	for _, channel := range g.order {
		graphs.items = append(graphs.items, mapping("package", "op", "name", channel, "entries", texts(g.chains[channel])))
	}
	if len(g.order) == 1 && !g.list {
		graphs = graphs.items[0]
	}
	return mapping("schema", "olm.template.goodstuff", "package", mapping("name", "op", "defaultChannel", g.def), "bundles", mapping("images", images), "graph-description", graphs)
}

// names returns the names of the bundles, lowest first.
func (g *generated) names() []string {
	return slices.SortedFunc(maps.Keys(g.images), func(a, b string) int { return versionIn(a).Compare(versionIn(b)) })
}

// catalog returns the documents of a catalog, or those that a template has in their place.
func (g *generated) catalog() []*value {
	pkg := mapping("schema", "olm.package", "name", "op", "defaultChannel", g.def)
	properties := listOf()
	for i, extra := range g.extras {
		if i == 0 {
			pkg.keys, pkg.items = append(pkg.keys, "description"), append(pkg.items, said(extra))
			continue
		}
		properties.items = append(properties.items, mapping("type", "example.com/extra", "value", extra))
	}
	if len(properties.items) > 0 {
		pkg.keys, pkg.items = append(pkg.keys, "properties"), append(pkg.items, properties)
	}
	docs := []*value{pkg}
	for _, channel := range g.order {
		entries := listOf()
		for i, name := range g.chains[channel] {
			replaces := ""
			if i > 0 {
				replaces = g.chains[channel][i-1]
			}
			var skips *value
			if s := g.skips[[2]string{channel, name}]; len(s) > 0 {
				skips = texts(s)
			}
			entries.items = append(entries.items, mapping("name", name, "replaces", replaces, "skips", skips, "skipRange", g.ranges[[2]string{channel, name}]))
		}
		docs = append(docs, mapping("schema", "olm.channel", "package", "op", "name", channel, "entries", entries))
	}
	for _, name := range g.names() {
		docs = append(docs, g.bundle(name))
	}
	deprecated := listOf()
	for _, name := range slices.Sorted(maps.Keys(g.deprecated)) {
		deprecated.items = append(deprecated.items, mapping("reference", mapping("schema", "olm.bundle", "name", name), "message", g.deprecated[name]))
	}
	if len(deprecated.items) > 0 {
		docs = append(docs, mapping("schema", "olm.deprecations", "package", "op", "entries", deprecated))
	}
	return docs
}

func (g *generated) bundle(name string) *value {
	switch {
	case g.kind == "raw" || g.kind == "substitutes":
		property := mapping("type", "olm.package", "value", mapping("packageName", "op", "version", versionIn(name).String()))
		return mapping("schema", "olm.bundle", "name", name, "package", "op", "image", g.images[name], "properties", listOf(property))
	case g.named:
		return mapping("schema", "olm.bundle", "name", name, "image", g.images[name])
	}
	return mapping("schema", "olm.bundle", "image", g.images[name])
}
