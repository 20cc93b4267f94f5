package survey

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/reference"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
)

// facts are the contents of a template or catalog.
type facts struct {
	images map[string]image // its bundles, by digest or else by name
	// entries are listed by channel; in a template with archetypes their names are images.
	entries      map[string][]fbc.Entry
	channels     []string // in order
	edges        bool     // entries have the same edges as in the catalog
	repositories []string
	last         string // key of the last image
	placeholder  string // an image that is not a reference; empty: all are references
	// defaultChannel is the package's default channel.
	defaultChannel string
	objects        bool // bundles hold their manifests in olm.bundle.object
	metadata       bool // bundles have olm.csv.metadata
}

// image is a bundle. Its name is empty if the file does not contain it.
type image struct{ repository, name string }

func newFacts() facts {
	return facts{images: map[string]image{}, entries: map[string][]fbc.Entry{}}
}

// docFacts returns the facts of documents.
func docFacts(docs []fbc.Doc) facts {
	f := newFacts()
	f.edges = true
	for i := range docs {
		d := &docs[i]
		switch d.Schema {
		case fbc.SchemaPackage:
			if p, err := d.PackageDoc(); err == nil {
				f.defaultChannel = p.DefaultChannel
			}
		case fbc.SchemaChannel:
			if ch, err := d.Channel(); err == nil {
				f.channel(ch.Name, ch.Entries)
			}
		case fbc.SchemaBundle:
			f.bundle(d.Image, d.Name)
			raw := string(d.Raw())
			f.objects = f.objects || strings.Contains(raw, fbc.TypeBundleObject)
			f.metadata = f.metadata || strings.Contains(raw, fbc.TypeCSVMetadata)
		}
	}
	return f
}

func (f *facts) channel(name string, entries []fbc.Entry) {
	if !slices.Contains(f.channels, name) {
		f.channels = append(f.channels, name)
	}
	f.entries[name] = append(f.entries[name], entries...)
}

func (f *facts) bundle(ref, name string) {
	if ref == "" {
		return
	}
	repository, tag, digest := reference.Cut(ref)
	if _, err := reference.Parse(ref); err != nil || tag+digest == "" && !strings.Contains(repository, "/") {
		f.placeholder = ref
		return
	}
	f.last = key(ref)
	f.images[f.last] = image{repository, cmp.Or(name, f.images[f.last].name)}
	f.repositories = kind.Unique(append(f.repositories, repository))
}

// key returns what identifies an image in every registry: its digest, or else its reference.
func key(image string) string {
	_, _, digest := reference.Cut(image)
	return cmp.Or(digest, image)
}

func (f *facts) add(o facts) {
	for _, ch := range o.channels {
		f.channel(ch, o.entries[ch])
	}
	for k, i := range o.images {
		f.images[k] = image{i.repository, cmp.Or(i.name, f.images[k].name)}
	}
	f.last, f.placeholder = cmp.Or(o.last, f.last), cmp.Or(f.placeholder, o.placeholder)
	f.defaultChannel = cmp.Or(f.defaultChannel, o.defaultChannel)
	f.repositories = kind.Unique(append(f.repositories, o.repositories...))
	f.edges, f.objects, f.metadata = f.edges || o.edges, f.objects || o.objects, f.metadata || o.metadata
}

// templateFacts returns the facts of a template, and the error that prevents reading it.
func templateFacts(t *template.Template, d kind.Description) (facts, error) {
	var err error
	if k, ok := t.Kind.(kind.HasEdges); ok {
		var docs []fbc.Doc
		if docs, err = k.Documents(&t.Source); err == nil {
			return docFacts(docs), nil
		}
	}
	f := newFacts()
	for _, b := range d.Bundles {
		f.bundle(b.Image, b.Name)
	}
	if t.Kind.Traits().OfTemplates {
		return f, err
	}
	archetypes := len(t.Kind.Traits().Archetypes) > 0
	for _, ch := range d.Channels {
		var entries []fbc.Entry
		for _, e := range ch.Entries {
			if archetypes {
				f.bundle(e, "")
			}
			entries = append(entries, fbc.Entry{Name: e})
		}
		f.channel(ch.Name, entries)
	}
	return f, err
}

// list returns the facts for comparing two sources: the bundles, and the entries of channels with their edges if
// both sources have edges.
func (f *facts) list(edges bool) map[string]bool {
	all := map[string]bool{}
	for image := range f.images {
		all[image] = true
	}
	if !edges {
		return all
	}
	for ch, entries := range f.entries {
		for _, e := range entries {
			skips := slices.Sorted(slices.Values(e.Skips))
			all[strings.Join([]string{ch, e.Name, e.Replaces, e.SkipRange, strings.Join(skips, ",")}, "\x00")] = true
		}
	}
	return all
}

func anyOf(semver.Version) bool          { return true }
func prereleaseOf(v semver.Version) bool { return len(v.Pre) > 0 }
func releaseOf(v semver.Version) bool    { return len(v.Pre) == 0 }

// newest is the highest version among the entries of all channels, and the channels that contain it.
type newest struct {
	name    string
	version semver.Version
	lowest  semver.Version
	in      []string
	known   bool
}

// newestOf returns the newest wanted bundle. names maps images to names.
func (f *facts) newestOf(names map[string]string, wanted func(semver.Version) bool) newest {
	var top newest
	for _, ch := range f.channels {
		for _, e := range f.entries[ch] {
			name := cmp.Or(names[key(e.Name)], e.Name)
			v, ok := graph.VersionOf(name)
			if !ok {
				v, ok = kind.ImageVersion(name)
			}
			if !ok || !wanted(v) {
				continue
			}
			if !top.known || v.LT(top.lowest) {
				top.lowest = v
			}
			switch {
			case !top.known || v.GT(top.version):
				top = newest{name, v, top.lowest, []string{ch}, true}
			case v.EQ(top.version):
				top.in = append(top.in, ch)
			}
		}
	}
	top.in = kind.Unique(top.in)
	return top
}

// above counts the entries of higher versions, each name once.
func (f *facts) above(v semver.Version) int {
	names := map[string]bool{}
	for _, entries := range f.entries {
		for _, e := range entries {
			if of, ok := graph.VersionOf(e.Name); ok && of.GT(v) {
				names[e.Name] = true
			}
		}
	}
	return len(names)
}

var words = regexp.MustCompile(`[0-9]+(?:[.-][0-9]+)*`)

// anyVersion replaces the minor version of the bundle in a repository by *, for packages with a repository for
// each minor version, such as 1.38 in op-1-38 and op-138.
func (f *facts) anyVersion(repository string) string {
	minors := map[string]bool{}
	for _, entries := range f.entries {
		for _, e := range entries {
			if v, ok := graph.VersionOf(e.Name); ok {
				for _, between := range []string{".", "-", ""} {
					minors[fmt.Sprintf("%d%s%d", v.Major, between, v.Minor)] = true
				}
			}
		}
	}
	registry, rest, _ := strings.Cut(repository, "/")
	return registry + "/" + words.ReplaceAllStringFunc(rest, func(number string) string {
		if len(number) > 1 && minors[number] {
			return "*"
		}
		return number
	})
}
