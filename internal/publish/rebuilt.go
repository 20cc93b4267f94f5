package publish

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/olmgraft/graft/internal/bundle"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/markdown"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/reference"
	"github.com/olmgraft/graft/internal/template/kind"
)

// replacement is a replaced image, with the changes of the bundle.
type replacement struct {
	kind.Change
	digest  string // of the old image, if known
	changes []bundle.Change
	notes   []string // parts that are not compared, and why
}

// rebuilt reports whether the bundle had another image.
func (b *bundleImage) rebuilt() bool {
	return slices.ContainsFunc(b.replaced, func(r replacement) bool { return r.What == kind.BundleRebuilt })
}

func (b *bundleImage) title(t Texts, others int) (string, error) {
	if b.rebuilt() {
		t.Title = t.RebuildTitle
	}
	return b.versioned.title(t, others)
}

func (b *bundleImage) message(t Texts, others int) (string, error) {
	if b.rebuilt() {
		t.Message = t.RebuildMessage
	}
	return b.versioned.message(t, others)
}

// gaveWay records the replaced images of one target, each once.
func (b *bundleImage) gaveWay(ctx context.Context, p *preparation, changes []kind.Change, catalogs []plan.Catalog) {
	for _, c := range changes {
		is := c.What == kind.BundleRebuilt || c.What == kind.BundleReplaced
		if is && !slices.ContainsFunc(b.replaced, func(r replacement) bool { return r.From == c.From }) {
			b.replaced = append(b.replaced, p.compared(ctx, b, c, catalogs))
		}
	}
}

// tagMoved returns the change of a bundle whose tag moved: the target's catalogs hold the old content, and the
// template stays. It refuses the change unless a rebuild is requested.
func (p *preparation) tagMoved(t plan.Target, b kind.Bundle, rebuilds, released bool) ([]kind.Change, error) {
	if strings.Contains(b.Image, "@") {
		return nil, nil // a digest does not change
	}
	if was := p.recorded(b.Image); was != "" && was == b.Digest {
		return nil, nil
	} else if was == "" {
		where, differs := p.another(t.Catalogs, b, rebuilds)
		switch {
		case !differs:
			return nil, nil
		case !rebuilds:
			return nil, refused(b, released, "%s holds another build of it", where).At(where, 0, 0)
		}
	}
	c := kind.Change{What: kind.BundleRebuilt, Name: b.Name, From: b.Image, To: b.Image + "@" + b.Digest}
	out := p.target(t.Template)
	out.Changes = append(out.Changes, c)
	return []kind.Change{c}, nil
}

// refused returns the failure for a bundle that exists with other content, which may be released already.
func refused(b kind.Bundle, released bool, format string, args ...any) *failure.Error {
	err := failure.New(failure.BundleConflict, "inserting %s with image %s: %s", b.Name, b.Image, fmt.Sprintf(format, args...))
	if released {
		return err.Fix("Publish the content under a new version: clusters may have the old one.")
	}
	return err.Fix("Give --rebuild replace to replace the old build, or publish the bundle under a new version.")
}

// another returns the catalog that holds a bundle in another form: with other bytes, or with differences by
// Changes. Catalogs from other programs differ only in bytes.
func (p *preparation) another(catalogs []plan.Catalog, b kind.Bundle, inBytes bool) (where string, differs bool) {
	doc, rules := p.document(catalogs, b.Image)
	if doc == nil || b.Document == nil {
		return "", false
	}
	old, err := doc.Bundle()
	if err != nil {
		return doc.File, inBytes
	}
	metadata := slices.ContainsFunc(old.Properties, func(p fbc.Property) bool { return p.Type == fbc.TypeCSVMetadata })
	now, err := documentOf(b, inBytes && metadata, rules)
	if err != nil {
		return doc.File, false // rendering reports the error
	}
	if !inBytes {
		changes, _, err := bundle.Changes(old, now)
		return doc.File, err == nil && len(changes) > 0
	}
	text, err := bundle.Document(now)
	if err != nil {
		return doc.File, false
	}
	same, err := sameForm(text)
	before, beforeErr := doc.JSON()
	return doc.File, err != nil || beforeErr != nil || same != string(before)
}

// sameForm returns a bundle's document in the form of catalogs that are read.
func sameForm(text []byte) (string, error) {
	docs, err := fbc.Read("", text)
	if err != nil || len(docs) != 1 {
		return "", err
	}
	out, err := docs[0].JSON()
	return string(out), err
}

// recorded returns the digest that catalog.sum has for an image.
func (p *preparation) recorded(image string) string {
	if p.sum == nil {
		return ""
	}
	return p.sum.Digest(image)
}

// document returns the image's document in the present catalogs with that catalog's rules for names, or nil.
func (p *preparation) document(catalogs []plan.Catalog, image string) (*fbc.Doc, reference.Rewrites) {
	for _, c := range catalogs {
		docs, err := documents(p.base.Files, c.Path)
		if err != nil {
			continue // it is rendered again
		}
		named := c.Rewrite.Of(image)
		i := slices.IndexFunc(docs, func(d fbc.Doc) bool { return d.Schema == fbc.SchemaBundle && (d.Image == image || d.Image == named) })
		if i >= 0 {
			return &docs[i], c.Rewrite
		}
	}
	return nil, nil
}

