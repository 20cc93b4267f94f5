package publish

import (
	"context"
	"fmt"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/markdown"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
)

// noEdge is the value of an input that removes an edge. An empty one leaves the edge as it is.
const noEdge = "none"

// edges changes what the entries of a bundle replace and skip, in all templates of a package.
type edges struct{ edition }

func (e *edges) title(t Texts, _ int) (string, error) {
	return e.text(t.EditTitle, "Change the edges of")
}

func (e *edges) message(t Texts, _ int) (string, error) {
	return e.text(t.EditMessage, "Change the edges of")
}

func (e *edges) describe(b *strings.Builder) {
	asked := e.asked.Edit
	fmt.Fprintf(b, "Changes the edges of %s in package %s.\n\n", markdown.Code(asked.Edges), markdown.Code(asked.Package))
	if in := e.asked.Asked.Channels; len(in) > 0 {
		fmt.Fprintf(b, "Only the channels %s change.\n\n", markdown.Codes(in))
	}
	if asked.AllowStranded {
		b.WriteString("The request allows that installed versions lose their path to the head: the findings below name them.\n\n")
	}
}

func (*edges) unchanged() string { return "every template has these edges already" }
func (*edges) done() string      { return "Every template has these edges now." }

// wanted returns the requested edges.
func (e *edges) wanted() kind.Edges {
	asked := e.asked.Asked.Edges
	out := kind.Edges{
		Package: e.asked.Edit.Package, Bundle: e.asked.Edit.Edges, Channels: kind.Unique(e.asked.Asked.Channels), AllowStranded: e.asked.Edit.AllowStranded,
	}
	one := func(text string) *string {
		switch text {
		case "":
			return nil
		case noEdge:
			text = ""
		}
		return &text
	}
	out.Replaces, out.SkipRange = one(asked.Replaces), one(asked.SkipRange)
	if skips := asked.Skips; len(skips) == 1 && skips[0] == noEdge {
		out.Skips = &[]string{}
	} else if len(skips) > 0 {
		out.Skips = &skips
	}
	return out
}

// checkEdges refuses a change of edges that names none, and a range that cannot be read.
func (r Request) checkEdges() error {
	asked := r.Asked.Edges
	if asked.Replaces == "" && len(asked.Skips) == 0 && asked.SkipRange == "" {
		return failure.New(failure.Usage, "reading the inputs: edges names %s, and no input gives an edge", r.Edit.Edges).
			Fix("Give --replaces, --skips or --skip-range; none removes an edge.")
	}
	if asked.SkipRange != "" && asked.SkipRange != noEdge {
		if _, err := semver.ParseRange(asked.SkipRange); err != nil {
			return failure.New(failure.Usage, "reading the inputs: skip-range %q: %w", asked.SkipRange, err).Fix("Give a range such as >=1.0.0 <1.2.3.")
		}
	}
	return nil
}

// edit changes the templates that have the bundle. It refuses a bundle that no template has.
func (e *edges) edit(ctx context.Context, p *preparation) (subject, error) {
	found := false
	var missing error
	changed, err := e.eachTarget(ctx, p, func(t plan.Target) (*kind.Outcome, error) {
		o, err := template.SetEdges(p.files, t.Template, t.Template, t.Names, e.wanted())
		if failure.Is(err, failure.BundleNotFound) || failure.Is(err, failure.ChannelUnknown) {
			missing = err
			p.LeftOut = append(p.LeftOut, plan.LeftOut{Template: t.Template, Reason: "it has no entry " + e.asked.Edit.Edges + " to change"})
			return &kind.Outcome{}, nil
		}
		found = found || err == nil
		return o, err
	})
	switch {
	case err != nil:
		return nil, err
	case !found && missing != nil:
		return nil, missing
	case !changed:
		return nil, nil
	}
	p.meant = append(p.meant, e.strands)
	return e, nil
}
