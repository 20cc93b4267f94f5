package cli

import (
	"context"
	"strings"

	"github.com/olmgraft/graft/internal/cli/catalogs"
	"github.com/olmgraft/graft/internal/explorer"
	"github.com/olmgraft/graft/internal/failure"
)

// explorer is the page of the catalogs.
func (o *graphOptions) explorer(ctx context.Context, names []string) ([]byte, error) {
	all, err := o.explored(ctx, names)
	if err != nil {
		return nil, err
	}
	shown := explorer.Options{Package: o.picture.Package, Channel: o.picture.Channel}
	if explorer.Empty(all, shown) {
		return nil, failure.New(failure.Usage, "drawing %s: it has no such package or channel", strings.Join(names, ", ")).Fix("Run graft detect %s for what it has.", names[0])
	}
	return explorer.Page(all, shown), nil
}

// explored reads the catalogs of the platforms, and those with which they are compared.
func (o *graphOptions) explored(ctx context.Context, names []string) ([]explorer.Platform, error) {
	var all []*platformCatalog
	if len(names) == 1 {
		all = []*platformCatalog{{name: names[0]}}
	} else {
		var err error
		if all, err = platformsOf(names); err != nil {
			return nil, err
		}
	}
	var read []explorer.Platform
	for _, c := range all {
		p := explorer.Platform{}
		base := o.base
		if len(all) > 1 {
			p.Name = c.platform.String()
			base = strings.ReplaceAll(base, "{platform}", p.Name)
		}
		var err error
		if p.Levels, err = (&catalogs.Verification{}).Levels(c.name); err != nil {
			return nil, err
		}
		if base != "" {
			if p.Base, err = o.catalogs.Graph(ctx, base); err != nil {
				return nil, err
			}
		}
		if p.Catalog, err = o.catalogs.Whole(ctx, c.name); err != nil {
			return nil, err
		}
		read = append(read, p)
	}
	return read, nil
}
