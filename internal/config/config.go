package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/catalogsource"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/schema"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/yamledit"
)

// File is the path of a repository's configuration.
const File = ".github/graft.yaml"

// Config is the content of graft.yaml, with the values of Default for everything that it leaves out.
type Config struct {
	File     string // the file read; empty: none
	Package  string
	Targets  []plan.TargetSetup
	Operands []plan.OperandSetup
	// CatalogSources are manifests that name the images built from catalogs.
	CatalogSources []plan.CatalogSourceSetup
	Edges          plan.EdgeRule
	Rebuild        string                // of a bundle that is in the template with another image: refuse or replace
	VersionsLabel  string                // whether bundles follow com.redhat.openshift.versions; empty: the layout decides
	SemverSkips    kind.SemverSkips      // in the catalogs of semver templates; empty: not set
	Published      []plan.PublishedSetup // catalogs that users have
	InsteadOf      string                // plan.HeadUnpublished; otherwise only the bundle that was requested
	Registries     map[string]string
	// AllowedRepositories and SkipTags are nil if the file does not set them. Then the inputs or the built-in
	// values apply.
	AllowedRepositories []string
	SkipTags            []string
	Levels              map[string]graph.Level
	PullRequest         PullRequest
	Commit              Commit
	Sum                 string // path of catalog.sum; empty: no such file
	Drift               Drift
	After               plan.AfterSetup

	ci map[string]ciFile // files already read, by operator folder
}

// Drift decides about a change to a catalog that differed from the output of its template.
type Drift string

// The policies; empty means WarnOfDrift.
const (
	WarnOfDrift Drift = "warn"
	RefuseDrift Drift = "refuse"
)

// PullRequest describes how changes are proposed.
type PullRequest struct {
	Title               plan.Pattern
	Intro               plan.Pattern
	Base                string // empty: the repository's default branch
	Branch              plan.Pattern
	Strategy            Strategy
	Supersede           bool
	Labels              []string
	Reviewers           []string
	TeamReviewers       []string
	Assignees           []string
	Milestone           string
	Draft               bool
	AutoMerge           string // merge, squash or rebase; empty: a person merges
	MaintainerCanModify bool
}

// Strategy decides which changes share a pull request.
type Strategy string

// The strategies.
const (
	ForBundle  Strategy = "bundle"  // one for each bundle
	ForPackage Strategy = "package" // a rolling one for each package
)

// Commit describes how changes are committed.
type Commit struct {
	Author    Person // zero: graft, or with the API the owner of the token
	Committer Person // zero: the author
	Signoff   bool
	Message   plan.Pattern
	Method    Method
}

// Person is an author or committer.
type Person struct{ Name, Email string }

// Method decides who creates commits.
type Method string

// The methods.
const (
	WithGit Method = "git" // Graft creates and pushes them
	WithAPI Method = "api" // the forge creates and signs them
)

// rollingBranch is the default branch for the strategy ForPackage. It is not a prefix of the bundles' default
// branches, because git allows no branch inside another.
const rollingBranch = "graft/{package}/rolling"

// published is the default title and message.
const published = "Publish {package} {version}"

// OfRebuild returns the title or message of a rebuild. It replaces only the default.
func OfRebuild(p plan.Pattern) plan.Pattern {
	if p == published {
		return "Rebuild {package} {version}"
	}
	return p
}

// Default returns the configuration of a repository without a graft.yaml.
func Default() *Config {
	return &Config{
		PullRequest: PullRequest{
			Title:               published,
			Branch:              "graft/{package}/{version}",
			Strategy:            ForBundle,
			MaintainerCanModify: true,
		},
		Commit: Commit{Message: published, Method: WithGit},
	}
}

// Read reads the repository's configuration. It returns Default if there is none.
func Read(fsys fs.FS) (*Config, error) {
	other := strings.TrimSuffix(File, ".yaml") + ".yml"
	src, err := fs.ReadFile(fsys, File)
	_, otherErr := fs.Stat(fsys, other)
	switch {
	case err == nil && otherErr == nil:
		return nil, failure.New(failure.Config, "reading the configuration: there is also %s", other).At(File, 0, 0).Fix("Keep one of the two.")
	case err == nil:
		return Parse(File, src)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, failure.New(failure.Config, "reading the configuration: %w", err).At(File, 0, 0).Fix("Make the file readable.")
	case errors.Is(otherErr, fs.ErrNotExist):
		return Default(), nil
	}
	if src, err = fs.ReadFile(fsys, other); err != nil {
		return nil, failure.New(failure.Config, "reading the configuration: %w", err).At(other, 0, 0).Fix("Make the file readable.")
	}
	return Parse(other, src)
}

