package survey

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// layout is a repository in the making.
type layout fstest.MapFS

func (l layout) set(name string, lines ...string) {
	l[name] = &fstest.MapFile{Data: []byte(strings.Join(lines, "\n") + "\n")}
}

// entries returns a channel's entries for versions, each of which replaces the one before it.
func entries(versions []string) string {
	var all []string
	before := ""
	for _, v := range versions {
		all = append(all, fmt.Sprintf("{name: op.v%s%s}", v, before))
		before = ", replaces: op.v" + v
	}
	return strings.Join(all, ", ")
}

// template adds a basic template, with the versions of each channel as NAME:VERSION,VERSION.
func (l layout) template(name string, channels ...string) {
	lines := []string{"schema: olm.template.basic", "entries:", "- {schema: olm.package, name: op, defaultChannel: stable}"}
	for _, ch := range channels {
		ch, versions, _ := strings.Cut(ch, ":")
		all := strings.Split(versions, ",")
		lines = append(lines, "- {schema: olm.channel, package: op, name: "+ch+", entries: ["+entries(all)+"]}")
		for _, v := range all {
			lines = append(lines, "- {schema: olm.bundle, image: 'quay.io/example/op:v"+v+"'}")
		}
	}
	l.set(name, lines...)
}

// catalog adds a catalog with channel stable, whose bundles have their manifests in a property.
func (l layout) catalog(name, property string, versions ...string) {
	lines := []string{"schema: olm.package", "name: op", "defaultChannel: stable", "---",
		"{schema: olm.channel, package: op, name: stable, entries: [" + entries(versions) + "]}"}
	for _, v := range versions {
		lines = append(lines, "---", "{schema: olm.bundle, package: op, name: op.v"+v+", image: 'quay.io/example/op:v"+v+"', properties: [{type: "+property+", value: {}}]}")
	}
	l.set(name, lines...)
}

const csv, object = "olm.csv.metadata", "olm.bundle.object"

