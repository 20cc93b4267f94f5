package draw

import (
	"bytes"
	"encoding/json"
)

// The JSON of a picture names the ends of edges. What is not so is left out.
type (
	graphJSON struct {
		SchemaVersion int           `json:"schemaVersion"`
		Packages      []packageJSON `json:"packages"`
	}
	packageJSON struct {
		Name       string        `json:"name"`
		Deprecated bool          `json:"deprecated,omitempty"`
		Channels   []channelJSON `json:"channels"`
	}
	channelJSON struct {
		Name       string     `json:"name"`
		Default    bool       `json:"default,omitempty"`
		Deprecated bool       `json:"deprecated,omitempty"`
		New        bool       `json:"new,omitempty"`
		Nodes      []nodeJSON `json:"nodes"`
		Edges      []edgeJSON `json:"edges"`
	}
	nodeJSON struct {
		Name       string `json:"name"`
		Version    string `json:"version,omitempty"`
		Image      string `json:"image,omitempty"`
		SkipRange  string `json:"skipRange,omitempty"`
		Head       bool   `json:"head,omitempty"`
		Skipped    bool   `json:"skipped,omitempty"`
		Deprecated bool   `json:"deprecated,omitempty"`
		Outside    bool   `json:"outside,omitempty"`
		Missing    bool   `json:"missing,omitempty"`
		New        bool   `json:"new,omitempty"`
		Removed    bool   `json:"removed,omitempty"`
		Stranded   bool   `json:"stranded,omitempty"`
	}
	edgeJSON struct {
		From string `json:"from"`
		To   string `json:"to"`
		Kind string `json:"kind"`
		New  bool   `json:"new,omitempty"`
		Lost bool   `json:"lost,omitempty"`
	}
)

// JSON gives the whole graph, nothing folded: nodes the oldest first, and each edge
// from what is installed to what succeeds it.
func JSON(g Graph) []byte {
	out := graphJSON{SchemaVersion: 1, Packages: []packageJSON{}}
	for _, p := range g.Packages {
		pkg := packageJSON{Name: p.Name, Deprecated: p.Deprecated, Channels: []channelJSON{}}
		for _, ch := range p.Channels {
			pkg.Channels = append(pkg.Channels, ch.json())
		}
		out.Packages = append(out.Packages, pkg)
	}
	return encode(out, "  ")
}

func (ch *Channel) json() channelJSON {
	out := channelJSON{Name: ch.Name, Default: ch.Default, Deprecated: ch.Deprecated, New: ch.New, Nodes: []nodeJSON{}, Edges: []edgeJSON{}}
	for _, n := range ch.Nodes {
		out.Nodes = append(out.Nodes, nodeJSON(n))
	}
	for _, e := range ch.Edges {
		out.Edges = append(out.Edges, edgeJSON{ch.Nodes[e.From].Name, ch.Nodes[e.To].Name, e.Kind.String(), e.New, e.Lost})
	}
	return out
}

// encode gives JSON with a line end. Characters that mean something in HTML
// are left as they are: ranges are full of them.
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
