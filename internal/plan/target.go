package plan

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/reference"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
)

// target plans one candidate. It adds it to the plan or leaves it out.
func (p *planner) target(c candidate) error {
	o, err := p.open(c)
	if err != nil {
		return err
	}
	if c.byGlob {
		if pkg := o.description().Package; pkg != "" && pkg != p.in.Bundle.Package {
			p.leaveOut(c.path, "", "it is a template of package %s", pkg)
			return nil
		}
	}
	t := Target{Template: c.path, Kind: o.kind, Create: o.file == nil, SemverSkips: p.semverSkips(c), Reasons: slices.Clone(c.reasons)}
	if t.Create {
		p.reason(&t.Reasons, "%s does not exist yet. Graft creates it as a %s template.", c.path, o.kind)
	}
	wanted, err := p.catalogs(c, &t)
	if err != nil || !wanted {
		return err
	}
	published, names, err := p.published(c, &t)
	if err != nil {
		return err
	}
	wanted, err = p.requests(c, o, &t, published, names)
	if err != nil || !wanted {
		return err
	}
	if err := errors.Join(p.foreign(c, o, &t), p.noteChannels(c, o, &t), p.fields(c, o, &t)); err != nil {
		return err
	}
	p.add(t)
	return nil
}

func (p *planner) semverSkips(c candidate) kind.SemverSkips {
	return cmp.Or(p.in.Asked.SemverSkips, c.SemverSkips, p.setup.SemverSkips)
}

// Policies for a bundle that is in the template with another image.
const (
	Refuse  = "refuse"
	Replace = "replace"
)

// requests decides what to insert into the template. It returns false if the setup puts the bundle into none of
// its channels.
func (p *planner) requests(c candidate, o *opened, t *Target, published *kind.Published, names map[string]string) (bool, error) {
	rule, wanted, err := p.channels(c, o, t)
	if err != nil || !wanted {
		return false, err
	}
	edges := p.setup.Edges
	if c.Edges != nil {
		edges = *c.Edges
	}
	r := kind.Request{
		Bundle:                  p.plan.Bundle,
		Channels:                rule.channels,
		SubstitutesFor:          p.in.Asked.SubstitutesFor,
		NoRewire:                edges.NoRewire,
		AllowMissingPredecessor: edges.AllowMissingPredecessor,
		Promote:                 p.promoted,
		AsNamed:                 p.setup.Community != nil, // the community's pipeline names images as published
		Rebuild:                 cmp.Or(p.in.Asked.Rebuild, c.Rebuild, p.setup.Rebuild) == Replace,
		Published:               published,
		Names:                   names,
	}
	if _, tag, digest := reference.Cut(r.Bundle.Image); tag != "" && digest == "" && len(p.all) > 1 && len(o.description().Bundles) == 0 {
		r.Beside = p.beside()
	}
	if r.InsteadOf, err = p.insteadOf(rule.channels, c, o, t, published, names); err != nil {
		return false, err
	}
	if r.DefaultChannel, err = p.defaultChannel(rule, c, o, t); err != nil {
		return false, err
	}
	p.newChannels(&r, c, o, t)
	t.Requests, err = p.edges(r, edges, c, o, t)
	return true, err
}

// beside returns the bundles of all planned templates of the package. Templates of other packages and those that
// cannot be read do not count; planning them reports why. It reads each template once, because many may have no
// bundles.
func (p *planner) beside() []kind.BundleRef {
	if p.besides != nil {
		return p.besides
	}
	p.besides = []kind.BundleRef{}
	for _, one := range p.all {
		if o, err := p.open(one); err == nil && o.description().Package == p.in.Bundle.Package {
			p.besides = append(p.besides, o.description().Bundles...)
		}
	}
	return p.besides
}

// placed is the place of a bundle.
type placed struct {
	channels       []string
	defaultChannel Pattern
}

