package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/reference"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
)

// PublishedSetup names a catalog that users have. {platform} in the name is the platform of each catalog of a
// target.
type PublishedSetup struct {
	Platform string // such as 4.20; empty: any
	Catalog  Pattern
}

// Published is a catalog that users have: an image, a file or a directory.
type Published struct {
	Catalog  string
	Platform *Platform // its platform; nil: any
	// Derived reports that the name contains the platform, so that the catalog may not exist yet.
	Derived bool
}

// Concerns reports whether users of a catalog for the platform have this one.
func (p Published) Concerns(platform *Platform) bool {
	return p.Platform == nil || platform == nil || *p.Platform == *platform
}

// HeadUnpublished is the rule that a bundle replaces the channel's head in place as long as no user can have the
// head.
const HeadUnpublished = "head-unpublished"

// published returns the package's content in the catalogs that users of the target's catalogs have.
func (p *planner) published(c candidate, t *Target) (*kind.Published, map[string]string, error) {
	platforms := t.platforms()
	for _, setup := range p.setupOfPublished(c) {
		found, err := p.publishedOf(setup, c, platforms)
		if err != nil {
			return nil, nil, err
		}
		t.Published = append(t.Published, found...)
	}
	if len(t.Published) == 0 {
		return nil, nil, nil
	}
	docs, err := p.in.Published(t.Published)
	if err != nil {
		return nil, nil, err
	}
	has, names := &kind.Published{}, map[string]string{}
	for _, one := range t.Published {
		has.Add(one.Catalog, docs[one.Catalog])
		kind.AddNames(names, docs[one.Catalog])
	}
	return has, names, nil
}

func (p *planner) setupOfPublished(c candidate) []PublishedSetup {
	if c.Published != nil {
		return c.Published
	}
	return p.setup.Published
}

// platforms returns the platforms of the target, or nil if that of a catalog is unknown.
func (t *Target) platforms() []*Platform {
	var all []*Platform
	for _, c := range t.Catalogs {
		if c.Platform == nil {
			return nil
		}
		all = append(all, c.Platform)
	}
	if platform, ok := PlatformOf(t.Template); ok && len(all) == 0 {
		all = append(all, &platform)
	}
	return all
}

