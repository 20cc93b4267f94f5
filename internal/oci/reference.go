package oci

import (
	"path"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/olmgraft/graft/internal/failure"
)

// Labels for the directories of a bundle image.
const (
	manifestsLabel = "operators.operatorframework.io.bundle.manifests.v1"
	metadataLabel  = "operators.operatorframework.io.bundle.metadata.v1"
)

func parseReference(ref string) (name.Reference, error) {
	parsed, err := name.ParseReference(ref)
	if err != nil {
		return nil, failure.New(failure.Usage, "%s: no image reference: %w", ref, err).
			Fix("Write the image as registry/repository:tag or registry/repository@sha256:digest.")
	}
	return parsed, nil
}

func parseRepository(repository string) (name.Repository, error) {
	parsed, err := name.NewRepository(repository)
	if err != nil {
		return name.Repository{}, failure.New(failure.Usage, "%s: no image repository: %w", repository, err).
			Fix("Write the repository as registry/repository, without tag or digest.")
	}
	return parsed, nil
}

// CatalogLabel is the label for the directory of a file-based catalog.
const CatalogLabel = "operators.operatorframework.io.index.configs.v1"

// bundleDirs returns the directories to keep, relative to the image's root: those that the labels name, and the
// two that opm always reads.
func bundleDirs(labels map[string]string) ([]string, error) {
	dirs := []string{"manifests", "metadata"}
	for _, label := range []string{manifestsLabel, metadataLabel, CatalogLabel} {
		named := labels[label]
		if named == "" {
			continue
		}
		dir := path.Clean(strings.TrimLeft(named, "/"))
		if dir == ".." || strings.HasPrefix(dir, "../") {
			return nil, failure.New(failure.BundleInvalid, "label %s names %q, which is outside of the image", label, named).
				Fix("Set the label to a directory of the image, such as manifests/, and publish the bundle again.")
		}
		dirs = append(dirs, dir)
	}
	return dirs, nil
}
