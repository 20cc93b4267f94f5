// Package event reads what registries and GitHub send into what was published.
//
// An event is data of a stranger until it has passed here: what comes out names images by
// the grammar of the OCI distribution specification, lower case, bounded, and nothing else
// of the event comes out. Whether an image is wanted is decided by Check, whether it is
// what it claims to be by whoever pulls it.
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
	Tag        string   // may be empty where Digest is not
	Digest     string   // empty where the registry does not say it
	Source     FormName // who announced it
	ID         string   // the sender's name for this announcement, where it has one
	Said       Said
}

// Said is what a sender says of a bundle beyond where it is. Only Graft's own payload and
// inputs say it. It is a claim, to be held against the bundle itself.
type Said struct {
	Name, Package, Version string
	Channels               []string
}

// Reference is what to pull: by digest where that is known, by tag otherwise.
func (p Publication) Reference() string {
	if p.Digest != "" {
		return p.Repository + "@" + p.Digest
	}
	return p.Repository + ":" + p.Tag
}

// Image is all that is known: repository, tag and digest.
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

// Skipped is a part of an event that announces no bundle. Of its Publication only as much
// is known as the event says: of a pull or a ping, perhaps nothing.
type Skipped struct {
	Publication Publication
	Reason      string
}

// Ping is the GitHub event by which a webhook is tried out.
const Ping = "ping"

// Announcement is what one event says. GitHub's ping has no form.
type Announcement struct {
	Form         FormName
	Publications []Publication
	Skipped      []Skipped
	// Stated is the time at which the event says it was made, as it says so in StatedText; zero
	// where it does not.
	Stated     time.Time
	StatedText string
}

// Parse reads an event of a named form. Tags that match one of skipTags are skipped; nil
// stands for DefaultSkipTags. An event that announces nothing, such as a pull, is no
// failure; one that is malformed in any part is one failure and announces nothing.
func Parse(form FormName, body []byte, skipTags []string) (Announcement, error) {
	root, err := decode(form, body)
	if err != nil {
		return Announcement{}, err
	}
	return root.announcement(form, skipTags)
}

// ParseAny reads an event of any form: by the name of GitHub's event where one is given,
// by the body otherwise. Else it is Parse. GitHub gives a reusable workflow the event of its
// caller: its inputs are read under the name workflow_call.
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
		Fix("start the workflow on repository_dispatch, workflow_dispatch, registry_package or package, or name the image as an input")
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

// Found takes a publication. Its source is the form being read, unless it says another.
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

// Skip takes a part of the event that announces no bundle. Equal ones are told once.
func (n Node) Skip(p Publication, format string, args ...any) {
	p.Source = n.r.form
	s := Skipped{p, fmt.Sprintf(format, args...)}
	if key := p.Image() + " " + s.Reason; !n.r.told[key] {
		n.r.told[key] = true
		n.r.skipped = append(n.r.skipped, s)
	}
}

// merged are the publications without doubles.
//
//  1. Mentions of one tag are one; the digest is the one that any of them says.
//  2. Where they say different digests the tag was moved, and the last has it.
//  3. A digest without a tag is the mention of the same digest with a tag.
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
