package publish

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/markdown"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
)

// removal removes bundles and channels from all templates of a package.
type removal struct{ edition }

func (r *removal) title(t Texts, _ int) (string, error)   { return r.text(t.EditTitle, r.does()) }
func (r *removal) message(t Texts, _ int) (string, error) { return r.text(t.EditMessage, r.does()) }

func (r *removal) does() string {
	if r.asked.Edit.Tombstone {
		return "Make tombstones of"
	}
	return "Remove"
}

func (r *removal) describe(b *strings.Builder) {
	asked := r.asked.Edit
	if asked.Tombstone {
		fmt.Fprintf(b, "Makes tombstones of %s in package %s: the bundles go, and the versions after them skip their entries.\n\n", markdown.Code(asked.inWords()), markdown.Code(asked.Package))
	} else {
		fmt.Fprintf(b, "Removes %s from package %s.\n\n", markdown.Code(asked.inWords()), markdown.Code(asked.Package))
	}
	if from := r.asked.Asked.Channels; len(from) > 0 && len(asked.Remove) > 0 {
		fmt.Fprintf(b, "Bundles go from the channels %s only.\n\n", markdown.Codes(from))
	}
	if asked.AllowStranded {
		b.WriteString("Who asked for it allows that installed versions lose their way to the head: the findings below name them.\n\n")
	}
}

func (r *removal) unchanged() string {
	if r.asked.Edit.Tombstone {
		return "no template has an entry " + r.asked.Edit.inWords() + " that is no tombstone yet"
	}
	return "no template has " + r.asked.Edit.inWords()
}

func (r *removal) done() string {
	if r.asked.Edit.Tombstone {
		return "These are tombstones already."
	}
	return "No template has this any more."
}

// edit removes channels first, then bundles of the remaining channels.
func (r *removal) edit(ctx context.Context, p *preparation) (subject, error) {
	asked := r.asked.Edit
	changed, err := r.eachTarget(ctx, p, func(t plan.Target) (*kind.Outcome, error) {
		out := &kind.Outcome{}
		one := kind.Removal{
			Package: asked.Package, DefaultChannel: r.asked.Asked.DefaultChannel, AllowStranded: asked.AllowStranded, SemverSkips: t.SemverSkips,
			Names: p.namesOfUsers(t), NamesOf: p.namesOf(ctx, "the target's catalogs, the registry"),
		}
		if len(asked.RemoveChannels) > 0 {
			one.Channels = kind.Unique(asked.RemoveChannels)
			if err := p.remove(out, t, one); err != nil {
				return nil, err
			}
		}
		if len(asked.Remove) == 0 {
			return out, nil
		}
		one.Tombstone = asked.Tombstone
		one.Bundles, one.Channels = kind.Unique(asked.Remove), kind.Unique(r.asked.Asked.Channels)
		return out, p.remove(out, t, one)
	})
	if !changed || err != nil {
		return nil, err
	}
	p.meant = append(p.meant, r.meant)
	return r, nil
}

// remove makes one removal after the earlier ones.
func (p *preparation) remove(out *kind.Outcome, t plan.Target, r kind.Removal) error {
	o, err := template.Remove(p.files, t.Template, t.Template, t.Names, r)
	if err != nil {
		return err
	}
	p.take(o.Files)
	if p.sum != nil {
		for _, c := range o.Changes {
			if c.What == kind.BundleRemoved {
				p.sum.Forget(c.From) // if another template has it, it is recorded again
			}
		}
	}
	out.Add(o)
	return nil
}

// meant reports whether the request asked for a finding, which is then a warning.
func (r *removal) meant(f graph.Finding) bool {
	asked := r.asked.Edit
	switch {
	case f.Package != asked.Package:
		return false
	case f.ID == "entry-pruned":
		return slices.Contains(asked.Remove, f.Bundle)
	case f.ID == "channel-pruned":
		return slices.Contains(asked.RemoveChannels, f.Channel)
	}
	return r.strands(f)
}
