package operand

import (
	"maps"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/reference"
)

const lockHeader = "# Digests of images, as graft pin found them.\n"

// ParseLock reads a lock file: lines of an image and its digest, and comments.
func ParseLock(name string, text []byte) (map[string]string, error) {
	digests := map[string]string{}
	for i, line := range strings.Split(string(text), "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if len(words) != 2 || !ByTag(words[0]) || !reference.IsDigest(words[1]) {
			return nil, failure.New(failure.Config, "reading the lock file: a line is an image by tag and its digest").At(name, i+1, 1).
				Fix("Write a line such as quay.io/example/op:v1.0.0 sha256:..., or have --write-lock do so.")
		}
		if other := digests[words[0]]; other != "" && other != words[1] {
			return nil, failure.New(failure.Config, "reading the lock file: %s has two digests", words[0]).At(name, i+1, 1).
				Fix("Leave the line that is right.")
		}
		digests[words[0]] = words[1]
	}
	return digests, nil
}

// FormatLock writes a lock file.
func FormatLock(digests map[string]string) []byte {
	var b strings.Builder
	b.WriteString(lockHeader)
	for _, image := range slices.Sorted(maps.Keys(digests)) {
		b.WriteString(image + " " + digests[image] + "\n")
	}
	return []byte(b.String())
}
