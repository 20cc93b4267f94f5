package registry

import (
	"encoding/json"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// ImageConfig returns a configuration for linux/amd64 for an image of these archives.
func ImageConfig(archives ...[]byte) ([]byte, error) {
	c := v1.ConfigFile{OS: "linux", Architecture: "amd64", RootFS: v1.RootFS{Type: "layers"}}
	for _, a := range archives {
		diff, err := v1.NewHash(digestOf(a))
		if err != nil {
			return nil, err
		}
		c.RootFS.DiffIDs = append(c.RootFS.DiffIDs, diff)
	}
	return json.Marshal(c)
}
