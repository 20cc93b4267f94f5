// Package crds holds the definition of CatalogSource, which clusters and graft
// catalogsource validate share.
package crds

import _ "embed" // for the definition

// CatalogSources is the CustomResourceDefinition as YAML.
//
//go:embed catalogsources.yaml
var CatalogSources []byte
