package graph

import (
	"github.com/olmgraft/graft/internal/draw"
)

// PictureBefore returns the picture of the options' Base, as the counterpart of Picture. It marks what the
// catalog no longer has as removed and lost.
func (c *Catalog) PictureBefore(o PictureOptions) draw.Graph {
	before := o.Base.Picture(PictureOptions{Package: o.Package, Channel: o.Channel})
	for i := range before.Packages {
		now := c.Package(before.Packages[i].Name)
		for j := range before.Packages[i].Channels {
			var ch *Channel
			if now != nil {
				ch = now.Channel(before.Packages[i].Channels[j].Name)
			}
			markGone(&before.Packages[i].Channels[j], ch)
		}
	}
	return before
}

func markGone(drawn *draw.Channel, now *Channel) {
	for i := range drawn.Nodes {
		n := &drawn.Nodes[i]
		n.Removed = !n.Outside && (now == nil || now.Entry(n.Name) == nil)
	}
	best := make([]int, len(drawn.Nodes)) // of ranges, show only the one that upgrades a bundle
	for _, e := range drawn.Edges {
		best[e.From] = max(best[e.From], e.To)
	}
	stood := now.stood()
	for i := range drawn.Edges {
		e := &drawn.Edges[i]
		gone := !stood(step{drawn.Nodes[e.From].Name, drawn.Nodes[e.To].Name, e.Kind})
		e.Lost = gone && (e.Kind != draw.SkipRange || e.To == best[e.From])
	}
}
