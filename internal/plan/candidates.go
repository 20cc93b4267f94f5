package plan

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
)

// candidate is a target with the path of its template.
type candidate struct {
	TargetSetup
	path    string
	byGlob  bool // found by a pattern, so it may be a template of another package
	reasons []string
}

// candidates returns the targets of the setup that concern the bundle. If there are none, or the requested
// template is not among them, it searches the repository.
func (p *planner) candidates() ([]candidate, error) {
	if len(p.setup.Targets) == 0 {
		return p.discover()
	}
	var out []candidate
	var errs []error
	asked := p.in.Asked.Template
	for _, ts := range p.setup.Targets {
		if pkg := cmp.Or(ts.Package, p.setup.Package); pkg != "" && pkg != p.in.Bundle.Package {
			p.leaveOut(string(ts.Template), "", "it is for package %s", pkg)
			continue
		}
		found, err := p.templates(ts)
		errs = append(errs, err)
		for _, c := range found {
			if asked != "" && c.path != asked {
				p.leaveOut(c.path, "", "only %s is requested", asked)
				continue
			}
			out = append(out, c)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if asked != "" && len(out) == 0 {
		return p.discover()
	}
	return out, nil
}

// templates returns the paths of a target's templates: the named one, or those that its pattern matches.
func (p *planner) templates(ts TargetSetup) ([]candidate, error) {
	named, err := ts.Template.For(p.in.Bundle)
	if err == nil {
		err = CheckPath(named)
	}
	if err != nil {
		return nil, p.misconfigured(ts, "finding a template: %w", err)
	}
	named, _ = localPath(named)
	if !isPattern(named) {
		return []candidate{{TargetSetup: ts, path: named}}, nil
	}
	matches, err := fs.Glob(p.files, named)
	if err != nil {
		return nil, p.misconfigured(ts, "finding templates: %s: %w", named, err)
	}
	var out []candidate
	slices.Sort(matches)
	for _, m := range matches {
		if isFileName(m) || p.holdsCatalog(m) {
			out = append(out, candidate{TargetSetup: ts, path: m, byGlob: true})
		}
	}
	if len(out) == 0 {
		return nil, failure.New(failure.TemplateNotFound, "finding templates: no file matches %s", named).At(p.setup.File, ts.Line, ts.Col).
			Fix("Correct the pattern.")
	}
	return out, nil
}

// holdsCatalog reports whether a folder is a catalog in parts. It also reports true for a folder that cannot be
// read, so that opening it reports the fault.
func (p *planner) holdsCatalog(name string) bool {
	if !p.isFolder(name) {
		return false
	}
	docs, err := p.files.Catalog(name)
	return err != nil || slices.ContainsFunc(docs, func(d fbc.Doc) bool { return d.Schema == fbc.SchemaPackage })
}

func (p *planner) misconfigured(ts TargetSetup, format string, args ...any) *failure.Error {
	return failure.New(failure.Config, format, args...).At(p.setup.File, ts.Line, ts.Col)
}

// opened is a candidate's template; file is nil if the template does not exist yet.
type opened struct {
	file      *template.Template
	kind      string
	described *kind.Description
	standing  map[string][]fbc.Entry // entries of its channels, once edges are needed
}

func (p *planner) open(c candidate) (*opened, error) {
	t, err := template.Open(p.files, c.path, c.path)
	if err == nil {
		return &opened{file: t, kind: t.Kind.Traits().Name}, nil
	}
	if !failure.Is(err, failure.TemplateNotFound) {
		return nil, err
	}
	create := cmp.Or(p.in.Asked.Create, c.Create)
	if create != "" {
		return &opened{kind: create}, nil
	}
	missing := failure.New(failure.TemplateNotFound, "opening %s: there is no such file", c.path)
	if c.Line > 0 {
		return nil, missing.At(p.setup.File, c.Line, c.Col).Fix("Correct the path, or give the kind of template to create.")
	}
	return nil, missing.At(c.path, 0, 0)
}

// description describes the template. Call it only if needed, because it is slow for a large catalog.
func (o *opened) description() kind.Description {
	if o.file == nil {
		return kind.Description{}
	}
	if o.described == nil {
		d := o.file.Describe()
		o.described = &d
	}
	return *o.described
}
