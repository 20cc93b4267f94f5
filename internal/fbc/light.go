package fbc

import (
	"bytes"
	"encoding/json"

	"github.com/olmgraft/graft/internal/fbc/yaml11"
)

// The properties that hold a bundle's manifests.
const (
	TypeBundleObject = "olm.bundle.object"
	TypeCSVMetadata  = "olm.csv.metadata"
)

func large(propertyType string) bool {
	return propertyType == TypeBundleObject || propertyType == TypeCSVMetadata
}

// BundleLight decodes an olm.bundle document without the values of its large
// properties, olm.bundle.object and olm.csv.metadata: their Value is nil. Where
// the layout of the document allows, those values are not parsed.
func (d *Doc) BundleLight() (Bundle, error) {
	var text []byte
	ok := false
	if d.Format == JSON {
		text, ok = d.lightJSON()
	} else if d.canonical {
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
	if !ok || err != nil { // whose place is that in the whole document
		b, err = d.Bundle()
	}
	for i := range b.Properties {
		if large(b.Properties[i].Type) {
			b.Properties[i].Value = nil
		}
	}
	return b, err
}

// light gives a document that was walked through, with something else in the
// place of its large values.
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

// itemText gives the lines of an item of the list that was sought.
func (l *lines) itemText(i int) []byte {
	end := l.end
	if i+1 < len(l.items) {
		end = l.items[i+1].start
	}
	return l.text[l.items[i].start:end]
}

// lightJSON gives a JSON document without its large values.
func (d *Doc) lightJSON() ([]byte, bool) {
	members, _, err := yaml11.Members(nil, d.raw, 0)
	if err != nil {
		return nil, false
	}
	out := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		key, err := json.Marshal(string(m.Key))
		if err != nil {
			return nil, false
		}
		out = append(append(out, key...), ':')
		value := d.raw[m.Start:m.End]
		if foldKey(m.Key) == "PROPERTIES" {
			var ok bool
			if value, ok = lightProperties(value); !ok {
				return nil, false
			}
		}
		out = append(out, value...)
	}
	return append(out, '}'), true
}

func lightProperties(list []byte) ([]byte, bool) {
	out, ok := []byte{'['}, true
	err := yaml11.Elements(list, 0, func(start, end int, members []yaml11.Member) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		value := list[start:end]
		for _, m := range members {
			if string(m.Key) != "type" && string(m.Key) != "value" || len(members) != 2 {
				ok = false
			}
			text := list[m.Start:m.End]
			if name, _ := yaml11.JSONString(text); string(m.Key) == "type" && large(string(name)) {
				value = append(append([]byte(`{"type":`), text...), '}')
			}
		}
		out = append(out, value...)
	})
	return append(out, ']'), ok && err == nil
}

// EntryLines gives the line in the file of each item of the document's entries,
// a channel's or a deprecation's.
func (d *Doc) EntryLines() []int {
	var offsets []int
	text := d.raw
	switch {
	case d.Format == JSON:
		offsets = d.entriesJSON()
	case d.canonical:
		l := lines{text: d.raw, sought: "entries"}
		l.walk()
		for _, it := range l.items {
			offsets = append(offsets, it.start)
		}
	default:
		text = normalize(d.raw)
		offsets = entriesYAML(text)
	}
	at, line := 0, d.lines+1
	found := make([]int, len(offsets))
	for i, o := range offsets {
		if o < at { // an alias stands after what it names
			at, line = 0, d.lines+1
		}
		line += bytes.Count(text[at:o], []byte("\n"))
		at = o
		found[i] = line
	}
	return found
}

func (d *Doc) entriesJSON() []int {
	members, _, err := yaml11.Members(nil, d.raw, 0)
	if err != nil {
		return nil
	}
	var offsets []int
	for _, m := range members {
		if foldKey(m.Key) != "ENTRIES" {
			continue
		}
		offsets = nil
		if d.raw[m.Start] == '[' {
			_ = yaml11.Elements(d.raw, m.Start, func(start, _ int, _ []yaml11.Member) { offsets = append(offsets, start) }) // it was read before
		}
	}
	return offsets
}

func entriesYAML(text []byte) []int {
	t, err := yaml11.Parse(text)
	if err != nil {
		return nil
	}
	defer t.Free()
	fields, _, err := t.Fields()
	if err != nil {
		return nil
	}
	for _, f := range fields {
		if foldKey(f.Key) == "ENTRIES" {
			return t.Items(f)
		}
	}
	return nil
}