// Parse reads a graft.yaml. It reports all faults, each at its place.
func Parse(name string, src []byte) (*Config, error) {
	top, err := schema.Configuration(name, src)
	if err != nil {
		return nil, err
	}
	var faults []error
	for _, f := range compiled().Check(top) {
		faults = append(faults, inWords(f))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	c := decode(name, top)
	return c, errors.Join(meaning(top, c)...)
}

// meaning reports faults that the schema cannot express.
func meaning(top *yamledit.Node, c *Config) (errs []error) {
	for i, node := range top.Get("targets").Items() {
		t, where := c.Targets[i], "targets"
		if err := plan.CheckPath(string(t.Template)); err != nil {
			errs = append(errs, at(node.Get("template"), "reading %s: %w", where, err))
		}
		if t.Create != "" && strings.ContainsAny(string(t.Template), "*?[") {
			errs = append(errs, at(node.Get("create"), "reading %s: create begins one template, and %s is a pattern for several", where, t.Template).
				Fix("Name the template to create."))
		}
		for j, rule := range node.Get("rules").Items() {
			if err := t.Rules[j].Versions.Check(); err != nil {
				errs = append(errs, at(rule.Get("versions"), "reading %s: %q is not a range of versions: %w", where, t.Rules[j].Versions, err))
			}
		}
		errs = append(errs, edgesMeaning(node.Get("edges"))...)
		for j, c := range node.Get("catalogs").Items() {
			errs = append(errs, bundlesMeaning(c.Get("include"), t.Catalogs[j].Include)...)
			errs = append(errs, bundlesMeaning(c.Get("exclude"), t.Catalogs[j].Exclude)...)
		}
		errs = append(errs, stepsMeaning(node, t)...)
	}
	errs = append(errs, edgesMeaning(top.Get("edges"))...)
	errs = append(errs, catalogSourcesMeaning(top.Get("catalogSources").Items(), c)...)
	if err := c.CheckBranch(c.PullRequest.Branch); err != nil {
		node := top.Get("pullRequest").Get("branch")
		f := at(node, "%s", err.Message)
		f.Remedy = err.Remedy
		errs = append(errs, f)
	}
	return errs
}

// bundlesMeaning checks the ranges of rules for bundles.
func bundlesMeaning(n *yamledit.Node, rules []plan.BundleRule) (errs []error) {
	for i, node := range n.Items() {
		if rules[i].Versions == "" && len(rules[i].Channels) == 0 {
			errs = append(errs, at(node, "reading catalogs: a rule picks every bundle").Fix("Give versions, channels, or both."))
		}
		if err := rules[i].Versions.Check(); err != nil {
			errs = append(errs, at(node.Get("versions"), "reading catalogs: %q is not a range of versions: %w", rules[i].Versions, err))
		}
	}
	return errs
}

// catalogSourcesMeaning checks the grammar of templates, refuses two entries for the same CatalogSource, and
// refuses files that are already used for something else.
func catalogSourcesMeaning(nodes []*yamledit.Node, c *Config) (errs []error) {
	taken := map[string]string{File: "this file"}
	for _, t := range c.Targets {
		taken[string(t.Template)] = "a template"
		for _, one := range t.Catalogs {
			taken[string(one.Path)] = "a catalog"
		}
	}
	names := map[string][]string{}
	for i, s := range c.CatalogSources {
		wrong := func(key, format string, args ...any) *failure.Error {
			err := at(nodes[i].Get(key), "reading catalogSources[%d].%s: %w", i, key, fmt.Errorf(format, args...))
			errs = append(errs, err)
			return err
		}
		if s.Template != "" {
			if err := catalogsource.CheckTemplate(s.Template); err != nil {
				wrong("template", "%w", err).Fix("Write a reference with templates, as in docs/catalogsource.md.")
			}
		}
		if key, what, fix := clusterFault(nodes[i], s); key != "" {
			wrong(key, "%s", what).Fix("%s", fix)
		}
		if ext := path.Ext(s.Path); ext != ".yaml" && ext != ".yml" || strings.HasPrefix(s.Path, ".git/") {
			wrong("path", "%s is not a manifest", s.Path).Fix("Give a path that ends with .yaml or .yml.")
		}
		if what := taken[s.Path]; what != "" {
			wrong("path", "%s is %s", s.Path, what).Fix("Give the manifest a file of its own.")
		}
		file := s.Path + " " + cmp.Or(s.Kind, catalogsource.Kind)
		if others, twice := names[file]; twice && (s.Name == "" || slices.Contains(others, s.Name) || slices.Contains(others, "")) {
			wrong("path", "%s occurs twice", s.Path).Fix("Keep one, or give each the name of its CatalogSource in the file.")
		}
		names[file] = append(names[file], s.Name)
		if slices.ContainsFunc(c.Operands, func(o plan.OperandSetup) bool { return o.Image == s.Repository }) {
			wrong("image", "%s is an operand's", s.Repository).Fix("Keep catalogs in their own repository.")
		}
	}
	return errs
}

// OnlyPackage returns the package of all targets, or "" if there are several or none is set.
func (c *Config) OnlyPackage() string {
	pkg := c.Package
	for _, t := range c.Targets {
		if t.Package != "" && pkg != "" && t.Package != pkg {
			return ""
		}
		pkg = cmp.Or(pkg, t.Package)
	}
	return pkg
}

// clusterFault reports a key that the kind of the object does not have, or a number out of range.
func clusterFault(n *yamledit.Node, s plan.CatalogSourceSetup) (key, what, fix string) {
	cluster := s.Kind == catalogsource.ClusterKind
	switch {
	case cluster && s.Form != "":
		return "form", "a ClusterCatalog has one form", "Remove form."
	case cluster && s.Namespace != "":
		return "namespace", "a ClusterCatalog has no namespace", "Remove namespace."
	case n.Get("poll") != nil && !cluster:
		return "poll", "a CatalogSource is named by digest, which is not polled", "Remove poll, or write kind: ClusterCatalog."
	case n.Get("poll") != nil && s.Template != "":
		return "poll", "poll keeps the manifest to a tag, and template to what the cluster decides", "Keep one of the two."
	case n.Get("poll") != nil && (s.Poll == nil || *s.Poll < 1):
		return "poll", n.Get("poll").Text() + " is not a number of minutes", "Write 1 or more."
	case n.Get("priority") != nil && (s.Priority == nil || *s.Priority < math.MinInt32 || *s.Priority > math.MaxInt32):
		return "priority", n.Get("priority").Text() + " is out of range", "Write a number of 32 bits."
	}
	return "", "", ""
}

// SkipsOf returns the setting for the catalogs of a template, given its path, or "" if there is none.
func (c *Config) SkipsOf(template string) kind.SemverSkips {
	for _, t := range c.Targets {
		if t.SemverSkips != "" && t.Names(template) {
			return t.SemverSkips
		}
	}
	return c.SemverSkips
}

// CheckBranch refuses a branch pattern that does not fit the strategy.
func (c *Config) CheckBranch(branch plan.Pattern) *failure.Error {
	uses := func(names ...string) bool { return slices.ContainsFunc(names, branch.Uses) }
	switch {
	case c.PullRequest.Strategy == ForBundle && !uses("version", "name"):
		return failure.New(failure.Usage, "reading pullRequest.branch: all bundles would share the branch %s", branch).
			Fix("Put {version} into it, or set strategy: package.")
	case c.PullRequest.Strategy == ForPackage && uses("version", "name", "major", "minor", "patch"):
		return failure.New(failure.Usage, "reading pullRequest.branch: with strategy: package one branch is for all versions, and %s names the version", branch).
			Fix("Leave the version out of it, or set strategy: bundle.")
	}
	return nil
}

// BranchFor returns the branch pattern for changes to a base branch. If no pattern is configured and the base is
// not the default branch, the pattern contains the base's name.
func (c *Config) BranchFor(base, standard string) plan.Pattern {
	if own := c.PullRequest.Branch; own != Default().PullRequest.Branch && own != rollingBranch {
		return own
	}
	return BranchOf(c.PullRequest.Branch, base, standard)
}

// BranchOf adds the base's name to a default pattern, unless the base is the default branch.
func BranchOf(own plan.Pattern, base, standard string) plan.Pattern {
	if base == standard || standard == "" {
		return own
	}
	return plan.Pattern("graft/" + base + strings.TrimPrefix(string(own), "graft"))
}

// edgesMeaning checks the range with the placeholders filled in.
func edgesMeaning(n *yamledit.Node) []error {
	pattern := n.Get("skipRange")
	if pattern == nil {
		return nil
	}
	example := strings.NewReplacer("{version}", "1.2.3", "{major}", "1", "{minor}", "2", "{patch}", "3").Replace(pattern.Value)
	if _, err := semver.ParseRange(example); err != nil {
		return []error{at(pattern, "reading edges.skipRange: %q is not a range of versions: %w", example, err)}
	}
	return nil
}
