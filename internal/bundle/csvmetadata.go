package bundle

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/fbc"
)

// describedFields are the fields of a CSV's spec that olm.csv.metadata contains. The names are those of the CSV;
// like opm, encoding/json ignores their case.
var describedFields = []string{
	"apiservicedefinitions", "customresourcedefinitions", "description", "displayName", "installModes", "keywords",
	"links", "maintainers", "maturity", "minKubeVersion", "nativeAPIs", "provider",
}

// csvMetadata is the value of olm.csv.metadata.
type csvMetadata struct {
	Annotations               map[string]string                `json:"annotations,omitempty"`
	APIServiceDefinitions     described[apiServiceDescription] `json:"apiServiceDefinitions"`
	CustomResourceDefinitions described[crdDescription]        `json:"crdDescriptions"`
	Description               string                           `json:"description,omitempty"`
	DisplayName               string                           `json:"displayName,omitempty"`
	InstallModes              []installMode                    `json:"installModes,omitempty"`
	Keywords                  []string                         `json:"keywords,omitempty"`
	Labels                    map[string]string                `json:"labels,omitempty"`
	Links                     []link                           `json:"links,omitempty"`
	Maintainers               []maintainer                     `json:"maintainers,omitempty"`
	Maturity                  string                           `json:"maturity,omitempty"`
	MinKubeVersion            string                           `json:"minKubeVersion,omitempty"`
	NativeAPIs                []nativeAPI                      `json:"nativeAPIs,omitempty"`
	Provider                  link                             `json:"provider"`
}

type described[T any] struct {
	Owned    []T `json:"owned,omitempty"`
	Required []T `json:"required,omitempty"`
}

type apiServiceDescription struct {
	Name           string `json:"name"`
	Group          string `json:"group"`
	Version        string `json:"version"`
	Kind           string `json:"kind"`
	DeploymentName string `json:"deploymentName,omitempty"`
	ContainerPort  int32  `json:"containerPort,omitempty"`
	description
}

type crdDescription struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
	description
}

type description struct {
	DisplayName       string       `json:"displayName,omitempty"`
	Description       string       `json:"description,omitempty"`
	Resources         []resource   `json:"resources,omitempty"`
	StatusDescriptors []descriptor `json:"statusDescriptors,omitempty"`
	SpecDescriptors   []descriptor `json:"specDescriptors,omitempty"`
	ActionDescriptor  []descriptor `json:"actionDescriptors,omitempty"`
}

type resource struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Version string `json:"version"`
}

type descriptor struct {
	Path         string          `json:"path"`
	DisplayName  string          `json:"displayName,omitempty"`
	Description  string          `json:"description,omitempty"`
	XDescriptors []string        `json:"x-descriptors,omitempty"`
	Value        json.RawMessage `json:"value,omitempty"`
}

type installMode struct {
	Type      string `json:"type"`
	Supported bool   `json:"supported"`
}

type link struct {
	Name string `json:"name,omitempty"`
	URL  string `json:"url,omitempty"`
}

type maintainer struct {
	Name  string `json:"name,omitempty"`
	Email string `json:"email,omitempty"`
}

type nativeAPI struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
}

// csvMetadata returns the olm.csv.metadata property. opm decodes the whole CSV for it, so every field must have
// the right type, including a valid version and release.
func (b *Bundle) csvMetadata() ([]fbc.Property, error) {
	if err := check(b.csv.object, shapeCSV, true); err != nil {
		return nil, b.fail(b.csv.file, "the ClusterServiceVersion is not valid: %w", err)
	}
	top := b.csv.object.Only("metadata", "spec")
	for i, m := range top.Items {
		fields := describedFields
		if strings.EqualFold(m.Key, "metadata") {
			fields = []string{"annotations", "labels"}
		}
		top.Items[i].Value = m.Value.Only(fields...)
	}
	var d struct {
		Metadata struct{ Annotations, Labels map[string]string }
		Spec     struct {
			csvMetadata
			CustomResourceDefinitions described[crdDescription]
		}
	}
	if err := decode(top, &d); err != nil {
		return nil, b.fail(b.csv.file, "the ClusterServiceVersion is not valid: %w", err)
	}
	value := d.Spec.csvMetadata
	value.Annotations, value.Labels = d.Metadata.Annotations, d.Metadata.Labels
	value.CustomResourceDefinitions = d.Spec.CustomResourceDefinitions
	return []fbc.Property{build(typeCSVMetadata, value, false)}, nil
}

// Ordered returns a bundle of a catalog with the keys of its olm.csv.metadata in the order that opm gives them when
// it renders the bundle image. A catalog that was read has them sorted. In YAML both are the same.
func Ordered(b fbc.Bundle) fbc.Bundle {
	b.Properties = slices.Clone(b.Properties)
	for i, p := range b.Properties {
		if p.Type != typeCSVMetadata {
			continue
		}
		var value csvMetadata
		if json.Unmarshal(p.Value, &value) != nil {
			continue
		}
		if ordered := build(typeCSVMetadata, value, false); sameJSON(ordered.Value, p.Value) {
			b.Properties[i] = ordered
		}
	}
	return b
}

// sameJSON reports whether two texts mean the same, apart from the order of keys.
func sameJSON(a, b []byte) bool {
	sorted := func(text []byte) []byte {
		var value any
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		if d.Decode(&value) != nil {
			return nil
		}
		out, err := json.Marshal(value)
		if err != nil {
			return nil
		}
		return out
	}
	x, y := sorted(a), sorted(b)
	return x != nil && bytes.Equal(x, y)
}
