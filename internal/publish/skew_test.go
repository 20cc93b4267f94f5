package publish

import (
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/plan"
)

// Clusters pass through the catalogs of one line in the order of platforms: OpenShift's and Kubernetes'
// separately, and if a platform has several, those whose paths differ only in the platform.
func TestLinesOfCatalogs(t *testing.T) {
	for want, paths := range map[string]string{
		"v1.30/c.yaml v1.31/c.yaml | a/v4.9/c.yaml b/v4.20/c.yaml":                     "b/v4.20/c.yaml v1.31/c.yaml a/v4.9/c.yaml v1.30/c.yaml a/v4.9/c.yaml",
		"a/v4.19/c.yaml a/v4.20/c.yaml | b/v4.19/c.yaml b/v4.20/c.yaml | d/v4.20.yaml": "b/v4.20/c.yaml a/v4.20/c.yaml b/v4.19/c.yaml a/v4.19/c.yaml d/v4.20.yaml",
		"": "catalog.yaml",
	} {
		var l lines
		for _, name := range strings.Fields(paths) {
			c := plan.Catalog{Path: name}
			if platform, ok := plan.PlatformOf(name); ok {
				c.Platform = &platform
			}
			l.add([]plan.Catalog{c}, "op")
		}
		var got []string
		for _, line := range l.inOrder() {
			var names []string
			for _, c := range line {
				names = append(names, c.Path)
			}
			got = append(got, strings.Join(names, " "))
		}
		if strings.Join(got, " | ") != want {
			t.Errorf("got %q, want %s", got, want)
		}
	}
}
