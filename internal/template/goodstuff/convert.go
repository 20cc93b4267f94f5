package goodstuff

import (
	"encoding/base64"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/template/documents"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/yamledit"
)

// Convert implements kind.Converter. It accepts channels that are one chain and skip only earlier versions that
// are no longer listed.
func (Kind) Convert(docs []fbc.Doc, _ fbc.Format, _ kind.SemverSkips) ([]byte, error) {
	g, err := documents.ReadGiven(docs)
	if err != nil {
		return nil, err
	}
	if len(g.Package.Properties) > 0 {
		return nil, failure.New(failure.TemplateUnsupported, "converting the catalog: its package has properties, which a goodstuff template cannot hold").
			Fix("Convert to a basic template.")
	}
	text := write(g)
	file, err := yamledit.Open("the converted template", text)
	if err != nil {
		return nil, err
	}
	made, err := Kind{}.Expand(&kind.Source{Name: file.Name, File: file, Strays: kind.RefuseStrays}, g, nil)
	if err != nil {
		return nil, failure.New(failure.EdgeConflict, "converting the catalog: %w", err).Fix("Convert to a basic template, which can have any edge.")
	}
	return text, g.Same(made)
}

func write(g *documents.Given) []byte {
	var b documents.Text
	b.Line("---\nschema: ", Schema)
	b.Line("package:\n  name: ", g.Package.Name)
	b.Line("  defaultChannel: ", g.Package.DefaultChannel)
	if g.Package.Description != "" {
		b.Line("  description: ", g.Package.Description)
	}
	if icon := g.Package.Icon; icon != nil {
		b.Line("  icon:\n    base64data: ", base64.StdEncoding.EncodeToString(icon.Data))
		b.Line("    mediatype: ", icon.MediaType)
	}
	b.WriteString("bundles:\n  images:\n")
	for _, image := range g.AllImages() {
		b.Line("  - ", image)
	}
	b.WriteString("graph-description:\n")
	for _, ch := range g.Channels {
		b.Line("- package: ", ch.Package)
		b.Line("  name: ", ch.Name)
		b.WriteString("  entries:\n")
		writeOrder(&b, ch)
	}
	return []byte(b.String())
}

// writeOrder writes a chain: the bundles that an entry skips become tombstones before it; those that the first
// entry skips become tail edges.
func writeOrder(b *documents.Text, ch fbc.Channel) {
	var tombstones []string
	for i, e := range ch.Entries {
		if i > 0 {
			for _, s := range e.Skips {
				b.Line("  - ", s)
				tombstones = append(tombstones, s)
			}
		}
		b.Line("  - ", e.Name)
	}
	if len(tombstones) > 0 {
		b.WriteString("  tombstones:\n")
	}
	for _, s := range tombstones {
		b.Line("  - ", s)
	}
	if len(ch.Entries) == 0 {
		return
	}
	tail := ch.Entries[0]
	if tail.Replaces == "" && tail.SkipRange == "" && len(tail.Skips) == 0 {
		return
	}
	b.WriteString("  tailEdges:\n")
	b.Edges(tail)
}
