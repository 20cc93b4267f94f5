package fbc

import (
	"github.com/olmgraft/graft/internal/fbc/yaml11"
)

// directBundle builds a bundle straight from the tree of its document, which
// saves two passes over its manifests. It is false when anything is out of the
// ordinary: a key in another case or twice, null, a value of another type.
func (d *Doc) directBundle() (b Bundle, ok bool) {
	t, err := d.tree()
	if err != nil {
		return b, false
	}
	defer t.Free()
	root, ok := t.Root()
	if !ok {
		return b, false
	}
	values := make([]byte, 0, len(d.raw)) // of all properties
	ok = eachOnce(root, func(key []byte, v yaml11.Node) bool {
		switch string(key) {
		case "schema":
			return text(&b.Schema, v)
		case "name":
			return text(&b.Name, v)
		case "package":
			return text(&b.Package, v)
		case "image":
			return text(&b.Image, v)
		case "properties":
			items, isList := v.Items()
			b.Properties = []Property{}
			for item := range items {
				var p Property
				if values, ok = directProperty(&p, values, item); !ok {
					return false
				}
				b.Properties = append(b.Properties, p)
			}
			return isList
		case "relatedImages":
			items, isList := v.Items()
			b.RelatedImages = []RelatedImage{}
			for item := range items {
				var r RelatedImage
				if !directImage(&r, item) {
					return false
				}
				b.RelatedImages = append(b.RelatedImages, r)
			}
			return isList
		}
		switch foldKey(key) {
		case "SCHEMA", "NAME", "PACKAGE", "IMAGE", "PROPERTIES", "RELATEDIMAGES":
			return false
		}
		return true
	})
	if !ok {
		return Bundle{}, false
	}
	return b, true
}

func directProperty(p *Property, values []byte, item yaml11.Node) ([]byte, bool) {
	ok := eachOnce(item, func(key []byte, v yaml11.Node) bool {
		switch string(key) {
		case "type":
			return text(&p.Type, v)
		case "value":
			at := len(values)
			var err error
			values, err = v.AppendJSON(values, yaml11.Loaded)
			p.Value = values[at:len(values):len(values)]
			return err == nil
		}
		return false
	})
	return values, ok
}

func directImage(r *RelatedImage, item yaml11.Node) bool {
	return eachOnce(item, func(key []byte, v yaml11.Node) bool {
		switch string(key) {
		case "name":
			return text(&r.Name, v)
		case "image":
			return text(&r.Image, v)
		}
		return false
	})
}

// eachOnce calls take for each key of a mapping, and is false when v is none,
// when a key stands there twice, or when take says so.
func eachOnce(v yaml11.Node, take func([]byte, yaml11.Node) bool) bool {
	if !v.IsMapping() {
		return false
	}
	var seen [mostKeys]string
	n := 0
	for key, value := range v.Pairs() {
		for _, s := range seen[:n] {
			if s == string(key) {
				return false
			}
		}
		if n == mostKeys || !take(key, value) {
			return false
		}
		seen[n] = string(key)
		n++
	}
	return true
}

func text(into *string, v yaml11.Node) bool {
	b, ok := v.Text()
	*into = string(b)
	return ok
}

// appendBundle appends a bundle that was read as compact JSON, as Marshal would:
// its values are compact already.
func appendBundle(dst []byte, b *Bundle) []byte {
	dst = yaml11.AppendText(append(dst, `{"schema":`...), b.Schema)
	if b.Name != "" {
		dst = yaml11.AppendText(append(dst, `,"name":`...), b.Name)
	}
	if b.Package != "" {
		dst = yaml11.AppendText(append(dst, `,"package":`...), b.Package)
	}
	dst = yaml11.AppendText(append(dst, `,"image":`...), b.Image)
	open := `,"properties":[{"type":`
	for _, p := range b.Properties {
		dst = yaml11.AppendText(append(dst, open...), p.Type)
		dst = append(dst, `,"value":`...)
		if p.Value == nil {
			dst = append(dst, "null"...)
		}
		dst = append(append(dst, p.Value...), '}')
		open = `,{"type":`
	}
	if len(b.Properties) > 0 {
		dst = append(dst, ']')
	}
	open = `,"relatedImages":[{"name":`
	for _, r := range b.RelatedImages {
		dst = yaml11.AppendText(append(dst, open...), r.Name)
		dst = yaml11.AppendText(append(dst, `,"image":`...), r.Image)
		dst = append(dst, '}')
		open = `,{"name":`
	}
	if len(b.RelatedImages) > 0 {
		dst = append(dst, ']')
	}
	return append(dst, '}')
}
