package template

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/template/kind"
)

// byTag knows bundles by the tag of their image: repo:NAME.vVERSION is NAME.vVERSION.
type byTag struct{ pkg string }

func (b byTag) Bundle(image string) (fbc.Facts, error) {
	_, tag, _ := kind.SplitImage(image)
	v, ok := graph.VersionOf(tag)
	if !ok {
		return fbc.Facts{}, fmt.Errorf("no bundle %s", image)
	}
	return fbc.Facts{Name: b.pkg + ".v" + v.String(), Package: b.pkg, Image: image, Version: v.String()}, nil
}

func (b byTag) Showcase(image string) (fbc.Showcase, error) {
	return fbc.Showcase{Description: "of " + image}, nil
}

// short writes channels as lines "CHANNEL: NAME<REPLACES -SKIP,SKIP | ..." without the
// package in front of the versions.
func short(c *fbc.Catalog, pkg string) string {
	var out []string
	for _, ch := range c.Channels {
		var entries []string
		for _, e := range ch.Entries {
			s := e.Name
			if e.Replaces != "" {
				s += "<" + e.Replaces
			}
			if len(e.Skips) > 0 {
				s += " -" + strings.Join(e.Skips, ",")
			}
			if e.SkipRange != "" {
				s += " (" + e.SkipRange + ")"
			}
			entries = append(entries, strings.ReplaceAll(s, pkg+".v", ""))
		}
		out = append(out, ch.Name+": "+strings.Join(entries, " | "))
	}
	return strings.Join(out, "\n")
}

func expand(t *testing.T, src string, o kind.Options) (*fbc.Catalog, error) {
	t.Helper()
	tmpl, err := Parse("t.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return tmpl.Expand(byTag{"testoperator"}, o)
}

// The example of the published documentation of semver templates.
func semverExample(options string) string {
	list := func(versions ...string) string {
		out := ""
		for _, v := range versions {
			out += "  - Image: quay.io/foo/olm:testoperator.v" + v + "\n"
		}
		return out
	}
	return "Schema: olm.semver\n" + options +
		"Candidate:\n  Bundles:\n" + list("0.1.0", "0.1.1", "0.1.2", "0.1.3", "0.2.0", "0.2.1", "0.2.2", "0.3.0", "1.0.0", "1.0.1", "1.1.0") +
		"Fast:\n  Bundles:\n" + list("0.2.1", "0.2.2", "0.3.0", "1.0.1", "1.1.0") +
		"Stable:\n  Bundles:\n" + list("1.0.1")
}

const minorChannels = `candidate-v0.1: 0.1.0 | 0.1.1 | 0.1.2 | 0.1.3 -0.1.0,0.1.1,0.1.2
candidate-v0.2: 0.2.0 | 0.2.1 | 0.2.2<0.1.3 -0.2.0,0.2.1
candidate-v0.3: 0.3.0<0.2.2
candidate-v1.0: 1.0.0 | 1.0.1 -1.0.0
candidate-v1.1: 1.1.0<1.0.1
fast-v0.2: 0.2.1 | 0.2.2 -0.2.1
fast-v0.3: 0.3.0<0.2.2
fast-v1.0: 1.0.1
fast-v1.1: 1.1.0<1.0.1
stable-v1.0: 1.0.1`

func TestSemverExamples(t *testing.T) {
	const major, minor = "GenerateMajorChannels: true\nGenerateMinorChannels: false\n", "GenerateMinorChannels: true\nGenerateMajorChannels: false\n"
	const both = "GenerateMinorChannels: true\nGenerateMajorChannels: true\n"
	tests := []struct {
		name, options string
		withinMinor   bool
		def, want     string
	}{
		{"major channels, as documented", major, true, "stable-v1", `candidate-v0: 0.1.0 | 0.1.1 | 0.1.2 | 0.1.3 -0.1.0,0.1.1,0.1.2 | 0.2.0 | 0.2.1 | 0.2.2<0.1.3 -0.2.0,0.2.1 | 0.3.0<0.2.2
candidate-v1: 1.0.0 | 1.0.1 -1.0.0 | 1.1.0<1.0.1
fast-v0: 0.2.1 | 0.2.2 -0.2.1 | 0.3.0<0.2.2
fast-v1: 1.0.1 | 1.1.0<1.0.1
stable-v1: 1.0.1`},
		{"minor channels, as documented", minor, true, "stable-v1.0", minorChannels},
		{"both, as documented", both + "DefaultChannelTypePreference: major\n", true, "stable-v1", ""},
		{"both, minor is preferred", both, true, "stable-v1.0", ""},
		{"neither flag means minor", "", true, "stable-v1.0", minorChannels},
		{"major channels, as opm makes them", major, false, "stable-v1", `candidate-v0: 0.1.0 | 0.1.1 | 0.1.2 | 0.1.3 -0.1.0,0.1.1,0.1.2 | 0.2.0 | 0.2.1 | 0.2.2<0.1.3 -0.1.0,0.1.1,0.1.2,0.2.0,0.2.1 | 0.3.0<0.2.2 -0.1.0,0.1.1,0.1.2,0.1.3,0.2.0,0.2.1
candidate-v1: 1.0.0 | 1.0.1 -1.0.0 | 1.1.0<1.0.1 -1.0.0
fast-v0: 0.2.1 | 0.2.2 -0.2.1 | 0.3.0<0.2.2 -0.2.1
fast-v1: 1.0.1 | 1.1.0<1.0.1
stable-v1: 1.0.1`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := expand(t, semverExample(tt.options), kind.Options{SkipsWithinMinor: tt.withinMinor})
			if err != nil {
				t.Fatal(err)
			}
			if got := short(c, "testoperator"); tt.want != "" && got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			p := c.Packages[0]
			if p.DefaultChannel != tt.def || p.Description != "of quay.io/foo/olm:testoperator.v1.0.1" {
				t.Errorf("the package is %+v, want the default channel %s", p, tt.def)
			}
		})
	}
}

func TestSemverRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		src  string
		want failure.Code
	}{
		"build metadata":        {"Schema: olm.semver\nStable:\n  Bundles:\n  - Image: a/b:v1.0.0+1\n  - Image: a/b:v1.0.0+2\n", failure.VersionUnordered},
		"no bundles":            {"Schema: olm.semver\nStable:\n  Bundles: []\n", failure.RenderFailed},
		"a preference not made": {"Schema: olm.semver\nGenerateMinorChannels: true\nDefaultChannelTypePreference: major\nStable:\n  Bundles:\n  - Image: a/b:v1.0.0\n", failure.RenderFailed},
		"two names of a bundle": {"Schema: olm.semver\nStable:\n  Bundles:\n  - Image: a/b:v1.0.0\n  - Image: c/b:v1.0.0\n", failure.RenderFailed},
	} {
		tmpl, err := Parse("t.yaml", []byte(tt.src))
		if err != nil {
			t.Fatal(err)
		}
		if _, err = tmpl.Images(nil); err == nil {
			_, err = tmpl.Expand(byTag{"op"}, kind.Options{})
		}
		if !failure.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %s", name, err, tt.want.Class())
		}
	}
}

// The example of the proposal of goodstuff templates, its regular expression in single
// quotes, since backslashes in double quotes are no YAML.
const goodstuffExample = `---
schema: olm.template.goodstuff
package:
  name: testoperator
  defaultChannel: stable
bundles:
  repo: quay.io/example-inc/example-bundle
  tagRegex: '^v\d+\.\d+\.\d+$'
  semverRange: ">=0.1.x"
  images:
    - quay.io/example-inc/example-bundle:v0.0.1
    - quay.io/example-inc/example-bundle:v0.0.2
    - quay.io/example-inc/example-bundle:v0.0.3
graph-description:
  package: testoperator
  name: stable
  entries:
    - testoperator.v0.1.0
    - testoperator.v0.2.0
    - testoperator.v0.2.1
    - testoperator.v0.2.2
    - testoperator.v0.2.3
    - testoperator.v0.3.0
    - testoperator.v0.3.1
    - testoperator.v0.3.2
    - testoperator.v1.0.0
    - testoperator.v1.0.1
  tombstones:
    - testoperator.v0.2.0
    - testoperator.v0.2.1
    - testoperator.v0.2.2
    - testoperator.v0.3.0
    - testoperator.v0.3.1
    - testoperator.v1.0.0
  tailEdges:
    skips:
      - testoperator.v0.0.1
      - testoperator.v0.0.2
      - testoperator.v0.0.3
`

func exampleTags(repository string) ([]string, error) {
	if repository != "quay.io/example-inc/example-bundle" {
		return nil, fmt.Errorf("no repository %s", repository)
	}
	return []string{"latest", "v0.0.9", "v0.1.0", "v0.2.3", "v0.3.2", "v1.0.1", "v1.0.1-rc.1", "v0.2.0", "sha256-abc.sig"}, nil
}

func TestGoodstuffExample(t *testing.T) {
	c, err := expand(t, goodstuffExample, kind.Options{Tags: exampleTags})
	if err != nil {
		t.Fatal(err)
	}
	want := "stable: 0.1.0 -0.0.1,0.0.2,0.0.3 | 0.2.3<0.1.0 -0.2.0,0.2.1,0.2.2 | 0.3.2<0.2.3 -0.3.0,0.3.1 | 1.0.1<0.3.2 -1.0.0"
	if got := short(c, "testoperator"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	slices.Sort(c.Images)
	if got := strings.Join(c.Images, " "); got != strings.Join([]string{
		"quay.io/example-inc/example-bundle:v0.1.0", "quay.io/example-inc/example-bundle:v0.2.3",
		"quay.io/example-inc/example-bundle:v0.3.2", "quay.io/example-inc/example-bundle:v1.0.1"}, " ") {
		t.Errorf("bundles %s", got)
	}
}

func TestGoodstuffRefuses(t *testing.T) {
	for name, tt := range map[string]struct{ old, new, want string }{
		"an entry without a bundle": {"    - testoperator.v1.0.1\n", "    - testoperator.v1.0.1\n    - testoperator.v2.0.0\n", "there is no bundle for the entry testoperator.v2.0.0"},
		"a bundle without an entry": {"    - testoperator.v0.3.2\n", "", "no graph-description names the bundle testoperator.v0.3.2 (quay.io/example-inc/example-bundle:v0.3.2)"},
		"a tombstone at the head":   {"    - testoperator.v1.0.0\n  tailEdges", "    - testoperator.v1.0.0\n    - testoperator.v1.0.1\n  tailEdges", "no live entry comes after the tombstones"},
	} {
		_, err := expand(t, strings.Replace(goodstuffExample, tt.old, tt.new, 1), kind.Options{Tags: exampleTags})
		if !failure.Is(err, failure.RenderFailed) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
	}
}
