package kind

import "github.com/olmgraft/graft/internal/fbc"

// Expander is a kind that can be made into a catalog. Both steps are functions of the
// template; what they need from a registry they ask for.
type Expander interface {
	// Images lists the bundle images that Expand will ask for.
	Images(s *Source, tags Tags) ([]string, error)
	// Expand makes the catalog's documents; tags answer as Images got it.
	Expand(s *Source, b Bundles, tags Tags) (*fbc.Catalog, error)
}

// Tags lists the tags of a repository.
type Tags = func(repository string) ([]string, error)

// Part is a template of which another is made.
type Part interface {
	Insert(r Request) (*Outcome, error)
	Remove(r Removal) (*Outcome, error)
	Deprecate(d Deprecation) (*Outcome, error)
	SetEdges(e Edges) (*Outcome, error)
	Images(tags Tags) ([]string, error)
	Expand(b Bundles, tags Tags) (*fbc.Catalog, error)
}

// Bundles gives what is known of bundles by their image.
type Bundles = fbc.Bundles

// Converter is a kind to which a catalog can be converted. What is converted and
// rendered again, a semver template with these skips, gives the catalog back; where that cannot
// be, it is refused. A kind may write YAML in either format.
type Converter interface {
	Convert(docs []fbc.Doc, format fbc.Format, skips SemverSkips) ([]byte, error)
}
