package composite

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/yamledit"
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

// Expand implements kind.Expander. It joins the parts of one catalog.
func (Kind) Expand(s *kind.Source, b kind.Bundles, tags kind.Tags) (*fbc.Catalog, error) {
	out := &fbc.Catalog{}
	err := eachPart(s, func(p kind.Part) error {
		c, err := p.Expand(b, tags)
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

// eachPart visits the inputs of the only requested catalog.
func eachPart(s *kind.Source, visit func(kind.Part) error) error {
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
	if err := checkCatalogs(s, asked); err != nil {
		return err
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

// catalogsFile is a file next to a composite template that lists the catalogs and the builders that each allows.
// It is optional.
const catalogsFile = "catalogs.yaml"

func checkCatalogs(s *kind.Source, asked []component) error {
	if s.FS == nil {
		return nil
	}
	src, err := fs.ReadFile(s.FS, path.Join(path.Dir(s.Path), catalogsFile))
	if err != nil {
		return nil //nolint:nilerr // the file is optional
	}
	file, err := yamledit.Open(catalogsFile, src)
	if err != nil || len(file.Docs) == 0 {
		return err
	}
	root, err := file.Docs[0].Root()
	if err != nil || root.FoldText("schema") != catalogsSchema {
		return err
	}
	allowed := map[string][]string{}
	for _, item := range root.FoldValue("catalogs").Items() {
		allowed[item.FoldText("name")] = item.FoldValue("builders").Strings()
	}
	for _, c := range asked {
		builders, known := allowed[c.catalog]
		if !known {
			return c.node.Failure(failure.RenderFailed, "rendering: %s has no catalog %s", catalogsFile, c.catalog).Fix("Add the catalog there, or correct the component's name.")
		}
		if !slices.Contains(builders, c.builder) {
			return c.node.Failure(failure.RenderFailed, "rendering: catalog %s allows no builder %s", c.catalog, c.builder).Fix("Add the builder to the catalog in %s.", catalogsFile)
		}
	}
	return nil
}
