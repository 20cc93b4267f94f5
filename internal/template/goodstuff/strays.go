package goodstuff

import (
	"cmp"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/template/kind"
)

// strays are bundles that no entry names, for example a published bundle that is not inserted yet.
type strays struct {
	notes   []string
	channel string // the channel to which they are added
	found   []stray
}

type stray struct {
	fbc.Facts
	version semver.Version
}

// strays returns the strays among the bundles. If the template itself lists the image of a stray, rendering is
// refused unless strays are included: an image is listed because it belongs in the catalog.
func (t template) strays(byName map[string]fbc.Facts) (out strays, err error) {
	known := map[string]bool{}
	for _, g := range t.graphs {
		for _, name := range g.mentions() {
			known[name] = true
		}
	}
	listed := t.images.Strings()
	var refused []string
	for name, f := range byName {
		if known[name] {
			continue
		}
		v, err := semver.Parse(f.Version)
		if err != nil {
			return out, failure.New(failure.BundleInvalid, "rendering the template: the version %q of %s (%s): %w", f.Version, f.Name, f.Image, err).
				Fix("Narrow tagRegex so that it does not match.")
		}
		out.found = append(out.found, stray{f, v})
		if t.source.Strays == kind.RefuseStrays || slices.Contains(listed, f.Image) {
			refused = append(refused, name+" ("+f.Image+")")
		}
	}
	slices.SortFunc(out.found, func(a, b stray) int { return cmp.Or(a.version.Compare(b.version), cmp.Compare(a.Name, b.Name)) })
	if t.source.Strays == kind.IncludeStrays {
		out.channel, err = t.channelOfStrays(len(out.found) > 0)
		return out, err
	}
	if len(refused) > 0 {
		slices.Sort(refused)
		return out, t.root.FoldValue("graph-description").Failure(failure.RenderFailed, "rendering the template: no graph-description names the bundle %s", strings.Join(refused, ", ")).
			Fix("Add the bundle to entries, or narrow tagRegex and semverRange.")
	}
	for _, f := range out.found {
		out.notes = append(out.notes, f.Name+" ("+f.Image+") is left out: it is in the registry, and no graph-description names it")
	}
	return out, nil
}

func (t template) channelOfStrays(any bool) (string, error) {
	name := t.pkg.FoldText("defaultChannel")
	switch {
	case !any || slices.Contains(t.channelNames(), name):
		return name, nil
	case len(t.graphs) == 1:
		return t.graphs[0].name, nil
	}
	return "", t.root.FoldValue("graph-description").Failure(failure.RenderFailed, "rendering the template: there is no default channel that bundles without an entry could go into").
		Fix("Set defaultChannel, or add the bundles to entries.")
}

// into returns the entries of a channel, with the strays inserted at their places by version.
func (s strays) into(c channel) ([]string, error) {
	names := c.entries.Strings()
	if s.channel == "" || c.name != s.channel {
		return names, nil
	}
	for _, f := range s.found {
		index, err := orderIndex(names, kind.Request{Bundle: kind.Bundle{Name: f.Name, Version: f.version}})
		if err != nil {
			return nil, place(c.node, err)
		}
		names = slices.Insert(names, index, f.Name)
	}
	return names, nil
}
