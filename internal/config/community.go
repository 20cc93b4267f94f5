package config

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/schema"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/yamledit"
)

// CI is the part of an operator's ci.yaml in the community catalogs that describes its catalogs.
type CI struct {
	Enabled bool // the operator is published as file-based catalogs
	Mapping []Mapping
}

// Mapping is a template with the catalogs that are rendered from it. Line and Col are its place.
type Mapping struct {
	Template  string   // file in catalog-templates
	Catalogs  []string // folders in catalogs
	Type      string   // schema of the template
	Line, Col int
}

var mappingKeys = []string{"template_name", "catalog_names", "type"}

// ParseCI reads a ci.yaml. It ignores all keys except fbc.enabled and fbc.catalog_mapping, because they configure
// other tools. An empty file enables nothing.
func ParseCI(name string, src []byte) (*CI, error) {
	if f, err := yamledit.Open(name, src); err == nil && len(f.Docs) == 0 {
		return &CI{}, nil
	}
	top, err := schema.Configuration(name, src)
	if err != nil {
		return nil, err
	}
	fbc, ci := top.Get("fbc"), &CI{}
	if fbc.IsNull() {
		return ci, nil
	}
	if fbc.Kind != yamledit.Mapping {
		return nil, schema.Mistyped(fbc, "object", "fbc")
	}
	if err := knownKeys(fbc, []string{"enabled", "catalog_mapping", "version_promotion_strategy"}, "fbc"); err != nil {
		return nil, err
	}
	if enabled := fbc.Get("enabled"); !enabled.IsNull() {
		if enabled.Tag != "!!bool" {
			return nil, schema.Mistyped(enabled, "boolean", "fbc.enabled")
		}
		ci.Enabled = truth(enabled, false)
	}
	mapping := fbc.Get("catalog_mapping")
	if !mapping.IsNull() && mapping.Kind != yamledit.Sequence {
		return nil, schema.Mistyped(mapping, "array", "fbc.catalog_mapping")
	}
	for _, item := range mapping.Items() {
		m, err := parseMapping(item.Resolve())
		if err != nil {
			return nil, err
		}
		ci.Mapping = append(ci.Mapping, m)
	}
	return ci, nil
}

func parseMapping(n *yamledit.Node) (Mapping, error) {
	const where = "fbc.catalog_mapping"
	if n == nil || n.Kind != yamledit.Mapping {
		return Mapping{}, at(n, "reading %s: an entry is not a mapping", where)
	}
	if err := knownKeys(n, mappingKeys, "an entry of "+where); err != nil {
		return Mapping{}, err
	}
	for _, key := range []string{"template_name", "type"} {
		if v := n.Get(key); v != nil && v.Tag != "!!str" {
			return Mapping{}, schema.Mistyped(v, "string", where+": "+key)
		}
	}
	if err := textList(n.Get("catalog_names"), where, "catalog_names"); err != nil {
		return Mapping{}, err
	}
	m := Mapping{Template: n.Get("template_name").Text(), Catalogs: n.Get("catalog_names").Strings(), Type: n.Get("type").Text()}
	m.Line, m.Col = n.Position()
	if m.Template == "" || m.Type == "" || len(m.Catalogs) == 0 {
		return m, at(n, "reading %s: an entry lacks template_name, catalog_names or type", where).Fix("Give all three.")
	}
	if err := plan.CheckPath(m.Template); err != nil || strings.ContainsAny(m.Template, "*?[{}") {
		return m, at(n.Get("template_name"), "reading %s: %q is not the name of a file in catalog-templates", where, m.Template).Fix("Name a file.")
	}
	for i, c := range m.Catalogs {
		if !isFolder(c) {
			return m, at(n.Get("catalog_names").Items()[i], "reading %s: %q is not the name of a folder in catalogs", where, c).Fix("Name a folder, such as v4.20.")
		}
	}
	return m, nil
}

