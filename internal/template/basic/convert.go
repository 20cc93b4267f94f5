package basic

import (
	"bytes"
	"encoding/json"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/template/kind"
)

// Convert implements kind.Converter. It keeps the order of the documents, reduces bundles to their image, and
// writes the bytes of opm's convert-template basic.
func (Kind) Convert(docs []fbc.Doc, format fbc.Format, _ kind.SemverSkips) ([]byte, error) {
	template := struct {
		Schema  string            `json:"schema"`
		Entries []json.RawMessage `json:"entries"`
	}{Schema: Schema}
	for i := range docs {
		text, err := entryOf(&docs[i])
		if err != nil {
			return nil, err
		}
		template.Entries = append(template.Entries, text)
	}
	text, err := json.Marshal(template)
	if err != nil {
		return nil, failure.New(failure.RenderFailed, "converting to a basic template: %w", err)
	}
	if format == fbc.JSON {
		var b bytes.Buffer
		err := json.Indent(&b, text, "", "    ")
		b.WriteByte('\n')
		return b.Bytes(), err
	}
	body, err := fbc.Encode(fbc.YAML, text)
	// opm ends its YAML with an empty line.
	return append(append([]byte("---\n"), body...), '\n'), err
}

func entryOf(d *fbc.Doc) ([]byte, error) {
	if d.Schema != fbc.SchemaBundle {
		return d.JSON()
	}
	if d.Image == "" {
		return nil, failure.New(failure.RenderFailed, "converting bundle %s: it has no image, by which a basic template would name it", d.Name).At(d.File, d.Line, 1)
	}
	return json.Marshal(fbc.Bundle{Schema: d.Schema, Image: d.Image})
}
