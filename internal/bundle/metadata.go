package bundle

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/bundle/object"
	"github.com/olmgraft/graft/internal/fbc"
)

// annotations are those of the annotations file that opm reads. They are what the
// labels of the image should be too.
type annotations struct {
	Package        string `json:"operators.operatorframework.io.bundle.package.v1"`
	Channels       string `json:"operators.operatorframework.io.bundle.channels.v1"`
	DefaultChannel string `json:"operators.operatorframework.io.bundle.channel.default.v1"`
	openShift      string // which opm does not read
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

// readMetadata reads metadata/. Names of files mean nothing to opm: of each sort it
// takes the first file in which anything of that sort stands.
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

// metadata is a file of metadata/, and what is wrong with its YAML.
type metadata struct {
	content []byte
	value   object.Value
	fault   error
}

// read decodes a file as one sort, or gives an empty one where that fails. What looks
// like JSON is tried as JSON; in YAML, numbers at the paths that hold strings are
// taken as strings, as channels: 4.8 is meant.
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

// withText makes strings of the numbers and booleans at a path of field names, in any
// letter case, and * for the items of a list.
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
