package catalogimage

import (
	"maps"
	"strconv"
	"time"

	"github.com/olmgraft/graft/internal/failure"
)

// The annotations for the origin of an image.
const (
	created    = "org.opencontainers.image.created"
	revision   = "org.opencontainers.image.revision"
	source     = "org.opencontainers.image.source"
	baseName   = "org.opencontainers.image.base.name"
	baseDigest = "org.opencontainers.image.base.digest"
)

// configsLabel names the directory of the catalog. OLM v0 and v1 and opm read it.
const configsLabel = "operators.operatorframework.io.index.configs.v1"

// Entrypoint and Cmd serve the catalog. There is no --cache-dir: with it opm ends if the cache is missing or
// belongs to another catalog, and only opm can make one. Without it opm makes its cache at the start, in a
// directory of its own.
var (
	Entrypoint = []string{"/bin/opm"}
	Cmd        = []string{"serve", "/" + Dir}
)

// Origin describes where a catalog image comes from.
type Origin struct {
	Source, Revision     string
	Created              time.Time
	BaseName, BaseDigest string
}

// Labels returns the labels for the image's configuration. Registries use them to link an image without an
// index to a repository.
func (o Origin) Labels() map[string]string {
	return given(map[string]string{configsLabel: "/" + Dir, source: o.Source, revision: o.Revision})
}

// Annotations returns the annotations for manifests and the index.
func (o Origin) Annotations() map[string]string {
	return given(map[string]string{
		created: o.Created.UTC().Format(time.RFC3339), source: o.Source, revision: o.Revision,
		baseName: o.BaseName, baseDigest: o.BaseDigest,
	})
}

func given(m map[string]string) map[string]string {
	maps.DeleteFunc(m, func(_, v string) bool { return v == "" })
	return m
}

// As returns the origin with the time and the revision of a published image. If an image built with it has that
// image's digest, both have the same content and only the commit differs.
func (o Origin) As(published map[string]string) Origin {
	o.Revision = published[revision]
	if at, err := time.Parse(time.RFC3339, published[created]); err == nil && at.Unix() >= 0 {
		o.Created = at
	}
	return o
}

// Epoch parses SOURCE_DATE_EPOCH, the time of a reproducible build in seconds since 1970. "" means 0.
func Epoch(seconds string) (time.Time, error) {
	if seconds == "" {
		return time.Unix(0, 0).UTC(), nil
	}
	n, err := strconv.ParseInt(seconds, 10, 40)
	if err != nil || n < 0 {
		return time.Time{}, failure.New(failure.Usage, "reading SOURCE_DATE_EPOCH: %q is not a number of seconds since 1970", seconds).
			Fix("Set it with git log -1 --format=%%ct, or unset it.")
	}
	return time.Unix(n, 0).UTC(), nil
}
