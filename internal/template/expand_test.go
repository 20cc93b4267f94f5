package template

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/reference"
	"github.com/olmgraft/graft/internal/template/kind"
)

// byTag finds bundles by the tag of their image: repo:NAME.vVERSION is NAME.vVERSION.
type byTag struct{ pkg string }

func (b byTag) Bundle(image string) (fbc.Facts, error) {
	_, tag, _ := reference.Cut(image)
	v, ok := graph.VersionOf(tag)
	if !ok {
		return fbc.Facts{}, fmt.Errorf("no bundle %s", image)
	}
	return fbc.Facts{Name: b.pkg + ".v" + v.String(), Package: b.pkg, Image: image, Version: v.String()}, nil
}

func (b byTag) Showcase(image string) (fbc.Showcase, error) {
	return fbc.Showcase{Description: "of " + image}, nil
}

// short writes channels as lines "CHANNEL: NAME<REPLACES -SKIP,SKIP | ..." without the package before the
// versions.
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

func expand(t *testing.T, src string, skips kind.SemverSkips, tags kind.Tags) (*fbc.Catalog, error) {
	t.Helper()
	tmpl, err := Parse("t.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	tmpl.Source.SemverSkips = skips
	return tmpl.Expand(byTag{"testoperator"}, tags)
}

// semverExample returns the example in the published documentation of semver templates.
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
		skips         kind.SemverSkips
		def, want     string
	}{
		{"major channels, as documented", major, kind.SkipMinor, "stable-v1", `candidate-v0: 0.1.0 | 0.1.1 | 0.1.2 | 0.1.3 -0.1.0,0.1.1,0.1.2 | 0.2.0 | 0.2.1 | 0.2.2<0.1.3 -0.2.0,0.2.1 | 0.3.0<0.2.2
candidate-v1: 1.0.0 | 1.0.1 -1.0.0 | 1.1.0<1.0.1
fast-v0: 0.2.1 | 0.2.2 -0.2.1 | 0.3.0<0.2.2
fast-v1: 1.0.1 | 1.1.0<1.0.1
stable-v1: 1.0.1`},
		{"minor channels, as documented", minor, kind.SkipMinor, "stable-v1.0", minorChannels},
		{"both, as documented", both + "DefaultChannelTypePreference: major\n", kind.SkipMinor, "stable-v1", ""},
		{"both, minor is preferred", both, kind.SkipMinor, "stable-v1.0", ""},
		{"neither flag means minor", "", kind.SkipMinor, "stable-v1.0", minorChannels},
		{"major channels, as opm makes them", major, "", "stable-v1", `candidate-v0: 0.1.0 | 0.1.1 | 0.1.2 | 0.1.3 -0.1.0,0.1.1,0.1.2 | 0.2.0 | 0.2.1 | 0.2.2<0.1.3 -0.1.0,0.1.1,0.1.2,0.2.0,0.2.1 | 0.3.0<0.2.2 -0.1.0,0.1.1,0.1.2,0.1.3,0.2.0,0.2.1
candidate-v1: 1.0.0 | 1.0.1 -1.0.0 | 1.1.0<1.0.1 -1.0.0
fast-v0: 0.2.1 | 0.2.2 -0.2.1 | 0.3.0<0.2.2 -0.2.1
fast-v1: 1.0.1 | 1.1.0<1.0.1
stable-v1: 1.0.1`},
		{"minor channels, as opm made them before", minor, kind.SkipChannel, "stable-v1.0", `candidate-v0.1: 0.1.0 | 0.1.1 | 0.1.2 | 0.1.3 -0.1.0,0.1.1,0.1.2
candidate-v0.2: 0.2.0 | 0.2.1 | 0.2.2 -0.2.0,0.2.1
candidate-v0.3: 0.3.0
candidate-v1.0: 1.0.0 | 1.0.1 -1.0.0
candidate-v1.1: 1.1.0
fast-v0.2: 0.2.1 | 0.2.2 -0.2.1
fast-v0.3: 0.3.0
fast-v1.0: 1.0.1
fast-v1.1: 1.1.0
stable-v1.0: 1.0.1`},
		{"major channels, as opm made them before", major, kind.SkipChannel, "stable-v1", `candidate-v0: 0.1.0 | 0.1.1 | 0.1.2 | 0.1.3 -0.1.0,0.1.1,0.1.2 | 0.2.0 | 0.2.1 | 0.2.2<0.1.3 -0.2.0,0.2.1 | 0.3.0<0.2.2
candidate-v1: 1.0.0 | 1.0.1 -1.0.0 | 1.1.0<1.0.1
fast-v0: 0.2.1 | 0.2.2 -0.2.1 | 0.3.0<0.2.2
fast-v1: 1.0.1 | 1.1.0<1.0.1
stable-v1: 1.0.1`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := expand(t, semverExample(tt.options), tt.skips, nil)
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

// TestSemverOptions checks that the YAML 1.1 words for true set an option, as in opm, and that the default
// channel belongs to the most stable archetype, then the highest version, then the preferred kind.
func TestSemverOptions(t *testing.T) {
	const bundles = "candidate:\n  bundles:\n  - image: q.io/o/op:op.v2.0.0\nstable:\n  bundles:\n  - image: q.io/o/op:op.v1.0.0\n  - image: q.io/o/op:op.v1.1.0\n"
	for options, want := range map[string]string{
		"":                             "stable-v1.1: candidate-v2.0 stable-v1.0 stable-v1.1",
		"generateMajorChannels: yes\n": "stable-v1: candidate-v2 stable-v1",
		"generateMajorChannels: on\ngenerateMinorChannels: off\n":                                       "stable-v1: candidate-v2 stable-v1",
		"generateMajorChannels: 'true'\n":                                                               "",
		"generateMajorChannels: false\n":                                                                "stable-v1.1: candidate-v2.0 stable-v1.0 stable-v1.1",
		"GENERATEMAJORCHANNELS: true\ngenerateMinorChannels: true\n":                                    "stable-v1.1: candidate-v2 candidate-v2.0 stable-v1 stable-v1.0 stable-v1.1",
		"generateMajorChannels: y\ngenerateMinorChannels: y\ndefaultChannelTypePreference: major\n":     "stable-v1.1: candidate-v2 candidate-v2.0 stable-v1 stable-v1.0 stable-v1.1",
		"generateMajorChannels: true\ngenerateMinorChannels: true\ndefaultChannelTypePreference: minor": "stable-v1.1: candidate-v2 candidate-v2.0 stable-v1 stable-v1.0 stable-v1.1",
	} {
		tmpl, err := Parse("t.yaml", []byte("schema: olm.semver\n"+strings.TrimSuffix(options, "\n")+"\n"+bundles))
		if err != nil {
			t.Fatal(err)
		}
		c, err := tmpl.Expand(byTag{"op"}, nil)
		if want == "" {
			if !failure.Is(err, failure.TemplateMalformed) {
				t.Errorf("%q: got %v", options, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", options, err)
			continue
		}
		got := c.Packages[0].DefaultChannel + ":"
		for _, ch := range c.Channels {
			got += " " + ch.Name
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", options, got, want)
		}
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
			_, err = tmpl.Expand(byTag{"op"}, nil)
		}
		if !failure.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %s", name, err, tt.want.Class())
		}
	}
}

// known finds bundles by their image.
type known map[string]fbc.Facts

func (k known) Bundle(image string) (fbc.Facts, error) { return k[image], nil }

func (k known) Showcase(string) (fbc.Showcase, error) { return fbc.Showcase{}, nil }

// TestRefusedBundles checks that bundles which a template cannot use are refused, with their place.
func TestRefusedBundles(t *testing.T) {
	const semver = "schema: olm.semver\ncandidate:\n  bundles:\n  - image: a\nstable:\n  bundles:\n  - image: b\n"
	const two = "schema: olm.semver\nstable:\n  bundles:\n  - image: a\n  - image: b\n"
	const goodstuff = "schema: olm.template.goodstuff\npackage: {name: op}\nbundles: {images: [a, b]}\ngraph-description: {name: stable, entries: [op.v1.0.0]}\n"
	fact := func(image, name, pkg, version string) fbc.Facts {
		return fbc.Facts{Name: name, Package: pkg, Image: image, Version: version}
	}
	for _, tt := range []struct {
		name, src string
		b         fbc.Facts
		code      failure.Code
		want      string
	}{
		{"of another package", semver, fact("b", "other.v1.1.0", "other", "1.1.0"), failure.RenderFailed, "t.yaml:7:5: rendering the template: bundle other.v1.1.0 is of package other, those before it of op"},
		{"of no version", semver, fact("b", "op.v1.1", "op", "1.1"), failure.RenderFailed, "t.yaml:7:5: reading bundle op.v1.1: its version \"1.1\" is not a semantic version"},
		{"of one name", two, fact("b", "op.v1.0.0", "op", "1.0.0"), failure.RenderFailed, "t.yaml:5:5: rendering stable: a and b are the same bundle, op.v1.0.0"},
		{"of one version but for its build", two, fact("b", "op.v1.0.0-2", "op", "1.0.0+2"), failure.VersionUnordered, "t.yaml:5:5: rendering stable: the versions of op.v1.0.0 and op.v1.0.0-2 differ in build metadata only"},
		{"of one name, by order", goodstuff, fact("b", "op.v1.0.0", "op", "1.0.0"), failure.RenderFailed, "rendering the template: a and b are the same bundle, op.v1.0.0"},
		{"without an entry", goodstuff, fact("b", "op.v1.1.0", "op", "1.1.0"), failure.RenderFailed, "t.yaml:4:20: rendering the template: no graph-description names the bundle op.v1.1.0 (b)"},
	} {
		tmpl, err := Parse("t.yaml", []byte(tt.src))
		if err != nil {
			t.Fatal(err)
		}
		_, err = tmpl.Expand(known{"a": fact("a", "op.v1.0.0", "op", "1.0.0"), "b": tt.b}, nil)
		if !failure.Is(err, tt.code) || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: got %v", tt.name, err)
		}
	}
}

// TestGoodstuffPackageAndTail checks that the package and the targets of tail edges come from the goodstuff
// template itself.
func TestGoodstuffPackageAndTail(t *testing.T) {
	c, err := expand(t, `schema: olm.template.goodstuff
package: {name: op, defaultChannel: stable, description: It does., icon: {base64data: aGk=, mediatype: image/png}}
bundles: {images: ["q.io/o/op:op.v1.0.0", "q.io/o/op:op.v1.2.0"]}
graph-description:
- name: stable
  entries: [testoperator.v1.0.0, testoperator.v1.2.0]
  tailEdges: {replaces: testoperator.v0.9.0, skips: [testoperator.v0.8.0], skipRange: <0.8.0}
- name: fast
  entries: [testoperator.v1.0.0, testoperator.v1.2.0]
  tombstones: [testoperator.v1.0.0]
`, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := short(c, "testoperator"); got != "stable: 1.0.0<0.9.0 -0.8.0 (<0.8.0) | 1.2.0<1.0.0\nfast: 1.2.0 -1.0.0" {
		t.Errorf("got %s", got)
	}
	p := c.Packages[0]
	if p.Name != "op" || p.DefaultChannel != "stable" || p.Description != "It does." || string(p.Icon.Data) != "hi" || p.Icon.MediaType != "image/png" {
		t.Errorf("the package is %+v", p)
	}
	if c.Channels[1].Package != "op" || strings.Join(c.Images, " ") != "q.io/o/op:op.v1.0.0 q.io/o/op:op.v1.2.0" {
		t.Errorf("%+v, images %v", c.Channels[1], c.Images)
	}
}

func exampleTags(repository string) ([]string, error) {
	if repository != "quay.io/example-inc/example-bundle" {
		return nil, fmt.Errorf("no repository %s", repository)
	}
	return []string{"latest", "v0.0.9", "v0.1.0", "v0.2.3", "v0.3.2", "v1.0.1", "v1.0.1-rc.1", "v0.2.0", "sha256-abc.sig"}, nil
}

func TestGoodstuffExample(t *testing.T) {
	c, err := expand(t, goodstuffExample, "", exampleTags)
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
		"a bundle without an entry": {"      - testoperator.v0.0.3\n", "", "no graph-description names the bundle testoperator.v0.0.3 (quay.io/example-inc/example-bundle:v0.0.3)"},
		"a tombstone at the head":   {"    - testoperator.v1.0.0\n  tailEdges", "    - testoperator.v1.0.0\n    - testoperator.v1.0.1\n  tailEdges", "no live entry comes after the tombstones"},
	} {
		_, err := expand(t, strings.Replace(goodstuffExample, tt.old, tt.new, 1), "", exampleTags)
		if !failure.Is(err, failure.RenderFailed) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
	}
}

// opm does not read a template that begins with a directive.
func TestExpandRefusesDirectives(t *testing.T) {
	_, err := expand(t, "# c\n\n%YAML 1.1\n---\n"+semverExample(""), "", nil)
	if f := failure.Of(err); !failure.Is(err, failure.TemplateMalformed) || f.Line != 3 {
		t.Errorf("%+v", f)
	}
	if _, err := expand(t, "# c\n\n---\n"+semverExample("")+"# %\n", "", nil); err != nil {
		t.Error(err)
	}
}
