package graph

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/reference"
	"github.com/olmgraft/graft/internal/shape"
	"github.com/olmgraft/graft/internal/yamlread"
)

// bundleRead is the content of one olm.bundle document: its facts and faults. It does not contain the document's
// place, so that equal documents can share it.
type bundleRead struct {
	Bundle
	propertyPackage string
	hasPackage      bool
	hasObjects      bool
	faults          []Finding // lines count from the document's first line, which is 0
}

// readBundle reads a bundle's facts. It checks the types of everything that opm reads, including the large
// properties, without decoding them.
func readBundle(d *fbc.Doc) *bundleRead {
	b := readBundleJSON(d, d.JSON)
	b.v1.judged = true
	return b
}

func readBundleJSON(d *fbc.Doc, load func() ([]byte, error)) *bundleRead {
	b := &bundleRead{}
	js, err := load()
	if err != nil {
		b.faults = Unreadable(err)
		for i := range b.faults {
			b.faults[i].Line = max(b.faults[i].Line-d.Line, 0)
		}
		return b
	}
	lines := d.Lines()
	var properties value
	for key, v := range value(js).Members() {
		switch {
		case strings.EqualFold(key, "package"):
			b.Package = v.text()
		case strings.EqualFold(key, "name"):
			b.Name = v.text()
		case strings.EqualFold(key, "image"):
			b.Image = v.text()
			b.checkImage(lines, "image-invalid", "image", b.Image, "image")
		case strings.EqualFold(key, "relatedImages"):
			b.mismatches(lines, "document-mistyped", v, relatedImages, "relatedImages")
			for i, r := range v.Items() {
				b.checkImage(lines, "related-image-invalid", "related image", r.field("image").text(), "relatedImages", i, "image")
			}
			continue
		case strings.EqualFold(key, "properties"):
			properties = v
			continue
		}
		if t := types["bundle"].Field(key, true); t != nil {
			b.mismatches(lines, "document-mistyped", v, t, key)
		}
	}
	b.readProperties(lines, properties)
	return b
}

func (b *bundleRead) checkImage(lines *fbc.Lines, id, what, image string, path ...any) {
	if image == "" {
		return
	}
	b.noteTag(image)
	if why := reference.PullSpecFault(image); why != "" {
		b.fault(lines, id, path, "%s %q is not a pull spec: %s", what, image, why)
	}
}

// mismatches records the parts of a value that do not fit a type, and reports whether there are any.
func (b *bundleRead) mismatches(lines *fbc.Lines, id string, v value, t *shape.Type[value], path ...any) bool {
	found := t.Check(v, true)
	for _, m := range found {
		at := slices.Concat(path, m.Path)
		b.fault(lines, id, at, "%s %s", at, misfit(m))
	}
	return len(found) > 0
}

func (b *bundleRead) readProperties(lines *fbc.Lines, properties value) {
	b.mismatches(lines, "document-mistyped", properties, records, "properties")
	packages := 0
	for i, p := range properties.Items() {
		typ, v := b.readProperty(lines, i, p)
		if typ == "olm.maxOpenShiftVersion" {
			b.readMaxOpenShift(v)
		}
		t := types["property/"+typ]
		if t == nil {
			b.readV1(typ, v)
			b.readClaim(lines, i, cmp.Or(typ, p.field("name").text()), v)
			continue
		}
		sound := v != nil && !b.mismatches(lines, "property-invalid", v, t, "properties", i, "value")
		if sound {
			b.readV1(typ, v)
		}
		switch typ {
		case "olm.package":
			if packages++; packages == 1 && sound {
				b.readPackageProperty(lines, i, v)
			}
		case "olm.bundle.object":
			b.hasObjects = true
			if !sound {
				break
			}
			if why := manifestFault(v.field("data")); why != "" {
				b.fault(lines, "property-invalid", []any{"properties", i, "value", "data"}, "properties[%d] of type %s: data is not a manifest: %s", i, typ, why)
			}
		}
	}
	if packages != 1 {
		b.fault(lines, "package-property-count", []any{"properties"}, "the bundle has %d properties of type olm.package; it must have exactly one", packages)
	}
}

