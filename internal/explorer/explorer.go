// Package explorer makes one HTML file of catalogs, in which a person looks at channels and
// versions, finds bundles, compares before with after, and asks for paths.
//
// The package is pure. The file holds its program, its style and all data; it loads nothing, and a
// content security policy forbids that it does. Layouts come from package draw, what OLM
// chooses from package graph: the program in the page only shows them.
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
	Name    string // such as 4.20; "" where there is only one
	Catalog *graph.Catalog
	Base    *graph.Catalog // with which it is compared; nil: with nothing
	Levels  graph.Levels   // of its findings
}

// Options say what is shown, and how.
type Options struct {
	Package string // only this package; "" is all
	Channel string // only channels of this name; "" is all
	// Live lets the page listen to its server, and load itself again when told.
	Live bool
}

// set is the catalogs of all platforms.
type set struct {
	Options
	platforms []Platform
	stages    []graph.Stage
	found     [][]graph.Finding // of each platform
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

// names are those of all packages.
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

// Empty tells whether there is nothing to be shown.
func Empty(platforms []Platform, o Options) bool {
	for _, p := range platforms {
		if len(p.Catalog.Picture(graph.PictureOptions{Package: o.Package, Channel: o.Channel}).Packages) > 0 {
			return false
		}
	}
	return true
}
