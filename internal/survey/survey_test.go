package survey

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/plan"
)

func TestChannelPattern(t *testing.T) {
	for _, c := range []struct{ name, version, want string }{
		{"stable", "1.3.0", "stable"},
		{"stable-v1.3", "1.3.8", "stable-v{major}.{minor}"},
		{"stable-v1", "1.3.8", "stable-v{major}"},
		{"3.21", "3.21.0", "{major}.{minor}"},
		{"stable-v1.2", "1.3.0", "stable-v1.2"},
		{"acm-2-stable-0.16", "0.16.1", "acm-2-stable-{major}.{minor}"},
		{"release-13", "1.3.0", "release-13"},
	} {
		if got := channelPattern(c.name, newest{version: semver.MustParse(c.version)}); got != c.want {
			t.Errorf("%s of %s is %s, want %s", c.name, c.version, got, c.want)
		}
	}
}

// A template without bundles gets no versions below that of its default channel.
func TestBeginWith(t *testing.T) {
	const minor = "release-v{major}.{minor}"
	for _, c := range []struct{ versions, channel, defaultChannel, want string }{
		{">=2.11.0-0", minor, "release-v2.13", ">=2.13.0-0"},
		{"", minor + "-eus", "release-v2.13-eus", ">=2.13.0-0"},
		{">=2.11.0-0", minor, "release-v2", ">=2.11.0-0"},
		{">=2.11.0-0", minor, "release-v2.x", ">=2.11.0-0"},
		{">=2.11.0-0", minor, "", ">=2.11.0-0"},
		{"", "v{major}.{minor}v", "v", ""},
		{"", "stable", "stable", ""},
		{string(plan.Prerelease), minor, "release-v2.13", string(plan.Prerelease)},
	} {
		r := Rule{Versions: c.versions, Channels: []string{c.channel}}
		if r.beginWith(c.defaultChannel); r.Versions != c.want || (len(r.Why) > 0) != (c.want != c.versions) {
			t.Errorf("%q from %s on: %q %q, want %q", c.versions, c.defaultChannel, r.Versions, r.Why, c.want)
		}
	}
}

func TestGlobs(t *testing.T) {
	for _, c := range []struct {
		group, beside []string
		want          []string
	}{
		{[]string{"v4.19/t.yaml", "v4.20/t.yaml"}, nil, []string{"v4.*/t.yaml"}},
		{[]string{"v4.20/t.yaml", "v4.21/t.yaml"}, nil, []string{"v4.*/t.yaml"}},
		{[]string{"v4.22/t.yaml", "v5.0/t.yaml"}, nil, []string{"v*/t.yaml"}},
		{[]string{"v4.14/t.yaml", "v4.15/t.yaml", "v4.20/t.yaml", "v4.21/t.yaml"}, []string{"v4.13/t.yaml"}, []string{"v4.1[45]/t.yaml", "v4.2*/t.yaml"}},
		{[]string{"v4.16/t.yaml", "v4.17/t.yaml", "v4.18/t.yaml"}, []string{"v4.13/t.yaml"}, []string{"v4.1[6-8]/t.yaml"}},
		{[]string{"t-4-19.yaml", "t-4-20.yaml"}, []string{"t-4-9.yaml"}, []string{"t-4-19.yaml", "t-4-20.yaml"}},
		{[]string{"a[1]/v4.19/t.yaml", "a[1]/v4.20/t.yaml"}, nil, []string{"a[[]1]/v4.*/t.yaml"}},
	} {
		fsys := fstest.MapFS{}
		var group []*source
		for _, name := range c.group {
			group = append(group, newSource(name, "basic", "op"))
		}
		for _, name := range append(slices.Clone(c.group), c.beside...) {
			fsys[name] = &fstest.MapFile{}
		}
		var got []string
		for _, g := range globs(group, fsys) {
			got = append(got, g.pattern)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v beside %v: %v, want %v", c.group, c.beside, got, c.want)
		}
	}
}

