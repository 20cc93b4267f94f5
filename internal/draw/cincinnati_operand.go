package draw

import (
	"strings"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/operand"
)

// OperandNode is a version of an operand.
type OperandNode struct {
	Version  string
	Images   []fbc.RelatedImage
	Channels []string
}

// CincinnatiOperand returns the versions of an operand and the upgrades between them, as pairs of node indexes,
// for clients of the Cincinnati protocol. The payload is the image with the operand's name, or else the first. If
// there are several images, the metadata contains all.
func CincinnatiOperand(name string, nodes []OperandNode, edges [][2]int) []byte {
	out := cincinnatiGraph{Nodes: []cincinnatiNode{}, Edges: append([][2]int{}, edges...)}
	for _, n := range nodes {
		payload := n.Images[0].Image
		metadata := map[string]string{cincinnatiChannels: strings.Join(n.Channels, ",")}
		for _, i := range n.Images {
			if i.Name == name {
				payload = i.Image
			}
			if len(n.Images) > 1 {
				metadata[operand.ImageMetadata+i.Name] = i.Image
			}
		}
		if _, digest, pinned := strings.Cut(payload, "@"); pinned {
			metadata[cincinnatiManifest] = digest
		}
		out.Nodes = append(out.Nodes, cincinnatiNode{n.Version, payload, metadata})
	}
	return encode(out, "")
}
