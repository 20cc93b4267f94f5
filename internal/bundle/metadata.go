package bundle

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/bundle/object"
	"github.com/olmgraft/graft/internal/fbc"
)

// annotations holds the annotations that opm reads. The image's labels should match them.
type annotations struct {
	Package        string `json:"operators.operatorframework.io.bundle.package.v1"`
	Channels       string `json:"operators.operatorframework.io.bundle.channels.v1"`
	DefaultChannel string `json:"operators.operatorframework.io.bundle.channel.default.v1"`
	openShift      string // not read by opm
}

type annotationsFile struct {
	Annotations annotations `json:"annotations"`
}

type propertiesFile struct {
	Properties []fbc.Property `json:"properties"`
}

type dependenciesFile struct {
	Dependencies []fbc.Property `json:"dependencies"`
}

// readMetadata reads metadata/. opm ignores the names of the files: of each sort it takes the first file that has
// any content of that sort.
func (b *Bundle) readMetadata(ctx context.Context) error {
	var annotated annotationsFile
	var properties propertiesFile
	var dependencies dependenciesFile
	for _, file := range b.image.Files.in(metadataDir) {
		m := metadata{content: b.image.Files[file]}
		var err error
		if m.value, _, m.fault, err = b.one(ctx, file, object.ReadMetadata); err != nil {
			return err
		}
		if annotated == (annotationsFile{}) {
			annotated = read[annotationsFile](&m, annotationPaths)
			annotated.Annotations.openShift = ""
			if annotated != (annotationsFile{}) {
				annotated.Annotations.openShift = m.value.At("annotations", labelOpenShift).AsText().Text
			}
		}
		if len(properties.Properties) == 0 {
			properties = read[propertiesFile](&m, [][]string{{"properties", "*", "type"}})
		}
		if len(dependencies.Dependencies) == 0 {
			dependencies = read[dependenciesFile](&m, [][]string{{"dependencies", "*", "type"}})
		}
		if m.fault != nil {
			b.note(file, "opm skips the file without a word: %w", m.fault)
		}
	}
	b.annotations = annotated.Annotations
	b.pkg = b.annotations.Package
	b.properties = properties.Properties
	b.dependencies = dependencies.Dependencies
	return b.checkPackage()
}

func (b *Bundle) checkPackage() error {
	if b.pkg == "" {
		return b.failWithFindings(b.fail(metadataDir, "no file in metadata/ has the annotation %s", labelPackage).
			Fix("Add metadata/annotations.yaml with the package's name."))
	}
	if label, ok := b.image.Labels[labelPackage]; ok && label != b.pkg {
		b.note("", "the image is labelled as of package %q, but its annotations say %q, which counts", label, b.pkg)
	}
	return nil
}

var annotationPaths = [][]string{
	{"annotations", labelPackage},
	{"annotations", "operators.operatorframework.io.bundle.channels.v1"},
	{"annotations", "operators.operatorframework.io.bundle.channel.default.v1"},
}

// metadata is a file of metadata/, and the fault in its YAML.
type metadata struct {
	content []byte
	value   object.Value
	fault   error
}

// read decodes a file as one sort, or returns an empty value if that fails. It tries text that looks like JSON as
// JSON. In YAML it takes numbers at paths that hold strings as strings, for example channels: 4.8.
func read[T any](m *metadata, textAt [][]string) (into T) {
	if text := string(m.content); object.IsJSON(text) && json.NewDecoder(strings.NewReader(text)).Decode(&into) == nil {
		return into
	}
	if m.fault != nil {
		return *new(T)
	}
	v := m.value
	for _, path := range textAt {
		v = withText(v, path)
	}
	if decode(v, &into) != nil {
		return *new(T)
	}
	return into
}

// withText converts the numbers and booleans at a path to strings. The path consists of field names, whose case
// is ignored, and * for the items of a list.
func withText(v object.Value, path []string) object.Value {
	if len(path) == 0 {
		return v.AsText()
	}
	v.Items = slices.Clone(v.Items)
	for i, m := range v.Items {
		if v.Kind == object.List && path[0] == "*" || v.Kind == object.Map && strings.EqualFold(m.Key, path[0]) {
			v.Items[i].Value = withText(m.Value, path[1:])
		}
	}
	return v
}
