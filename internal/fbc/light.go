package fbc

import (
	"bytes"
	"encoding/json"

	"github.com/olmgraft/graft/internal/yamlread"
)

// These property types hold a bundle's manifests.
const (
	TypeBundleObject = "olm.bundle.object"
	TypeCSVMetadata  = "olm.csv.metadata"
)

func large(propertyType string) bool {
	return propertyType == TypeBundleObject || propertyType == TypeCSVMetadata
}

// BundleLight decodes an olm.bundle document without the values of its large properties, olm.bundle.object and
// olm.csv.metadata: their Value is nil. It does not parse these values if the document's layout allows that.
func (d *Doc) BundleLight() (Bundle, error) {
	if d.Format == JSON {
		if b, ok := d.lightJSON(); ok {
			return b, nil
		}
	}
	var text []byte
	ok := false
	if d.canonical {
		l := lines{text: d.raw, sought: "properties"}
		if ok = l.walk(); ok {
			text, ok = l.light("")
		}
	}
	light := *d
	light.raw = text
	var b Bundle
	var err error
	if ok {
		err = light.Decode(&b)
	}
	if !ok || err != nil { // decode the whole document, so that the error has the right place
		b, err = d.Bundle()
	}
	for i := range b.Properties {
		if large(b.Properties[i].Type) {
			b.Properties[i].Value = nil
		}
	}
	return b, err
}

// light returns a document that walk has read, with its large values replaced.
func (l *lines) light(instead string) ([]byte, bool) {
	if len(l.items) == 0 {
		return l.text, true
	}
	out := append([]byte(nil), l.text[:l.items[0].start]...)
	for i, it := range l.items {
		text := l.itemText(i)
		name, _, _ := bytes.Cut(text, []byte("\n"))
		name, typed := bytes.CutPrefix(name, []byte("- type: "))
		if !typed || !large(string(name)) {
			out = append(out, text...)
			continue
		}
		if it.keys != 2 || !bytes.HasPrefix(l.text[it.second:], []byte("  value:")) {
			return nil, false
		}
		out = append(append(out, l.text[it.start:it.second]...), instead...)
	}
	return append(out, l.text[l.end:]...), true
}

// itemText returns the lines of an item of the sought list.
func (l *lines) itemText(i int) []byte {
	end := l.end
	if i+1 < len(l.items) {
		end = l.items[i+1].start
	}
	return l.text[l.items[i].start:end]
}

// lightJSON is BundleLight for a JSON document.
func (d *Doc) lightJSON() (b Bundle, ok bool) {
	if json.Unmarshal(d.raw, &b) != nil {
		return b, false
	}
	for i := range b.Properties {
		p := &b.Properties[i]
		if large(p.Type) || p.Value == nil {
			p.Value = nil
			continue
		}
		var err error
		if p.Value, err = yamlread.Loaded(p.Value); err != nil {
			return b, false
		}
	}
	return b, true
}
