// Package fbc defines the documents of a file-based catalog. Its reader indexes a file by byte range without
// parsing large documents. Its writer writes opm's bytes.
package fbc

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The schemas that OLM knows. Documents with other schemas stay unchanged.
const (
	SchemaPackage     = "olm.package"
	SchemaChannel     = "olm.channel"
	SchemaBundle      = "olm.bundle"
	SchemaDeprecation = "olm.deprecations"
)

// SchemaLifecycles is the schema of OpenShift's documents about how long versions are supported.
const SchemaLifecycles = "io.openshift.operators.lifecycles.v1alpha1"

// Package is an olm.package document.
type Package struct {
	Schema         string     `json:"schema"`
	Name           string     `json:"name"`
	DefaultChannel string     `json:"defaultChannel"`
	Icon           *Icon      `json:"icon,omitempty"`
	Description    string     `json:"description,omitempty"`
	Properties     []Property `json:"properties,omitempty"`
}

// Icon is the picture of a package.
type Icon struct {
	Data      []byte `json:"base64data"`
	MediaType string `json:"mediatype"`
}

// Channel is an olm.channel document.
type Channel struct {
	Schema     string     `json:"schema"`
	Name       string     `json:"name"`
	Package    string     `json:"package"`
	Entries    []Entry    `json:"entries"`
	Properties []Property `json:"properties,omitempty"`
}

// Entry is one bundle's place in a channel: its name and its upgrade edges.
type Entry struct {
	Name      string   `json:"name"`
	Replaces  string   `json:"replaces,omitempty"`
	Skips     []string `json:"skips,omitempty"`
	SkipRange string   `json:"skipRange,omitempty"`
}

// InWords describes the entry's edges.
func (e Entry) InWords() string {
	var parts []string
	if e.Replaces != "" {
		parts = append(parts, "replaces "+e.Replaces)
	}
	if len(e.Skips) > 0 {
		parts = append(parts, "skips "+strings.Join(e.Skips, ", "))
	}
	if e.SkipRange != "" {
		parts = append(parts, fmt.Sprintf("skips the range %q", e.SkipRange))
	}
	if len(parts) == 0 {
		return "replaces nothing"
	}
	return strings.Join(parts, ", ")
}

// Bundle is an olm.bundle document.
type Bundle struct {
	Schema        string         `json:"schema"`
	Name          string         `json:"name,omitempty"`
	Package       string         `json:"package,omitempty"`
	Image         string         `json:"image"`
	Properties    []Property     `json:"properties,omitempty"`
	RelatedImages []RelatedImage `json:"relatedImages,omitempty"`
}

// Property is one typed property of a package, channel or bundle.
type Property struct {
	Type  string          `json:"type"`
	Value json.RawMessage `json:"value"`
}

// RelatedImage is an image that a bundle's operator uses.
type RelatedImage struct {
	Name  string `json:"name"`
	Image string `json:"image"`
}

// Deprecation is an olm.deprecations document.
type Deprecation struct {
	Schema  string             `json:"schema"`
	Package string             `json:"package"`
	Entries []DeprecationEntry `json:"entries"`
}

// DeprecationEntry deprecates one package, channel or bundle.
type DeprecationEntry struct {
	Reference Reference `json:"reference"`
	Message   string    `json:"message"`
}

// Reference names the deprecated object within its package.
type Reference struct {
	Schema string `json:"schema"`
	Name   string `json:"name,omitempty"`
}
