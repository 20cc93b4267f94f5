package kind

import "github.com/olmgraft/graft/internal/fbc"

// An Expander is a kind that can be rendered into a catalog. Both methods depend only on the template; they ask
// their arguments for data from a registry.
type Expander interface {
	// Images lists the bundle images that Expand will ask for.
	Images(s *Source, tags Tags) ([]string, error)
	// Expand returns the documents of the catalog; tags must answer as for Images.
	Expand(s *Source, b Bundles, tags Tags) (*fbc.Catalog, error)
}

// Tags lists the tags of a repository.
type Tags = func(repository string) ([]string, error)

// A Part is a template that another template is made of.
type Part interface {
	Insert(r Request) (*Outcome, error)
	Remove(r Removal) (*Outcome, error)
	Deprecate(d Deprecation) (*Outcome, error)
	SetEdges(e Edges) (*Outcome, error)
	Images(tags Tags) ([]string, error)
	Expand(b Bundles, tags Tags) (*fbc.Catalog, error)
}

// Bundles returns facts about bundles by their image.
type Bundles = fbc.Bundles

// A Converter is a kind into which a catalog can be converted. The converted template renders to the same catalog
// again (a semver template with these skips); if that is not possible, Convert refuses. A kind may write YAML in
// either format.
type Converter interface {
	Convert(docs []fbc.Doc, format fbc.Format, skips SemverSkips) ([]byte, error)
}