// comparePatience limits the wait for the registry to return a replaced build. After that, the pull request has
// no comparison.
const comparePatience = 20 * time.Second

// compared compares a bundle with the one that it replaces: from the registry by the known digest, or else from
// a catalog.
func (p *preparation) compared(ctx context.Context, b *bundleImage, c kind.Change, catalogs []plan.Catalog) replacement {
	out := replacement{Change: c}
	_, _, out.digest = reference.Cut(c.From)
	if out.digest == "" {
		out.digest = p.recorded(c.From)
	}
	old, rules, err := p.formerly(ctx, &out, b.bundle.Image, catalogs)
	if err == nil && old == nil {
		out.notes = []string{"What changed is not known: neither the registry nor a catalog has the bundle that it takes the place of."}
		return out
	}
	var all bool
	if err == nil {
		var now fbc.Bundle
		if now, err = documentOf(b.bundle, false, rules); err == nil {
			out.changes, all, err = bundle.Changes(*old, now)
		}
	}
	switch {
	case err != nil:
		out.notes = []string{"What changed is not known: " + err.Error()}
	case !all:
		out.notes = append(out.notes, "A catalog tells of the former one, and it holds no manifests: permissions, deployments, webhooks and other manifests are not compared.")
	}
	return out
}

// formerly returns the document of the replaced bundle with the catalog's rules for names, or nil if it is
// unavailable.
func (p *preparation) formerly(ctx context.Context, r *replacement, image string, catalogs []plan.Catalog) (*fbc.Bundle, reference.Rewrites, error) {
	ctx, stop := context.WithTimeout(ctx, comparePatience)
	defer stop()
	ref := r.From
	if repository, _, _ := reference.Cut(r.From); r.digest != "" {
		ref = repository + "@" + r.digest
	}
	if ref != image { // otherwise the tag moved and names the new image
		pulled, err := pinned{p.Registry, p.pulled}.Pull(ctx, ref)
		if err == nil {
			r.digest = pulled.Digest
			doc, err := bundle.Render(ctx, bundle.Image{Ref: r.From, Labels: pulled.Labels, Files: pulled.Files}, bundle.BundleObjects)
			return &doc, nil, err
		}
	}
	doc, rules := p.document(catalogs, r.From)
	if doc == nil {
		return nil, nil, nil
	}
	whole, err := doc.Bundle()
	return &whole, rules, err
}

// documentOf returns a bundle's document in a catalog with rules for names.
func documentOf(b kind.Bundle, csvMetadata bool, rules reference.Rewrites) (doc fbc.Bundle, err error) {
	text, err := b.Document(rules.Of(b.Image), csvMetadata)
	if err == nil {
		err = json.Unmarshal(text, &doc)
	}
	return bundle.Rewritten(doc, rules), err
}

// describe writes what was replaced, with the differences that a reviewer needs.
func (r *replacement) describe(b *strings.Builder) {
	fmt.Fprintf(b, "It takes the place of %s", markdown.Code(r.From))
	if r.digest != "" && !strings.Contains(r.From, r.digest) {
		fmt.Fprintf(b, ", which was %s", markdown.Code(r.digest))
	}
	b.WriteString(".\n\n")
	for _, n := range r.notes {
		b.WriteString(markdown.Escape(n) + "\n\n")
	}
	if len(r.changes) == 0 {
		if len(r.notes) == 0 {
			b.WriteString("Nothing else that is compared changed.\n\n")
		}
		return
	}
	var lines, counts []string
	parts := map[string]int{}
	for _, c := range r.changes {
		lines = append(lines, inWords(c))
		parts[c.Part]++
	}
	for _, c := range r.changes {
		if n := parts[c.Part]; n > 0 {
			counts = append(counts, count(n, c.Part))
			delete(parts, c.Part)
		}
	}
	const shown = 200
	if n := len(lines) - shown; n > 0 {
		lines = append(lines[:shown], fmt.Sprintf("and %d more", n))
	}
	summary := "What changed: " + strings.Join(counts, ", ")
	if len(lines) > 12 {
		b.WriteString(markdown.Details(summary, markdown.List(lines)))
		return
	}
	b.WriteString(summary + "\n\n" + markdown.List(lines))
}

// inWords returns one difference as Markdown.
func inWords(c bundle.Change) string {
	text := c.Part + " " + short(c.Name)
	switch {
	case c.Before != "" && c.After != "":
		return text + ": " + short(c.Before) + " → " + short(without(c.After, c.Before))
	case c.Before+c.After != "":
		return text + " " + string(c.How) + ": " + short(c.Before+c.After)
	}
	return text + " " + string(c.How)
}

// without removes an image's repository if it is the same as the other image's.
func without(image, other string) string {
	was, _, digest := reference.Cut(other)
	now, _, to := reference.Cut(image)
	if was == now && digest != "" && to != "" {
		return to
	}
	return image
}

// short cuts a text of any length.
func short(text string) string {
	const most = 200
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	return markdown.Code(text)
}
