// Package plan decides what a published bundle changes in a repository: which templates
// it goes into, with which channels and edges, which catalogs are rendered of them and
// how, and what is left alone. It writes nothing. Each decision has a sentence that says
// why, for the person who reviews the change.
package plan

import (
	"cmp"
	"errors"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/bundle"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph/cut"
	"github.com/olmgraft/graft/internal/reference"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
)

// Input is what a plan is made of, beside the repository.
type Input struct {
	Bundle kind.Bundle
	// OpenShiftVersions is the bundle's label com.redhat.openshift.versions.
	OpenShiftVersions string
	// Annotated are the channels that the bundle's annotations name. They count where the
	// target asks for them.
	Annotated []string
	Stated    Edges // by the bundle's ClusterServiceVersion
	Asked     Asked
	Setup     *Setup // nil: nothing is said
	// Published gives what catalogs that users have hold of the bundle's package, by their
	// names. It is asked where the setup names some.
	Published func([]Published) (map[string][]fbc.Doc, error)
	// Trusted says that the bundle's repository is allowed by name, so that it need not be
	// that of the bundles that stand there.
	Trusted bool
}

// Asked are the inputs of a run. What is asked for goes before what a Setup says.
type Asked struct {
	Template       string // a path; of several targets, only this one
	Catalog        string // a path, or a name in a composite template; only this one
	Channels       []string
	Edges          Edges
	DefaultChannel string
	SubstitutesFor string
	Create         string // kind of template to begin where none stands
	SemverSkips    kind.SemverSkips
	Rebuild        string // of a bundle that stands there with another image: refuse or replace; empty: as of Setup
	InsteadOf      string // a bundle whose place it takes
}

// Plan is what to do. Targets come in the order of the Setup. A plan without targets is
// no failure: LeftOut says why there are none.
type Plan struct {
	Bundle  kind.Bundle // as it goes into templates: promoted, where Registries say so
	Targets []Target
	LeftOut []LeftOut
	// All are the catalogs that targets for the package have, also those that the bundle does
	// not go to. Where one is asked for, the others are none of them.
	All      []Catalog
	Reasons  []string // of the whole
	Warnings []string
}

// Target is one template, and what is made of it.
type Target struct {
	Template string
	Kind     string         // of the template; where Create is set, of the new one
	Create   bool           // there is none yet; the first request begins it
	Names    []string       // catalogs of a composite template that are meant; empty: all
	Requests []kind.Request // to insert in this order
	Catalogs []Catalog      // to render afterwards
	// Published are the catalogs that users of these have.
	Published []Published
	Fields    []Field // to set in other files
	// SemverSkips are those of the catalogs of a semver template; empty: nobody says.
	SemverSkips kind.SemverSkips
	Reasons     []string
}

// Catalog is a file, or a folder of files, that is rendered from a template.
type Catalog struct {
	Path     string
	Folder   bool      // Path is one
	Name     string    // in a composite template
	Platform *Platform // nil where none is known
	Format   fbc.Format
	Metadata bundle.MetadataFormat
	Rewrite  reference.Rewrites // of images
	Cut      cut.Cut            // of what it holds of the template
	New      bool               // it does not stand yet
	Reasons  []string
}

// LeftOut is a template, or one of its catalogs, that the plan does not touch, also in reports.
type LeftOut struct {
	Template string `json:"template"`
	Catalog  string `json:"catalog,omitempty"` // empty: the whole template
	Reason   string `json:"reason"`
}

// Path is what is left out.
func (l LeftOut) Path() string { return cmp.Or(l.Catalog, l.Template) }

// Make makes the plan. The failures of all targets are reported, not the first one. All
// paths of a plan lie in the repository fsys; links are the concern of who opens them.
func Make(fsys fs.FS, in Input) (*Plan, error) {
	p := &planner{files: template.NewFiles(fsys), in: in, plan: &Plan{Bundle: in.Bundle}}
	if in.Setup != nil {
		p.setup = *in.Setup
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	if err := p.promote(); err != nil {
		return nil, err
	}
	candidates, err := p.candidates()
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, c := range candidates {
		errs = append(errs, p.target(c))
	}
	errs = append(errs, p.askedCatalogIsThere(), p.distinct(), p.newNames())
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return p.plan, nil
}

type planner struct {
	files      *template.Files
	in         Input
	setup      Setup
	support    Support
	supportErr error
	plan       *Plan
	promoted   bool
	// known are the catalogs that targets have; matched says that the one asked for is
	// among them.
	known   []string
	matched bool
	held    []string // channels that templates have
	meant   []meant
}

// Names that stand in paths, branches and texts for people. They are narrower than what
// catalogs may hold, wider than what any publisher uses.
var (
	nameGrammar    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,252}$`)
	channelGrammar = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,127}$`)
)

// CheckNames holds a bundle's names to what may stand in paths, branches and outputs.
func CheckNames(pkg, name string) error {
	if !nameGrammar.MatchString(pkg) || !nameGrammar.MatchString(name) {
		return failure.New(failure.BundleInvalid, "reading bundle %q of package %q: letters, digits and the signs ._+- make a name", name, pkg)
	}
	return nil
}

// CheckChannel holds the name of a channel to what may stand in branches and texts.
func CheckChannel(name string) error {
	if !channelGrammar.MatchString(name) {
		return failure.New(failure.Usage, "reading the inputs: %q is no name of a channel", name).Fix("Give names of letters, digits and the signs ._+-.")
	}
	return nil
}