func TestWrites(t *testing.T) {
	for _, c := range []struct {
		script string
		line   int
	}{
		{"opm convert > v4.20/t.yaml\n", 1},
		{"opm convert \\\n  > \"${dir}\"/t.yaml\n", 2},
		{"out=\"$d/t.yaml\"\nopm convert > \"${out}\"\n", 2},
		{"opm render v4.20/t.yaml > catalog.yaml\n", 0},
		{"echo more >> t.yaml\n", 0},
		{"opm convert > not-t.yaml.bak\n", 0},
		{"run 2> t.yaml\n", 0},
	} {
		if got := writes([]byte(c.script), "t.yaml"); got != c.line {
			t.Errorf("%q writes it on line %d, want %d", c.script, got, c.line)
		}
	}
}

func TestAside(t *testing.T) {
	for name, want := range map[string]bool{
		"t.yaml": false, "catalog/t.yaml": false, "latest/t.yaml": false, ".konflux/t.yaml": true, "test/t.yaml": true,
		"test-fbc/t.yaml": true, "pkg/testdata/a/t.yaml": true, "contest/t.yaml": false, "e2e/t.yaml": true,
	} {
		if got := aside(name) != ""; got != want {
			t.Errorf("%s is aside: %t, want %t", name, got, want)
		}
	}
}

