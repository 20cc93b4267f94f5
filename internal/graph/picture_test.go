package graph

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/draw"
)

// describe formats a channel's picture as nodes with their marks, and edges.
func describe(ch draw.Channel) string {
	short := func(name string) string { return strings.TrimPrefix(name, "p.v") }
	var words []string
	for _, n := range ch.Nodes {
		word := short(n.Name)
		for _, is := range []struct {
			so   bool
			mark string
		}{
			{n.Head, "head"}, {n.Skipped, "skipped"}, {n.Deprecated, "deprecated"}, {n.Outside, "outside"},
			{n.Missing, "missing"}, {n.New, "new"}, {n.Removed, "removed"}, {n.Stranded, "stranded"},
		} {
			if is.so {
				word += "," + is.mark
			}
		}
		words = append(words, word)
	}
	for _, e := range ch.Edges {
		arrow := map[draw.Kind]string{draw.Replaces: "<", draw.Skips: "-", draw.SkipRange: "~"}[e.Kind]
		if e.New {
			arrow += "+"
		}
		if e.Lost {
			arrow += "!"
		}
		words = append(words, short(ch.Nodes[e.To].Name)+arrow+short(ch.Nodes[e.From].Name))
	}
	return strings.Join(words, " ")
}

var pictureTests = map[string]struct {
	base, channels []string
	deprecated     string
	bundles        string // more bundles
	want           string // for the first channel
}{
	"by version, in any order of entries": {
		channels: []string{"a: 1.10.0 <1.9.0; 1.9.0"},
		want:     "1.9.0 1.10.0,head 1.10.0<1.9.0",
	},
	"skips and ranges": {
		channels: []string{"a: 1.0.0; 1.0.1; 1.1.0 <1.0.0 -1.0.1 ~>=1.0.0,<1.1.0"},
		want:     "1.0.0 1.0.1,skipped 1.1.0,head 1.1.0<1.0.0 1.1.0-1.0.1 1.1.0~1.0.0 1.1.0~1.0.1",
	},
	"a range takes no bundle that is not lower": {
		channels: []string{"a: 1.0.0; 1.1.0 <1.0.0 ~>=1.0.0; 1.2.0 <1.1.0"},
		want:     "1.0.0 1.1.0 1.2.0,head 1.1.0<1.0.0 1.1.0~1.0.0 1.2.0<1.1.0",
	},
	"bundles outside the channel": {
		channels: []string{"a: 2.0.0 <1.0.0 -1.1.0", "b: 1.0.0"},
		want:     "1.0.0,outside 1.1.0,skipped,outside,missing 2.0.0,head 2.0.0<1.0.0 2.0.0-1.1.0",
	},
	"bundles that only a range reaches": {
		channels: []string{"a: 2.0.0 ~<2.0.0", "b: 1.0.0"},
		want:     "1.0.0,outside 2.0.0,head 2.0.0~1.0.0",
	},
	"a repeated skip": {
		channels: []string{"a: 1.0.0; 1.1.0 -1.0.0 -1.0.0"},
		want:     "1.0.0,skipped 1.1.0,head 1.1.0-1.0.0",
	},
	"deprecated": {
		channels:   []string{"a: 1.0.0; 1.1.0 <1.0.0"},
		deprecated: "1.0.0",
		want:       "1.0.0,deprecated 1.1.0,head 1.1.0<1.0.0",
	},
	"several heads": {
		channels: []string{"a: 1.0.0; 1.1.0"},
		want:     "1.0.0,head 1.1.0,head",
	},
	"a new head": {
		base:     []string{"a: 1.0.0; 1.1.0 <1.0.0"},
		channels: []string{"a: 1.0.0; 1.1.0 <1.0.0; 1.2.0 <1.1.0 ~>=1.0.0,<1.2.0"},
		want:     "1.0.0 1.1.0 1.2.0,head,new 1.1.0<1.0.0 1.2.0<+1.1.0 1.2.0~+1.0.0 1.2.0~+1.1.0",
	},
	"a backport, and the entry above it that now replaces it": {
		base:     []string{"a: 1.0.0; 1.1.0 <1.0.0"},
		channels: []string{"a: 1.0.0; 1.0.1 <1.0.0; 1.1.0 <1.0.1"},
		want:     "1.0.0 1.0.1,new 1.1.0,head 1.0.1<+1.0.0 1.1.0<+1.0.1",
	},
	"a range that grew": {
		base:     []string{"a: 1.0.0; 1.1.0 <1.0.0; 1.2.0 <1.1.0 ~>=1.1.0,<1.2.0"},
		channels: []string{"a: 1.0.0; 1.1.0 <1.0.0; 1.2.0 <1.1.0 ~>=1.0.0,<1.2.0"},
		want:     "1.0.0 1.1.0 1.2.0,head 1.1.0<1.0.0 1.2.0<1.1.0 1.2.0~+1.0.0 1.2.0~1.1.0",
	},
	"a path that is lost": {
		base:     []string{"a: 1.0.0; 1.1.0 <1.0.0; 1.2.0 <1.1.0"},
		channels: []string{"a: 1.0.0; 1.1.0 <1.0.0; 1.2.0"},
		want:     "1.0.0,stranded 1.1.0,head,stranded 1.2.0,head 1.1.0<1.0.0 1.2.0<!1.1.0",
	},
	"a path through a removed entry": {
		base:     []string{"a: 1.0.0; 1.1.0 <1.0.0; 1.2.0 <1.1.0"},
		channels: []string{"a: 1.0.0; 1.2.0 <1.1.0"},
		bundles:  "1.1.0",
		want:     "1.0.0,head,stranded 1.1.0,outside,removed 1.2.0,head 1.1.0<!1.0.0 1.2.0<1.1.0",
	},
	"a removal without stranded bundles": {
		base:     []string{"a: 1.0.0; 1.1.0 <1.0.0; 1.2.0 <1.1.0"},
		channels: []string{"a: 1.0.0; 1.2.0 <1.0.0 -1.1.0"},
		want:     "1.0.0 1.1.0,skipped,outside,missing,removed 1.2.0,head 1.2.0<+1.0.0 1.2.0-+1.1.0",
	},
	"a new channel of old bundles": {
		base:     []string{"b: 1.0.0; 1.1.0 <1.0.0"},
		channels: []string{"a: 1.0.0; 1.1.0 <1.0.0", "b: 1.0.0; 1.1.0 <1.0.0"},
		want:     "1.0.0 1.1.0,head 1.1.0<1.0.0",
	},
	"a new channel for a new bundle": {
		base:     []string{"b: 1.0.0"},
		channels: []string{"a: 1.0.0; 1.1.0 <1.0.0", "b: 1.0.0"},
		want:     "1.0.0 1.1.0,head,new 1.1.0<+1.0.0",
	},
}

