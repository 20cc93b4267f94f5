// Package composite implements the kind of template that consists of other templates, one for each catalog and
// builder.
package composite

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/template/documents"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/yamledit"
)

// The schemas of the two files of a composite template, and of its custom builder.
const (
	Schema         = "olm.composite"
	catalogsSchema = "olm.composite.catalogs"
	customBuilder  = "olm.builder.custom"
)

var builders = []string{"olm.builder.basic", "olm.builder.semver", "olm.builder.raw", customBuilder}

// Kind implements kind.Kind.
type Kind struct{}

// Match implements kind.Matcher.
func (Kind) Match(s *kind.Source) bool {
	return s.Schema() == Schema || s.Schema() == catalogsSchema
}

// Traits implements kind.Kind.
func (Kind) Traits() kind.Traits {
	return kind.Traits{Name: "composite", Schema: Schema, OfTemplates: true}
}

type component struct {
	node    *yamledit.Node
	catalog string
	builder string
	input   string
	inputAt *yamledit.Node
}

func components(root *yamledit.Node) []component {
	var out []component
	for _, item := range root.FoldValue("components").Items() {
		template := item.FoldValue("strategy").FoldValue("template")
		input := template.FoldValue("config").FoldValue("input")
		out = append(out, component{item, item.FoldText("name"), template.FoldText("schema"), input.Text(), input})
	}
	return out
}

// Describe implements kind.Kind.
func (Kind) Describe(s *kind.Source) kind.Description {
	d := kind.Description{}
	documents.OneDocument(&d, s)
	if s.Schema() == catalogsSchema {
		describeCatalogs(&d, s)
		return d
	}
	documents.CheckKeys(&d, s.Root(), []string{"schema", "components"}, "the template")
	for _, c := range components(s.Root()) {
		documents.CheckKeys(&d, c.node, []string{"name", "destination", "strategy"}, "component "+c.catalog)
		line, _ := c.node.Position()
		d.Channels = append(d.Channels, kind.Channel{Name: c.catalog, Line: line})
		if !slices.Contains(builders, c.builder) {
			d.Problem(c.node.Malformed("reading component %s: opm knows no builder %q", c.catalog, c.builder))
		}
		if c.builder == customBuilder {
			continue
		}
		if c.input == "" {
			d.Problem(c.node.Malformed("reading component %s: it has no config.input", c.catalog))
		}
		if !slices.Contains(d.Inputs, c.input) {
			d.Inputs = append(d.Inputs, c.input)
		}
	}
	return d
}

func describeCatalogs(d *kind.Description, s *kind.Source) {
	d.Form, d.Auxiliary = "catalogs", true
	documents.CheckKeys(d, s.Root(), []string{"schema", "catalogs"}, "the catalogs file")
	for _, item := range s.Root().FoldValue("catalogs").Items() {
		documents.CheckKeys(d, item, []string{"name", "destination", "builders"}, "catalog "+item.FoldText("name"))
		line, _ := item.Position()
		d.Channels = append(d.Channels, kind.Channel{Name: item.FoldText("name"), Line: line})
	}
}

// Insert implements kind.Kind. It inserts the bundle once into the input of each component that contributes to a
// requested catalog.
func (Kind) Insert(s *kind.Source, r kind.Request) (*kind.Outcome, error) {
	return edit(s, "inserting "+r.Bundle.Name, func(p kind.Part) (*kind.Outcome, error) { return p.Insert(r) })
}

// Remove implements kind.Remover.
func (Kind) Remove(s *kind.Source, r kind.Removal) (*kind.Outcome, error) {
	return edit(s, r.Doing(), func(p kind.Part) (*kind.Outcome, error) { return p.Remove(r) })
}

// Deprecate implements kind.Deprecator.
func (Kind) Deprecate(s *kind.Source, d kind.Deprecation) (*kind.Outcome, error) {
	return edit(s, "deprecating", func(p kind.Part) (*kind.Outcome, error) { return p.Deprecate(d) })
}

// SetEdges implements kind.EdgeSetter.
func (Kind) SetEdges(s *kind.Source, e kind.Edges) (*kind.Outcome, error) {
	return edit(s, e.Doing(), func(p kind.Part) (*kind.Outcome, error) { return p.SetEdges(e) })
}

// edit applies an edit to each input.
func edit(s *kind.Source, doing string, one func(kind.Part) (*kind.Outcome, error)) (*kind.Outcome, error) {
	inputs, err := inputPaths(s, doing)
	if err != nil {
		return nil, err
	}
	o := &kind.Outcome{}
	for _, input := range inputs {
		source, err := s.Open(input)
		if err != nil {
			return nil, err
		}
		part, err := one(source)
		if err != nil {
			return nil, err
		}
		o.Add(part)
	}
	return o, nil
}

// inputPaths returns the inputs of the contributing components, each once.
func inputPaths(s *kind.Source, doing string) ([]string, error) {
	asked, err := contributing(s, doing)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, c := range asked {
		input, err := inputPath(s, c)
		if err != nil {
			return nil, err
		}
		out = append(out, input)
	}
	return kind.Unique(out), nil
}

func contributing(s *kind.Source, doing string) ([]component, error) {
	if s.Schema() == catalogsSchema {
		return nil, s.Root().Failure(failure.TemplateUnsupported, "%s: this file names the catalogs of a composite template and holds no bundles", doing).
			Fix("Name the file of schema olm.composite.")
	}
	all := components(s.Root())
	var asked []component
	for _, c := range all {
		if len(s.Catalogs) > 0 && !slices.Contains(s.Catalogs, c.catalog) {
			continue
		}
		if c.builder == customBuilder {
			return nil, c.node.Failure(failure.TemplateOpaque, "%s: the component of catalog %s is built by a custom builder", doing, c.catalog)
		}
		asked = append(asked, c)
	}
	if len(asked) == 0 {
		return nil, s.Root().Failure(failure.Usage, "%s: no component contributes to %s", doing, strings.Join(s.Catalogs, ", ")).
			Fix("Give --catalog with the name of a component of the template.")
	}
	return asked, nil
}

// inputPath looks for an input relative to the template, and then relative to the top of the repository.
func inputPath(s *kind.Source, c component) (string, error) {
	if s.FS == nil {
		return "", c.inputAt.Failure(failure.Usage, "following the input %s: a composite template on standard input has no repository around it", c.input).
			Fix("Name the template's file.")
	}
	if path.IsAbs(c.input) {
		return "", leaves(c)
	}
	beside := path.Join(path.Dir(s.Path), c.input)
	if !fs.ValidPath(beside) {
		return "", leaves(c)
	}
	if _, err := fs.Stat(s.FS, beside); err == nil {
		return beside, nil
	}
	if top := path.Clean(c.input); fs.ValidPath(top) {
		if _, err := fs.Stat(s.FS, top); err == nil {
			return top, nil
		}
	}
	return beside, nil
}

func leaves(c component) error {
	return c.inputAt.Failure(failure.EditRefused, "following the input %s of catalog %s: it leaves the repository", c.input, c.catalog).
		Fix("Keep the inputs of a composite template in its repository.")
}
