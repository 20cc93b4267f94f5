package survey

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/testkit/corpus"
)

// repository is the expected survey of a repository: its targets as lines, and the files left alone.
type repository struct {
	targets []string
	left    []string
}

// repositories are public ones. The line of a target has its template and how many files that matches; its
// channels with their versions; its edges and whether its default channel moves, its new channels start like the
// previous ones, and its catalogs rename bundles; and its catalogs with their number and exclusions. The form of
// metadata follows if the configuration says it.
var repositories = map[string]repository{
	"bpfman-catalog": {targets: []string{
		"templates/released.yaml 1 | stable | | auto-generated/catalog/released.yaml 1",
		"templates/y-stream.yaml 1 | stable | | auto-generated/catalog/y-stream.yaml 1",
		"templates/z-stream.yaml 1 | stable | | auto-generated/catalog/z-stream.yaml 1",
	}},
	"cost-management-metrics-operator-fbc": {targets: []string{
		"catalog-template/basic-template.yaml 1 | stable | | catalog-old/costmanagement-metrics-operator/catalog.yaml 1 bundle-object catalog/costmanagement-metrics-operator/catalog.yaml 1",
	}},
	"external-dns-operator": {targets: []string{
		"catalog/v4.*/catalog-template.yaml 11 | stable-v{major} stable-v{major}.{minor} | like-siblings | {folder}/catalog.yaml 11",
	}, left: []string{"catalog/external-dns-operator"}}, // of a development build
	"gatekeeper-operator-fbc": {targets: []string{
		"catalog-template-v1.yaml 1 | {major}.{minor} stable | like-siblings | catalog-4-14 1 catalog-4-17 1",
		"catalog-template-v2.yaml 1 | {major}.{minor} stable | like-siblings | catalog-4-19 1",
		"catalog-template-v3.yaml 1 | {major}.{minor} stable | like-siblings | catalog-4-20 1 catalog-4-21 1 [versions <3.17.0-0] catalog-4-22 1 [versions <3.19.0-0]",
	}},
	"konflux-coo-fbc": {targets: []string{
		"catalog/catalog-template.yaml 1 | fast stable | like-siblings 1 rewritten | catalog/coo-product-v{platform}/catalog.yaml 6",
	}},
	"konflux-opentelemetry": {targets: []string{
		"catalog/catalog-template.yaml 1 | stable | like-siblings 1 rewritten | catalog/opentelemetry-product-4.17/catalog.yaml 1",
	}},
	"kueue-fbc": {targets: []string{
		"v*/catalog-template.yaml 7 | Stable | | {folder}/catalog/kueue-operator/catalog.json 7",
	}},
	"lightspeed-operator": {targets: []string{
		"lightspeed-catalog-4.1[6-9] 4 | stable alpha | | ",
		"lightspeed-catalog-4.2[0-2] 3 | stable alpha | | ",
	}, left: []string{"hack/operator.yaml", "lightspeed-catalog/index.yaml"}}, // its beginning, and a development build
	// Each platform has its own first and last version.
	"mtv-fbc": {targets: []string{
		"v4.15/catalog-template.json 1 | release-v{major}.{minor} (<2.8.0-0) | like-siblings default moves | v4.15/catalog/mtv-operator/catalog.json 1",
		"v4.16/catalog-template.json 1 | release-v{major}.{minor} (<2.9.0-0) | like-siblings default moves | ",
		"v4.17/catalog-template.json 1 | release-v{major}.{minor} (>=2.7.0-0 <2.10.0-0) | like-siblings default moves | v4.17/catalog/mtv-operator/catalog.json 1",
		"v4.18/catalog-template.json 1 | release-v{major}.{minor} (>=2.8.0-0 <2.11.0-0) | like-siblings default moves | v4.18/catalog/mtv-operator/catalog.json 1",
		"v4.19/catalog-template.json 1 | release-v{major}.{minor} (>=2.9.0-0 <2.12.0-0) | like-siblings default moves | v4.19/catalog/mtv-operator/catalog.json 1",
		"v4.2[01]/catalog-template.json 2 | release-v{major}.{minor} (>=2.10.0-0) | like-siblings default moves | {folder}/catalog/mtv-operator/catalog.json 2",
		"v4.22/catalog-template.json 1 | release-v{major}.{minor} (>=2.11.0-0) | like-siblings default moves | v4.22/catalog/mtv-operator/catalog.json 1",
		"v4.23/catalog-template.json 1 | release-v{major}.{minor} (>=2.13.0-0) | like-siblings default moves | v4.23/catalog/mtv-operator/catalog.json 1",
		"v5.0/catalog-template.json 1 | release-v{major}.{minor} (>=5.0.0-0) | like-siblings default moves | v5.0/catalog/mtv-operator/catalog.json 1",
	}, left: []string{"v4.14/catalog/mtv-operator/catalog.json"}}, // its template was removed
	"olm-operator-konflux-sample": {targets: []string{
		"v4.13/catalog-template.json 1 | {major}.{minor} stable | like-siblings | ",
	}},
	"serverless-operator": {targets: []string{
		"olm-catalog/serverless-operator-index/v4.13/catalog-template.yaml 1 | stable stable-{major}.{minor} (<1.36.0-0) | like-siblings like-previous | ",
		"olm-catalog/serverless-operator-index/v4.1[45]/catalog-template.yaml 2 | stable stable-{major}.{minor} (<1.38.0-0) | like-siblings like-previous | ",
		"olm-catalog/serverless-operator-index/v4.1[6-9]/catalog-template.yaml 4 | stable stable-{major}.{minor} | like-siblings like-previous | ",
		"olm-catalog/serverless-operator-index/v4.2*/catalog-template.yaml 3 | stable stable-{major}.{minor} | like-siblings like-previous | ",
	}, left: []string{"olm-catalog/serverless-operator-index/configs/index.yaml", "olm-catalog/serverless-operator-index/index-bundles.yaml"}},
	"submariner-operator-fbc": {targets: []string{
		"catalog-template.yaml 1 | stable-{major}.{minor} | like-siblings default moves 1 rewritten | catalog-{platformDashed} 8 [versions <0.19.0-0 for 4.17 to 4.18] [versions <0.20.0-0 for 4.19] [versions <0.21.0-0 for 4.20] [versions <0.22.0-0 for 4.21 and later]",
	}},
	// generate-fbc.sh generates its graphs, and opm v1.73 reads none of them.
	"trusted-profile-analyzer-operator-fbc": {left: []string{
		"v4.18/catalog/rhtpa-operator/catalog.json", "v4.18/graph.yaml", "v4.19/catalog/rhtpa-operator/catalog.json", "v4.19/graph.yaml",
		"v4.20/catalog/rhtpa-operator/catalog.json", "v4.20/graph.yaml", "v4.21/catalog/rhtpa-operator/catalog.json", "v4.21/graph.yaml",
		"v4.22/catalog/rhtpa-operator/catalog.json", "v4.22/graph.yaml",
	}},
	"trustee-fbc": {targets: []string{
		"v4.1[56]/catalog-template.yaml 2 | stable (<0.5.0-0) | | {folder}/catalog/trustee-operator/catalog.json 2",
		"v4.1[78]/catalog-template.yaml 2 | stable (<1.2.0-0) | like-siblings | {folder}/catalog/trustee-operator/catalog.json 2",
		"v4.19/catalog-template.yaml 1 | stable | like-siblings | v4.19/catalog/trustee-operator/catalog.json 1",
		"v4.2*/catalog-template.yaml 3 | stable | like-siblings | {folder}/catalog/trustee-operator/catalog.json 3",
	}, left: []string{"test-fbc/catalog-template.yaml"}},
	"volsync-operator-product-fbc": {targets: []string{
		"catalog-template.yaml 1 | stable stable-{major}.{minor} | like-siblings | catalog-{platformDashed} 10 [versions <0.8.0-0 for 4.15] [versions <0.9.0-0 for 4.16] [versions <0.10.0-0 for 4.17] [versions <0.11.0-0 for 4.18]" +
			" [versions <0.12.0-0 for 4.19] [versions <0.13.0-0 for 4.20] [versions <0.14.0-0 for 4.21] [versions <0.15.0-0 for 4.22] [versions <0.16.0-0 for 4.23 and later]" +
			" [versions >=0.16.0-0 up to 4.15] closed",
	}},
}