// TestNearest checks that among similar templates the nearest one gets the catalog, even if another has slightly
// more in common with it. A template for another platform never gets it.
func TestNearest(t *testing.T) {
	fsys := fstest.MapFS{}
	set := func(name string, lines ...string) {
		fsys[name] = &fstest.MapFile{Data: []byte(strings.Join(lines, "\n") + "\n")}
	}
	template := func(name string, entries ...string) {
		set(name, "schema: olm.template.basic", "entries:", "- {schema: olm.package, name: op, defaultChannel: stable}",
			"- {schema: olm.channel, package: op, name: stable, entries: ["+strings.Join(entries, ", ")+"]}")
	}
	catalog := func(name string, entries ...string) {
		set(name, "schema: olm.package", "name: op", "defaultChannel: stable", "---", "schema: olm.channel", "package: op", "name: stable",
			"entries: ["+strings.Join(entries, ", ")+"]")
	}
	five := []string{"{name: op.v1.0.0}", "{name: op.v1.1.0, replaces: op.v1.0.0}", "{name: op.v1.2.0, replaces: op.v1.1.0}", "{name: op.v1.3.0, replaces: op.v1.2.0}", "{name: op.v1.4.0, replaces: op.v1.3.0}"}
	template("old/template.yaml", five[:4]...) // lacks some of its catalog's bundles
	template("new/template.yaml", append(slices.Clone(five), "{name: op.v1.5.0, replaces: op.v1.4.0}")...)
	catalog("old/catalog.yaml", five...)
	catalog("new/catalog.yaml", five...)
	catalog("far/catalog.yaml", "{name: op.v9.0.0}")
	template("v4.19/template.yaml", five...)
	catalog("v4.20/catalog.yaml", five...)
	s, err := Of(fsys)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, target := range s.Targets {
		for _, c := range target.Catalogs {
			got = append(got, target.Template+" "+c.Path)
		}
	}
	// The catalog of v4.20 does not belong to the template for 4.19. It is equally near to the other two and has
	// more in common with the newer one.
	want := []string{"new/template.yaml new/catalog.yaml", "new/template.yaml v4.20/catalog.yaml", "old/template.yaml old/catalog.yaml"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	i := slices.IndexFunc(s.Left, func(l plan.LeftOut) bool { return l.Path() == "far/catalog.yaml" })
	if i < 0 || !strings.HasPrefix(s.Left[i].Reason, "it belongs to no template: ") {
		t.Errorf("left out: %v", s.Left)
	}
}

// TestCuttings checks that catalogs can leave out versions, channels, and the end of a channel.
func TestCuttings(t *testing.T) {
	entries := func(names ...string) (all []fbc.Entry) {
		before := ""
		for _, n := range names {
			all = append(all, fbc.Entry{Name: n, Replaces: before})
			before = n
		}
		return all
	}
	holder := func(path string, channels map[string][]fbc.Entry) *source {
		s := newSource(path, "raw", "op")
		s.facts = newFacts()
		s.facts.edges = true
		for _, ch := range slices.Sorted(maps.Keys(channels)) {
			s.facts.channel(ch, channels[ch])
		}
		return s
	}
	all := entries("op.v1.0.0", "op.v1.1.0", "op.v1.1.1", "op.v1.2.0")
	tmpl := holder("template.yaml", map[string][]fbc.Entry{"stable": all, "fast": all, "1.2": all[3:]})
	for _, c := range []struct {
		name     string
		channels map[string][]fbc.Entry
		want     cutting
		ok       bool
	}{
		{"all", map[string][]fbc.Entry{"stable": all, "fast": all, "1.2": all[3:]}, cutting{}, true},
		{"lower ones", map[string][]fbc.Entry{"stable": all[1:], "fast": all[1:], "1.2": all[3:]}, cutting{below: "<1.1.0-0"}, true},
		{"lower ones of a minor version", map[string][]fbc.Entry{"stable": all[2:], "fast": all[2:], "1.2": all[3:]}, cutting{below: "<1.1.1"}, true},
		{"lower ones with the edges to them", map[string][]fbc.Entry{"stable": entries("op.v1.2.0"), "fast": entries("op.v1.2.0"), "1.2": all[3:]}, cutting{below: "<1.2.0-0", closed: true}, true},
		{"higher ones", map[string][]fbc.Entry{"stable": all[:3], "fast": all[:3]}, cutting{above: ">=1.2.0-0"}, true},
		{"a channel", map[string][]fbc.Entry{"fast": all, "1.2": all[3:]}, cutting{channels: []string{"stable"}}, true},
		{"versions above the head of a channel", map[string][]fbc.Entry{"stable": all[:2], "fast": all, "1.2": all[3:]}, cutting{heads: map[string]string{"stable": "op.v1.1.0"}}, true},
		{"one in the middle", map[string][]fbc.Entry{"stable": {all[0], all[3]}, "fast": {all[0], all[3]}}, cutting{}, false},
	} {
		got, ok := cuttingOf(tmpl, holder("catalog.yaml", c.channels))
		if ok != c.ok || ok && !reflect.DeepEqual(got, c.want) {
			t.Errorf("without %s: %+v %t, want %+v %t", c.name, got, ok, c.want, c.ok)
		}
	}
}

// TestNewestBundle checks the example for the first dry run: the newest bundle of all targets, or else the last
// image of a template.
func TestNewestBundle(t *testing.T) {
	digest := func(c string) string { return "quay.io/example/op@sha256:" + strings.Repeat(c, 64) }
	for name, c := range map[string]struct {
		files map[string]string
		want  Bundle
	}{
		"tags": {map[string]string{
			"a.yaml": "Schema: olm.semver\nStable:\n  Bundles:\n  - Image: quay.io/example/op:v1.10.0\n  - Image: quay.io/example/op:v1.9.0\n",
			"b.yaml": "Schema: olm.semver\nStable:\n  Bundles:\n  - Image: quay.io/example/op:v1.2.0\n",
		}, Bundle{Image: "quay.io/example/op:v1.10.0"}},
		"a catalog with names": {map[string]string{
			"a.yaml": "Schema: olm.semver\nStable:\n  Bundles:\n  - Image: " + digest("b") + "\n  - Image: " + digest("a") + "\n",
			"catalog/op.yaml": "schema: olm.package\nname: op\n---\n{schema: olm.channel, package: op, name: stable, entries: [{name: op.v1.0.0}, {name: op.v1.1.0, replaces: op.v1.0.0}]}\n" +
				"---\n{schema: olm.bundle, package: op, name: op.v1.0.0, image: '" + digest("a") + "'}\n---\n{schema: olm.bundle, package: op, name: op.v1.1.0, image: '" + digest("b") + "'}\n",
		}, Bundle{Name: "op.v1.1.0", Image: digest("b")}},
		"digests alone": {map[string]string{
			"a.yaml": "Schema: olm.semver\nStable:\n  Bundles:\n  - Image: " + digest("b") + "\n  - Image: " + digest("a") + "\n",
		}, Bundle{Image: digest("a")}},
		"no bundle": {map[string]string{"a.yaml": "Schema: olm.semver\n"}, Bundle{}},
	} {
		fsys := fstest.MapFS{}
		for file, text := range c.files {
			fsys[file] = &fstest.MapFile{Data: []byte(text)}
		}
		s, err := Of(fsys)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Newest(); got.Name != c.want.Name || got.Image != c.want.Image {
			t.Errorf("%s: %s %s, want %s %s", name, got.Name, got.Image, c.want.Name, c.want.Image)
		}
	}
}
