package event

import (
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/reference"
)

// DefaultSkipTags are the tags that no bundle has. In a pattern * stands for any text. The
// empty pattern is an image that a registry announces without a tag: one platform of an
// index, a signature beside an image, or one that is announced again with its tag. It does
// not concern a sender who names an image by digest.
var DefaultSkipTags = []string{
	"",                  // pushed by digest
	"latest",            // moves
	"*-source", "*.src", // source images
	"sha256-*", "sha512-*", // referrers, and signatures, attestations and the like in tags
	"*.sig", "*.att", "*.sbom", // the same under other names
	"cache", "*-cache", "buildcache", "*-buildcache",
}

// SkipReason says why an image with the tag is no bundle, or nothing. Without patterns it
// goes by DefaultSkipTags.
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

// Allowed reports whether one of the patterns names the repository. A pattern covers the
// whole name, its host included, in the form that Publication has:
//
//  1. * stands for any text without a slash, ** for any text.
//  2. Everything else stands for itself, and case matters.
//  3. No pattern allows nothing.
//
// So quay.io/org/* allows quay.io/org/op and not quay.io/org/team/op, which quay.io/org/**
// allows too; docker.io/library/* allows the official images of Docker Hub.
func Allowed(patterns []string, repository string) bool {
	for _, pattern := range patterns {
		if reference.Matches(pattern, repository) {
			return true
		}
	}
	return false
}

// Check is Allowed as a failure. Whoever means to allow every repository does not call it.
func Check(patterns []string, p Publication) error {
	if Allowed(patterns, p.Repository) {
		return nil
	}
	if len(patterns) == 0 {
		return failure.New(failure.BundleNotAllowed, "checking %s: allowed-repositories names no repository", p.Image())
	}
	return failure.New(failure.BundleNotAllowed, "checking %s: allowed-repositories has no pattern for %s: %s",
		p.Image(), p.Repository, strings.Join(patterns, ", "))
}
