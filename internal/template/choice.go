package template

import (
	"cmp"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/template/kind"
)

// Choice is the channel for a bundle without requested channels: the only channel of its package, or the default
// channel; with archetypes, the least stable one in the template.
type Choice struct {
	Channel string // empty: the template does not decide
	Why     string // a description of the channel, such as: the only one of t.yaml
	Known   []string
}

// Choose decides for a package. A template made of templates leaves the choice to them.
func (t *Template) Choose(pkg string) (Choice, error) {
	traits := t.Kind.Traits()
	if traits.OfTemplates {
		return Choice{}, nil
	}
	channels, byDefault, err := t.ChannelsOf(pkg)
	if err != nil {
		return Choice{}, err
	}
	c := Choice{Known: channels}
	lowest := slices.IndexFunc(traits.Archetypes, func(a string) bool { return holds(channels, a) })
	if len(traits.Archetypes) > 0 {
		c.Known = traits.Archetypes
	}
	switch {
	case len(channels) == 1:
		c.Channel, c.Why = channels[0], "the only one of "+t.Source.Name
	case lowest >= 0:
		c.Channel, c.Why = traits.Archetypes[lowest], "the least stable one of "+t.Source.Name
	case len(traits.Archetypes) == 0 && slices.Contains(channels, byDefault):
		c.Channel, c.Why = byDefault, "the default channel of "+t.Source.Name
	}
	return c, nil
}

// ChannelsOf returns the channels of a package and its default channel. In a template with a single package these
// are all channels.
func (t *Template) ChannelsOf(pkg string) (channels []string, byDefault string, err error) {
	d := t.Kind.Describe(&t.Source)
	for _, c := range d.Channels {
		channels = append(channels, c.Name)
	}
	k, ok := t.Kind.(kind.HasEdges)
	if !ok || d.Package != "" {
		return channels, d.DefaultChannel, nil
	}
	docs, err := k.Documents(&t.Source)
	channels = nil
	for _, doc := range docs {
		switch {
		case doc.Schema == fbc.SchemaChannel && cmp.Or(doc.Package, pkg) == pkg:
			channels = append(channels, doc.Name)
		case doc.Schema == fbc.SchemaPackage && doc.Name == pkg:
			p, err := doc.PackageDoc()
			if err != nil {
				return nil, "", err
			}
			byDefault = p.DefaultChannel
		}
	}
	return channels, byDefault, err
}

func holds(channels []string, archetype string) bool {
	return slices.ContainsFunc(channels, func(c string) bool { return strings.EqualFold(c, archetype) })
}

// chosen returns the request with the channel that the template chooses, if the request names none and needs one.
func (t *Template) chosen(r kind.Request) (kind.Request, string, error) {
	if len(kind.Unique(r.Channels)) > 0 || r.InsteadOf != "" || r.Rebuild || r.SubstitutesFor != "" || t.Kind.Traits().OfTemplates {
		return r, "", nil
	}
	c, err := t.Choose(r.Bundle.Package)
	if err != nil {
		return r, "", err
	}
	if c.Channel == "" {
		return r, "", kind.UnknownChannel(r, c.Known).At(t.Source.Name, 0, 0)
	}
	r.Channels = []string{c.Channel}
	return r, r.Bundle.Name + " goes into " + c.Channel + ", " + c.Why + ", as no channel is given", nil
}