// TestRepositories surveys public repositories.
func TestRepositories(t *testing.T) {
	c := corpus.Large(t)
	for name, want := range repositories {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsys, err := fs.Sub(c.Archive(t, "repositories/"+name), name)
			if err != nil {
				t.Fatal(err)
			}
			s, err := Of(fsys)
			if err != nil {
				t.Fatal(err)
			}
			var got, left []string
			for _, target := range s.Targets {
				got = append(got, line(target))
				if target.Package == "" {
					t.Errorf("%s has no package", target.Template)
				}
				checkPlatforms(t, target)
			}
			for _, l := range s.Left {
				left = append(left, l.Path())
				if l.Reason == "" {
					t.Errorf("%s is left out without a reason", l.Path())
				}
			}
			if !slices.Equal(got, want.targets) {
				t.Errorf("targets:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want.targets, "\n"))
			}
			if !slices.Equal(left, want.left) {
				t.Errorf("left out: %q, want %q", left, want.left)
			}
		})
	}
}

// checkPlatforms checks that each catalog of a pattern has its own platform.
func checkPlatforms(t *testing.T, target Target) {
	t.Helper()
	for _, c := range target.Catalogs {
		platforms := map[plan.Platform]bool{}
		for _, p := range c.Pairs {
			if platform, ok := plan.PlatformOf(p.Catalog); ok {
				platforms[platform] = true
			}
		}
		if len(c.Pairs) > 1 && len(platforms) != len(c.Pairs) {
			t.Errorf("%s: %d catalogs are for %d platforms", c.Path, len(c.Pairs), len(platforms))
		}
	}
}

func line(t Target) string {
	var channels, catalogs []string
	for _, r := range t.Rules {
		said := strings.Join(r.Channels, " ")
		if r.Versions != "" {
			said += " (" + r.Versions + ")"
		}
		channels = append(channels, said)
	}
	for _, c := range t.Catalogs {
		one := fmt.Sprintf("%s %d", c.Path, len(c.Pairs))
		if c.Metadata != "" {
			one += " " + c.Metadata
		}
		for _, e := range c.Exclude {
			one += " [" + e.String() + "]"
		}
		if c.Closed {
			one += " closed"
		}
		catalogs = append(catalogs, one)
	}
	edges := ""
	if t.Edges != "" {
		edges += t.Edges + " "
	}
	if t.DefaultChannel != "" {
		edges += "default moves "
	}
	if t.NewChannel != "" {
		edges += t.NewChannel + " "
	}
	if len(t.Rewrites) > 0 {
		edges += fmt.Sprintf("%d rewritten ", len(t.Rewrites))
	}
	return fmt.Sprintf("%s %d | %s | %s| %s", t.Template, len(t.Templates), strings.Join(channels, "; "), edges, strings.Join(catalogs, " "))
}