// check holds names and paths to what may be used further on.
func (p *planner) check() error {
	b, asked := p.in.Bundle, &p.in.Asked
	if err := CheckNames(b.Package, b.Name); err != nil {
		return err
	}
	for _, c := range append(slices.Clone(asked.Channels), asked.DefaultChannel) {
		if c != "" && !channelGrammar.MatchString(c) {
			return failure.New(failure.Usage, "planning for %s: %q is no name of a channel", b.Name, c).
				Fix("Give names of letters, digits and the signs ._+-.")
		}
	}
	if asked.Edges.SkipRange != "" {
		if _, err := semver.ParseRange(asked.Edges.SkipRange); err != nil {
			return failure.New(failure.Usage, "planning for %s: the skip range %q: %w", b.Name, asked.Edges.SkipRange, err).
				Fix("Give a range such as %q.", ">=1.0.0 <1.2.3")
		}
	}
	for _, given := range []*string{&asked.Template, &asked.Catalog} {
		if *given == "" {
			continue
		}
		clean, ok := localPath(*given)
		if !ok {
			return failure.New(failure.EditRefused, "planning for %s: %s is no path within the repository", b.Name, *given).
				Fix("Give a path from the top of the repository, with slashes.")
		}
		*given = clean
	}
	if p.support, p.supportErr = ParseSupport(p.in.OpenShiftVersions); p.support.Warning != "" {
		p.warn("%s", p.support.Warning)
	}
	return nil
}

// promote names the image by the registry of production, where there is one for its
// repository. The digest alone tells that it is the same bundle.
func (p *planner) promote() error {
	b := &p.plan.Bundle
	repository, _, digest := reference.Cut(b.Image)
	production, ok := p.setup.Registries[repository]
	if !ok {
		return nil
	}
	if b.Digest != "" {
		digest = b.Digest
	}
	if !reference.IsDigest(digest) {
		return failure.New(failure.ImageUnpinned, "naming %s by its repository of production: its digest is not known", b.Image).At(p.setup.File, 0, 0).
			Fix("Name the image by digest, or let it be pulled.")
	}
	b.Image, b.Digest, p.promoted = production+"@"+digest, digest, true
	p.reason(&p.plan.Reasons, "The image of %s is named %s, its repository of production, as %s says; the digest is that of the published image.", b.Name, production, p.setup.File)
	return nil
}

// add puts a target into the plan. Several entries of a release-config.yaml may speak of
// one template: they are one target.
func (p *planner) add(t Target) {
	i := slices.IndexFunc(p.plan.Targets, func(o Target) bool { return o.Template == t.Template })
	if i < 0 {
		p.plan.Targets = append(p.plan.Targets, t)
		return
	}
	stands := &p.plan.Targets[i]
	for _, r := range t.Requests {
		if !slices.ContainsFunc(stands.Requests, func(o kind.Request) bool { return sameRequest(o, r) }) {
			stands.Requests = append(stands.Requests, r)
		}
	}
	for _, c := range t.Catalogs {
		if !slices.ContainsFunc(stands.Catalogs, func(o Catalog) bool { return o.Path == c.Path }) {
			stands.Catalogs = append(stands.Catalogs, c)
		}
	}
	for _, one := range t.Published {
		if !slices.ContainsFunc(stands.Published, func(o Published) bool { return o.Catalog == one.Catalog }) {
			stands.Published = append(stands.Published, one)
		}
	}
	stands.Names = kind.Unique(append(stands.Names, t.Names...))
	stands.Fields = append(stands.Fields, t.Fields...)
	stands.Reasons = kind.Unique(append(stands.Reasons, t.Reasons...))
}

func sameRequest(a, b kind.Request) bool {
	return slices.Equal(a.Channels, b.Channels) && a.Replaces == b.Replaces && slices.Equal(a.Skips, b.Skips) &&
		a.SkipRange == b.SkipRange && a.DefaultChannel == b.DefaultChannel
}

// distinct refuses to render one file from two templates, where the last one would win, and
// a template over itself.
func (p *planner) distinct() error {
	from := map[string]string{}
	for _, t := range p.plan.Targets {
		for _, c := range t.Catalogs {
			if slices.ContainsFunc(p.plan.Targets, func(o Target) bool { return o.Template == c.Path }) {
				return failure.New(failure.Config, "planning for %s: %s is a template and a catalog that is rendered", p.in.Bundle.Name, c.Path).At(p.setup.File, 0, 0).
					Fix("Leave the catalog out: a template that is a catalog is not rendered.")
			}
			if other, twice := from[c.Path]; twice {
				return failure.New(failure.Config, "planning for %s: the catalog %s is made of %s and of %s", p.in.Bundle.Name, c.Path, other, t.Template).At(p.setup.File, 0, 0).
					Fix("Let one template make each catalog, or join the two in a composite template.")
			}
			from[c.Path] = t.Template
		}
	}
	return nil
}

func (p *planner) askedCatalogIsThere() error {
	if p.in.Asked.Catalog == "" || p.matched {
		return nil
	}
	err := failure.New(failure.Usage, "planning for %s: no target has the catalog %s", p.in.Bundle.Name, p.in.Asked.Catalog)
	if len(p.known) > 0 {
		return err.Fix("Give one of %s.", strings.Join(kind.Unique(p.known), ", "))
	}
	return err.Fix("Correct the catalog, or leave it out.")
}