// channels decides the channels: the requested ones, or else those of the setup's rules, the bundle's annotations
// if the setup uses them, or the template's own choice.
func (p *planner) channels(c candidate, o *opened, t *Target) (placed, bool, error) {
	if asked := kind.Unique(p.in.Asked.Channels); len(asked) > 0 {
		p.reason(&t.Reasons, "It goes into %s, as requested.", strings.Join(asked, ", "))
		return placed{channels: asked}, true, nil
	}
	if c.OnlyAsked {
		p.leaveOut(c.path, "", "%s", c.Unless)
		return placed{}, false, nil
	}
	if len(c.Rules) > 0 {
		return p.ruled(c, t)
	}
	out := placed{defaultChannel: c.DefaultChannel}
	if c.FromBundle {
		found, err := p.annotated(c, o)
		if err != nil {
			return out, false, err
		}
		if out.channels = found; len(found) > 0 {
			p.reason(&t.Reasons, "It goes into %s: %s takes them from the bundle's annotations.", strings.Join(found, ", "), p.setup.File)
			return out, true, nil
		}
	}
	if template.Traits(o.kind).OfTemplates {
		p.reason(&t.Reasons, "No channels are given: each part of %s takes it into its only channel, else into its default channel.", c.path)
		return out, true, nil
	}
	choice, err := p.choice(c, o)
	if err != nil {
		return out, false, err
	}
	p.reason(&t.Reasons, "It goes into %s, %s, because no channels are given.", choice.Channel, choice.Why)
	if others, err := p.annotated(c, o); err == nil && !c.FromBundle && len(others) > 0 && !slices.Equal(others, []string{choice.Channel}) {
		p.reason(&t.Reasons, "The bundle's annotations name %s, which count with channels: from-bundle only.", strings.Join(others, ", "))
	}
	out.channels = []string{choice.Channel}
	return out, true, nil
}

func (p *planner) ruled(c candidate, t *Target) (placed, bool, error) {
	v := p.in.Bundle.Version
	i := slices.IndexFunc(c.Rules, func(r ChannelRule) bool { return r.Versions.Fits(v) })
	if i < 0 {
		p.leaveOut(c.path, "", "no rule of %s fits version %s", p.setup.File, v)
		return placed{}, false, nil
	}
	rule, out := c.Rules[i], placed{defaultChannel: c.DefaultChannel}
	if rule.DefaultChannel != "" {
		out.defaultChannel = rule.DefaultChannel
	}
	for _, pattern := range rule.Channels {
		name, err := pattern.For(p.in.Bundle)
		if err == nil && !channelGrammar.MatchString(name) {
			err = fmt.Errorf("%q is not the name of a channel", name)
		}
		if err != nil {
			return placed{}, false, p.misconfigured(c.TargetSetup, "naming a channel: %w", err)
		}
		out.channels = append(out.channels, name)
	}
	out.channels = kind.Unique(out.channels)
	why := ""
	if rule.Versions != "" {
		why = fmt.Sprintf(" for versions %s, of which %s is one", rule.Versions, v)
	}
	p.reason(&t.Reasons, "It goes into %s, as %s says%s.", strings.Join(out.channels, ", "), p.setup.File, why)
	return out, true, nil
}

// annotated returns the channels of the bundle's annotations that the template can have.
func (p *planner) annotated(c candidate, o *opened) ([]string, error) {
	channels := kind.Unique(p.in.Annotated)
	if archetypes := template.Traits(o.kind).Archetypes; len(archetypes) > 0 {
		channels = slices.DeleteFunc(channels, func(c string) bool {
			return !slices.ContainsFunc(archetypes, func(a string) bool { return strings.EqualFold(a, c) })
		})
	}
	for _, ch := range channels {
		if !channelGrammar.MatchString(ch) {
			return nil, failure.New(failure.BundleInvalid, "planning for %s: its annotations name the channel %q, which is no name", p.in.Bundle.Name, ch).
				Fix("Give the channels of %s.", c.path)
		}
	}
	return channels, nil
}

// choice returns the channel that the template itself chooses.
func (p *planner) choice(c candidate, o *opened) (choice template.Choice, err error) {
	choice.Known = template.Traits(o.kind).Archetypes
	if o.file != nil {
		if choice, err = o.file.Choose(p.in.Bundle.Package); err != nil || choice.Channel != "" {
			return choice, err
		}
	}
	missing := failure.New(failure.Usage, "planning for %s: no channel of %s is given", p.in.Bundle.Name, c.path).At(c.path, 0, 0)
	if len(choice.Known) > 0 {
		return choice, missing.Fix("Name channels with --channels or in .github/graft.yaml; the template has %s.", strings.Join(choice.Known, ", "))
	}
	return choice, missing.Fix("Name channels with --channels or in .github/graft.yaml.")
}
