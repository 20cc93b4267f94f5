package operand

import (
	"maps"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/reference"
)

const lockHeader = "# Digests of images, as graft pin found them.\n"

// parseLock reads a lock file. Each line has an image and its digest, or is a comment.
func parseLock(name string, text []byte) (map[string]string, error) {
	digests := map[string]string{}
	for i, line := range strings.Split(string(text), "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if len(words) != 2 || !ByTag(words[0]) || !reference.IsDigest(words[1]) {
			return nil, failure.New(failure.Config, "reading the lock file: the line is not an image by tag and a digest").At(name, i+1, 1).
				Fix("Write a line such as quay.io/example/op:v1.0.0 sha256:..., or run graft pin --write-lock.")
		}
		if other := digests[words[0]]; other != "" && other != words[1] {
			return nil, failure.New(failure.Config, "reading the lock file: %s has two digests", words[0]).At(name, i+1, 1).
				Fix("Keep the correct line.")
		}
		digests[words[0]] = words[1]
	}
	return digests, nil
}

// formatLock writes a lock file.
func formatLock(digests map[string]string) []byte {
	var b strings.Builder
	b.WriteString(lockHeader)
	for _, image := range slices.Sorted(maps.Keys(digests)) {
		b.WriteString(image + " " + digests[image] + "\n")
	}
	return []byte(b.String())
}

// Lock returns a lock file with the found digests added.
func Lock(name string, text []byte, found map[string]string) ([]byte, error) {
	all, err := parseLock(name, text)
	if err != nil {
		return nil, err
	}
	maps.Copy(all, found)
	return formatLock(all), nil
}

// Locked returns the digests of a lock file. It fails if a wanted image has no digest there.
func Locked(name string, text []byte, wanted map[string]Place) (map[string]string, error) {
	digests, err := parseLock(name, text)
	if err != nil {
		return nil, err
	}
	var errs []error
	for image, p := range wanted {
		if digests[image] == "" {
			errs = append(errs, p.Failure(failure.BundleNotFound, "%s: the lock file %s has no digest for %s", p.Field, name, image).
				Fix("Run graft pin --write-lock %s with access to the registry.", name))
		}
	}
	return digests, failure.InOrder(errs)
}
