package fbc

import (
	"bytes"
	"encoding/json"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc/canonical"
)

// Encode returns a JSON document in opm's bytes for the format, without separator: YAML with sorted keys and a
// final line feed, or JSON with unchanged key order, four spaces of indent and no final line feed.
func Encode(format Format, jsonDoc []byte) ([]byte, error) {
	var out []byte
	var err error
	if format == YAML {
		out, err = canonical.FromJSON(jsonDoc)
	} else {
		var b bytes.Buffer
		err = json.Indent(&b, jsonDoc, "", "    ")
		out = b.Bytes()
	}
	if err != nil {
		return nil, failure.New(failure.RenderFailed, "encoding a catalog document: %w", err)
	}
	return out, nil
}

// Marshal returns a value as compact JSON in opm's encoding.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, failure.New(failure.RenderFailed, "encoding a catalog document: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Blob is one encoded document ready to be written.
type Blob struct {
	Schema, Package, Name string
	Body                  []byte // as Encode returns it
	Format                Format
}

// Blob returns the document as opm writes it after loading. In packages, channels, bundles and deprecations opm
// drops unknown keys and empty optional ones.
func (d *Doc) Blob(format Format) (Blob, error) {
	b := Blob{Schema: d.Schema, Package: d.Package, Name: d.Name, Format: format}
	doc, err := d.written()
	if err != nil {
		return b, err
	}
	b.Body, err = Encode(format, doc)
	return b, err
}

// written returns the JSON that opm encodes for the document.
func (d *Doc) written() ([]byte, error) {
	switch d.Schema {
	case SchemaPackage:
		return d.remarshal(&Package{})
	case SchemaChannel:
		return d.remarshal(&Channel{})
	case SchemaDeprecation:
		return d.remarshal(&Deprecation{})
	case SchemaBundle:
		b, err := d.Bundle()
		if err != nil {
			return nil, err
		}
		if err := d.checkObjects(b.Properties); err != nil {
			return nil, err
		}
		return Marshal(b)
	}
	return d.JSON()
}

func (d *Doc) remarshal(v any) ([]byte, error) {
	if err := d.Decode(v); err != nil {
		return nil, err
	}
	return Marshal(v)
}
