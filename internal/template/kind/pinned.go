package kind

import (
	"slices"

	"github.com/olmgraft/graft/internal/reference"
)

// Pinned is the request with its image named as all bundles are that stand in a template: by
// digest, with the tag before it where all have one. Where nobody tells the digest the image
// keeps its name, and the note says so.
func (r Request) Pinned(standing []BundleRef) (pinned Request, note string) {
	repository, tag, digest := reference.Cut(r.Bundle.Image)
	if tag == "" || digest != "" || len(standing) == 0 || r.AsNamed {
		return r, ""
	}
	tagged := true
	if slices.ContainsFunc(standing, func(b BundleRef) bool {
		_, itsTag, itsDigest := reference.Cut(b.Image)
		tagged = tagged && itsTag != ""
		return itsDigest == ""
	}) {
		return r, ""
	}
	if digest = r.Bundle.Digest; digest == "" && r.Resolve != nil {
		digest = r.Resolve(r.Bundle.Image)
	}
	if digest == "" {
		return r, "all images of the template are named by digest, and nobody tells that of " + r.Bundle.Image
	}
	if tagged {
		repository += ":" + tag
	}
	r.Bundle.Image, r.Bundle.Digest = repository+"@"+digest, digest
	return r, ""
}
