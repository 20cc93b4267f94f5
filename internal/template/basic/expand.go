package basic

import (
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/template/documents"
	"github.com/olmgraft/graft/internal/template/kind"
)

// Images implements kind.Expander.
func (Kind) Images(s *kind.Source, _ kind.Tags) ([]string, error) {
	c, err := expand(s)
	if err != nil {
		return nil, err
	}
	return c.Images, nil
}

// Expand implements kind.Expander: the documents stay as they are, bundles are
// rendered.
func (Kind) Expand(s *kind.Source, _ kind.Bundles, _ kind.Options) (*fbc.Catalog, error) {
	return expand(s)
}

func expand(s *kind.Source) (*fbc.Catalog, error) {
	docs, err := Kind{}.Documents(s)
	if err != nil {
		return nil, err
	}
	c := &fbc.Catalog{}
	return c, documents.Expand(docs, false, c)
}
