package config

import (
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/schema"
	"github.com/olmgraft/graft/internal/yamledit"
)

// Schemas that the pipelines of the community catalogs apply to the two files.
const (
	ciSchema = `{"type": "object", "properties": {
		"updateGraph": {"type": "string", "enum": ["replaces-mode", "semver-mode"]},
		"reviewers": {"type": "array", "minItems": 1, "items": {"type": "string"}},
		"merge": {"type": "boolean"}, "cert_project_id": {"type": "string"},
		"fbc": {"type": "object", "additionalProperties": false, "properties": {
			"enabled": {"type": "boolean"},
			"version_promotion_strategy": {"type": "string", "enum": ["always", "never", "review-needed"]},
			"catalog_mapping": {"type": "array", "items": {"type": "object", "required": ["template_name", "catalog_names", "type"], "properties": {
				"template_name": {"type": "string"}, "type": {"type": "string", "enum": ["olm.semver", "olm.template.basic"]},
				"catalog_names": {"type": "array", "minItems": 1, "uniqueItems": true, "items": {"type": "string"}}}}}}}}}`
	releaseSchema = `{"type": "object", "additionalProperties": false, "required": ["catalog_templates"], "properties": {
		"merge": {"type": "boolean"},
		"catalog_templates": {"type": "array", "minItems": 1, "uniqueItems": true, "items": {"type": "object", "required": ["template_name", "channels"], "properties": {
			"template_name": {"type": "string"}, "replaces": {"type": "string"}, "skipRange": {"type": "string"}, "defaultChannel": {"type": "string"},
			"channels": {"type": "array", "minItems": 1, "uniqueItems": true, "items": {"type": "string"}},
			"skips": {"type": "array", "minItems": 1, "uniqueItems": true, "items": {"type": "string"}}}}}}}`
)

var (
	compiledCI      = sync.OnceValue(func() *schema.Schema { return schema.Compile(schema.Parse("ci.yaml", []byte(ciSchema)), nil) })
	compiledRelease = sync.OnceValue(func() *schema.Schema {
		return schema.Compile(schema.Parse("release-config.yaml", []byte(releaseSchema)), nil)
	})
)

// archetypes has the pipeline's spelling. opm ignores the case.
var archetypes = []string{"Candidate", "Fast", "Stable"}

// communityRules checks one change to the community catalogs.
type communityRules struct {
	fsys   fs.FS
	levels graph.Levels
	found  []graph.Finding
}

// CommunityFindings applies the checks that the pipelines of the community catalogs run on a pull request. fsys
// is the content after the change, changed lists the changed paths, and images lists the bundle images of each
// catalog.
func CommunityFindings(fsys fs.FS, operator plan.Community, changed []string, images map[string][]string, levels graph.Levels) []graph.Finding {
	c := &communityRules{fsys: fsys, levels: levels}
	c.registries(images)
	ci := c.holds(operator.CI, "community-ci-schema", compiledCI())
	release := c.holds(operator.Release, "community-release-schema", compiledRelease())
	c.mapping(ci, release)
	c.files(changed)
	for _, one := range []struct {
		name string
		top  *yamledit.Node
	}{{operator.CI, ci}, {operator.Release, release}} {
		if merge := one.top.Get("merge"); one.name == operator.ByHand && merge != nil {
			c.find("community-not-merged", merge, "%s says merge: false: the pipeline leaves the pull request to a person, and so does Graft", one.name)
		}
	}
	return c.found
}

func (c *communityRules) find(id string, at *yamledit.Node, format string, args ...any) {
	file, line := "", 0
	if at != nil {
		f := at.Failure(failure.Config, "")
		file, line = f.File, f.Line
	}
	c.found = append(c.found, c.levels.Found(id, file, line, format, args...)...)
}

