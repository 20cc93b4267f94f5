package bundle

import (
	"encoding/json"

	"github.com/olmgraft/graft/internal/fbc"
)

// csvDescription is the part of a CSV that olm.csv.metadata is made of. The names are
// those of the CSV; encoding/json finds them in any letter case, as in opm.
type csvDescription struct {
	Metadata struct {
		Annotations map[string]string `json:"annotations"`
		Labels      map[string]string `json:"labels"`
	} `json:"metadata"`
	Spec struct {
		APIServiceDefinitions     apiServiceDefinitions `json:"apiservicedefinitions"`
		CustomResourceDefinitions crdDefinitions        `json:"customresourcedefinitions"`
		Description               string                `json:"description"`
		DisplayName               string                `json:"displayName"`
		InstallModes              []installMode         `json:"installModes"`
		Keywords                  []string              `json:"keywords"`
		Links                     []link                `json:"links"`
		Maintainers               []maintainer          `json:"maintainers"`
		Maturity                  string                `json:"maturity"`
		MinKubeVersion            string                `json:"minKubeVersion"`
		NativeAPIs                []nativeAPI           `json:"nativeAPIs"`
		Provider                  link                  `json:"provider"`
	} `json:"spec"`
}

var describedFields = []string{
	"apiservicedefinitions", "customresourcedefinitions", "description", "displayName", "installModes", "keywords",
	"links", "maintainers", "maturity", "minKubeVersion", "nativeAPIs", "provider",
}

// csvMetadata is the value of olm.csv.metadata.
type csvMetadata struct {
	Annotations               map[string]string     `json:"annotations,omitempty"`
	APIServiceDefinitions     apiServiceDefinitions `json:"apiServiceDefinitions"`
	CustomResourceDefinitions crdDefinitions        `json:"crdDescriptions"`
	Description               string                `json:"description,omitempty"`
	DisplayName               string                `json:"displayName,omitempty"`
	InstallModes              []installMode         `json:"installModes,omitempty"`
	Keywords                  []string              `json:"keywords,omitempty"`
	Labels                    map[string]string     `json:"labels,omitempty"`
	Links                     []link                `json:"links,omitempty"`
	Maintainers               []maintainer          `json:"maintainers,omitempty"`
	Maturity                  string                `json:"maturity,omitempty"`
	MinKubeVersion            string                `json:"minKubeVersion,omitempty"`
	NativeAPIs                []nativeAPI           `json:"nativeAPIs,omitempty"`
	Provider                  link                  `json:"provider"`
}

type apiServiceDefinitions struct {
	Owned    []apiServiceDescription `json:"owned,omitempty"`
	Required []apiServiceDescription `json:"required,omitempty"`
}

type apiServiceDescription struct {
	Name              string       `json:"name"`
	Group             string       `json:"group"`
	Version           string       `json:"version"`
	Kind              string       `json:"kind"`
	DeploymentName    string       `json:"deploymentName,omitempty"`
	ContainerPort     int32        `json:"containerPort,omitempty"`
	DisplayName       string       `json:"displayName,omitempty"`
	Description       string       `json:"description,omitempty"`
	Resources         []resource   `json:"resources,omitempty"`
	StatusDescriptors []descriptor `json:"statusDescriptors,omitempty"`
	SpecDescriptors   []descriptor `json:"specDescriptors,omitempty"`
	ActionDescriptor  []descriptor `json:"actionDescriptors,omitempty"`
}

type crdDefinitions struct {
	Owned    []crdDescription `json:"owned,omitempty"`
	Required []crdDescription `json:"required,omitempty"`
}

type crdDescription struct {
	Name              string       `json:"name"`
	Version           string       `json:"version"`
	Kind              string       `json:"kind"`
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

// csvMetadata makes the olm.csv.metadata property. For it opm decodes the whole CSV,
// so all of it must have the right types, a valid version and release included.
func (b *Bundle) csvMetadata() ([]fbc.Property, error) {
	if err := check(b.csv.object, shapeCSV, true); err != nil {
		return nil, b.fail(b.csv.file, "the ClusterServiceVersion is not valid: %w", err)
	}
	top := b.csv.object.Only("metadata", "spec")
	for i, m := range top.Items {
		top.Items[i].Value = m.Value.Only(append(describedFields, "annotations", "labels")...)
	}
	var d csvDescription
	if err := decode(top, &d); err != nil {
		return nil, b.fail(b.csv.file, "the ClusterServiceVersion is not valid: %w", err)
	}
	value := csvMetadata{
		Annotations:               d.Metadata.Annotations,
		APIServiceDefinitions:     d.Spec.APIServiceDefinitions,
		CustomResourceDefinitions: d.Spec.CustomResourceDefinitions,
		Description:               d.Spec.Description,
		DisplayName:               d.Spec.DisplayName,
		InstallModes:              d.Spec.InstallModes,
		Keywords:                  d.Spec.Keywords,
		Labels:                    d.Metadata.Labels,
		Links:                     d.Spec.Links,
		Maintainers:               d.Spec.Maintainers,
		Maturity:                  d.Spec.Maturity,
		MinKubeVersion:            d.Spec.MinKubeVersion,
		NativeAPIs:                d.Spec.NativeAPIs,
		Provider:                  d.Spec.Provider,
	}
	return []fbc.Property{build(typeCSVMetadata, value, false)}, nil
}