func TestPicture(t *testing.T) {
	for name, test := range pictureTests {
		t.Run(name, func(t *testing.T) {
			c := newCatalog(t, test.channels...)
			if test.deprecated != "" {
				c.Packages[0].deprecated[bundleName(test.deprecated)] = true
			}
			for _, v := range strings.Fields(test.bundles) {
				addTestBundle(t, c.Packages[0], v)
			}
			o := PictureOptions{}
			if test.base != nil {
				o.Base = newCatalog(t, test.base...)
			}
			if got := describe(c.Picture(o).Packages[0].Channels[0]); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestPictureSelects(t *testing.T) {
	src := `---
schema: olm.package
name: p
defaultChannel: b
---
schema: olm.package
name: q
defaultChannel: a
---
schema: olm.channel
package: p
name: a
entries: [{name: p.v1.0.0}]
---
schema: olm.channel
package: p
name: b
entries: [{name: p.v1.0.0}]
---
schema: olm.channel
package: q
name: a
entries: [{name: q.v1.0.0}]
---
schema: olm.deprecations
package: p
entries:
- reference: {schema: olm.package}
  message: all of it
- reference: {schema: olm.channel, name: a}
  message: this one
`
	c := load("c.yaml", []byte(src))
	for _, test := range []struct {
		options PictureOptions
		want    string
	}{
		{PictureOptions{}, "p,deprecated(b,default a,deprecated) q(a,default)"},
		{PictureOptions{Package: "q"}, "q(a,default)"},
		{PictureOptions{Channel: "b"}, "p,deprecated(b,default)"},
		{PictureOptions{Package: "q", Channel: "b"}, ""},
		{PictureOptions{Package: "r"}, ""},
		{PictureOptions{Package: "q", Base: load("c.yaml", nil)}, "q(a,default,new)"},
		{PictureOptions{Package: "q", Base: c}, "q(a,default)"},
	} {
		var packages []string
		for _, p := range c.Picture(test.options).Packages {
			var channels []string
			for _, ch := range p.Channels {
				channels = append(channels, words(ch.Name, ch.Default, "default", ch.Deprecated, "deprecated", ch.New, "new"))
			}
			packages = append(packages, words(p.Name, p.Deprecated, "deprecated")+"("+strings.Join(channels, " ")+")")
		}
		if got := strings.Join(packages, " "); got != test.want {
			t.Errorf("%+v: got %q, want %q", test.options, got, test.want)
		}
	}
}

func words(name string, marks ...any) string {
	for i := 0; i < len(marks); i += 2 {
		if marks[i].(bool) {
			name += "," + marks[i+1].(string)
		}
	}
	return name
}

// Edges place entries without a version: before the lowest that succeeds them, or else after the highest that
// they succeed.
func TestPictureOfWhatHasNoVersion(t *testing.T) {
	for _, test := range []struct{ entries, want string }{
		{"{name: c, replaces: b}, {name: a}, {name: b, replaces: a}", "a b c"},
		{"{name: z}, {name: b, replaces: z}, {name: a, replaces: b}", "z b a"},
		{"{name: p.v2.0.0, replaces: x}, {name: x}, {name: p.v1.0.0}", "p.v1.0.0 x p.v2.0.0"},
		{"{name: x, replaces: p.v1.0.0}, {name: p.v1.0.0}, {name: p.v0.9.0}", "p.v0.9.0 p.v1.0.0 x"},
		{"{name: w, replaces: x}, {name: x, replaces: p.v1.0.0}, {name: p.v1.0.0}", "p.v1.0.0 x w"},
		{"{name: a, replaces: a}, {name: ''}, {replaces: a}", "a"},
	} {
		c := load("c.yaml", []byte("schema: olm.channel\npackage: p\nname: a\nentries: ["+test.entries+"]\n"))
		ch := c.Picture(PictureOptions{}).Packages[0].Channels[0]
		var names []string
		for _, n := range ch.Nodes {
			names = append(names, n.Name)
			if n.Missing {
				t.Errorf("%s: %s is missing, in a catalog that has channels only", test.entries, n.Name)
			}
		}
		if got := strings.Join(names, " "); got != test.want {
			t.Errorf("%s: got %s, want %s", test.entries, got, test.want)
		}
	}
}

func TestPictureOfACircle(t *testing.T) {
	c := load("c.yaml", []byte("schema: olm.channel\npackage: p\nname: a\nentries: [{name: a, replaces: b}, {name: b, replaces: a}]\n"))
	ch := c.Picture(PictureOptions{}).Packages[0].Channels[0]
	if len(ch.Nodes) != 2 || len(ch.Edges) != 2 {
		t.Errorf("got %s", describe(ch))
	}
}

// Each edge between different bundles is a succession by the rules of OLM, and each succession to a higher
// version is an edge. No edge occurs twice.
func TestPictureHasTheEdgesOfTheChannel(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	for range 300 {
		c := newCatalog(t, randomChannel(r))
		p := c.Packages[0]
		ch, drawn := p.Channels[0], c.Picture(PictureOptions{}).Packages[0].Channels[0]
		got := map[string]bool{}
		for _, e := range drawn.Edges {
			key := drawn.Nodes[e.From].Name + ">" + drawn.Nodes[e.To].Name
			if kind := key + e.Kind.String(); got[kind] {
				t.Fatalf("%s occurs twice", kind)
			} else {
				got[kind], got[key] = true, true
			}
			if !succeeds(ch.Entry(drawn.Nodes[e.To].Name), ch.Bundle(drawn.Nodes[e.From].Name)) {
				t.Fatalf("%s: %s is no upgrade", describe(drawn), key)
			}
		}
		for i := range ch.Entries {
			for _, b := range p.Bundles {
				e := &ch.Entries[i]
				if e.Name != b.Name && succeeds(e, b) && b.Version.Compare(ch.Bundle(e.Name).Version) < 0 && !got[b.Name+">"+e.Name] {
					t.Fatalf("%s: no edge from %s to %s", describe(drawn), b.Name, e.Name)
				}
			}
		}
	}
}

// A comparison marks as lost what the comparison of catalogs reports.
func TestPictureStrandsWhatCompareBaseReports(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 2))
	told := 0
	for range 500 {
		base, c := newCatalog(t, randomChannel(r)), newCatalog(t, randomChannel(r))
		var want, got []string
		for _, f := range CompareBase(base, c, Levels{}) {
			if f.ID == "upgrade-path-lost" {
				want = append(want, f.Bundle)
			}
		}
		ch := c.Picture(PictureOptions{Base: base}).Packages[0].Channels[0]
		for _, n := range ch.Nodes {
			if n.Stranded {
				got = append(got, n.Name)
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("%s: stranded %v, want %v", describe(ch), got, want)
		}
		told += len(want)
	}
	if told == 0 {
		t.Error("no path was lost in any try")
	}
}

// Each format draws each published catalog, with the same result each time.
func TestPicturesOfPublishedCatalogs(t *testing.T) {
	eachCatalog(t, func(t *testing.T, name string, src []byte) {
		g, again := load(name, src).Picture(PictureOptions{}), load(name, src).Picture(PictureOptions{})
		var sizes []string
		for format, make := range map[string]func(draw.Graph) []byte{
			"mermaid": func(g draw.Graph) []byte { return draw.Mermaid(g, draw.Options{}) },
			"all":     func(g draw.Graph) []byte { return draw.Mermaid(g, draw.Options{Radius: draw.All}) },
			"dot":     func(g draw.Graph) []byte { return draw.Dot(g, draw.Options{}) },
			"svg":     func(g draw.Graph) []byte { return draw.SVG(g, draw.Options{}) },
			"json":    draw.JSON,
		} {
			picture := make(g)
			if string(make(again)) != string(picture) {
				t.Errorf("%s: two different pictures as %s", name, format)
			}
			sizes = append(sizes, fmt.Sprintf("%s %d", format, len(picture)))
		}
		slices.Sort(sizes)
		t.Logf("%s: %s", name, strings.Join(sizes, ", "))
	})
}

func BenchmarkPicture2000(b *testing.B) {
	var entries []string
	for i := range 2000 {
		entry := fmt.Sprintf("1.%d.%d ~>=1.0.0,<1.%d.%d", i/10, i%10, i/10, i%10)
		if i > 0 {
			entry += fmt.Sprintf(" <1.%d.%d", (i-1)/10, (i-1)%10)
		}
		entries = append(entries, entry)
	}
	c := newCatalog(b, "a: "+strings.Join(entries, ";"))
	b.ReportAllocs()
	for b.Loop() {
		draw.SVG(c.Picture(PictureOptions{Base: c}), draw.Options{})
	}
}