// isFolder reports whether a name is the name of a single folder, without any path.
func isFolder(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/\\*?[{}\x00\r\n:")
}

// Layout is the way in which a repository says where bundles go.
type Layout string

// The layouts.
const (
	ByFile    Layout = "graft.yaml"
	Community Layout = "community" // ci.yaml and release-config.yaml in operators/NAME
	Unsaid    Layout = "none"      // the repository does not say; the plan searches it
)

// The folders of the community catalogs.
const (
	operators = "operators"
	templates = "catalog-templates"
	catalogs  = "catalogs"
)

// Setup returns the repository's instructions for a bundle: the targets of the configuration, or else those of
// the operator's community layout. If there are neither, it returns only the settings for all targets. fsys is
// the content that contains the configuration.
func (c *Config) Setup(fsys fs.FS, pkg, version string) (*plan.Setup, Layout, error) {
	setup := &plan.Setup{File: c.File, Package: c.Package, Targets: c.Targets, Edges: c.Edges, Rebuild: c.Rebuild, SemverSkips: c.SemverSkips, VersionsLabel: c.VersionsLabel, Published: c.Published, InsteadOf: c.InsteadOf, Registries: c.Registries, Sum: c.Sum, After: c.After}
	if len(c.Targets) > 0 {
		return setup, ByFile, nil
	}
	folder, err := operatorFolder(fsys, pkg, version)
	if err != nil || folder == "" {
		return setup, Unsaid, err
	}
	targets, file, err := c.communityTargets(fsys, folder, version)
	if err != nil || file == "" {
		return setup, Unsaid, err
	}
	if len(targets) == 0 {
		return setup, Unsaid, failure.New(failure.Config, "reading %s: the operator is kept as file-based catalogs, and no template is named", file).At(file, 1, 1).
			Fix("Map templates to catalogs in fbc.catalog_mapping.")
	}
	if setup.Community, err = c.operatorOf(fsys, folder, version); err != nil {
		return setup, Unsaid, err
	}
	setup.File, setup.Targets = file, targets
	// The community's pipeline renders every catalog that ci.yaml maps and ignores the label.
	setup.VersionsLabel = cmp.Or(c.VersionsLabel, plan.IgnoreLabel)
	return setup, Community, nil
}

// CommunityFiles matches the files that configure the catalogs of the community layout.
const CommunityFiles = operators + "/*/ci.yaml"

// Setups returns the targets of the repository for all packages: those of graft.yaml, or else those of each operator
// in the community layout.
func (c *Config) Setups(fsys fs.FS) (all []*plan.Setup, err error) {
	if len(c.Targets) > 0 {
		return []*plan.Setup{{File: c.File, Package: c.Package, Targets: c.Targets}}, nil
	}
	if info, err := fs.Stat(fsys, operators); err != nil || !info.IsDir() {
		return nil, nil //nolint:nilerr // another layout
	}
	folders, err := fs.ReadDir(fsys, operators)
	if err != nil {
		return nil, failure.New(failure.Config, "looking for operators: %w", err).At(operators, 0, 0).Fix("Make the folder readable.")
	}
	var errs []error
	for _, d := range folders {
		if !d.IsDir() {
			continue
		}
		folder := path.Join(operators, d.Name())
		file, ci, err := c.ciOf(fsys, folder)
		if errs = append(errs, err); err != nil || file == "" || !ci.Enabled {
			continue
		}
		one := &plan.Setup{File: file}
		for _, m := range ci.Mapping {
			one.Targets = append(one.Targets, communityTarget(fsys, m, folder))
		}
		all = append(all, one)
	}
	return all, errors.Join(errs...)
}

// communityTargets returns the templates that a release-config.yaml names, with the catalogs to which ci.yaml
// maps them. Without a release-config.yaml for the version it returns all templates, and the inputs must name
// channels. file is empty if the operator is not published as file-based catalogs.
func (c *Config) communityTargets(fsys fs.FS, folder, version string) (targets []plan.TargetSetup, file string, err error) {
	ciName, ci, err := c.ciOf(fsys, folder)
	if err != nil || ciName == "" {
		return nil, "", err
	}
	releaseFile, src, err := firstFile(fsys, releasePaths(folder, version)...)
	switch {
	case err != nil:
		return nil, "", err
	case releaseFile == "" && !ci.Enabled:
		return nil, "", nil
	case !ci.Enabled:
		return nil, "", failure.New(failure.Config, "reading %s: %s says nothing of fbc.enabled: true", releaseFile, ciName).At(ciName, 1, 1).
			Fix("Set fbc.enabled to true, or remove the release-config.yaml.")
	case releaseFile == "":
		return unreleased(fsys, ci, folder, version), ciName, nil
	}
	releases, err := ParseRelease(releaseFile, src)
	if err != nil {
		return nil, "", err
	}
	for _, r := range releases {
		i := slices.IndexFunc(ci.Mapping, func(m Mapping) bool { return m.Template == r.Template })
		if i < 0 {
			return nil, "", failure.New(failure.Config, "reading catalog_templates: %s maps no template %s to catalogs", ciName, r.Template).At(releaseFile, r.Line, r.Col).
				Fix("%sAdd it to fbc.catalog_mapping in %s.", schema.DidYouMean(r.Template, mapped(ci)), ciName)
		}
		t := communityTarget(fsys, ci.Mapping[i], folder)
		t.Line, t.Col = r.Line, r.Col
		t.Rules = []plan.ChannelRule{{Channels: patterns(r.Channels), DefaultChannel: plan.Pattern(r.DefaultChannel)}}
		t.Said = plan.Edges{Replaces: r.Replaces, Skips: r.Skips, SkipRange: r.SkipRange}
		targets = append(targets, t)
	}
	return targets, releaseFile, nil
}

// ciOf reads the ci.yaml of an operator, once for all versions.
func (c *Config) ciOf(fsys fs.FS, folder string) (file string, ci *CI, err error) {
	if known, ok := c.ci[folder]; ok {
		return known.file, known.CI, nil
	}
	file, src, err := firstFile(fsys, path.Join(folder, "ci.yaml"), path.Join(folder, "ci.yml"))
	if err != nil || file == "" {
		return "", nil, err
	}
	if ci, err = ParseCI(file, src); err != nil {
		return "", nil, err
	}
	if c.ci == nil {
		c.ci = map[string]ciFile{}
	}
	c.ci[folder] = ciFile{file, ci}
	return file, ci, nil
}

type ciFile struct {
	file string
	*CI
}

func communityTarget(fsys fs.FS, m Mapping, folder string) plan.TargetSetup {
	t := plan.TargetSetup{Line: m.Line, Col: m.Col, Template: plan.Pattern(path.Join(folder, templates, m.Template))}
	if k, ok := template.OfSchema(m.Type).(kind.Creator); ok {
		t.Create = k.Traits().Name
	}
	for _, name := range m.Catalogs {
		t.Catalogs = append(t.Catalogs, plan.CatalogSetup{
			Path:     plan.Pattern(catalogFile(fsys, path.Join(catalogs, name, path.Base(folder)))),
			Metadata: plan.Auto,
			Create:   true, // the pipeline also creates the catalog of a newly mapped version of OpenShift
		})
	}
	return t
}

func unreleased(fsys fs.FS, ci *CI, folder, version string) []plan.TargetSetup {
	missing := path.Join(folder, version, "release-config.yaml")
	why := missing + " does not exist, and no channels are requested"
	misnamed := strings.TrimSuffix(missing, ".yaml") + ".yml"
	if _, err := fs.Stat(fsys, misnamed); err == nil {
		why += "; " + misnamed + " is not read"
	}
	var out []plan.TargetSetup
	for _, m := range ci.Mapping {
		t := communityTarget(fsys, m, folder)
		t.OnlyAsked, t.Unless = true, why
		out = append(out, t)
	}
	return out
}

// catalogFile returns the path of the operator's catalog in a folder: an existing file, or else catalog.yaml.
func catalogFile(fsys fs.FS, folder string) string {
	for _, name := range []string{"catalog.yaml", "catalog.yml", "catalog.json"} {
		if _, err := fs.Stat(fsys, path.Join(folder, name)); err == nil {
			return path.Join(folder, name)
		}
	}
	return path.Join(folder, "catalog.yaml")
}

func releasePaths(folder, version string) []string {
	return []string{path.Join(folder, version, "release-config.yaml"), path.Join(folder, "v"+version, "release-config.yaml")}
}

// operatorFolder returns the folder of a package in the community layout: the folder with its name, or else the
// one whose bundle of this version belongs to the package.
func operatorFolder(fsys fs.FS, pkg, version string) (string, error) {
	if !isFolder(pkg) || !isFolder(version) {
		return "", nil
	}
	named := path.Join(operators, pkg)
	if info, err := fs.Stat(fsys, named); err == nil && info.IsDir() {
		return named, nil
	}
	if info, err := fs.Stat(fsys, operators); err != nil || !info.IsDir() {
		return "", nil //nolint:nilerr // another layout
	}
	all, err := fs.ReadDir(fsys, operators)
	if err != nil {
		return "", failure.New(failure.Config, "looking for the operator of package %s: %w", pkg, err).At(operators, 0, 0).Fix("Make the folder readable.")
	}
	for _, d := range all {
		folder := path.Join(operators, d.Name())
		for _, release := range releasePaths(folder, version) {
			if d.IsDir() && annotatedPackage(fsys, path.Dir(release)) == pkg {
				return folder, nil
			}
		}
	}
	return "", nil
}

// annotatedPackage returns the package that a bundle's annotations name, or "" if they cannot be read.
func annotatedPackage(fsys fs.FS, bundle string) string {
	file, src, err := firstFile(fsys, path.Join(bundle, "metadata", "annotations.yaml"), path.Join(bundle, "metadata", "annotations.yml"))
	if err != nil || file == "" {
		return ""
	}
	top, err := schema.Configuration(file, src)
	if err != nil {
		return ""
	}
	return top.Get("annotations").Get("operators.operatorframework.io.bundle.package.v1").Text()
}

// firstFile reads the first file that exists. It is not an error if none does.
func firstFile(fsys fs.FS, names ...string) (string, []byte, error) {
	for _, name := range names {
		src, err := fs.ReadFile(fsys, name)
		if err == nil {
			return name, src, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", nil, failure.New(failure.Config, "reading it: %w", err).At(name, 0, 0).Fix("Make the file readable, and keep it inside of the repository.")
		}
	}
	return "", nil, nil
}

func mapped(ci *CI) []string {
	var names []string
	for _, m := range ci.Mapping {
		names = append(names, m.Template)
	}
	return names
}
