package publish

import (
	"context"
	"fmt"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/markdown"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
)

// deprecation adds a deprecation to all templates of a package.
type deprecation struct{ edition }

func (d *deprecation) title(t Texts, _ int) (string, error) { return d.text(t.EditTitle, "Deprecate") }

func (d *deprecation) message(t Texts, _ int) (string, error) {
	return d.text(t.EditMessage, "Deprecate")
}

func (d *deprecation) describe(b *strings.Builder) {
	asked := d.asked.Edit
	fmt.Fprintf(b, "Deprecates %s", markdown.Code(asked.inWords()))
	if asked.inWords() != asked.Package {
		fmt.Fprintf(b, " of package %s", markdown.Code(asked.Package))
	}
	fmt.Fprintf(b, ": %s\n\n", markdown.Escape(asked.Deprecation))
}

func (*deprecation) unchanged() string { return "every template says so already" }
func (*deprecation) done() string      { return "Every template says this by now." }

// edit makes one deprecation after the other. It skips templates without the bundle or channel, and refuses one
// that no template has.
func (d *deprecation) edit(ctx context.Context, p *preparation) (subject, error) {
	found, missing := map[string]bool{}, map[string]error{}
	changed, err := d.eachTarget(ctx, p, func(t plan.Target) (*kind.Outcome, error) {
		out := &kind.Outcome{}
		for name, one := range d.each() {
			o, err := template.Deprecate(p.files, t.Template, t.Template, t.Names, one)
			if failure.Is(err, failure.BundleNotFound) || failure.Is(err, failure.ChannelUnknown) {
				missing[name] = err
				p.LeftOut = append(p.LeftOut, plan.LeftOut{Template: t.Template, Reason: "it has no " + name})
				continue
			}
			if err != nil {
				return nil, err
			}
			found[name] = true
			p.take(o.Files)
			out.Add(o)
		}
		return out, nil
	})
	if err != nil {
		return nil, err
	}
	for name := range d.each() {
		if !found[name] && missing[name] != nil {
			return nil, missing[name]
		}
	}
	if !changed {
		return nil, nil
	}
	p.meant = append(p.meant, d.strands)
	return d, nil
}

// each returns the deprecations by bundle or channel name.
func (d *deprecation) each() func(yield func(string, kind.Deprecation) bool) {
	asked := d.asked.Edit
	bundles, channels := asked.names()
	return func(yield func(string, kind.Deprecation) bool) {
		one := kind.Deprecation{Package: asked.Package, Message: asked.Deprecation}
		if len(bundles)+len(channels) == 0 {
			yield("package "+asked.Package, one)
			return
		}
		for _, name := range channels {
			one.Channels = []string{name}
			if !yield("channel "+name, one) {
				return
			}
		}
		one.Channels = nil
		for _, name := range bundles {
			one.Bundles = []string{name}
			if !yield("bundle "+name, one) {
				return
			}
		}
	}
}