// holds reads a file and reports where it breaks a schema. It returns nil if the file does not exist or is not
// YAML.
func (c *communityRules) holds(name, id string, s *schema.Schema) *yamledit.Node {
	top := c.read(name)
	if top == nil {
		return nil
	}
	for _, fault := range s.Check(top) {
		c.find(id, fault.Node, "%s", fault.Failure().Message)
	}
	return top
}

func (c *communityRules) read(name string) *yamledit.Node {
	src, err := fs.ReadFile(c.fsys, name)
	if err != nil {
		return nil
	}
	top, err := schema.Configuration(name, src)
	if err != nil {
		return nil
	}
	return top
}

// registries reports images outside the repository's allowed registries. config.yaml lists these as prefixes of
// image names.
func (c *communityRules) registries(images map[string][]string) {
	const name = "config.yaml"
	list := c.read(name).Get("allowed_bundle_registries")
	allowed := list.Strings()
	if len(allowed) == 0 {
		return
	}
	for _, catalog := range slices.Sorted(maps.Keys(images)) {
		for _, image := range images[catalog] {
			if !slices.ContainsFunc(allowed, func(start string) bool { return strings.HasPrefix(image, start) }) {
				c.find("community-bundle-registry", list, "%s names %s, and %s allows bundles from %s alone", catalog, image, name, strings.Join(allowed, ", "))
			}
		}
	}
}

// mapping reports catalogs that two templates render, and archetypes in another spelling.
func (c *communityRules) mapping(ci, release *yamledit.Node) {
	of, kinds := map[string]string{}, map[string]string{}
	for _, m := range ci.Get("fbc").Get("catalog_mapping").Items() {
		template := m.Get("template_name").Text()
		kinds[template] = m.Get("type").Text()
		for _, catalog := range m.Get("catalog_names").Items() {
			if other, twice := of[catalog.Text()]; twice {
				c.find("community-catalog-twice", catalog, "the catalog %s is mapped to %s and to %s", catalog.Text(), other, template)
			}
			of[catalog.Text()] = template
		}
	}
	for _, r := range release.Get("catalog_templates").Items() {
		if kinds[r.Get("template_name").Text()] != "olm.semver" {
			continue
		}
		for _, channel := range r.Get("channels").Items() {
			if !slices.Contains(archetypes, channel.Text()) {
				c.find("community-archetype", channel, "for the semver template %s the pipeline takes the channels %s, and not %s", r.Get("template_name").Text(), strings.Join(archetypes, ", "), channel.Text())
			}
		}
	}
}

// files reports changed files that a pull request to the catalogs must not contain.
func (c *communityRules) files(changed []string) {
	var outside, bundles, made []string
	for _, name := range changed {
		parts := strings.Split(name, "/")
		switch {
		case parts[0] == catalogs:
			made = append(made, name)
		case parts[0] != operators:
			outside = append(outside, name)
		case len(parts) > 3 && parts[2] != templates:
			bundles = append(bundles, path.Join(parts[:3]...))
		}
	}
	if len(outside) > 0 {
		c.find("community-file-outside", nil, "the change has files outside of %s and %s: %s", operators, catalogs, strings.Join(outside, ", "))
	}
	if len(bundles) > 0 && len(made) > 0 {
		c.find("community-bundle-and-catalog", nil, "the change has the bundle %s and the catalog %s", bundles[0], made[0])
	}
}

// operatorOf returns the files of an operator that the rules read.
func (c *Config) operatorOf(fsys fs.FS, folder, version string) (*plan.Community, error) {
	ci, _, err := c.ciOf(fsys, folder)
	release, _, err2 := firstFile(fsys, releasePaths(folder, version)...)
	operator := &plan.Community{CI: ci, Release: release, Name: path.Base(folder), Version: version}
	if release != "" {
		operator.Version = path.Base(path.Dir(release))
	}
	rules := &communityRules{fsys: fsys}
	for _, name := range []string{release, ci} {
		if merge := rules.read(name).Get("merge"); merge != nil && !truth(merge, true) {
			operator.ByHand = name
		}
	}
	return operator, errors.Join(err, err2)
}
