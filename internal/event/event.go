// Package event reads the messages of registries and GitHub and returns what was published.
//
// An event is untrusted until this package has read it. The result contains images that follow the grammar of the
// OCI distribution specification, in lower case and bounded, and nothing else of the event. Check decides whether
// an image is allowed; the code that pulls the image verifies it.
package event

import (
	"fmt"
	"slices"
	"time"

	"github.com/olmgraft/graft/internal/failure"
)

// Publication is one image that was published.
type Publication struct {
	Repository string   // host and path: quay.io/x/y, docker.io/library/z
	Tag        string   // may be empty if Digest is set
	Digest     string   // empty if the registry does not report it
	Source     FormName // form of the announcement
	ID         string   // the sender's id for this announcement, if it has one
	Said       Said
}

// Said holds a sender's claims about a bundle. Only Graft's own payload and inputs contain them. They must be
// checked against the bundle.
type Said struct {
	Name, Package, Version string
	Channels               []string
}

// Reference returns the reference to pull: by digest if it is known, otherwise by tag.
func (p Publication) Reference() string {
	if p.Digest != "" {
		return p.Repository + "@" + p.Digest
	}
	return p.Repository + ":" + p.Tag
}

// Image returns everything known: repository, tag and digest.
func (p Publication) Image() string {
	image := p.Repository
	if p.Tag != "" {
		image += ":" + p.Tag
	}
	if p.Digest != "" {
		image += "@" + p.Digest
	}
	return image
}

// Skipped is a part of an event that announces no bundle. Its Publication holds what the event contains, which
// may be nothing for a pull or ping.
type Skipped struct {
	Publication Publication
	Reason      string
}

// Ping is the GitHub event that tests a webhook.
const Ping = "ping"

// Announcement is the content of one event. GitHub's ping has no form.
type Announcement struct {
	Form         FormName
	Publications []Publication
	Skipped      []Skipped
	// Stated is the time at which the event was made according to itself, or zero. StatedText is that time as
	// written in the event.
	Stated     time.Time
	StatedText string
}

// Parse reads an event of a named form. It skips tags that match one of skipTags; nil means DefaultSkipTags. An
// event that announces nothing, such as a pull, is not an error. An event with any malformed part is an error and
// announces nothing.
func Parse(form FormName, body []byte, skipTags []string) (Announcement, error) {
	root, err := decode(form, body)
	if err != nil {
		return Announcement{}, err
	}
	return root.announcement(form, skipTags)
}

// ParseAny reads an event of any form. It chooses the form by the name of GitHub's event if that is given,
// otherwise by the body. In a reusable workflow GitHub passes the caller's event; the name workflow_call selects
// its inputs.
func ParseAny(githubEvent string, body []byte, skipTags []string) (Announcement, error) {
	root, err := decode("", body)
	if err != nil {
		return Announcement{}, err
	}
	switch form, named := Named(FormName(githubEvent)); {
	case githubEvent == "":
		form, ok := detect(root)
		if !ok {
			root.Fail("is of no form that Graft knows")
			return Announcement{}, root.r.err
		}
		return root.announcement(form.Name, skipTags)
	case named && form.GitHub:
		return root.announcement(form.Name, skipTags)
	case githubEvent == Ping:
		return Announcement{Skipped: []Skipped{{Reason: "a ping announces nothing"}}}, nil
	}
	return Announcement{}, failure.New(failure.Usage, "reading the GitHub event: %s announces no image", quote(githubEvent)).
		Fix("Start the workflow on repository_dispatch, workflow_dispatch, registry_package or package, or give the image as an input.")
}

func (n Node) announcement(form FormName, skipTags []string) (Announcement, error) {
	n.readAs(form)
	if n.r.err != nil {
		return Announcement{}, n.r.err
	}
	a := Announcement{Form: form, Skipped: n.r.skipped}
	f, _ := Named(form)
	a.Stated, a.StatedText = f.stated(n.value)
	for _, p := range n.r.merged() {
		if reason := SkipReason(p.Tag, skipTags); reason != "" && (p.Tag != "" || !n.r.named) {
			a.Skipped = append(a.Skipped, Skipped{p, reason})
			continue
		}
		a.Publications = append(a.Publications, p)
	}
	a.Skipped = slices.Concat(a.Skipped, n.r.moved)
	return a, nil
}

// Found adds a publication. Its source is the form being read, unless it names another.
func (n Node) Found(p Publication) {
	if n.r.err != nil {
		return
	}
	if len(n.r.published) == maxPublications {
		n.Fail("announces more than %d images", maxPublications)
		return
	}
	if p.Source == "" {
		p.Source = n.r.form
	}
	n.r.published = append(n.r.published, p)
}

// Skip adds a part of the event that announces no bundle. Equal parts are added once.
func (n Node) Skip(p Publication, format string, args ...any) {
	p.Source = n.r.form
	s := Skipped{p, fmt.Sprintf(format, args...)}
	if key := p.Image() + " " + s.Reason; !n.r.told[key] {
		n.r.told[key] = true
		n.r.skipped = append(n.r.skipped, s)
	}
}

// merged returns the publications without duplicates.
//
//  1. Mentions of the same tag are one publication, with the digest that any of them has.
//  2. If their digests differ, the tag was moved, and the last digest counts.
//  3. A digest without a tag belongs to the mention of the same digest with a tag.
func (r *reader) merged() []Publication {
	var out []Publication
	at := map[string]int{}
	tagged := map[string]bool{}
	for _, p := range r.published {
		key := p.Repository + ":" + p.Tag
		if p.Tag == "" {
			key = p.Reference()
		}
		i, ok := at[key]
		if !ok {
			at[key] = len(out)
			out = append(out, p)
			continue
		}
		if known := out[i]; p.Digest != "" && known.Digest != p.Digest {
			if known.Digest != "" {
				r.moved = append(r.moved, Skipped{known, "its tag went on to " + p.Digest + " in the same event"})
			}
			out[i].Digest = p.Digest
		}
	}
	for _, p := range out {
		if p.Tag != "" && p.Digest != "" {
			tagged[p.Reference()] = true
		}
	}
	return slices.DeleteFunc(out, func(p Publication) bool { return p.Tag == "" && tagged[p.Reference()] })
}
