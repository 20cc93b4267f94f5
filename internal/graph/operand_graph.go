package graph

import (
	"cmp"
	"slices"

	"github.com/olmgraft/graft/internal/draw"
	"github.com/olmgraft/graft/internal/operand"
)

// OperandGraph returns the versions of an operand, or of a set of related images, that a channel's bundles
// accept, lowest first, and the upgrades between them: an operator that accepts two versions can move from the
// lower to the higher one. An empty package or channel means any. A version lists all channels in which a bundle
// accepts it.
func (c *Catalog) OperandGraph(name, pkg, channel string) (nodes []draw.OperandNode, edges [][2]int, err error) {
	versions, err := operand.Versions(c.entries, name, pkg)
	if err != nil {
		return nil, nil, err
	}
	channels := make([][]string, len(versions))
	wanted := make([]bool, len(versions))
	var pairs [][2]int
	for _, p := range c.Packages {
		if pkg != "" && p.Name != pkg {
			continue
		}
		for _, ch := range p.Channels {
			for _, entry := range ch.Entries {
				taken := takenBy(p.Bundle(entry.Name), versions, c.entries)
				for i, v := range taken {
					channels[v] = append(channels[v], ch.Name)
					if channel != "" && ch.Name != channel {
						continue
					}
					wanted[v] = true
					for _, lower := range taken[:i] {
						pairs = append(pairs, [2]int{lower, v})
					}
				}
			}
		}
	}
	index := make([]int, len(versions))
	for i, v := range versions {
		if index[i] = len(nodes); wanted[i] {
			slices.Sort(channels[i])
			nodes = append(nodes, draw.OperandNode{Version: v.Version.String(), Images: v.Images, Channels: slices.Compact(channels[i])})
		}
	}
	slices.SortFunc(pairs, func(a, b [2]int) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	for _, p := range slices.Compact(pairs) {
		edges = append(edges, [2]int{index[p[0]], index[p[1]]})
	}
	return nodes, edges, nil
}

// HasOperand reports whether the catalog has an entry with this name.
func (c *Catalog) HasOperand(name string) bool {
	return slices.ContainsFunc(c.entries, func(e *operand.Entry) bool { return e.Name == name })
}

// takenBy returns the indexes of the versions that a bundle accepts, in order. Only entries that apply to the
// bundle count.
func takenBy(b *Bundle, versions, entries []*operand.Entry) []int {
	var taken []int
	for i, v := range versions {
		if b != nil && slices.ContainsFunc(entries, func(e *operand.Entry) bool {
			return e.Schema == v.Schema && e.Name == v.Name && operand.Compare(e.Version, v.Version) == 0 && e.Serves(b.Package, b.Name) && operand.Takes(b.claims, e)
		}) {
			taken = append(taken, i)
		}
	}
	return taken
}
