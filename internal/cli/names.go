package cli

import (
	"context"
	"strings"
	"time"

	"github.com/olmgraft/graft/internal/bundle"
	"github.com/olmgraft/graft/internal/cli/catalogs"
	"github.com/olmgraft/graft/internal/cli/registry"
	"github.com/olmgraft/graft/internal/oci"
	"github.com/olmgraft/graft/internal/template/kind"
)

// askPatience is how long registries are asked which bundles images are: where they do not
// answer, what depends on that is refused.
const askPatience = 20 * time.Second

// bundleNames reads which bundles images are from the catalogs of --base. The function asks
// registries for those that an edit depends on.
func (a *app) bundleNames(ctx context.Context, base []string, o registry.Options) (names map[string]string, namesOf func([]string) (map[string]string, string), err error) {
	asked := append([]string{"the template"}, base...)
	names = map[string]string{}
	reader := catalogs.Reader{In: a.In, Options: o}
	for _, name := range base {
		docs, err := reader.AsItStands(ctx, name)
		if err != nil {
			return nil, nil, err
		}
		kind.AddNames(names, docs)
	}
	return names, func(images []string) (map[string]string, string) {
		client, err := o.Client()
		if err != nil {
			return nil, strings.Join(asked, ", ")
		}
		ctx, stop := context.WithTimeout(ctx, askPatience)
		defer stop()
		// What cannot be told is left out; who asks says so.
		names, _ := oci.ForEach(o.Jobs, images, func(image string) (string, error) { return nameOf(ctx, client, image) })
		return names, strings.Join(append(asked, "the registry"), ", ")
	}, nil
}

func nameOf(ctx context.Context, client *oci.Client, image string) (string, error) {
	pulled, err := client.Pull(ctx, image)
	if err != nil {
		return "", err
	}
	parsed, err := bundle.Parse(bundle.Image{Ref: image, Labels: pulled.Labels, Files: pulled.Files})
	if err != nil {
		return "", err
	}
	facts, err := parsed.Facts()
	return facts.Name, err
}
