package catalogs

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/spf13/pflag"

	"github.com/olmgraft/graft/internal/cli/files"
	"github.com/olmgraft/graft/internal/config"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/graph"
)

// Verification configures how a catalog is verified.
type Verification struct {
	// Base is the published catalog, and Next are those of later platform versions. Both may be empty.
	Base string
	Next []string
	// Published are catalogs that users have. Only the verified packages in them count.
	Published []string

	strict bool
	levels []string
}

// Flags adds --strict and --level.
func (v *Verification) Flags(f *pflag.FlagSet, strict string) {
	f.BoolVar(&v.strict, "strict", false, strict)
	f.StringSliceVar(&v.levels, "level", nil, "level of a finding: ID=error, ID=warning or ID=off")
}

// Levels returns the levels of the flags and of the repository's graft.yaml.
func (v *Verification) Levels(name string) (graph.Levels, error) {
	levels, err := graph.ParseLevels("level", v.levels, v.strict)
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

// Verify reads a catalog package by package and returns its findings.
func (c *Reader) Verify(ctx context.Context, name string, v *Verification, levels graph.Levels) ([]graph.Finding, error) {
	defer c.Progress.End()
	s, err := c.sides(ctx, name, v)
	if err != nil {
		return nil, err
	}
	var all graph.Verification
	for _, fault := range s.now.faults {
		all.Fail(fault)
	}
	var compared []graph.Finding
	groups := s.groups()
	for i, names := range groups {
		c.Progress.Of("verifying "+names[0], i+1, len(groups))
		found, err := s.verify(&all, names, levels)
		if err != nil {
			return nil, err
		}
		compared = append(compared, found...)
	}
	found := append(all.Findings(levels), compared...)
	graph.Sort(found)
	return found, nil
}

// sides holds the catalogs of a verification.
type sides struct {
	now, base *index // base may be nil
	published []index
	next      []*index
}

func (c *Reader) sides(ctx context.Context, name string, v *Verification) (*sides, error) {
	sound := func(name string) (*index, error) {
		c.Progress.Begin("reading %s", name)
		x, err := c.index(ctx, name)
		if err == nil {
			err = errors.Join(x.faults...)
		}
		return x, err
	}
	s := &sides{}
	var err error
	if v.Base != "" {
		if s.base, err = sound(v.Base); err != nil {
			return nil, err
		}
	}
	c.Progress.Begin("reading %s", name)
	if s.now, err = c.index(ctx, name); err != nil {
		return nil, err
	}
	if len(s.now.packages) == 0 && len(s.now.faults) == 0 {
		return nil, failure.New(failure.TemplateNotFound, "verifying %s: it has no catalog: there is no document in it", name).At(name, 0, 0).
			Fix("Name the file or the directory of a file-based catalog.")
	}
	for _, name := range v.Published {
		docs, err := c.Packages(ctx, name, s.now.declared()...)
		if err != nil {
			return nil, err
		}
		s.published = append(s.published, *held(name, docs))
	}
	for _, name := range v.Next {
		x, err := sound(name)
		if err != nil {
			return nil, err
		}
		s.next = append(s.next, x)
	}
	return s, nil
}

// groups returns the packages to verify together: each alone, or all if there are operands.
func (s *sides) groups() (groups [][]string) {
	names := map[string]bool{}
	for _, x := range append([]*index{s.now}, s.next...) {
		for name := range x.packages {
			names[name] = true
		}
	}
	if s.base != nil {
		for name := range s.base.packages {
			names[name] = true
		}
	}
	sorted := slices.Sorted(maps.Keys(names))
	if s.now.whole {
		return [][]string{sorted}
	}
	for _, name := range sorted {
		groups = append(groups, []string{name})
	}
	return groups
}

// verify verifies packages and returns the findings of comparisons.
func (s *sides) verify(all *graph.Verification, names []string, levels graph.Levels) ([]graph.Finding, error) {
	var base *graph.Catalog
	var err error
	if s.base != nil {
		if base, err = s.base.graph(graph.Builder{Light: true}, names); err != nil {
			return nil, err
		}
	}
	now, err := s.now.graph(graph.Builder{Known: base}, names)
	if err != nil {
		return nil, err
	}
	told := all.Add(now, base)
	var compared []graph.Finding
	if base != nil {
		compared = graph.CompareBase(base, now, levels)
	}
	for i := range s.published {
		has, err := s.published[i].graph(graph.Builder{Light: true}, names)
		if err != nil {
			return nil, err
		}
		compared = append(compared, graph.ComparePublished(s.published[i].name, has, now, slices.Concat(told, compared), levels)...)
	}
	stages := []graph.Stage{{Name: s.now.name, Catalog: now}}
	for _, next := range s.next {
		later, err := next.graph(graph.Builder{Light: true}, names)
		if err != nil {
			return nil, err
		}
		stages = append(stages, graph.Stage{Name: next.name, Catalog: later})
	}
	return append(compared, graph.CompareNext(stages, levels)...), nil
}
