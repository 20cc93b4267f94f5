package config

import (
	"slices"
	"testing"
	"testing/fstest"

	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/plan"
)

func TestFilesOfTheCommunityCatalogs(t *testing.T) {
	for name, tt := range map[string]struct {
		changed []string
		want    []string
	}{
		"template and catalog": {changed: []string{"operators/op/catalog-templates/semver.yaml", "catalogs/v4.20/op/catalog.yaml", "operators/op/ci.yaml"}},
		"a bundle alone":       {changed: []string{"operators/op/1.1.0/release-config.yaml", "operators/op/1.1.0/manifests/csv.yaml"}},
		"bundle and catalog":   {changed: []string{"operators/op/1.1.0/release-config.yaml", "catalogs/v4.20/op/catalog.yaml"}, want: []string{"community-bundle-and-catalog"}},
		"another file":         {changed: []string{"catalogs/v4.20/op/catalog.yaml", "catalog.sum"}, want: []string{"community-file-outside"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range CommunityFindings(fstest.MapFS{}, plan.Community{}, tt.changed, nil, graph.Levels{}) {
				got = append(got, f.ID)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("found %v, want %v", got, tt.want)
			}
		})
	}
}
