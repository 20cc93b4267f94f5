package catalogs

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/olmgraft/graft/internal/cli/files"
	"github.com/olmgraft/graft/internal/config"
	"github.com/olmgraft/graft/internal/graph"
)

// Verification is how a catalog is verified.
type Verification struct {
	// Base is the catalog as published, Next those of later platform versions; none where empty.
	Base string
	Next []string
	// Published are catalogs that users have: of them the verified packages count.
	Published []string

	strict bool
	levels []string
}

// Flags are --strict and --level.
func (v *Verification) Flags(f *pflag.FlagSet, strict string) {
	f.BoolVar(&v.strict, "strict", false, strict)
	f.StringSliceVar(&v.levels, "level", nil, "set the level of a finding: ID=error, ID=warning or ID=off")
}

// Levels are those of the flags, and beside them those of the repository's graft.yaml.
func (v *Verification) Levels(name string) (graph.Levels, error) {
	levels, err := graph.ParseLevels(v.levels, v.strict)
	if err != nil || name == "-" || IsImage(name) {
		return levels, err
	}
	at, err := files.Repositories{}.Locate(name)
	if err != nil {
		return levels, nil //nolint:nilerr // reading the catalog tells what is wrong with the path
	}
	c, err := config.Read(at.Repo)
	if err != nil {
		return levels, err
	}
	for id, level := range c.Levels {
		if _, said := levels.Of[id]; !said {
			levels.Of[id] = level
		}
	}
	return levels, nil
}

// Verify reads a catalog, and finds what is wrong with it.
func (c *Reader) Verify(ctx context.Context, name string, v *Verification, levels graph.Levels) (*graph.Catalog, []graph.Finding, error) {
	var published *graph.Catalog
	if v.Base != "" {
		var err error
		if published, err = c.Graph(ctx, v.Base); err != nil {
			return nil, nil, err
		}
	}
	b := &graph.Builder{Known: published}
	if err := c.build(ctx, name, b, b.Fail); err != nil {
		return nil, nil, err
	}
	verified := b.Catalog()
	found := graph.Verify(verified, published, levels)
	if published != nil {
		found = append(found, graph.CompareBase(published, verified, levels)...)
	}
	for _, name := range v.Published {
		has, err := c.Packages(ctx, name, declared(verified)...)
		if err != nil {
			return nil, nil, err
		}
		b := graph.Builder{Light: true}
		b.Add(has)
		found = append(found, graph.ComparePublished(name, b.Catalog(), verified, found, levels)...)
	}
	stages := []graph.Stage{{Name: name, Catalog: verified}}
	for _, next := range v.Next {
		later, err := c.Graph(ctx, next)
		if err != nil {
			return nil, nil, err
		}
		stages = append(stages, graph.Stage{Name: next, Catalog: later})
	}
	if len(stages) > 1 {
		found = append(found, graph.CompareNext(stages, levels)...)
	}
	graph.Sort(found)
	return verified, found, nil
}

func declared(c *graph.Catalog) (names []string) {
	for _, p := range c.Packages {
		if p.Declared {
			names = append(names, p.Name)
		}
	}
	return names
}
