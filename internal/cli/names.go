package cli

import (
	"context"
	"strings"
	"time"

	"github.com/olmgraft/graft/internal/cli/catalogs"
	"github.com/olmgraft/graft/internal/cli/registry"
	"github.com/olmgraft/graft/internal/render"
	"github.com/olmgraft/graft/internal/template/kind"
)

// publishedIn returns what catalogs offer users of a package.
func (a *app) publishedIn(ctx context.Context, names []string, pkg string, o registry.Options) (*kind.Published, error) {
	var published kind.Published
	reader := catalogs.Reader{In: a.In, Err: a.Err, Options: o}
	for _, name := range names {
		docs, err := reader.Packages(ctx, name, pkg)
		if err != nil {
			return nil, err
		}
		published.Add(name, docs)
	}
	return &published, nil
}

// bundleNames reads the bundle names of images from the catalogs of --base. The returned function asks
// registries for those that an edit needs.
func (a *app) bundleNames(ctx context.Context, base []string, o registry.Options) (names map[string]string, namesOf func([]string) (map[string]string, string), err error) {
	asked := append([]string{"the template"}, base...)
	names = map[string]string{}
	reader := catalogs.Reader{In: a.In, Err: a.Err, Options: o}
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
		return render.Names(ctx, client, o.Jobs, images), strings.Join(append(asked, "the registry"), ", ")
	}, nil
}

// digests returns a function that asks registries for a tag's digest.
func digests(ctx context.Context, o registry.Options) func(image string) string {
	return func(image string) string {
		client, err := o.Client()
		if err != nil {
			return ""
		}
		ctx, stop := context.WithTimeout(ctx, digestPatience)
		defer stop()
		digest, _ := client.Resolve(ctx, image) // the caller reports a missing one
		return digest
	}
}

// digestPatience limits an optional request.
const digestPatience = 10 * time.Second