var layouts = map[string]struct {
	make func(layout)
	want []string
	left []string
}{
	"templates that nobody keeps up": {
		func(l layout) {
			for _, platform := range []string{"v4.17", "v4.18"} {
				l.template(platform+"/template.yaml", "stable:1.0.0,1.0.1")
				l.catalog(platform+"/catalog/op.yaml", csv, "1.0.0", "1.0.1", "1.1.0", "1.2.0")
			}
			l.catalog("v4.19/catalog/op.yaml", csv, "1.1.0", "1.2.0")
		},
		[]string{"v4.*/catalog/op.yaml 3 | stable | | "},
		[]string{
			"v4.17/template.yaml: its newest bundle is op.v1.0.1, and that of v4.17/catalog/op.yaml is op.v1.2.0: people edit the catalogs without this template",
			"v4.18/template.yaml: its newest bundle is op.v1.0.1, and that of v4.18/catalog/op.yaml is op.v1.2.0: people edit the catalogs without this template",
		},
	},
	"a template that lacks a bundle": {
		func(l layout) {
			l.template("template.yaml", "stable:1.0.0,1.1.0")
			l.catalog("catalog/op.yaml", csv, "1.0.0", "1.1.0", "1.2.0")
		},
		[]string{"template.yaml 1 | stable | | catalog/op.yaml 1"},
		nil,
	},
	"a template of which one catalog is kept up": {
		func(l layout) {
			l.template("template.yaml", "stable:1.0.0,1.0.1")
			l.catalog("old/op.yaml", csv, "1.0.0", "1.0.1")
			l.catalog("new/op.yaml", csv, "1.0.0", "1.0.1", "1.1.0")
		},
		[]string{"template.yaml 1 | stable | | new/op.yaml 1 old/op.yaml 1"},
		nil,
	},
	"prereleases beside the releases of each platform": {
		func(l layout) {
			l.template("v4.17/template.yaml", "stable:4.16.9,4.17.0,4.17.1", "nightly:4.99.0-1")
			l.template("v4.18/template.yaml", "stable:4.17.1,4.18.0", "nightly:4.99.0-1")
		},
		[]string{
			"v4.17/template.yaml 1 | nightly (prerelease); stable (<4.18.0-0) | | ",
			"v4.18/template.yaml 1 | nightly (prerelease); stable | | ",
		},
		nil,
	},
	"metadata that the platform does not imply": {
		func(l layout) {
			for platform, property := range map[string]string{"v4.15": object, "v4.16": csv, "v4.17": csv, "v4.18": object} {
				l.template(platform+"/template.yaml", "stable:1.0.0,1.0.1")
				l.catalog(platform+"/op.yaml", property, "1.0.0", "1.0.1")
			}
		},
		[]string{
			"v4.1[57]/template.yaml 2 | stable | | {folder}/op.yaml 2",
			"v4.16/template.yaml 1 | stable | | v4.16/op.yaml 1 csv-metadata",
			"v4.18/template.yaml 1 | stable | | v4.18/op.yaml 1 bundle-object",
		},
		nil,
	},
	"versions of an operator for folders": {
		func(l layout) {
			for version, property := range map[string]string{"v10.16": object, "v10.17": csv} {
				l.template(version+"/template.yaml", "stable:"+version[1:]+".0")
				l.catalog(version+"/op.yaml", property, version[1:]+".0")
			}
		},
		[]string{
			"v10.16/template.yaml 1 | stable (<10.17.0-0) | | v10.16/op.yaml 1 bundle-object",
			"v10.17/template.yaml 1 | stable | | v10.17/op.yaml 1",
		},
		nil,
	},
	"metadata of catalogs of one template": {
		func(l layout) {
			l.template("template.yaml", "stable:1.0.0,1.0.1")
			l.catalog("catalog-4-17/op.yaml", csv, "1.0.0", "1.0.1")
			l.catalog("catalog-4-18/op.yaml", object, "1.0.0", "1.0.1")
		},
		[]string{"template.yaml 1 | stable | | catalog-4-17/op.yaml 1 catalog-4-18/op.yaml 1 bundle-object"},
		nil,
	},
	"a channel with one entry that has a range": {
		func(l layout) {
			l.set("template.yaml", "schema: olm.template.basic", "entries:", "- {schema: olm.package, name: op, defaultChannel: stable}",
				"- {schema: olm.channel, package: op, name: stable, entries: [{name: op.v2.0.0, skipRange: '>=1.9.0 <2.0.0'}]}",
				"- {schema: olm.bundle, image: 'quay.io/example/op:v2.0.0'}")
		},
		[]string{"template.yaml 1 | stable | like-siblings | "},
		nil,
	},
	"templates of several kinds in one": {
		func(l layout) {
			l.set("op.yaml", "schema: olm.composite", "components:",
				"- {name: basic, destination: {path: op}, strategy: {name: basic, template: {schema: olm.builder.basic, config: {input: basic.yaml, output: c.yaml}}}}",
				"- {name: semver, destination: {path: op}, strategy: {name: semver, template: {schema: olm.builder.semver, config: {input: semver.yaml, output: c.yaml}}}}")
			l.template("basic.yaml", "stable:1.0.0,1.1.0")
			l.set("semver.yaml", "Schema: olm.semver", "Fast:", "  Bundles:", "  - Image: quay.io/example/op:op.v1.0.9", "  - Image: quay.io/example/op:op.v1.1.9")
		},
		[]string{"op.yaml 1 | Fast | | "},
		nil,
	},
	"a template that a script copies": {
		func(l layout) {
			l.set("base.yaml", "Schema: olm.semver", "GenerateMinorChannels: true")
			l.set("op.yaml", "Schema: olm.semver", "GenerateMinorChannels: true", "Stable:", "  Bundles:", "  - Image: quay.io/example/op:v1.0.0")
		},
		[]string{"op.yaml 1 | Stable | | "},
		[]string{"base.yaml: it has no bundles and no catalogs, and op.yaml has both"},
	},
	"a template that begins": {
		func(l layout) { l.set("op.yaml", "Schema: olm.semver", "GenerateMinorChannels: true") },
		[]string{"op.yaml 1 |  | | "},
		nil,
	},
}

// TestLayouts surveys layouts of repositories.
func TestLayouts(t *testing.T) {
	for name, c := range layouts {
		t.Run(name, func(t *testing.T) {
			l := layout{}
			c.make(l)
			s, err := Of(fstest.MapFS(l))
			if err != nil {
				t.Fatal(err)
			}
			var got, left []string
			for _, target := range s.Targets {
				got = append(got, line(target))
				if strings.Contains(strings.Join(target.EdgesWhy, " "), "quay.io/") {
					t.Errorf("an image has no edges: %s", target.EdgesWhy)
				}
			}
			for _, out := range s.Left {
				left = append(left, out.Path()+": "+out.Reason)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("targets:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
			if !slices.Equal(left, c.left) {
				t.Errorf("left alone:\n%s\nwant:\n%s", strings.Join(left, "\n"), strings.Join(c.left, "\n"))
			}
		})
	}
}
