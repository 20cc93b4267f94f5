package fbc

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"unicode"

	"github.com/olmgraft/graft/internal/yamlread"
)

// CheckObjects refuses a bundle that opm cannot load because the data of an olm.bundle.object is not base64 of
// JSON or YAML. It decodes nothing if the document's layout allows that.
func (d *Doc) CheckObjects() error {
	if d.canonical {
		l := lines{text: d.raw, sought: "properties"}
		if l.walk() && l.objectsAreJSON() {
			return nil
		}
	}
	b, err := d.Bundle()
	if err != nil {
		return err
	}
	return d.checkObjects(b.Properties)
}

func (d *Doc) checkObjects(properties []Property) error {
	for i, p := range properties {
		if p.Type != TypeBundleObject || PlainObject(p.Value) {
			continue
		}
		var object struct {
			Data []byte `json:"data"`
		}
		if err := json.Unmarshal(p.Value, &object); err != nil {
			return d.fail(fmt.Errorf("property %d, %s: the data is not base64", i+1, p.Type))
		}
		if startsObject(object.Data) {
			continue
		}
		if _, err := yamlread.ToJSON(object.Data); err != nil {
			return d.fail(fmt.Errorf("property %d, %s: the manifest in it does not parse: %s", i+1, p.Type, err.Error()))
		}
	}
	return nil
}

// PlainObject reports whether the value of an olm.bundle.object contains only base64 of JSON, without white
// space.
func PlainObject(value []byte) bool {
	data, ok := bytes.CutPrefix(value, []byte(`{"data":"`))
	data, end := bytes.CutSuffix(data, []byte(`"}`))
	return ok && end && base64Object(data)
}

// startsObject reports whether opm takes a manifest for JSON. opm does not look into such manifests when it loads
// a catalog.
func startsObject(manifest []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeftFunc(manifest, unicode.IsSpace), []byte("{"))
}

// objectsAreJSON reports whether each olm.bundle.object among the items contains base64 of text that starts as a
// JSON object.
func (l *lines) objectsAreJSON() bool {
	for i := range l.items {
		text := l.itemText(i)
		if !bytes.Contains(text[:min(len(text), 64)], []byte(TypeBundleObject)) {
			if bytes.HasPrefix(text, []byte("- type: ")) {
				continue
			}
			return false
		}
		data, ok := bytes.CutPrefix(text, []byte("- type: olm.bundle.object\n  value:\n    data: "))
		if !ok || !base64Object(bytes.TrimSuffix(data, []byte("\n"))) {
			return false
		}
	}
	return true
}

var base64Char = func() (t [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") {
		t[c] = true
	}
	return t
}()

func base64Object(data []byte) bool {
	if len(data)%4 != 0 {
		return false
	}
	digits := bytes.TrimSuffix(bytes.TrimSuffix(data, []byte("=")), []byte("="))
	for _, c := range digits {
		if !base64Char[c] {
			return false
		}
	}
	head := make([]byte, 48)
	n, err := base64.StdEncoding.Decode(head, data[:min(len(data), 64)])
	return err == nil && startsObject(head[:n])
}
