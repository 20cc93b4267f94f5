package cli

import (
	"context"
	"strings"
	"time"

	"github.com/olmgraft/graft/internal/bundle"
	"github.com/olmgraft/graft/internal/cli/catalogs"
	"github.com/olmgraft/graft/internal/oci"
	"github.com/olmgraft/graft/internal/template/kind"
)

// askPatience is how long registries are asked which bundles images are: where they do not
// answer, what depends on that is refused.
const askPatience = 20 * time.Second

// names reads which bundles images are from the catalogs of --base; registries are asked
// for those that an edit depends on.
func (o *insertOptions) names(ctx context.Context, a *app) error {
	asked := append([]string{"the template"}, o.base...)
	o.request.Names = map[string]string{}
	reader := catalogs.Reader{In: a.In, Options: o.registry}
	for _, name := range o.base {
		docs, err := reader.AsItStands(ctx, name)
		if err != nil {
			return err
		}
		kind.AddNames(o.request.Names, docs)
	}
	o.request.NamesOf = func(images []string) (map[string]string, string) {
		client, err := o.registry.Client()
		if err != nil {
			return nil, strings.Join(asked, ", ")
		}
		ctx, stop := context.WithTimeout(ctx, askPatience)
		defer stop()
		// What cannot be told is left out; who asks says so.
		names, _ := oci.ForEach(o.registry.Jobs, images, func(image string) (string, error) { return nameOf(ctx, client, image) })
		return names, strings.Join(append(asked, "the registry"), ", ")
	}
	return nil
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
