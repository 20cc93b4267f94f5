package draw

import (
	"bytes"
	"encoding/json"
)

// JSON returns the whole graph without folding: nodes oldest first, and edges by the names of their ends, from
// installed bundle to successor. False flags are left out.
func JSON(g Graph) []byte {
	type (
		edge struct {
			From string `json:"from"`
			To   string `json:"to"`
			Kind string `json:"kind"`
			New  bool   `json:"new,omitempty"`
			Lost bool   `json:"lost,omitempty"`
		}
		channel struct {
			Channel
			Nodes []Node `json:"nodes"`
			Edges []edge `json:"edges"`
		}
		pkg struct {
			Package
			Channels []channel `json:"channels"`
		}
	)
	packages := []pkg{}
	for _, p := range g.Packages {
		channels := []channel{}
		for _, ch := range p.Channels {
			edges := []edge{}
			for _, e := range ch.Edges {
				edges = append(edges, edge{ch.Nodes[e.From].Name, ch.Nodes[e.To].Name, e.Kind.String(), e.New, e.Lost})
			}
			channels = append(channels, channel{ch, append([]Node{}, ch.Nodes...), edges})
		}
		packages = append(packages, pkg{p, channels})
	}
	return encode(struct {
		SchemaVersion int   `json:"schemaVersion"`
		Packages      []pkg `json:"packages"`
	}{1, packages}, "  ")
}

// encode returns JSON with a final line feed. It does not escape HTML characters, because ranges contain many of
// them.
func encode(v any, indent string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		panic("encoding strings, numbers and flags cannot fail: " + err.Error())
	}
	return b.Bytes()
}
