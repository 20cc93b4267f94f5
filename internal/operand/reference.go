package operand

import (
	"regexp"
	"strings"

	"github.com/olmgraft/graft/internal/reference"
)

// digestForm is wider than the digests of registries: one in the examples of ClusterServiceVersions
// is shorter than any real one.
var digestForm = regexp.MustCompile(`^[a-z0-9]+([+._-][a-z0-9]+)*:[0-9a-fA-F]+$`)

func parseReference(image string) (reference.Reference, bool) {
	name, digest, pinned := strings.Cut(image, "@")
	r, err := reference.Parse(name)
	r.Digest = digest
	return r, err == nil && (!pinned || digestForm.MatchString(digest))
}

// ByTag reports whether an image is named by tag, or by nothing, and not by digest.
func ByTag(image string) bool {
	r, ok := parseReference(image)
	return ok && r.Digest == ""
}