// readMaxOpenShift reads a version with or without quotes. OLM uses only its major and minor version.
func (b *bundleRead) readMaxOpenShift(v value) {
	if most, err := semver.ParseTolerant(strings.Trim(string(v), `"`)); err == nil {
		b.maxOpenShift = &semver.Version{Major: most.Major, Minor: most.Minor}
	}
}

// readProperty returns the type and value of a property. The value is nil if there is none.
func (b *bundleRead) readProperty(lines *fbc.Lines, i int, property value) (typ string, found value) {
	for key, v := range property.Members() {
		switch {
		case strings.EqualFold(key, "type"):
			typ = v.text()
			b.mismatches(lines, "document-mistyped", v, types["string"], "properties", i, key)
		case strings.EqualFold(key, "value"):
			found = v
		}
	}
	if found == nil {
		b.fault(lines, "property-invalid", []any{"properties", i}, "properties[%d] of type %q has no value", i, typ)
	}
	return typ, found
}

func (b *bundleRead) readPackageProperty(lines *fbc.Lines, i int, property value) {
	b.propertyPackage, b.hasPackage = property.field("packageName").text(), true
	version, release := property.field("version").text(), property.field("release").text()
	v, err := semver.Parse(version)
	if err != nil {
		b.fault(lines, "version-invalid", []any{"properties", i, "value", "version"}, "version %q is not a semantic version: %s", version, lowerFirst(err))
	}
	r, why := parseRelease(release)
	if why != "" {
		b.fault(lines, "release-invalid", []any{"properties", i, "value", "release"}, "release %q %s", release, why)
	}
	if len(r) > 0 && len(v.Build) > 0 {
		b.fault(lines, "release-with-build-metadata", []any{"properties", i, "value"}, "version %s has build metadata, and there is release %q as well", version, release)
	}
	b.Version, b.HasVersion = Version{v, r}, err == nil
	if want := b.Package + "-v" + b.Version.String(); err == nil && len(r) > 0 && b.Name != want {
		b.fault(lines, "release-name-mismatch", []any{"name"}, "a bundle with release %q must be named %q", release, want)
	}
}

func (b *bundleRead) fault(lines *fbc.Lines, id string, path []any, format string, args ...any) {
	b.faults = append(b.faults, newFinding(id, Pos{"", lines.Of(path...)}, format, args...))
}

// parseRelease reads a release as opm does; "" means no release. It returns what is wrong with an invalid one.
func parseRelease(s string) ([]semver.PRVersion, string) {
	if s == "" {
		return nil, ""
	}
	if len(s) > 20 {
		return nil, "is longer than 20 characters"
	}
	var r []semver.PRVersion
	for part := range strings.SplitSeq(s, ".") {
		p, err := semver.NewPRVersion(part)
		if err != nil {
			return nil, "is not a dotted list of identifiers: " + lowerFirst(err)
		}
		r = append(r, p)
	}
	return r, ""
}

// manifestFault returns what is wrong with the content of an olm.bundle.object, or "". opm converts it from YAML
// to JSON, but does not look into text that begins with a brace.
func manifestFault(v value) string {
	if v.Kind() != shape.String {
		return ""
	}
	data, _ := decodeOctets(v)
	if bytes.HasPrefix(bytes.TrimLeftFunc(data, unicode.IsSpace), []byte("{")) {
		return ""
	}
	if _, err := yamlread.ToJSON(data); err != nil {
		return err.Error()
	}
	return ""
}

// small decodes a package, channel or deprecations document. Wrong types are faults; the rest is used.
func small[T any](d *fbc.Doc, typ string) (doc T, faults []Finding) {
	js, err := d.JSON()
	if err != nil {
		return doc, Unreadable(err)
	}
	lines := d.Lines()
	for _, m := range types[typ].Check(js, true) {
		where := cmp.Or(m.Path.String(), "the value")
		faults = append(faults, newFinding("document-mistyped", Pos{d.File, d.Line + lines.Of(m.Path...)}, "%s: %s %s", d.Schema, where, misfit(m)))
	}
	// encoding/json continues after a value of the wrong type, so its error adds nothing to the mismatches.
	_ = json.Unmarshal(js, &doc)
	return doc, faults
}

func lowerFirst(err error) string {
	s := err.Error()
	return strings.ToLower(s[:1]) + s[1:]
}
