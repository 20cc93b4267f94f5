package plan

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/template"
)

// Everywhere plans a change to existing content of a package's templates: all targets with their catalogs,
// whatever their versions, without requests. The input's bundle names the object of the change. Templates that do
// not exist are left out.
func Everywhere(fsys fs.FS, in Input) (*Plan, error) {
	p := &planner{files: template.NewFiles(fsys), in: in, plan: &Plan{Bundle: in.Bundle}}
	if in.Setup != nil {
		p.setup = *in.Setup
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	p.setup.Targets = nil
	for _, ts := range in.setupTargets() {
		ts.Template = ts.Template.ofAll()
		p.setup.Targets = append(p.setup.Targets, ts)
	}
	candidates, err := p.candidates()
	if err != nil {
		return nil, err
	}
	if len(candidates) == 0 {
		return nil, failure.New(failure.Usage, "planning for %s: no target of %s is for package %s", in.Bundle.Name, p.setup.File, in.Bundle.Package).At(p.setup.File, 0, 0).
			Fix("Name the package of a target.")
	}
	var errs []error
	for _, c := range candidates {
		errs = append(errs, p.standingTarget(c))
	}
	errs = append(errs, p.askedCatalogIsThere(), p.distinct())
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return p.plan, nil
}

func (in Input) setupTargets() []TargetSetup {
	if in.Setup == nil {
		return nil
	}
	return in.Setup.Targets
}

// ofAll returns the pattern that matches the templates of all bundles.
func (p Pattern) ofAll() Pattern {
	var stars []string
	for _, name := range append([]string{previousPatch}, Placeholders...) {
		if name != "package" {
			stars = append(stars, "{"+name+"}", "*")
		}
	}
	return Pattern(strings.NewReplacer(stars...).Replace(string(p)))
}

// ofAny returns the pattern that matches the templates of all bundles of all packages.
func (p Pattern) ofAny() Pattern {
	return Pattern(strings.ReplaceAll(string(p.ofAll()), "{package}", "*"))
}

// standingTarget plans a target whose template exists.
func (p *planner) standingTarget(c candidate) error {
	o, err := p.open(c)
	if err != nil {
		return err
	}
	if o.file == nil {
		p.leaveOut(c.path, "", "it does not exist yet")
		return nil
	}
	if pkg := o.description().Package; c.byGlob && pkg != "" && pkg != p.in.Bundle.Package {
		p.leaveOut(c.path, "", "it is a template of package %s", pkg)
		return nil
	}
	t := Target{Template: c.path, Kind: o.kind, SemverSkips: p.semverSkips(c), Reasons: c.reasons}
	wanted, err := p.catalogs(c, &t)
	if err != nil || !wanted {
		return err
	}
	if _, _, err = p.published(c, &t); err == nil {
		p.add(t)
	}
	return err
}
