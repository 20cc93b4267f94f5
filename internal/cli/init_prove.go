package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/bundle"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph/cut"
	"github.com/olmgraft/graft/internal/oci"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/reference"
	"github.com/olmgraft/graft/internal/render"
	"github.com/olmgraft/graft/internal/survey"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
)

// proof compares a catalog with its template's rendering. The text is the difference, as the rest of a sentence
// about the catalog.
type proof struct {
	differs int // documents
	text    string
	skips   kind.SemverSkips // the rule for rendering; empty: the default
}

// prove renders each template from its own catalog, without a registry, and compares.
func prove(ctx context.Context, fsys fs.FS, targets []survey.Target, of part) map[survey.Pair]proof {
	all := map[survey.Pair]proof{}
	for i, t := range targets {
		of("comparing the catalogs of "+t.Template, i+1, len(targets))
		maps.Copy(all, proveTarget(ctx, fsys, t))
	}
	return all
}

// proveTarget compares with the rendering of semver templates by the default rule for skips, or by the rule
// that is nearer to the catalogs.
func proveTarget(ctx context.Context, fsys fs.FS, t survey.Target) map[survey.Pair]proof {
	catalogs, names := map[string][]fbc.Doc{}, map[string]string{}
	unread := map[survey.Pair]proof{}
	for _, c := range t.Catalogs {
		for _, p := range c.Pairs {
			docs, err := fbc.ReadFS(fsys, p.Catalog)
			if err != nil {
				unread[p] = incomparable(err)
				continue
			}
			catalogs[p.Catalog] = docs
			kind.AddNames(names, docs)
		}
	}
	with := func(skips kind.SemverSkips) (all map[survey.Pair]proof, differ int) {
		all = maps.Clone(unread)
		for _, c := range t.Catalogs {
			for _, p := range c.Pairs {
				if docs, ok := catalogs[p.Catalog]; ok {
					o := render.Options{Registry: nowhere{}, Rewrite: t.Rewrites, Cut: cutOf(c, p), Names: names, Base: render.NewBase(docs), Metadata: metadataOf(p.Catalog, docs)}
					all[p] = provePair(ctx, fsys, p, docs, o, skips)
					differ += all[p].differs
				}
			}
		}
		return all, differ
	}
	nearest, least := with("")
	if traits := template.Traits(t.Kind); least == 0 || len(traits.Archetypes) == 0 && !traits.OfTemplates {
		return nearest
	}
	for _, skips := range []kind.SemverSkips{kind.SkipMinor, kind.SkipChannel} {
		if all, differ := with(skips); differ < least {
			nearest, least = all, differ
		}
	}
	return nearest
}

func incomparable(err error) proof {
	return proof{differs: 1, text: "cannot be compared with its template: " + failure.Of(err).Error()}
}

func provePair(ctx context.Context, fsys fs.FS, p survey.Pair, standing []fbc.Doc, o render.Options, skips kind.SemverSkips) proof {
	t, err := template.Open(fsys, p.Template, p.Template)
	if err != nil {
		return incomparable(err)
	}
	t.Source.SemverSkips = skips
	for _, b := range t.Describe().Bundles {
		_, _, digest := reference.Cut(b.Image)
		o.Names[b.Image] = cmp.Or(b.Name, o.Names[b.Image], o.Names[digest])
	}
	if path.Ext(p.Catalog) == ".json" {
		o.Format = fbc.JSON
	}
	result, err := render.Render(ctx, t, o)
	if err != nil {
		if missing, text := missingFrom(standing, t, o.Rewrite); missing > 0 {
			return proof{differs: missing, text: text}
		}
		return incomparable(err)
	}
	var text bytes.Buffer
	if err := result.Write(&text); err != nil {
		return incomparable(err)
	}
	rendered, err := fbc.Read(p.Catalog, text.Bytes())
	if err != nil {
		return incomparable(err)
	}
	if differ := differing(standing, rendered); len(differ) > 0 {
		return proof{len(differ), "differs from its template in " + firstOf(differ), skips}
	}
	return proof{skips: skips}
}

