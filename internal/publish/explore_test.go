package publish

import (
	"slices"
	"testing"

	"github.com/olmgraft/graft/internal/graph"
)

// Catalogs are ordered by platform. If that is ambiguous, their paths distinguish them.
func TestExploredNamesPlatforms(t *testing.T) {
	one := func(path, platform string) Catalog {
		return Catalog{Path: path, Platform: platform, Before: &graph.Catalog{}, whole: &graph.Catalog{}}
	}
	for _, test := range []struct {
		catalogs []Catalog
		want     []string
	}{
		{[]Catalog{one("c.yaml", "")}, []string{""}},
		{[]Catalog{one("b", "4.10"), one("a", "4.9"), {Path: "unread", Platform: "4.8"}}, []string{"4.9", "4.10"}},
		{[]Catalog{one("x/v4.9", "4.9"), one("y/v4.9", "4.9"), one("x/v4.8", "4.8")}, []string{"4.8", "x/v4.9", "y/v4.9"}},
		{[]Catalog{one("b", ""), one("a", "")}, []string{"a", "b"}},
		{nil, nil},
	} {
		w := &Work{Targets: []Target{{Catalogs: test.catalogs}}}
		var got []string
		for _, p := range w.Explored() {
			got = append(got, p.Name)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}
