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

// subject is what a change publishes: a bundle, the image of an operand, or that of a
// catalog; or what it takes out or deprecates. Each kind has a file of its own.
type subject interface {
	request() Request
	facts() Facts
	// version orders the subjects of a change, and lets one supersede lower ones of its
	// package; nil where there is none.
	version() *semver.Version
	// key is what there is one pull request for: its package, and what tells it from others.
	key(rolling bool) string
	branch(t Texts) (string, error)
	// covers reports whether it takes the place of a request.
	covers(r Request) bool
	// edit brings the files of a work to what the subject wants, and gives the subject as
	// catalogs name it; nil where nothing changed.
	edit(ctx context.Context, p *preparation) (subject, error)
	// title and message are for it and others, intro is what stands above its description.
	title(t Texts, others int) (string, error)
	message(t Texts, others int) (string, error)
	intro(t Texts) (string, error)
	describe(b *strings.Builder)
	// unchanged says why nothing changes, and done why its pull request is closed then.
	unchanged() string
	done() string
}

// Facts are what reports tell of a subject, as far as it could be read.
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

// learn finds out what a request is for, once for each request. What was just announced is
// waited for with patience.
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

// versioned is what bundles and operands' images have in common. Patterns of texts are filled
// with the same facts of both.
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

// text has a first line that tells how many others there are.
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
	if v.bundle.Digest != "" {
		fmt.Fprintf(b, "- digest: %s\n", markdown.Code(v.bundle.Digest))
	}
	b.WriteString("\n")
}

func (*versioned) unchanged() string { return "every catalog has it already" }
func (*versioned) done() string      { return "Every catalog has this by now." }

// byVersion compares by version; what has none comes first.
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

// inOrder are the subjects so that a change is the same in whatever order they came.
func inOrder(subjects []subject) []subject {
	return slices.SortedFunc(slices.Values(subjects), func(a, b subject) int {
		return cmp.Or(byVersion(a, b), strings.Compare(a.facts().Name, b.facts().Name))
	})
}

// add appends a subject unless one of its name is there.
func add(subjects []subject, s subject) []subject {
	if slices.ContainsFunc(subjects, func(o subject) bool { return o.facts().Name == s.facts().Name }) {
		return subjects
	}
	return append(subjects, s)
}

// packageOf is the part of a key that is a package's.
func packageOf(key string) string {
	pkg, _, _ := strings.Cut(key, "/")
	return pkg
}

// sameImage reports whether two requests are for one tag, or for one digest where there
// is no tag: of those the later one counts.
func sameImage(a, b Request) bool {
	return a.Repository == b.Repository && a.Tag == b.Tag && (a.Tag != "" || a.Digest == b.Digest)
}

// imageOf is how templates name the image: by tag where one was announced, as people
// read it, else by digest.
func imageOf(p event.Publication) string {
	if p.Tag != "" {
		return p.Repository + ":" + p.Tag
	}
	return p.Reference()
}
