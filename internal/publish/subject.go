package publish

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/event"
	"github.com/olmgraft/graft/internal/markdown"
	"github.com/olmgraft/graft/internal/template/kind"
)

// subject is what a change publishes: a bundle, the image of an operand or of a catalog; or what it removes or
// deprecates. Each kind has its own file.
type subject interface {
	request() Request
	facts() Facts
	// version orders the subjects of a change, and lets one supersede lower ones of its package; nil if it has
	// none.
	version() *semver.Version
	// key has at most one pull request. It consists of the package and a distinguishing part.
	key(rolling bool) string
	branch(t Texts) (string, error)
	// covers reports whether the subject replaces a request.
	covers(r Request) bool
	// edit edits the files of a work, and returns the subject as catalogs name it, or nil if nothing changed.
	edit(ctx context.Context, p *preparation) (subject, error)
	// title and message are for it and others; intro goes above its description.
	title(t Texts, others int) (string, error)
	message(t Texts, others int) (string, error)
	intro(t Texts) (string, error)
	describe(b *strings.Builder)
	// unchanged returns why nothing changes, and done why its pull request is then closed.
	unchanged() string
	done() string
}

// Facts are the facts of a subject in reports, as far as they could be read.
type Facts struct {
	Image   string `json:"image"`
	Digest  string `json:"digest,omitempty"`
	Name    string `json:"name,omitempty"`
	Package string `json:"package,omitempty"`
	Version string `json:"version,omitempty"`
}

func factsOf(subjects []subject) []Facts {
	var all []Facts
	for _, s := range subjects {
		all = append(all, s.facts())
	}
	return all
}

// learn finds the subject of a request, once for each request. It waits with patience for an image that was
// just announced.
func (p *publisher) learn(ctx context.Context, r Request, patience time.Duration) (s subject, err error) {
	key := r.String()
	if known, ok := p.learned[key]; ok {
		return known, nil
	}
	if r.Edit.Said() {
		return p.learnEdit(r)
	}
	if p.Allow != nil {
		if err := p.Allow(r.Publication); err != nil {
			return nil, err
		}
	}
	o := p.operandOf(r)
	switch {
	case IsCatalogImage(p.CatalogSources, r.Repository):
		return p.learnCatalogImage(ctx, r, patience)
	case o != nil:
		s, err = p.learnOperand(ctx, r, o)
	default:
		one, ok := p.early[key]
		if delete(p.early, key); !ok {
			one = p.learnBundle(ctx, r, patience)
		}
		if s, err = one.subject, one.err; err == nil {
			p.pulled[imageOf(r.Publication)] = one.pulled
		}
	}
	if err != nil {
		return nil, err
	}
	p.learned[key] = s
	return s, nil
}

// versioned is the common part of bundles and operands' images. Patterns of texts use the same facts for both.
type versioned struct {
	asked  Request
	bundle kind.Bundle
}

func (v *versioned) request() Request         { return v.asked }
func (v *versioned) version() *semver.Version { return &v.bundle.Version }

func (v *versioned) facts() Facts {
	b := v.bundle
	return Facts{Image: b.Image, Digest: b.Digest, Name: b.Name, Package: b.Package, Version: b.Version.String()}
}

func (v *versioned) key(rolling bool) string {
	if rolling {
		return v.bundle.Package + "/*"
	}
	return v.bundle.Package + "/" + v.bundle.Version.String()
}

func (v *versioned) branch(t Texts) (string, error) { return t.Branch(v.bundle) }
func (v *versioned) covers(r Request) bool          { return sameImage(v.asked, r) }

func (v *versioned) title(t Texts, others int) (string, error)   { return v.text(t.Title, others) }
func (v *versioned) message(t Texts, others int) (string, error) { return v.text(t.Message, others) }

// text adds the number of other subjects to the first line.
func (v *versioned) text(pattern Text, others int) (string, error) {
	text, err := pattern(v.bundle)
	if others > 0 {
		first, rest, more := strings.Cut(text, "\n")
		text = fmt.Sprintf("%s and %d more", first, others)
		if more {
			text += "\n" + rest
		}
	}
	return text, err
}

func (v *versioned) intro(t Texts) (string, error) {
	if t.Intro == nil {
		return "", nil
	}
	return t.Intro(v.bundle)
}

func (v *versioned) image(b *strings.Builder) {
	fmt.Fprintf(b, "- image: %s\n", markdown.Code(v.bundle.Image))
	if v.bundle.Digest != "" && !strings.HasSuffix(v.bundle.Image, v.bundle.Digest) {
		fmt.Fprintf(b, "- digest: %s\n", markdown.Code(v.bundle.Digest))
	}
	b.WriteString("\n")
}

func (*versioned) unchanged() string { return "every catalog has it already" }
func (*versioned) done() string      { return "Every catalog has this by now." }

// byVersion compares by version. Subjects without a version come first.
func byVersion(a, b subject) int {
	v, w := a.version(), b.version()
	switch {
	case v != nil && w != nil:
		return v.Compare(*w)
	case v != nil:
		return 1
	case w != nil:
		return -1
	}
	return 0
}

func newest(subjects []subject) subject { return slices.MaxFunc(subjects, byVersion) }

// inOrder sorts the subjects, so that a change does not depend on their order.
func inOrder(subjects []subject) []subject {
	return slices.SortedFunc(slices.Values(subjects), func(a, b subject) int {
		return cmp.Or(byVersion(a, b), strings.Compare(a.facts().Name, b.facts().Name))
	})
}

// add appends a subject unless its name is already there.
func add(subjects []subject, s subject) []subject {
	if slices.ContainsFunc(subjects, func(o subject) bool { return o.facts().Name == s.facts().Name }) {
		return subjects
	}
	return append(subjects, s)
}

// packageOf returns the package in a key.
func packageOf(key string) string {
	pkg, _, _ := strings.Cut(key, "/")
	return pkg
}

// sameImage reports whether two requests have the same tag, or the same digest if there is no tag. The later
// one of these counts.
func sameImage(a, b Request) bool {
	return a.Repository == b.Repository && a.Tag == b.Tag && (a.Tag != "" || a.Digest == b.Digest)
}

// imageOf returns the image's name in templates: by tag if one was announced, which is readable, or else by
// digest.
func imageOf(p event.Publication) string {
	if p.Tag != "" {
		return p.Repository + ":" + p.Tag
	}
	return p.Reference()
}
