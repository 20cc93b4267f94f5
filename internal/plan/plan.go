// Package plan decides what a published bundle changes in a repository: into which templates it goes, with which
// channels and edges, which catalogs are rendered from them and how, and what is left alone. It writes nothing. A
// sentence gives the reason for each decision, for the person who reviews the change.
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

// Input is the input of a plan apart from the repository.
type Input struct {
	Bundle kind.Bundle
	// OpenShiftVersions is the bundle's label com.redhat.openshift.versions.
	OpenShiftVersions string
	// Annotated are the channels in the bundle's annotations. They count only if the target uses them.
	Annotated []string
	Stated    Edges // in the bundle's ClusterServiceVersion
	Asked     Asked
	Setup     *Setup // nil: no setup
	// Published returns the documents of the bundle's package in published catalogs, by catalog. Make calls it if
	// the setup names such catalogs.
	Published func([]Published) (map[string][]fbc.Doc, error)
	// Trusted reports that the bundle's repository is allowed by name, so that it may differ from that of
	// existing bundles.
	Trusted bool
}

// Asked holds the inputs of a run. They take precedence over a Setup.
type Asked struct {
	Template       string // a path; selects one of several targets
	Catalog        string // a path, or a name in a composite template; selects one catalog
	Channels       []string
	Edges          Edges
	DefaultChannel string
	SubstitutesFor string
	Create         string // kind of a template to create if there is none
	SemverSkips    kind.SemverSkips
	Rebuild        string // of a bundle in the template with another image: refuse or replace; empty: as in Setup
	InsteadOf      string // a bundle that it replaces in place
}

// A Plan lists the work to do. Targets have the order of the Setup. A plan without targets is not an error: LeftOut gives
// the reasons.
type Plan struct {
	Bundle  kind.Bundle // as inserted into templates: with the production repository, if Registries has one
	Targets []Target
	LeftOut []LeftOut
	// All holds the catalogs of the package's targets, including those that the bundle does not go to. If one was
	// requested, All holds only that.
	All      []Catalog
	Reasons  []string // for the whole plan
	Warnings []string
}

// Target is one template, and the changes to it.
type Target struct {
	Template string
	Kind     string         // of the template, or of the new one if Create is set
	Create   bool           // there is no template yet; the first request creates it
	Names    []string       // selected catalogs of a composite template; empty: all
	Requests []kind.Request // to insert, in order
	Catalogs []Catalog      // to render afterwards
	// Published are the catalogs that users of Catalogs have.
	Published []Published
	Fields    []Field // to set in other files
	// SemverSkips is the setting for catalogs of a semver template; empty: not set.
	SemverSkips kind.SemverSkips
	Reasons     []string
}

// Catalog is a file or folder that is rendered from a template.
type Catalog struct {
	Path     string
	Folder   bool      // Path is a folder
	Name     string    // in a composite template
	Platform *Platform // nil: unknown
	Format   fbc.Format
	Metadata bundle.MetadataFormat
	Rewrite  reference.Rewrites // of images
	Cut      cut.Cut            // parts of the template that it leaves out
	New      bool               // it does not exist yet
	Reasons  []string
}

// LeftOut is a template, or one of its catalogs, that the plan does not touch. Reports contain it.
type LeftOut struct {
	Template string `json:"template"`
	Catalog  string `json:"catalog,omitempty"` // empty: the whole template
	Reason   string `json:"reason"`
}

// Path returns the path of what is left out.
func (l LeftOut) Path() string { return cmp.Or(l.Catalog, l.Template) }

// Make returns the plan. It reports the failures of all targets. All paths of a plan are inside the repository
// fsys; the code that opens them has to check links.
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
	p.all = candidates
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
	all        []candidate
	besides    []kind.BundleRef // see beside; nil until then
	promoted   bool
	// known holds the catalogs of targets; matched reports whether the requested one is among them.
	known   []string
	matched bool
	held    []string // channels of templates
	meant   []meant
}

// Grammars of names that occur in paths, branches and texts for people. They allow less than catalogs, but more
// than any publisher uses.
var (
	nameGrammar    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,252}$`)
	channelGrammar = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,127}$`)
)

// CheckNames refuses names of a bundle that are unsafe in paths, branches and outputs.
func CheckNames(pkg, name string) error {
	if !nameGrammar.MatchString(pkg) || !nameGrammar.MatchString(name) {
		return failure.New(failure.BundleInvalid, "reading bundle %q of package %q: letters, digits and the signs ._+- make a name", name, pkg)
	}
	return nil
}

// CheckChannel refuses a channel's name that is unsafe in branches and texts.
func CheckChannel(name string) error {
	if !channelGrammar.MatchString(name) {
		return failure.New(failure.Usage, "reading the inputs: %q is not the name of a channel", name).Fix("Give names of letters, digits and the signs ._+-.")
	}
	return nil
}

// check refuses names and paths that are unsafe later.
func (p *planner) check() error {
	b, asked := p.in.Bundle, &p.in.Asked
	if err := CheckNames(b.Package, b.Name); err != nil {
		return err
	}
	for _, c := range append(slices.Clone(asked.Channels), asked.DefaultChannel) {
		if c != "" && !channelGrammar.MatchString(c) {
			return failure.New(failure.Usage, "planning for %s: %q is not the name of a channel", b.Name, c).
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
			return failure.New(failure.EditRefused, "planning for %s: %s is not a path within the repository", b.Name, *given).
				Fix("Give a path from the top of the repository, with slashes.")
		}
		*given = clean
	}
	if p.support, p.supportErr = ParseSupport(p.in.OpenShiftVersions); p.support.Warning != "" {
		p.warn("%s", p.support.Warning)
	}
	return nil
}

// promote replaces the image's repository by that of production, if the setup has one. Only the digest proves
// that it is the same bundle.
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

// add adds a target to the plan. Several entries of a release-config.yaml for one template become one target.
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

// distinct refuses to render one file from two templates, because the last would win, and to render over a
// template.
func (p *planner) distinct() error {
	from := map[string]string{}
	for _, t := range p.plan.Targets {
		for _, c := range t.Catalogs {
			if slices.ContainsFunc(p.plan.Targets, func(o Target) bool { return o.Template == c.Path }) {
				return failure.New(failure.Config, "planning for %s: %s is a template and a catalog that is rendered", p.in.Bundle.Name, c.Path).At(p.setup.File, 0, 0).
					Fix("Leave the catalog out: a template that is a catalog is not rendered.")
			}
			if other, twice := from[c.Path]; twice {
				return failure.New(failure.Config, "planning for %s: two templates make the catalog %s: %s and %s", p.in.Bundle.Name, c.Path, other, t.Template).At(p.setup.File, 0, 0).
					Fix("Render each catalog from one template, or join the two in a composite template.")
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
