package graph

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/reference"
	"github.com/olmgraft/graft/internal/yamlread"
)

// bundleRead is what one olm.bundle document gave: its facts, and its faults.
// Where the document stands is not part of it, so that it serves for every copy.
type bundleRead struct {
	Bundle
	propertyPackage string
	hasPackage      bool
	hasObjects      bool
	faults          []Finding // lines count from the document's first, which is 0
}

// readBundle reads a bundle's facts and checks the types of all that opm reads,
// those in the large properties too, without decoding them.
func readBundle(d *fbc.Doc) *bundleRead { return readBundleJSON(d, d.JSON) }

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
	var properties []byte
	for key, value := range fields(js) {
		switch {
		case strings.EqualFold(key, "package"):
			b.Package = asText(value)
		case strings.EqualFold(key, "name"):
			b.Name = asText(value)
		case strings.EqualFold(key, "image"):
			b.Image = asText(value)
			b.checkImage(d, "image-invalid", "image", value, "image")
		case strings.EqualFold(key, "relatedImages"):
			b.misfits(d, "document-mistyped", value, relatedImagesShape, "relatedImages")
			for i, r := range items(value) {
				image, _ := field(r, "image")
				b.checkImage(d, "related-image-invalid", "related image", image, "relatedImages", i, "image")
			}
			continue
		case strings.EqualFold(key, "properties"):
			properties = value
			continue
		}
		if sh := bundleShape.field(key); sh != nil {
			b.misfits(d, "document-mistyped", value, sh, key)
		}
	}
	b.readProperties(d, properties)
	return b
}

func (b *bundleRead) checkImage(d *fbc.Doc, id, what string, js []byte, path ...any) {
	image := asText(js)
	if image == "" {
		return
	}
	b.noteTag(image)
	if why := reference.PullSpecFault(image); why != "" {
		b.fault(d, id, path, "%s %q is not a pull spec: %s", what, image, why)
	}
}

// misfits notes what in a value does not fit a shape, and tells whether anything
// does not.
func (b *bundleRead) misfits(d *fbc.Doc, id string, js []byte, s *shape, path ...any) bool {
	found := s.misfits(js)
	for _, m := range found {
		at := slices.Concat(path, m.path)
		b.fault(d, id, at, "%s %s", pathString(at), m.what)
	}
	return len(found) > 0
}

func (b *bundleRead) readProperties(d *fbc.Doc, properties []byte) {
	b.misfits(d, "document-mistyped", properties, propertiesShape, "properties")
	packages := 0
	for i, p := range items(properties) {
		typ, value := b.readProperty(d, i, p)
		sh := propertyShapes[typ]
		if sh == nil {
			if typ == "" {
				typ = textField(p, "name")
			}
			b.readClaim(d, i, typ, value)
			continue
		}
		sound := value != nil && !b.misfits(d, "property-invalid", value, sh, "properties", i, "value")
		switch typ {
		case "olm.package":
			if packages++; packages == 1 && sound {
				b.readPackageProperty(d, i, value)
			}
		case "olm.bundle.object":
			b.hasObjects = true
			if data, ok := field(value, "data"); ok && sound {
				if why := manifestFault(data); why != "" {
					b.fault(d, "property-invalid", []any{"properties", i, "value", "data"}, "properties[%d] of type %s: data is no manifest: %s", i, typ, why)
				}
			}
		}
	}
	if packages != 1 {
		b.fault(d, "package-property-count", []any{"properties"}, "the bundle has %d properties of type olm.package; it must have exactly one", packages)
	}
}

// readProperty gives a property's type and value, nil where it has none.
func (b *bundleRead) readProperty(d *fbc.Doc, i int, js []byte) (typ string, value []byte) {
	for key, v := range fields(js) {
		switch {
		case strings.EqualFold(key, "type"):
			typ = asText(v)
			b.misfits(d, "document-mistyped", v, aText, "properties", i, key)
		case strings.EqualFold(key, "value"):
			value = v
		}
	}
	if value == nil {
		b.fault(d, "property-invalid", []any{"properties", i}, "properties[%d] of type %q has no value", i, typ)
	}
	return typ, value
}

func (b *bundleRead) readPackageProperty(d *fbc.Doc, i int, value []byte) {
	b.propertyPackage, b.hasPackage = textField(value, "packageName"), true
	version, release := textField(value, "version"), textField(value, "release")
	v, err := semver.Parse(version)
	if err != nil {
		b.fault(d, "version-invalid", []any{"properties", i, "value", "version"}, "version %q is not a semantic version: %s", version, lowerFirst(err))
	}
	r, why := parseRelease(release)
	if why != "" {
		b.fault(d, "release-invalid", []any{"properties", i, "value", "release"}, "release %q %s", release, why)
	}
	if len(r) > 0 && len(v.Build) > 0 {
		b.fault(d, "release-with-build-metadata", []any{"properties", i, "value"}, "version %s has build metadata, and there is release %q as well", version, release)
	}
	b.Version, b.HasVersion = Version{v, r}, err == nil
	if want := b.Package + "-v" + b.Version.String(); err == nil && len(r) > 0 && b.Name != want {
		b.fault(d, "release-name-mismatch", []any{"name"}, "a bundle with release %q must be named %q", release, want)
	}
}

func (b *bundleRead) fault(d *fbc.Doc, id string, path []any, format string, args ...any) {
	b.faults = append(b.faults, newFinding(id, Pos{"", d.LineOf(path...)}, format, args...))
}

// parseRelease reads a release as opm does; "" is no release. It tells what is
// wrong with it.
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

// manifestFault tells what is wrong with the content of an olm.bundle.object.
// opm turns it from YAML to JSON, and takes what begins with a brace unseen.
func manifestFault(js []byte) string {
	if len(js) == 0 || js[0] != '"' {
		return ""
	}
	data, _ := decodeOctets(js)
	if bytes.HasPrefix(bytes.TrimLeftFunc(data, unicode.IsSpace), []byte("{")) {
		return ""
	}
	if _, err := yamlread.ToJSON(data); err != nil {
		return err.Error()
	}
	return ""
}

// textField gives a field that is a string, and "" for any other.
func textField(js []byte, name string) string {
	v, _ := field(js, name)
	return asText(v)
}

func asText(js []byte) string {
	if len(js) > 0 && js[0] == '"' {
		return unquote(js)
	}
	return ""
}

// small decodes a package, channel or deprecations document. What does not fit
// is a fault, and the rest is used.
func small[T any](d *fbc.Doc, s *shape) (doc T, faults []Finding) {
	js, err := d.JSON()
	if err != nil {
		return doc, Unreadable(err)
	}
	for _, m := range s.misfits(js) {
		faults = append(faults, newFinding("document-mistyped", Pos{d.File, d.Line + d.LineOf(m.path...)}, "%s: %s", d.Schema, m))
	}
	// encoding/json goes on past a value that does not fit, so the error says
	// nothing that the misfits do not.
	_ = json.Unmarshal(js, &doc)
	return doc, faults
}

func lowerFirst(err error) string {
	s := err.Error()
	return strings.ToLower(s[:1]) + s[1:]
}
