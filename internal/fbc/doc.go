package fbc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/yamlread"
)

// Format is the format of a document.
type Format int

// The formats.
const (
	YAML Format = iota
	JSON
)

// Doc is one document of a file, with its identity and place. It refers to the source and parses it on demand.
type Doc struct {
	File       string // as given to Read
	Line       int    // on which the content starts, from 1
	Start, End int    // byte range of the content in the file, without separator lines
	Format     Format

	// The fields as opm reads them, ignoring the case of keys.
	Schema, Package, Name, Image string

	// Ignored is the line of the first content after the document that opm silently drops, or 0.
	Ignored int

	raw       []byte
	lines     int  // line breaks before Start
	col       int  // bytes between the start of the line and Start
	canonical bool // the fast path understands it
}

// OfPackage returns the documents that belong to one of the packages.
func OfPackage(docs []Doc, pkgs ...string) (own []Doc) {
	for _, d := range docs {
		if slices.Contains(pkgs, d.Package) || d.Schema == SchemaPackage && slices.Contains(pkgs, d.Name) {
			own = append(own, d)
		}
	}
	return own
}

// Raw returns the document as written. It aliases the source.
func (d *Doc) Raw() []byte { return d.raw }

// JSON returns the document as opm has it after loading: compact, with sorted keys and numbers in float64
// notation.
func (d *Doc) JSON() ([]byte, error) {
	if d.canonical {
		if out, ok := canonicalJSON(d.raw, true); ok {
			return out, nil
		}
	}
	out, err := d.raw, error(nil)
	if d.Format == YAML {
		out, err = yamlread.ToJSON(normalize(d.raw))
	}
	if err == nil {
		out, err = yamlread.Loaded(out)
	}
	if err != nil {
		return nil, d.fail(err)
	}
	return out, nil
}

// Decode decodes the document. It ignores unknown keys, as opm does.
func (d *Doc) Decode(into any) error {
	doc, err := d.JSON()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(doc, into); err != nil {
		return d.mistyped(doc, err)
	}
	return nil
}

// PackageDoc decodes an olm.package document.
func (d *Doc) PackageDoc() (p Package, err error) {
	err = d.Decode(&p)
	return p, err
}

// Channel decodes an olm.channel document.
func (d *Doc) Channel() (c Channel, err error) {
	err = d.Decode(&c)
	return c, err
}

// Deprecation decodes an olm.deprecations document.
func (d *Doc) Deprecation() (x Deprecation, err error) {
	err = d.Decode(&x)
	return x, err
}

// Bundle decodes an olm.bundle document.
func (d *Doc) Bundle() (b Bundle, err error) {
	err = d.Decode(&b)
	return b, err
}

// normalize returns YAML text with the line ends that opm gives it before parsing: a line feed after each line,
// including the last.
func normalize(text []byte) []byte {
	if bytes.IndexByte(text, '\r') >= 0 {
		text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	}
	if n := len(text); n > 0 && text[n-1] != '\n' {
		text = append(text[:n:n], '\n')
	}
	return text
}

// what names the document in messages.
func (d *Doc) what() string {
	switch {
	case d.Schema == "":
		return "a catalog document"
	case d.Name == "" && d.Package == "":
		return "the " + d.Schema
	case d.Name == "":
		return fmt.Sprintf("the %s of package %q", d.Schema, d.Package)
	}
	return fmt.Sprintf("the %s %q", d.Schema, d.Name)
}

// fail converts a fault inside the document to a failure at its place in the file.
func (d *Doc) fail(err error) error {
	line, col := d.Line, 1
	cause := err
	if e := (*yamlread.Error)(nil); errors.As(err, &e) {
		line, col = d.lines+e.Line, e.Col
		if e.Line == 1 {
			col += d.col
		}
		cause = errors.New(e.Msg)
	}
	f := failure.New(failure.TemplateMalformed, "reading %s: %w", d.what(), cause).At(d.File, line, col)
	if at := path.Ext(d.File); d.File != "-" && at != ".yaml" && at != ".yml" && at != ".json" {
		return f.Fix("If the file belongs to no catalog, name the folder of the catalog alone, or list the file in .indexignore.")
	}
	return f.Fix("Correct the document at the line shown.")
}
