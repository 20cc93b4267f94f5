// Package config reads the configuration of catalogs: graft.yaml, and the ci.yaml and release-config.yaml of the
// community catalogs.
package config

import (
	"slices"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/schema"
	"github.com/olmgraft/graft/internal/yamledit"
)

// Release is one entry of a release-config.yaml: the place of a release in one template. Line and Col are the
// entry's place in the file.
type Release struct {
	Template       string
	Channels       []string
	Replaces       string
	Skips          []string
	SkipRange      string
	DefaultChannel string
	Line, Col      int
}

var releaseKeys = []string{"template_name", "channels", "replaces", "skips", "skipRange", "defaultChannel"}

// ParseRelease reads a release-config.yaml. It ignores unknown keys, as the catalogs' bot does, but refuses those
// that look like misspelt ones: the bot would silently lose an edge.
func ParseRelease(name string, src []byte) ([]Release, error) {
	root, err := schema.Configuration(name, src)
	if err != nil {
		return nil, err
	}
	if err := knownKeys(root, []string{"catalog_templates", "merge"}, "it"); err != nil {
		return nil, err
	}
	list := root.Get("catalog_templates")
	if list == nil || list.Kind != yamledit.Sequence {
		return nil, at(root, "reading it: catalog_templates is not a list")
	}
	var out []Release
	for _, item := range list.Items() {
		r, err := parseRelease(item.Resolve())
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

func parseRelease(n *yamledit.Node) (Release, error) {
	if n == nil || n.Kind != yamledit.Mapping {
		return Release{}, at(n, "reading catalog_templates: an entry is not a mapping")
	}
	if err := knownKeys(n, releaseKeys, "an entry of catalog_templates"); err != nil {
		return Release{}, err
	}
	for _, key := range []string{"channels", "skips"} {
		if err := textList(n.Get(key), "catalog_templates", key); err != nil {
			return Release{}, err
		}
	}
	for _, key := range []string{"template_name", "replaces", "skipRange", "defaultChannel"} {
		if v := n.Get(key); !v.IsNull() && v.Tag != "!!str" {
			return Release{}, schema.Mistyped(v, "string", "catalog_templates: "+key)
		}
	}
	r := Release{
		Template:       n.Get("template_name").Text(),
		Channels:       n.Get("channels").Strings(),
		Replaces:       n.Get("replaces").Text(),
		Skips:          n.Get("skips").Strings(),
		SkipRange:      n.Get("skipRange").Text(),
		DefaultChannel: n.Get("defaultChannel").Text(),
	}
	r.Line, r.Col = n.Position()
	if r.Template == "" || len(r.Channels) == 0 {
		return r, at(n, "reading catalog_templates: an entry lacks template_name or channels")
	}
	if _, err := semver.ParseRange(r.SkipRange); r.SkipRange != "" && err != nil {
		return r, at(n.Get("skipRange"), "reading catalog_templates: the skipRange %q: %w", r.SkipRange, err).
			Fix("Write a range such as %q.", ">=1.0.0 <1.2.3")
	}
	return r, nil
}

// textList refuses a value that is not a list of texts. It accepts a missing value.
func textList(v *yamledit.Node, where, key string) error {
	if v.IsNull() {
		return nil
	}
	if v.Kind != yamledit.Sequence {
		return at(v, "reading %s: %s is not a list", where, key)
	}
	for _, item := range v.Items() {
		if item = item.Resolve(); item.Tag != "!!str" || item.Value == "" {
			return schema.Mistyped(item, "string", where+": an item of "+key)
		}
	}
	return nil
}

// ReleasesFor returns the entries for a template, given its file name.
func ReleasesFor(all []Release, template, file string) ([]Release, error) {
	var out []Release
	for _, r := range all {
		if r.Template == template {
			out = append(out, r)
		}
	}
	if len(out) == 0 {
		return nil, failure.New(failure.Config, "looking for %s in %s: no entry of catalog_templates has that template_name", template, file).At(file, 1, 1).
			Fix("Add an entry with template_name: %s, or leave the template out.", template)
	}
	return out, nil
}

// knownKeys refuses repeated keys, and unknown keys that resemble a known one.
func knownKeys(n *yamledit.Node, known []string, what string) error {
	seen := map[string]bool{}
	for key := range n.Fields() {
		key = key.Resolve()
		switch {
		case slices.Contains(known, key.Value) && seen[key.Value]:
			return at(key, "reading %s: the key %s occurs twice", what, key.Value).Fix("Keep one of the two.")
		case !slices.Contains(known, key.Value) && schema.Nearest(key.Value, known) != "":
			return schema.UnknownKey(key, known, what)
		}
		seen[key.Value] = true
	}
	return nil
}

func at(n *yamledit.Node, format string, args ...any) *failure.Error {
	if n == nil {
		return failure.New(failure.Config, format, args...)
	}
	return n.Failure(failure.Config, format, args...)
}
