// Package crds holds the definition of CatalogSource for clusters and for graft catalogsource validate.
package crds

import _ "embed" // for the definition

// CatalogSources is the CustomResourceDefinition as YAML.
//
//go:embed catalogsources.yaml
var CatalogSources []byte
