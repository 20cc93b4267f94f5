package operand

import (
	"regexp"
	"strings"

	"github.com/olmgraft/graft/internal/reference"
)

// digestForm accepts more than registries' digests, because the examples of ClusterServiceVersions contain one
// that is too short.
var digestForm = regexp.MustCompile(`^[a-z0-9]+([+._-][a-z0-9]+)*:[0-9a-fA-F]+$`)

func parseReference(image string) (reference.Reference, bool) {
	name, digest, pinned := strings.Cut(image, "@")
	r, err := reference.Parse(name)
	r.Digest = digest
	return r, err == nil && (!pinned || digestForm.MatchString(digest))
}

// ByTag reports whether an image is a valid reference without a digest.
func ByTag(image string) bool {
	r, ok := parseReference(image)
	return ok && r.Digest == ""
}
