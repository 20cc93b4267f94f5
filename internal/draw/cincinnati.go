package draw

import (
	"cmp"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
)

// Keys of the metadata of a Cincinnati graph's nodes.
const (
	cincinnatiChannels = "io.openshift.upgrades.graph.release.channels"
	cincinnatiManifest = "io.openshift.upgrades.graph.release.manifestref"
)

type (
	cincinnatiGraph struct {
		Nodes []cincinnatiNode `json:"nodes"`
		Edges [][2]int         `json:"edges"`
	}
	cincinnatiNode struct {
		Version  string            `json:"version"`
		Payload  string            `json:"payload"`
		Metadata map[string]string `json:"metadata"`
	}
)

// Cincinnati returns the graph of a package for clients of the Cincinnati protocol: bundles as nodes, oldest
// first, and upgrades as pairs of node indexes. With a channel, the graph contains the bundles and upgrades of
// that channel; otherwise those of all channels together. A bundle's metadata always names all of its channels.
// Entries without a bundle or version, and removed ones, are left out.
func Cincinnati(p Package, channel string) []byte {
	all := bundlesOf(p)
	out := cincinnatiGraph{Nodes: []cincinnatiNode{}, Edges: [][2]int{}}
	index := map[string]int{}
	for _, b := range all {
		if channel != "" && !slices.Contains(b.channels, channel) {
			continue
		}
		index[b.Name] = len(out.Nodes)
		metadata := map[string]string{cincinnatiChannels: strings.Join(b.channels, ",")}
		if _, digest, pinned := strings.Cut(b.Image, "@"); pinned {
			metadata[cincinnatiManifest] = digest
		}
		out.Nodes = append(out.Nodes, cincinnatiNode{b.Version, b.Image, metadata})
	}
	for _, ch := range p.Channels {
		if channel != "" && ch.Name != channel {
			continue
		}
		for _, e := range ch.Edges {
			from, known := index[ch.Nodes[e.From].Name]
			to, too := index[ch.Nodes[e.To].Name]
			if known && too && from != to && !e.Lost {
				out.Edges = append(out.Edges, [2]int{from, to})
			}
		}
	}
	slices.SortFunc(out.Edges, func(a, b [2]int) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	out.Edges = slices.Compact(out.Edges)
	return encode(out, "")
}

type cincinnatiBundle struct {
	Node
	order    semver.Version
	channels []string // sorted
}

// bundlesOf returns the bundles in the package's channels, each once, sorted by version.
func bundlesOf(p Package) []*cincinnatiBundle {
	byName := map[string]*cincinnatiBundle{}
	var all []*cincinnatiBundle
	for _, ch := range p.Channels {
		for _, n := range ch.Nodes {
			if n.Outside || n.Missing || n.Removed || n.Version == "" {
				continue
			}
			b := byName[n.Name]
			if b == nil {
				v, _ := semver.Parse(n.Version)
				b = &cincinnatiBundle{Node: n, order: v}
				byName[n.Name] = b
				all = append(all, b)
			}
			b.channels = append(b.channels, ch.Name)
		}
	}
	for _, b := range all {
		slices.Sort(b.channels)
		b.channels = slices.Compact(b.channels)
	}
	slices.SortStableFunc(all, func(a, b *cincinnatiBundle) int {
		return cmp.Or(a.order.Compare(b.order), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Name, b.Name))
	})
	return all
}
