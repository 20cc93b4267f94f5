package kind

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/reference"
	"github.com/olmgraft/graft/internal/yamledit"
)

// Pinned returns the request with its image named like the other bundles of a template, or if it has none, like
// those of the templates beside it: if all are named by digest, by digest, and with the tag if all have one. If
// the digest is unknown, the image keeps its name, and the note says so.
func (r Request) Pinned(standing []BundleRef) (pinned Request, note string) {
	of := "the template names its other images"
	if len(standing) == 0 {
		standing, of = r.Beside, "the templates beside it name their images"
	}
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
		return r, fmt.Sprintf("%s is written by tag, because its digest is unknown; %s (%d) by digest", r.Bundle.Image, of, len(standing))
	}
	if tagged {
		repository += ":" + tag
	}
	r.Tag = tag
	r.Bundle.Image, r.Bundle.Digest = repository+"@"+digest, digest
	return r, ""
}

// versionComment matches a comment of one word that contains a version: a tag, an image by tag, or the bundle's
// name. A longer comment describes one image only and is not copied.
var versionComment = regexp.MustCompile(`^\s+#\s*(?:\S*[^\sv0-9])?(v?[0-9]+\.[0-9]+\.[0-9]+[0-9A-Za-z.+-]*)\s*$`)

// ImageValue returns the bundle's image as a template lists it: if each of its siblings has its tag or version in
// a comment after the digest, the new one gets such a comment.
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
	// The tag says more than the version. After a dot, the word is the bundle's name and not a tag.
	if r.Tag != "" && strings.TrimPrefix(r.Tag, "v") != version && !strings.HasSuffix(before, ".") {
		version = r.Tag
	} else if standing[0] == 'v' {
		version = "v" + version
	}
	return v.Behind(before + version + after)
}
