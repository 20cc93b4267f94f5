package plan

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"

	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
)

// Standing returns the paths of the existing catalogs that a setup configures, for all packages and versions: those
// that are rendered, and templates that are catalogs themselves.
func Standing(fsys fs.FS, setup *Setup) (paths []string, err error) {
	p := &planner{files: template.NewFiles(fsys), setup: *setup, plan: &Plan{}}
	var errs []error
	for _, ts := range setup.Targets {
		p.in.Bundle.Package = cmp.Or(ts.Package, setup.Package)
		if ts.Template = ts.Template.ofAll(); p.in.Bundle.Package == "" {
			ts.Template = ts.Template.ofAny()
		}
		candidates, err := p.templates(ts)
		errs = append(errs, err)
		for _, c := range candidates {
			own, err := p.standingCatalogs(c)
			paths, errs = append(paths, own...), append(errs, err)
		}
	}
	return kind.Unique(paths), errors.Join(errs...)
}

// standingCatalogs opens the template only if the catalogs depend on its content.
func (p *planner) standingCatalogs(c candidate) (paths []string, err error) {
	pkg := &p.in.Bundle.Package
	*pkg = cmp.Or(c.Package, p.setup.Package)
	named := func(s CatalogSetup) bool { return s.Path.Uses("package") }
	if len(c.Catalogs) == 0 || *pkg == "" && slices.ContainsFunc(c.Catalogs, named) {
		o, err := p.open(c)
		switch {
		case err != nil || o.file == nil:
			return nil, err
		case len(c.Catalogs) == 0 && template.Traits(o.kind).IsCatalog:
			return []string{c.path}, nil
		case len(c.Catalogs) == 0:
			return nil, nil
		}
		*pkg = o.description().Package
	}
	for _, setup := range c.Catalogs {
		places, err := p.places(setup, c)
		if err != nil {
			return nil, err
		}
		for _, at := range places {
			if at.path == "" {
				continue // another tool renders it
			}
			_, err := fs.Stat(p.files, at.path)
			if err != nil && !setup.Create && c.Create == "" {
				return nil, p.misconfigured(c.TargetSetup, "looking for the catalogs of %s: %s does not exist", c.path, at.path).
					Fix("Correct its path, or set create: true for the catalog in graft.yaml.")
			}
			if err == nil {
				paths = append(paths, at.path)
			}
		}
	}
	return paths, nil
}
