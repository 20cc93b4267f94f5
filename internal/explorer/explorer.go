// Package explorer writes catalogs as one HTML file in which a person views channels and versions, finds bundles,
// compares before and after, and searches paths.
//
// The package is pure. The file contains its program, its style and all data. It loads nothing, and a content
// security policy forbids loading. Package draw computes the layouts and package graph the choices of OLM; the
// program in the page only shows them.
package explorer

import (
	"cmp"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/draw"
	"github.com/olmgraft/graft/internal/graph"
)

// Platform is the catalog of one platform.
type Platform struct {
	Name    string // such as 4.20; "" if it is the only one
	Catalog *graph.Catalog
	Base    *graph.Catalog // catalog for the comparison, or nil
	Levels  graph.Levels   // of its findings
}

// Options select what the page shows.
type Options struct {
	Package string // show only this package; "" is all
	Channel string // show only channels with this name; "" is all
	// Live lets the page listen to its server and reload when the server asks for it.
	Live bool
}

// set holds the catalogs of all platforms.
type set struct {
	Options
	platforms []Platform
	stages    []graph.Stage
	found     [][]graph.Finding // by platform
	published []*graph.Catalog
	before    []map[string]draw.Package
	after     []map[string]draw.Package
}

func newSet(platforms []Platform, o Options) *set {
	s := &set{Options: o, platforms: platforms}
	for i, p := range platforms {
		s.stages = append(s.stages, graph.Stage{Name: p.Name, Catalog: p.Catalog})
		found := graph.Verify(p.Catalog, p.Base, p.Levels)
		picture := graph.PictureOptions{Package: o.Package, Channel: o.Channel, Base: p.Base}
		s.after = append(s.after, byName(p.Catalog.Picture(picture)))
		var before draw.Graph
		if p.Base != nil {
			found = append(found, graph.CompareBase(p.Base, p.Catalog, p.Levels)...)
			before = p.Catalog.PictureBefore(picture)
			s.published = append(s.published, p.Base)
		}
		s.before = append(s.before, byName(before))
		if i+1 < len(platforms) {
			next := graph.Stage{Name: platforms[i+1].Name, Catalog: platforms[i+1].Catalog}
			found = append(found, graph.CompareNext([]graph.Stage{s.stages[i], next}, p.Levels)...)
		}
		graph.Sort(found)
		s.found = append(s.found, found)
	}
	return s
}

func byName(g draw.Graph) map[string]draw.Package {
	all := map[string]draw.Package{}
	for _, p := range g.Packages {
		all[p.Name] = p
	}
	return all
}

// names returns the sorted names of all packages.
func (s *set) names() (names []string) {
	for i := range s.platforms {
		for name := range s.after[i] {
			names = append(names, name)
		}
		for name := range s.before[i] {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(strings.Compare(strings.ToLower(a), strings.ToLower(b)), strings.Compare(a, b))
	})
	return slices.Compact(names)
}

// Empty reports whether there is nothing to show.
func Empty(platforms []Platform, o Options) bool {
	for _, p := range platforms {
		if len(p.Catalog.Picture(graph.PictureOptions{Package: o.Package, Channel: o.Channel}).Packages) > 0 {
			return false
		}
	}
	return true
}
