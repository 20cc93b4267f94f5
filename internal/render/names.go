package render

import (
	"context"
	"time"

	"github.com/olmgraft/graft/internal/bundle"
	"github.com/olmgraft/graft/internal/oci"
)

// namesPatience is how long registries are asked which bundles images are: where they do not
// answer, what depends on that is refused.
const namesPatience = 20 * time.Second

// Names asks a registry which bundles images are, so many at a time. What it does not tell is
// left out.
func Names(ctx context.Context, registry Registry, jobs int, images []string) map[string]string {
	ctx, stop := context.WithTimeout(ctx, namesPatience)
	defer stop()
	names, _ := oci.ForEach(jobs, images, func(image string) (string, error) { // who asks says what is missing
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