func (p *planner) publishedOf(setup PublishedSetup, c candidate, platforms []*Platform) (all []Published, err error) {
	derived := setup.Catalog.Uses(platformName) || setup.Catalog.Uses(platformDashed)
	name := func(platform *Platform) error {
		more := map[string]string{}
		if platform != nil {
			more[platformName], more[platformDashed] = platform.String(), strings.ReplaceAll(platform.String(), ".", "-")
		}
		text, err := setup.Catalog.with(p.in.Bundle, more)
		if err != nil {
			return p.misconfigured(c.TargetSetup, "finding a published catalog: %w", err)
		}
		all = append(all, Published{text, platform, derived})
		return nil
	}
	if own, ok := ParsePlatform(setup.Platform); ok {
		if platforms == nil || slices.ContainsFunc(platforms, func(o *Platform) bool { return *o == own }) {
			err = name(&own)
		}
		return all, err
	}
	if !derived {
		return all, name(nil)
	}
	if platforms == nil {
		return nil, p.misconfigured(c.TargetSetup, "finding the published catalog of %s: no platform is known for {platform} in %s", c.path, setup.Catalog).
			Fix("Give its catalogs a platform, or list the target's catalogs in its own published.")
	}
	for _, platform := range platforms {
		if err := name(platform); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// insteadOf returns the bundle that the new bundle replaces in place: the requested one, or by the rule the head
// of the channels, if the head is lower and no user can have it. A bundle that already exists replaces none; at
// most it is rebuilt.
func (p *planner) insteadOf(channels []string, c candidate, o *opened, t *Target, has *kind.Published, names map[string]string) (string, error) {
	rule := p.setup.InsteadOf
	if c.InsteadOf != "" {
		rule = c.InsteadOf
	}
	if asked := p.in.Asked.InsteadOf; asked != "" || rule != HeadUnpublished {
		return asked, nil
	}
	if len(p.setupOfPublished(c)) == 0 {
		return "", p.misconfigured(c.TargetSetup, "planning for %s: insteadOf needs the published catalogs, and published is not set", p.in.Bundle.Name).
			Fix("Name them with published, or leave out insteadOf.")
	}
	if template.Traits(o.kind).OfTemplates {
		p.warn("%s: a composite template does not tell the heads of its channels, so insteadOf: %s leaves them alone.", c.path, HeadUnpublished)
		return "", nil
	}
	standing, err := p.entries(o, t, names)
	if err != nil {
		return "", err
	}
	for _, entries := range standing {
		if slices.ContainsFunc(entries, func(e fbc.Entry) bool { return e.Name == p.in.Bundle.Name }) {
			return "", nil
		}
	}
	var heads []string
	for _, channel := range channels {
		if len(template.Traits(o.kind).Archetypes) > 0 {
			channel = strings.ToLower(channel)
		}
		head, why := p.replaceable(standing[channel], has)
		if head != "" {
			heads = append(heads, head)
			continue
		}
		if why != "" {
			p.reason(&t.Reasons, "Channel %s: it is added, and takes the place of no bundle: %s.", channel, why)
		}
	}
	switch heads = kind.Unique(heads); len(heads) {
	case 0:
		return "", nil
	case 1:
		p.reason(&t.Reasons, "It takes the place of %s: that is the head, and %s.", heads[0], inNone(t.Published))
		return heads[0], nil
	}
	p.warn("%s: %s are heads that nobody can have yet, and one bundle takes the place of one: it is added. Name the one to give up with instead-of.", c.path, strings.Join(heads, " and "))
	return "", nil
}

func inNone(published []Published) string {
	switch len(published) {
	case 0:
		return "nothing is published for its platforms"
	case 1:
		return published[0].Catalog + " does not have it"
	}
	return fmt.Sprintf("none of the %d published catalogs has it", len(published))
}

// replaceable returns the head of a channel if the bundle may replace it, or else the reason why not.
func (p *planner) replaceable(entries []fbc.Entry, has *kind.Published) (head, why string) {
	if unknown := slices.IndexFunc(entries, func(e fbc.Entry) bool { return strings.Contains(e.Name, "/") }); unknown >= 0 {
		return "", "it is unknown which bundle " + entries[unknown].Name + " is"
	}
	if head = headOf(entries); head == "" {
		return "", ""
	}
	v, ok := graph.VersionOf(head)
	switch {
	case !ok:
		return "", "its head " + head + " does not tell its version"
	case v.GT(p.in.Bundle.Version):
		return "", "its head " + head + " is the higher version"
	case has.HasVersion(head) != "":
		return "", "its head " + head + " is published in " + has.HasVersion(head)
	}
	return head, ""
}

// headOf returns the entry that no other replaces or skips. Of several it returns the one with the highest
// version.
func headOf(entries []fbc.Entry) (head string) {
	below := map[string]bool{}
	for _, e := range entries {
		below[e.Replaces] = true
		for _, s := range e.Skips {
			below[s] = true
		}
	}
	for _, e := range entries {
		if below[e.Name] {
			continue
		}
		v, _ := graph.VersionOf(e.Name)
		if highest, _ := graph.VersionOf(head); head == "" || v.GT(highest) {
			head = e.Name
		}
	}
	return head
}

// entries returns the entries of each channel. For a template that generates its edges, they have no edges, and
// its images get their known names, or names derived from their tags.
func (p *planner) entries(o *opened, t *Target, names map[string]string) (map[string][]fbc.Entry, error) {
	if o.hasEdges() {
		return channelEntries(o.file, p.in.Bundle.Package)
	}
	for _, c := range t.Catalogs {
		if docs, err := p.files.Catalog(c.Path); err == nil { // an unreadable catalog yields no names
			kind.AddNames(names, docs)
		}
	}
	all := map[string][]fbc.Entry{}
	for _, ch := range o.description().Channels {
		channel := ch.Name
		if len(template.Traits(o.kind).Archetypes) > 0 {
			channel = strings.ToLower(channel) // so that case does not matter
		}
		for _, image := range ch.Entries {
			_, _, digest := reference.Cut(image)
			name := names[image]
			if name == "" && digest != "" {
				name = names[digest]
			}
			if v, ok := kind.ImageVersion(image); name == "" && ok {
				name = p.in.Bundle.Package + ".v" + v.String()
			}
			if name == "" {
				name = image
			}
			all[channel] = append(all[channel], fbc.Entry{Name: name})
		}
	}
	return all, nil
}
