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

// released knows substitutes by the tag of their image: repo:NAME-vVERSION-RELEASE.
type released struct{}

func (released) Bundle(image string) (fbc.Facts, error) {
	_, name, _ := kind.SplitImage(image)
	version, release, _ := strings.Cut(strings.TrimPrefix(name, "op-v"), "-")
	return fbc.Facts{Name: name, Package: "op", Image: image, Version: version, Release: release}, nil
}

func (released) Showcase(string) (fbc.Showcase, error) { return fbc.Showcase{}, nil }

// substitutesTemplate has a channel of entries as short writes them, their bundles, and
// substitutions as "SUBSTITUTE for BASE".
func substitutesTemplate(channel string, substitutions ...string) string {
	out, bundles := "schema: olm.template.substitutes\nentries:\n- {schema: olm.package, name: op, defaultChannel: stable}\n- schema: olm.channel\n  package: op\n  name: stable\n  entries:\n", ""
	for _, entry := range strings.Split(channel, " | ") {
		for i, word := range strings.FieldsFunc(entry, func(r rune) bool { return r == '<' || r == ' ' }) {
			list, skips := strings.CutPrefix(word, "-")
			switch {
			case skips:
				out += "    skips: [op.v" + strings.ReplaceAll(list, ",", ", op.v") + "]\n"
			case i == 1 && strings.Contains(entry, "<"):
				out += "    replaces: op.v" + word + "\n"
			default:
				out += "  - name: op.v" + word + "\n"
				bundles += "- schema: olm.bundle\n  name: op.v" + word + "\n  package: op\n  image: q.io/op:v" + word + "\n  properties:\n  - {type: olm.package, value: {packageName: op, version: " + word + "}}\n"
			}
		}
	}
	out += bundles + "substitutions:\n"
	for _, s := range substitutions {
		name, base, _ := strings.Cut(s, " for ")
		out += "- name: q.io/op:" + name + "\n  base: " + base + "\n"
	}
	return out
}

// A substitute takes the edges of its base and skips it; whoever replaced or skipped the base
// does so with the substitute, and upgrades from the base as well.
func TestSubstitutes(t *testing.T) {
	const chain = "1.0.0 | 1.1.0<1.0.0 | 1.2.0<1.1.0"
	for _, tt := range []struct {
		name, channel string
		substitutions []string
		want          string
	}{
		{"the head", chain, []string{"op-v1.2.0-1 for op.v1.2.0"}, "1.0.0 | 1.1.0<1.0.0 | 1.2.0 | op-v1.2.0-1<1.1.0 -1.2.0"},
		{"an entry that another replaces", chain, []string{"op-v1.1.0-1 for op.v1.1.0"}, "1.0.0 | 1.1.0 | 1.2.0<op-v1.1.0-1 -1.1.0 | op-v1.1.0-1<1.0.0 -1.1.0"},
		{"an entry that another skips", "1.0.0 | 1.1.0<1.0.0 | 1.2.0<1.0.0 -1.0.9,1.1.0", []string{"op-v1.1.0-1 for op.v1.1.0"}, "1.0.0 | 1.1.0 | 1.2.0<1.0.0 -1.0.9,op-v1.1.0-1 | op-v1.1.0-1<1.0.0 -1.1.0"},
		{"an entry with skips", "1.0.0 | 1.1.0<1.0.0 -1.0.8,1.0.9", []string{"op-v1.1.0-1 for op.v1.1.0"}, "1.0.0 | 1.1.0 | op-v1.1.0-1<1.0.0 -1.0.8,1.0.9,1.1.0"},
		{"the tail", chain, []string{"op-v1.0.0-1 for op.v1.0.0"}, "1.0.0 | 1.1.0<op-v1.0.0-1 -1.0.0 | 1.2.0<1.1.0 | op-v1.0.0-1 -1.0.0"},
		{"a substitute again", chain, []string{"op-v1.2.0-1 for op.v1.2.0", "op-v1.2.0-2 for op-v1.2.0-1"}, "1.0.0 | 1.1.0<1.0.0 | 1.2.0 | op-v1.2.0-1 | op-v1.2.0-2<1.1.0 -1.2.0,op-v1.2.0-1"},
	} {
		tmpl, err := Parse("t.yaml", []byte(substitutesTemplate(tt.channel, tt.substitutions...)))
		if err != nil {
			t.Fatal(err)
		}
		c, err := tmpl.Expand(released{}, kind.Options{})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got := short(c, "op"); got != "stable: "+tt.want {
			t.Errorf("%s: got\n%s\nwant\nstable: %s", tt.name, got, tt.want)
		}
		if len(c.Images) != len(tt.substitutions) {
			t.Errorf("%s: bundles to render: %v", tt.name, c.Images)
		}
	}
	for name, tt := range map[string]struct {
		channel       string
		substitutions []string
		want          string
	}{
		"no such base":             {chain, []string{"op-v1.2.0-1 for op.v1.3.0"}, "t.yaml:32:3: rendering a substitution: the template has no bundle op.v1.3.0 to substitute"},
		"of a lower version":       {chain, []string{"op-v1.1.0-1 for op.v1.2.0"}, "op-v1.1.0-1 is not above op.v1.2.0"},
		"of the same version":      {chain, []string{"op-v1.2.0 for op.v1.2.0"}, "op-v1.2.0 is not above op.v1.2.0"},
		"of a lower release":       {chain, []string{"op-v1.2.0-10 for op.v1.2.0", "op-v1.2.0-9 for op-v1.2.0-10"}, "op-v1.2.0-9 is not above op-v1.2.0-10"},
		"a channel with two heads": {"1.0.0 | 1.1.0<1.0.0 | 1.2.0<1.0.0", []string{"op-v1.2.0-1 for op.v1.2.0"}, "has 2 heads"},
	} {
		tmpl, err := Parse("t.yaml", []byte(substitutesTemplate(tt.channel, tt.substitutions...)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tmpl.Expand(released{}, kind.Options{}); !failure.Is(err, failure.RenderFailed) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
