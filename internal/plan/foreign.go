package plan

import (
	"cmp"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/reference"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
)

// foreign refuses a bundle that belongs to another operator than the content of the template:
//
//  1. Its package is not in the template or its catalogs, and the setup does not name it for the
//     target.
//  2. Its repository differs from those of the package's bundles there; tag, digest and a version
//     in the name do not count. A repository that is allowed by name, or that Registries contains,
//     may be new. A template without bundles accepts any repository, and so does the community
//     layout, because its pipeline has a list of registries.
func (p *planner) foreign(c candidate, o *opened, t *Target) error {
	b := p.in.Bundle
	if o.file == nil || template.Traits(o.kind).OfTemplates {
		return nil
	}
	packages, siblings, err := p.standingIn(o, t)
	if err != nil {
		return err
	}
	named := cmp.Or(c.Package, p.setup.Package) == b.Package
	if len(packages) > 0 && !slices.Contains(packages, b.Package) && !named {
		return failure.New(failure.BundleNotAllowed, "planning for %s: it is of package %s, and %s holds %s", b.Name, b.Package, c.path, strings.Join(firstFew(packages), ", ")).At(p.saidAt(c)).
			Fix("Name the template of package %s, or set package: %s for this target in .github/graft.yaml.", b.Package, b.Package)
	}
	own, _, _ := reference.Cut(b.Image)
	if p.promoted || p.in.Trusted || p.setup.Community != nil || len(siblings) == 0 || slices.Contains(siblings, repository(own)) {
		return nil
	}
	return failure.New(failure.BundleNotAllowed, "planning for %s: its repository is %s, and the bundles of %s are from %s", b.Name, own, c.path, strings.Join(firstFew(siblings), ", ")).At(p.saidAt(c)).
		Fix("Add the repository to allowedRepositories in .github/graft.yaml. If it is a staging repository, map it to the production repository in registries.")
}

// standingIn returns the packages of a template and its catalogs, and the repositories of the template's bundles.
func (p *planner) standingIn(o *opened, t *Target) (packages, repositories []string, err error) {
	note := func(image string) {
		if at, _, _ := reference.Cut(image); strings.Contains(at, "/") {
			repositories = append(repositories, repository(at))
		}
	}
	if k, ok := o.file.Kind.(kind.HasEdges); ok {
		docs, err := k.Documents(&o.file.Source)
		if err != nil {
			return nil, nil, err
		}
		packages = packagesOf(docs)
		for _, d := range docs {
			if d.Schema == fbc.SchemaBundle && (d.Package == "" || d.Package == p.in.Bundle.Package) {
				note(d.Image)
			}
		}
	} else {
		d := o.description()
		if d.Package != "" {
			packages = append(packages, d.Package)
		}
		for _, b := range d.Bundles {
			note(b.Image)
		}
	}
	for _, c := range t.Catalogs {
		if docs, err := p.files.Catalog(c.Path); err == nil { // otherwise it is rendered as a whole
			packages = append(packages, packagesOf(docs)...)
		}
	}
	return kind.Unique(packages), kind.Unique(repositories), nil
}

func packagesOf(docs []fbc.Doc) (names []string) {
	for _, d := range docs {
		if d.Schema == fbc.SchemaPackage && d.Name != "" {
			names = append(names, d.Name)
		}
	}
	return names
}

// repository returns the normal form of a repository's name.
func repository(name string) string {
	registry, path, ok := reference.CutRegistry(name)
	if !ok || registry == "index.docker.io" {
		registry = reference.DockerHub
	}
	if registry == reference.DockerHub && !strings.Contains(path, "/") {
		path = "library/" + path
	}
	return registry + "/" + path
}
