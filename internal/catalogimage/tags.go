package catalogimage

import (
	"regexp"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/reference"
)

// Values are the values of the placeholders in a tag's pattern. "" means unknown.
type Values struct {
	// PlatformVersion is the catalog's platform version, such as 4.20.
	PlatformVersion string
	// Package is the name of the only package, and Version that of its default channel's head.
	Package, Version string
	Revision         string
	// KubeVersion is a version of Kubernetes, such as v1.30.2.
	KubeVersion string
}

// placeholder is a placeholder and the hint for a missing value.
type placeholder struct {
	name, want string
	value      func(Values) string
}

// placeholders are all valid placeholders. Those of Kubernetes are the same as in the catalog image template of
// a CatalogSource, so that one pattern serves both.
var placeholders = []placeholder{
	{"platform_version", "give --platform-version, or name a folder of the catalog's path after it", func(v Values) string { return v.PlatformVersion }},
	{"package", "the catalog must hold one package", func(v Values) string { return v.Package }},
	{"version", "the catalog must hold one package, whose default channel has a head", func(v Values) string { return v.Version }},
	{"revision", "give --revision", func(v Values) string { return v.Revision }},
	{"kube_major_version", kubeWant, func(v Values) string { return v.kube(1) }},
	{"kube_minor_version", kubeWant, func(v Values) string { return v.kube(2) }},
	{"kube_patch_version", kubeWant + " with a patch version", func(v Values) string { return v.kube(3) }},
}

const kubeWant = "give --kube-version"

var (
	kubeGrammar = regexp.MustCompile(`^v?([0-9]{1,5})\.([0-9]{1,5})(?:\.([0-9]{1,5})(?:[-+].*)?)?$`)
	inBraces    = regexp.MustCompile(`\{[^{}]*\}?|\}`)
)

func (v Values) kube(part int) string {
	if m := kubeGrammar.FindStringSubmatch(v.KubeVersion); m != nil {
		return m[part]
	}
	return ""
}

// Tags expands the patterns to distinct tags. It refuses an unknown placeholder, one without a value, and a
// result that is not a valid tag.
func (v Values) Tags(patterns []string) ([]string, error) {
	if v.KubeVersion != "" && v.kube(1) == "" {
		return nil, failure.New(failure.Usage, "reading the command line: --kube-version: invalid value %q", v.KubeVersion).Fix("Give a version such as v1.30.2.")
	}
	var tags []string
	for _, pattern := range patterns {
		tag, err := v.tag(pattern)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
	}
	return tags, nil
}

func (v Values) tag(pattern string) (tag string, err error) {
	tag = inBraces.ReplaceAllStringFunc(pattern, func(found string) string {
		value, e := v.of(found)
		if e != nil && err == nil {
			err = failure.New(failure.Usage, "making a tag of %q: %s has no value", pattern, found).Fix("To use %s, %s.", found, e.want)
			if e.value == nil {
				err = failure.New(failure.Usage, "making a tag of %q: there is no placeholder %s", pattern, found).Fix("%s.", e.want)
			}
		}
		return value
	})
	if err != nil {
		return "", err
	}
	if !reference.IsTag(tag) {
		return "", failure.New(failure.Usage, "making a tag of %q: invalid tag %q", pattern, tag).
			Fix("A tag has at most 128 letters, digits, underscores, dots and hyphens; leave out the placeholder that gives others.")
	}
	return tag, nil
}

// of returns the value of a placeholder in braces, or the placeholder that has none.
func (v Values) of(found string) (string, *placeholder) {
	for i, p := range placeholders {
		if "{"+p.name+"}" != found {
			continue
		}
		if value := p.value(v); value != "" {
			return value, nil
		}
		return "", &placeholders[i]
	}
	return "", &placeholder{want: "Use " + strings.Join(Placeholders(), ", ")}
}

// Placeholders returns all valid placeholders, in braces.
func Placeholders() (all []string) {
	for _, p := range placeholders {
		all = append(all, "{"+p.name+"}")
	}
	return all
}
