package render

import (
	"context"
	"time"

	"github.com/olmgraft/graft/internal/bundle"
	"github.com/olmgraft/graft/internal/oci"
)

// namesPatience is the time for which Names asks registries. Without an answer, whatever depends on the name is
// refused.
const namesPatience = 20 * time.Second

// Names returns the names of the bundles in images. It pulls jobs images at a time and leaves out those that
// fail.
func Names(ctx context.Context, registry Registry, jobs int, images []string) map[string]string {
	ctx, stop := context.WithTimeout(ctx, namesPatience)
	defer stop()
	names, _ := oci.ForEach(jobs, images, func(image string) (string, error) { // the caller reports missing names
		pulled, err := registry.Pull(ctx, image)
		if err != nil {
			return "", err
		}
		parsed, err := bundle.Parse(ctx, bundle.Image{Ref: image, Labels: pulled.Labels, Files: pulled.Files})
		if err != nil {
			return "", err
		}
		facts, err := parsed.Facts()
		return facts.Name, err
	})
	return names
}
