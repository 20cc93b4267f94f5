package event

import (
	"cmp"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/reference"
)

// DefaultSkipTags are patterns of tags that bundles do not have; * matches any text. The empty pattern matches an
// image that a registry announces without a tag: one platform of an index, a signature of an image, or an image
// that is announced again with its tag. It does not apply if a sender names an image by digest.
var DefaultSkipTags = []string{
	"",                  // pushed by digest
	"latest",            // moves
	"*-source", "*.src", // source images
	"sha256-*", "sha512-*", // referrers, and signatures, attestations and others in tags
	"*.sig", "*.att", "*.sbom", // the same under other names
	"cache", "*-cache", "buildcache", "*-buildcache",
}

// SkipReason returns why an image with the tag is not a bundle, or "". nil patterns mean DefaultSkipTags.
func SkipReason(tag string, patterns []string) string {
	if patterns == nil {
		patterns = DefaultSkipTags
	}
	for _, pattern := range patterns {
		switch {
		case !reference.Matches(pattern, tag):
		case tag == "":
			return "it was pushed without a tag"
		default:
			return "the tag " + tag + " is not a bundle's (pattern " + pattern + ")"
		}
	}
	return ""
}

// Allowed reports whether one of the patterns matches the repository. A pattern covers the whole name including
// its host, in the form that Publication has:
//
//  1. * matches any text without a slash, ** any text.
//  2. All other characters match themselves; case matters.
//  3. An empty list allows nothing.
//
// For example, quay.io/org/* allows quay.io/org/op but not quay.io/org/team/op; quay.io/org/** allows both.
// docker.io/library/* allows the official images of Docker Hub.
func Allowed(patterns []string, repository string) bool {
	for _, pattern := range patterns {
		if reference.Matches(pattern, repository) {
			return true
		}
	}
	return false
}

// Check returns a failure if Allowed is false. The failure names the place of the patterns. Callers that allow every
// repository do not call it.
func Check(patterns []string, place string, p Publication) error {
	if Allowed(patterns, p.Repository) {
		return nil
	}
	return failure.New(failure.BundleNotAllowed, "checking %s: %s has no pattern for %s: it has %s", p.Image(), place, p.Repository, cmp.Or(strings.Join(patterns, ", "), "none")).
		Fix("Add the repository to %s if you trust it.", place)
}
