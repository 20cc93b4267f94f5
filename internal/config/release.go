// Package config reads what people and other tools write about catalogs: graft.yaml,
// and the ci.yaml and release-config.yaml of the community catalogs.
package config

import (
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/yamledit"
)

// Release is one entry of a release-config.yaml: where a release goes in one template.
type Release struct {
	Template       string
	Channels       []string
	Replaces       string
	Skips          []string
	SkipRange      string
	DefaultChannel string
}

var releaseKeys = []string{"template_name", "channels", "replaces", "skips", "skipRange", "defaultChannel"}

// ParseRelease reads a release-config.yaml.
func ParseRelease(name string, src []byte) ([]Release, error) {
	root, err := onlyDocument(name, src)
	if err != nil {
		return nil, err
	}
	list := root.Get("catalog_templates")
	if list == nil || list.Kind != yamledit.Sequence {
		return nil, at(root, "reading it: catalog_templates is no list")
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
		return Release{}, at(n, "reading catalog_templates: an entry is no mapping")
	}
	if err := knownKeys(n, releaseKeys, "an entry of catalog_templates"); err != nil {
		return Release{}, err
	}
	r := Release{
		Template:       n.Get("template_name").Text(),
		Channels:       n.Get("channels").Strings(),
		Replaces:       n.Get("replaces").Text(),
		Skips:          n.Get("skips").Strings(),
		SkipRange:      n.Get("skipRange").Text(),
		DefaultChannel: n.Get("defaultChannel").Text(),
	}
	for _, key := range []string{"channels", "skips"} {
		if v := n.Get(key); v != nil && !v.IsNull() && v.Kind != yamledit.Sequence {
			return r, at(v, "reading catalog_templates: %s is no list", key)
		}
	}
	if r.Template == "" || len(r.Channels) == 0 {
		return r, at(n, "reading catalog_templates: an entry lacks template_name or channels")
	}
	return r, nil
}

// ReleasesFor are the entries for a template by its file name.
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

func onlyDocument(name string, src []byte) (*yamledit.Node, error) {
	f, err := yamledit.Open(name, src)
	var root *yamledit.Node
	if err == nil && len(f.Docs) > 0 {
		root, err = f.Docs[0].Root()
	}
	if err != nil {
		e := failure.Of(err)
		return nil, failure.New(failure.Config, "%s", e.Message).At(e.File, e.Line, e.Col)
	}
	if root == nil || root.Kind != yamledit.Mapping {
		return nil, failure.New(failure.Config, "reading it: it is no mapping").At(name, 1, 1)
	}
	return root, nil
}

func knownKeys(n *yamledit.Node, known []string, what string) error {
	for i := 0; i < len(n.Children); i += 2 {
		if key := n.Children[i]; !slices.Contains(known, key.Value) {
			return at(key, "reading %s: there is no key %s", what, key.Value).
				Fix("Its keys are %s.", strings.Join(known, ", "))
		}
	}
	return nil
}

func at(n *yamledit.Node, format string, args ...any) *failure.Error {
	if n == nil {
		return failure.New(failure.Config, format, args...)
	}
	return n.Failure(failure.Config, format, args...)
}