// cutOf returns what a catalog leaves out of its template.
func cutOf(c survey.Catalog, p survey.Pair) cut.Cut {
	leaves := cut.Cut{Heads: c.Heads, Close: c.Closed}
	platform, known := plan.PlatformOf(p.Catalog)
	for _, e := range c.Exclude {
		rule := cut.Rule{}
		if e.Channel != "" {
			rule.Channels = []string{e.Channel}
		}
		if r, err := semver.ParseRange(e.Versions); err == nil {
			rule.Versions = r
		}
		within := plan.PlatformRange{Min: e.Min, Max: e.Max}
		if within.Holds(nil) || known && within.Holds(&platform) {
			leaves.Exclude = append(leaves.Exclude, rule)
		}
	}
	return leaves
}

// missingFrom counts the template's images that the catalog lacks or has under another repository's name.
func missingFrom(standing []fbc.Doc, t *template.Template, rewrite reference.Rewrites) (missing int, text string) {
	images, err := t.Images(nowhere{}.tags)
	if err != nil {
		return 0, "" // rendering reports it
	}
	byDigest, held := map[string]string{}, map[string]bool{}
	for _, d := range standing {
		repository, _, digest := reference.Cut(d.Image)
		held[d.Image] = true
		if digest != "" {
			byDigest[digest] = repository
		}
	}
	elsewhere, lacking, from, to := 0, 0, "", ""
	for _, image := range images {
		repository, _, digest := reference.Cut(image)
		switch {
		case held[image] || held[rewrite.Of(image)]:
		case byDigest[digest] != "":
			elsewhere++
			from, to = repository, byDigest[digest]
		default:
			lacking++
		}
	}
	var said []string
	if lacking > 0 {
		said = append(said, fmt.Sprintf("lacks %d of the %d bundles of its template", lacking, len(images)))
	}
	if elsewhere > 0 {
		said = append(said, fmt.Sprintf("has %d of the %d bundles of its template from %s instead of %s", elsewhere, len(images), to, from))
	}
	return lacking + elsewhere, strings.Join(said, ", and ")
}

// metadataOf returns the form for the platform of a catalog, or else the catalog's own.
func metadataOf(name string, standing []fbc.Doc) bundle.MetadataFormat {
	if platform, ok := plan.PlatformOf(name); ok {
		return platform.Metadata()
	}
	format, _ := plan.MetadataOf(standing)
	return format
}

// differing returns the documents that differ between a catalog and what its template renders.
func differing(standing, rendered []fbc.Doc) (names []string) {
	has, renders := texts(standing), texts(rendered)
	for name, text := range renders {
		switch other, ok := has[name]; {
		case !ok:
			names = append(names, name+", which the catalog lacks")
		case text != other:
			names = append(names, name)
		}
	}
	for name := range has {
		if _, ok := renders[name]; !ok {
			names = append(names, name+", which the template lacks")
		}
	}
	slices.Sort(names)
	return names
}

// texts returns the contents of documents by their names.
func texts(docs []fbc.Doc) map[string]string {
	all := map[string]string{}
	for i := range docs {
		all[called(&docs[i])] += content(&docs[i])
	}
	return all
}

func called(d *fbc.Doc) string {
	return strings.TrimSpace(strings.TrimPrefix(d.Schema, "olm.") + " " + d.Name)
}

func content(d *fbc.Doc) string {
	blob, err := d.Blob(fbc.JSON)
	if err != nil {
		return string(d.Raw())
	}
	return string(blob.Body)
}

// firstOf counts documents and names the first few.
func firstOf(names []string) string {
	const few = 3
	word := "documents"
	if len(names) == 1 {
		word = "document"
	}
	list := strings.Join(names[:min(few, len(names))], "; ")
	if len(names) > few {
		list += "; ..."
	}
	return fmt.Sprintf("%d %s (%s)", len(names), word, list)
}

// nowhere is a registry that gets no request.
type nowhere struct{}

func (nowhere) refuse(ref string) error {
	return failure.New(failure.RegistryUnavailable, "asking for %s: init asks no registry", ref)
}

func (n nowhere) Pull(_ context.Context, ref string) (*oci.Pulled, error) { return nil, n.refuse(ref) }
func (n nowhere) Resolve(_ context.Context, ref string) (string, error)   { return "", n.refuse(ref) }
func (n nowhere) Tags(_ context.Context, repository string) ([]string, error) {
	return nil, n.refuse(repository)
}
func (n nowhere) tags(repository string) ([]string, error) { return nil, n.refuse(repository) }
