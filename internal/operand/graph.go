package operand

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
)

// TypeGraph is the type of a property that lists the versions of an operand that a bundle accepts. Its value is a
// Cincinnati graph plus the operand's name.
const TypeGraph = "olm.operand.graph"

// ImageMetadata is the prefix of a node's metadata keys that hold named images, for versions with several images.
const ImageMetadata = "io.olm.operand.image."

// Graph is the value of an olm.operand.graph property.
type Graph struct {
	Name  string      `json:"name"`
	Nodes []GraphNode `json:"nodes"`
	Edges [][2]int    `json:"edges"`
}

// GraphNode is a version of the operand. Its image is the payload, unless the metadata has images.
type GraphNode struct {
	Version  string            `json:"version"`
	Payload  string            `json:"payload"`
	Metadata map[string]string `json:"metadata,omitempty"`
}

// ParseGraph reads a property's value. ok is false for properties of other types.
func ParseGraph(typ string, value []byte) (g Graph, ok bool, err error) {
	if typ != TypeGraph {
		return g, false, nil
	}
	wrong := func(format string, args ...any) (Graph, bool, error) {
		return g, true, failure.New(failure.TemplateMalformed, "property %s: %s", typ, fmt.Sprintf(format, args...))
	}
	if err := json.Unmarshal(value, &g); err != nil {
		return wrong("it must have name, nodes and edges")
	}
	if g.Name == "" {
		return wrong("it has no name")
	}
	if len(g.Nodes) == 0 {
		return wrong("it has no nodes")
	}
	seen := map[string]bool{}
	for _, n := range g.Nodes {
		v, err := semver.Parse(n.Version)
		if err != nil {
			return wrong("the version %q of a node is not a semantic version: %v", n.Version, err)
		}
		if seen[v.String()] {
			return wrong("two nodes have the version %s", n.Version)
		}
		seen[v.String()] = true
		for _, i := range g.images(n) {
			if _, ok := parseReference(i.Image); !ok {
				return wrong("the image of %s is not an image reference: %q", n.Version, i.Image)
			}
		}
	}
	for _, e := range g.Edges {
		if min(e[0], e[1]) < 0 || max(e[0], e[1]) >= len(g.Nodes) || e[0] == e[1] {
			return wrong("the edge %v does not lead from one of its %d nodes to another", e, len(g.Nodes))
		}
	}
	return g, true, nil
}

// Property writes a Cincinnati graph in the form of a bundle's metadata/properties.yaml.
func Property(name string, graph []byte) ([]byte, error) {
	g := Graph{Name: name}
	if err := json.Unmarshal(graph, &g); err != nil {
		return nil, failure.New(failure.Internal, "writing the property: %w", err)
	}
	value, err := json.Marshal(g)
	if err != nil {
		return nil, failure.New(failure.Internal, "writing the property: %w", err)
	}
	if _, _, err := ParseGraph(TypeGraph, value); err != nil {
		return nil, failure.New(failure.OperandUnresolvable, "writing the property of %s: %s", name, failure.Of(err).Message).Fix("Name a channel whose bundles use versions of it.")
	}
	body, err := json.Marshal(map[string]any{"properties": []fbc.Property{{Type: TypeGraph, Value: value}}})
	if err != nil {
		return nil, failure.New(failure.Internal, "writing the property: %w", err)
	}
	return fbc.Encode(fbc.YAML, body)
}

func (g Graph) images(n GraphNode) []fbc.RelatedImage {
	var out []fbc.RelatedImage
	for _, key := range slices.Sorted(maps.Keys(n.Metadata)) {
		if name, ok := strings.CutPrefix(key, ImageMetadata); ok {
			out = append(out, fbc.RelatedImage{Name: name, Image: n.Metadata[key]})
		}
	}
	if len(out) == 0 {
		out = []fbc.RelatedImage{{Name: g.Name, Image: n.Payload}}
	}
	return out
}

// Entries returns the nodes as entries that only the bundle uses.
func (g Graph) Entries(at Pos, pkg, bundle string) []Entry {
	var out []Entry
	for _, n := range g.Nodes {
		v, _ := semver.Parse(n.Version) // ParseGraph has checked it
		out = append(out, Entry{Pos: at, Schema: SchemaOperand, Package: pkg, Bundle: bundle, Name: g.Name, Version: v, Images: g.images(n)})
	}
	return out
}

// Claim returns the claim that the bundle supports exactly the versions of the graph.
func (g Graph) Claim() Claim {
	var all []semver.Version
	for _, n := range g.Nodes {
		v, _ := semver.Parse(n.Version)
		all = append(all, v)
	}
	return Claim{Type: TypeSupported, Name: g.Name, Range: Range{Text: "the versions of its graph", holds: func(v semver.Version) bool {
		return slices.ContainsFunc(all, func(o semver.Version) bool { return Compare(o, v) == 0 })
	}}}
}
