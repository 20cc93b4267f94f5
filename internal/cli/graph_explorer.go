package cli

import (
	"context"
	"strings"

	"github.com/olmgraft/graft/internal/cli/catalogs"
	"github.com/olmgraft/graft/internal/explorer"
	"github.com/olmgraft/graft/internal/failure"
)

// explorer returns the page of the catalogs.
func (o *graphOptions) explorer(ctx context.Context, names []string) ([]byte, error) {
	all, err := o.explored(ctx, names)
	if err != nil {
		return nil, err
	}
	if err := o.shows(all, names); err != nil {
		return nil, err
	}
	return explorer.Page(all, explorer.Options{Package: o.picture.Package, Channel: o.picture.Channel}), nil
}

// shows refuses an empty page.
func (o *graphOptions) shows(all []explorer.Platform, names []string) error {
	if explorer.Empty(all, explorer.Options{Package: o.picture.Package, Channel: o.picture.Channel}) {
		return failure.New(failure.Usage, "drawing %s: it has no such package or channel", strings.Join(names, ", ")).Fix("Run graft detect %s to see what it has.", names[0])
	}
	return nil
}

// explored reads the catalogs of the platforms and their bases.
func (o *graphOptions) explored(ctx context.Context, names []string) ([]explorer.Platform, error) {
	sources, err := o.sources(names)
	if err != nil {
		return nil, err
	}
	var read []explorer.Platform
	for _, from := range sources {
		p := explorer.Platform{Name: from.platform}
		if p.Levels, err = (&catalogs.Verification{}).Levels(from.catalog); err != nil {
			return nil, err
		}
		if from.base != "" {
			if p.Base, err = o.catalogs.Graph(ctx, from.base); err != nil {
				return nil, err
			}
		}
		if p.Catalog, err = o.catalogs.Whole(ctx, from.catalog); err != nil {
			return nil, err
		}
		read = append(read, p)
	}
	return read, nil
}

// source names the catalog of a platform and its base.
type source struct{ platform, catalog, base string }

// sources returns those of the named catalogs. A single one needs no platform.
func (o *graphOptions) sources(names []string) (all []source, err error) {
	if len(names) == 1 {
		return []source{{"", names[0], o.base}}, nil
	}
	platforms, err := platformsOf(names)
	for _, c := range platforms {
		name := c.platform.String()
		all = append(all, source{name, c.name, strings.ReplaceAll(o.base, "{platform}", name)})
	}
	return all, err
}
