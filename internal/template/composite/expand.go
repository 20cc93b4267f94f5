package composite

import (
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/template/kind"
)

// Images implements kind.Expander.
func (Kind) Images(s *kind.Source, tags kind.Tags) ([]string, error) {
	var out []string
	err := eachPart(s, func(p kind.Part) error {
		images, err := p.Images(tags)
		out = append(out, images...)
		return err
	})
	return kind.Unique(out), err
}

// Expand implements kind.Expander: the parts of one catalog are put together.
func (Kind) Expand(s *kind.Source, b kind.Bundles, o kind.Options) (*fbc.Catalog, error) {
	out := &fbc.Catalog{}
	err := eachPart(s, func(p kind.Part) error {
		c, err := p.Expand(b, o)
		if err != nil {
			return err
		}
		out.Packages = append(out.Packages, c.Packages...)
		out.Channels = append(out.Channels, c.Channels...)
		out.Deprecations = append(out.Deprecations, c.Deprecations...)
		out.Others = append(out.Others, c.Others...)
		out.Bundles = append(out.Bundles, c.Bundles...)
		out.Images = append(out.Images, c.Images...)
		return nil
	})
	return out, err
}

// eachPart visits the inputs of the one catalog that is asked for.
func eachPart(s *kind.Source, visit func(kind.Part) error) error {
	if s.Schema() == CatalogsSchema {
		return s.Root().Failure(failure.TemplateUnsupported, "rendering: this file names the catalogs of a composite template and holds no bundles").
			Fix("Name the file of schema olm.composite.")
	}
	asked, err := contributing(s, "rendering")
	if err != nil {
		return err
	}
	var names []string
	for _, c := range asked {
		if !slices.Contains(names, c.catalog) {
			names = append(names, c.catalog)
		}
	}
	if len(names) > 1 {
		return s.Root().Failure(failure.Usage, "rendering: the template makes several catalogs: %s", strings.Join(names, ", ")).
			Fix("Name one of them with --catalog.")
	}
	inputs, err := inputPaths(s, "rendering")
	if err != nil {
		return err
	}
	for _, input := range inputs {
		part, err := s.Open(input)
		if err == nil {
			err = visit(part)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
