package kind

import (
	"regexp"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/reference"
	"github.com/olmgraft/graft/internal/yamledit"
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
		return r, "all images of the template are named by digest, and the digest is unknown of " + r.Bundle.Image
	}
	if tagged {
		repository += ":" + tag
	}
	r.Tag = tag
	r.Bundle.Image, r.Bundle.Digest = repository+"@"+digest, digest
	return r, ""
}

// versionComment is a comment of one word with a version in it: a tag, an image by tag, or the
// bundle's name. One that says more speaks of its own image alone.
var versionComment = regexp.MustCompile(`^\s+#\s*(?:\S*[^\sv0-9])?(v?[0-9]+\.[0-9]+\.[0-9]+[0-9A-Za-z.+-]*)\s*$`)

// ImageValue is the bundle's image as a template takes it in among its siblings: where each of
// them has its tag or version in a comment behind the digest, the new one has.
func (r Request) ImageValue(siblings []*yamledit.Node) yamledit.Value {
	v := yamledit.Text(r.Bundle.Image)
	if _, _, digest := reference.Cut(r.Bundle.Image); digest == "" {
		return v
	}
	comment, at := "", []int(nil)
	for _, n := range siblings {
		comment = n.CommentBehind()
		if at = versionComment.FindStringSubmatchIndex(comment); at == nil {
			return v
		}
	}
	if at == nil {
		return v
	}
	before, standing, after := comment[:at[2]], comment[at[2]:at[3]], comment[at[3]:]
	version := r.Bundle.Version.String()
	// A tag that says more than the version does. Behind a dot it is the bundle's name.
	if r.Tag != "" && strings.TrimPrefix(r.Tag, "v") != version && !strings.HasSuffix(before, ".") {
		version = r.Tag
	} else if standing[0] == 'v' {
		version = "v" + version
	}
	return v.Behind(before + version + after)
}
