package catalogimage

import (
	"maps"
	"strconv"
	"time"

	"github.com/olmgraft/graft/internal/failure"
)

// The annotations by which registries tell where an image comes from.
const (
	created    = "org.opencontainers.image.created"
	revision   = "org.opencontainers.image.revision"
	source     = "org.opencontainers.image.source"
	baseName   = "org.opencontainers.image.base.name"
	baseDigest = "org.opencontainers.image.base.digest"
)

// configsLabel says where the catalog stands; OLM v0 and v1 and opm look for it.
const configsLabel = "operators.operatorframework.io.index.configs.v1"

// Entrypoint and Cmd serve the catalog. There is no --cache-dir: with one opm ends where
// the cache in it is missing or was made of another catalog, and nothing but opm can make
// one. Without it opm makes its cache as it starts, in a directory of its own.
var (
	Entrypoint = []string{"/bin/opm"}
	Cmd        = []string{"serve", "/" + Dir}
)

// Origin is where a catalog image comes from.
type Origin struct {
	Source, Revision     string
	Created              time.Time
	BaseName, BaseDigest string
}

// Labels are those of the image's configuration. Registries link an image to a repository
// by them where it has no index.
func (o Origin) Labels() map[string]string {
	return given(map[string]string{configsLabel: "/" + Dir, source: o.Source, revision: o.Revision})
}

// Annotations are those of manifests and of the index.
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

// As is the origin with the time and the revision that a published image names. What gives
// that image's digest then has the same content: only the commit is another.
func (o Origin) As(published map[string]string) Origin {
	o.Revision = published[revision]
	if at, err := time.Parse(time.RFC3339, published[created]); err == nil && at.Unix() >= 0 {
		o.Created = at
	}
	return o
}

// Epoch reads SOURCE_DATE_EPOCH, the seconds since 1970 that a reproducible build takes for
// the time; without it they are none.
func Epoch(seconds string) (time.Time, error) {
	if seconds == "" {
		return time.Unix(0, 0).UTC(), nil
	}
	n, err := strconv.ParseInt(seconds, 10, 40)
	if err != nil || n < 0 {
		return time.Time{}, failure.New(failure.Usage, "reading SOURCE_DATE_EPOCH: %q is no number of seconds since 1970", seconds).
			Fix("Set it with git log -1 --format=%%ct, or unset it.")
	}
	return time.Unix(n, 0).UTC(), nil
}
