package graph

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/operand"
)

// readBundleLight reads a bundle's facts with as little parsing as possible. It reads a bundle that may use
// operands in full, because that decides whether their entries are used.
func readBundleLight(d *fbc.Doc) *bundleRead {
	if bytes.Contains(d.Raw(), []byte("olm.operand.")) || bytes.Contains(d.Raw(), []byte(operand.TypeRelatedImageBundle)) {
		return readBundle(d)
	}
	if b, ok := glance(d); ok {
		return b
	}
	return readBundleJSON(d, func() ([]byte, error) { return lightJSON(d) })
}

// glance reads the facts from a document in opm's layout without parsing. There the version is on a line that can
// be found safely, because nothing inside a value begins a line. glance gives up if anything is unusual.
func glance(d *fbc.Doc) (*bundleRead, bool) {
	const property = "\n- type: olm.package\n"
	raw := d.Raw()
	at := bytes.Index(raw, []byte(property))
	if !d.Canonical() || d.Format != fbc.YAML || at < 0 || bytes.Contains(raw[at+1:], []byte(property)) {
		return nil, false
	}
	value, ok := bytes.CutPrefix(raw[at+len(property):], []byte("  value:\n    packageName: "+d.Package+"\n    version: "))
	text, rest, _ := bytes.Cut(value, []byte("\n"))
	version, err := semver.Parse(string(text))
	if !ok || err != nil || bytes.HasPrefix(rest, []byte(" ")) {
		return nil, false
	}
	b := &bundleRead{propertyPackage: d.Package, hasPackage: true}
	b.Package, b.Name, b.Image = strings.Clone(d.Package), strings.Clone(d.Name), strings.Clone(d.Image)
	b.Version, b.HasVersion = Version{Version: version}, true
	b.hasObjects = bytes.Contains(raw, []byte("\n- type: olm.bundle.object\n"))
	return b, true
}

// lightJSON returns a bundle document whose large properties are null. It returns a document with a fault
// unchanged.
func lightJSON(d *fbc.Doc) ([]byte, error) {
	b, err := d.BundleLight()
	missing := func(p fbc.Property) bool {
		return p.Value == nil && p.Type != fbc.TypeBundleObject && p.Type != fbc.TypeCSVMetadata
	}
	if err != nil || slices.ContainsFunc(b.Properties, missing) {
		return d.JSON()
	}
	return json.Marshal(b)
}
