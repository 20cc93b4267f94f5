package template

import (
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
)

// catalogOf returns a catalog of op with channels in the notation of short, "NAME: entries", and a bundle for
// each entry.
func catalogOf(channels ...string) string {
	out := "schema: olm.package\nname: op\ndefaultChannel: " + strings.SplitN(channels[0], ":", 2)[0] + "\n"
	seen := map[string]bool{}
	bundles := ""
	for _, channel := range channels {
		name, entries, _ := strings.Cut(channel, ": ")
		out += "---\nschema: olm.channel\npackage: op\nname: " + name + "\nentries:\n"
		for _, entry := range strings.Split(entries, " | ") {
			for i, word := range strings.Fields(strings.Replace(entry, "<", " <", 1)) {
				switch {
				case i == 0:
					out += "- name: op.v" + word + "\n"
					if !seen[word] {
						seen[word] = true
						bundles += "---\nschema: olm.bundle\nname: op.v" + word + "\npackage: op\nimage: q.io/op:v" + word + "\nproperties:\n- {type: olm.package, value: {packageName: op, version: " + word + "}}\n"
					}
				case word[0] == '<':
					out += "  replaces: op.v" + word[1:] + "\n"
				case word[0] == '-':
					out += "  skips: [op.v" + strings.ReplaceAll(word[1:], ",", ", op.v") + "]\n"
				case word[0] == '(':
					out += "  skipRange: '" + strings.Trim(word, "()") + "'\n"
				}
			}
		}
	}
	return out + bundles
}

// TestConvert checks that a catalog becomes a template of a kind that can express all of it. Otherwise the
// failure names the first difference.
func TestConvert(t *testing.T) {
	const goodstuffHead = "---\nschema: olm.template.goodstuff\npackage:\n  name: op\n  defaultChannel: stable\nbundles:\n  images:\n"
	images := func(versions ...string) string {
		return "  - q.io/op:v" + strings.Join(versions, "\n  - q.io/op:v") + "\ngraph-description:\n- package: op\n  name: stable\n  entries:\n"
	}
	semverBundles := func(versions ...string) string {
		return "  bundles:\n  - image: q.io/op:v" + strings.Join(versions, "\n  - image: q.io/op:v") + "\n"
	}
	for _, tt := range []struct {
		name, kind, src string
		want            string // the template, or the text of the failure
		code            failure.Code
	}{
		{"a chain", "goodstuff", catalogOf("stable: 1.0.0 | 1.1.0<1.0.0"), goodstuffHead + images("1.0.0", "1.1.0") + "  - op.v1.0.0\n  - op.v1.1.0\n", 0},
		{"a chain with tombstones", "goodstuff", catalogOf("stable: 1.0.0 | 1.2.0<1.0.0 -1.0.1,1.1.0"), goodstuffHead + images("1.0.0", "1.2.0") + "  - op.v1.0.0\n  - op.v1.0.1\n  - op.v1.1.0\n  - op.v1.2.0\n  tombstones:\n  - op.v1.0.1\n  - op.v1.1.0\n", 0},
		{"a chain with a tail", "goodstuff", catalogOf("stable: 1.0.0<0.9.0 -0.8.0 (<0.8.0)"), goodstuffHead + images("1.0.0") + "  - op.v1.0.0\n  tailEdges:\n    replaces: op.v0.9.0\n    skips:\n    - op.v0.8.0\n    skipRange: <0.8.0\n", 0},
		{"a leap", "goodstuff", catalogOf("stable: 1.0.0 | 1.1.0<1.0.0 | 1.2.0<1.1.0 -1.0.0"), "converting the catalog: ", failure.EdgeConflict},
		{"a range in the middle", "goodstuff", catalogOf("stable: 1.0.0 | 1.1.0<1.0.0 (<1.1.0)"), `converting the catalog: in channel stable, op.v1.1.0 replaces op.v1.0.0, skips the range "<1.1.0" now and would be one that replaces op.v1.0.0`, failure.EdgeConflict},
		{"another order", "goodstuff", catalogOf("stable: 1.1.0<1.0.0 | 1.0.0"), "converting the catalog: in channel stable, op.v1.0.0 replaces nothing now and would be one that replaces op.v1.1.0", failure.EdgeConflict},
		{"a bundle in no channel", "goodstuff", catalogOf("stable: 1.0.0") + "---\nschema: olm.bundle\nname: op.v2.0.0\npackage: op\nimage: q.io/op:v2.0.0\nproperties:\n- {type: olm.package, value: {packageName: op, version: 2.0.0}}\n", "no graph-description names the bundle op.v2.0.0", failure.EdgeConflict},
		{"a package with properties", "goodstuff", strings.Replace(catalogOf("stable: 1.0.0"), "name: op\n", "name: op\nproperties: [{type: a, value: 1}]\n", 1), "its package has properties", failure.TemplateUnsupported},

		{"minor channels", "semver", catalogOf("stable-v1.1: 1.1.0<1.0.1", "stable-v1.0: 1.0.0 | 1.0.1 -1.0.0"), "converting the catalog: in channel stable-v1.1, op.v1.1.0 replaces op.v1.0.1 now and would be one that replaces op.v1.0.1, skips op.v1.0.0", failure.EdgeConflict},
		{"minor channels, as opm makes them", "semver", catalogOf("stable-v1.1: 1.1.0<1.0.1 -1.0.0", "stable-v1.0: 1.0.0 | 1.0.1 -1.0.0"), "---\nschema: olm.semver\ngenerateMajorChannels: false\ngenerateMinorChannels: true\nstable:\n" + semverBundles("1.0.0", "1.0.1", "1.1.0"), 0},
		{"major channels of two archetypes", "semver", catalogOf("stable-v1: 1.0.0", "candidate-v1: 1.0.0 | 1.1.0<1.0.0"), "---\nschema: olm.semver\ngenerateMajorChannels: true\ngenerateMinorChannels: false\ncandidate:\n" + semverBundles("1.0.0", "1.1.0") + "stable:\n" + semverBundles("1.0.0"), 0},
		{"both, major preferred", "semver", catalogOf("stable-v1: 1.0.0", "stable-v1.0: 1.0.0"), "---\nschema: olm.semver\ngenerateMajorChannels: true\ngenerateMinorChannels: true\ndefaultChannelTypePreference: major\nstable:\n" + semverBundles("1.0.0"), 0},
		{"a channel of another name", "semver", catalogOf("beta: 1.0.0"), "converting the catalog: no semver template makes a channel named beta", failure.EdgeConflict},
		{"another default channel", "semver", catalogOf("candidate-v1: 1.0.0", "stable-v1: 1.0.0"), "converting the catalog: the default channel would be stable-v1, not candidate-v1", failure.EdgeConflict},
		{"a channel with fewer entries", "semver", catalogOf("stable-v1: 1.0.0 | 1.1.0<1.0.0", "stable-v1.0: 1.0.0"), "converting the catalog: channel stable-v1.1 would come to be", failure.EdgeConflict},
		{"an entry without bundle", "semver", strings.Replace(catalogOf("stable-v1: 1.0.0 | 1.1.0<1.0.0"), "name: op.v1.1.0\npackage", "name: op.v1.1.1\npackage", 1), "there is no bundle for the entry op.v1.1.0 of channel stable-v1", failure.RenderFailed},

		{"two packages", "goodstuff", catalogOf("stable: 1.0.0") + "---\nschema: olm.package\nname: other\n", "it has 2 packages", failure.TemplateUnsupported},
		{"deprecations", "semver", catalogOf("stable-v1: 1.0.0") + "---\nschema: olm.deprecations\npackage: op\n", "it has deprecations", failure.TemplateUnsupported},
		{"another schema", "semver", catalogOf("stable-v1: 1.0.0") + "---\nschema: other\n", "documents of other schemas", failure.TemplateUnsupported},
		{"no such kind", "composite", catalogOf("stable: 1.0.0"), "Run graft convert --to with one of semver, basic, goodstuff.", failure.Usage},

		{"any", "basic", catalogOf("stable: 1.0.0 | 1.1.0<1.0.0 -0.9.0 (<0.9.0)") + "---\nschema: other\nb: 1\na: 2\n", `---
entries:
- defaultChannel: stable
  name: op
  schema: olm.package
- entries:
  - name: op.v1.0.0
  - name: op.v1.1.0
    replaces: op.v1.0.0
    skipRange: <0.9.0
    skips:
    - op.v0.9.0
  name: stable
  package: op
  schema: olm.channel
- image: q.io/op:v1.0.0
  schema: olm.bundle
- image: q.io/op:v1.1.0
  schema: olm.bundle
- a: 2
  b: 1
  schema: other
schema: olm.template.basic

`, 0},
		{"a bundle without image", "basic", "schema: olm.bundle\nname: op.v1.0.0\npackage: op\n", "catalog.yaml:1:1: converting bundle op.v1.0.0: it has no image", failure.RenderFailed},
	} {
		t.Run(tt.kind+", "+tt.name, func(t *testing.T) {
			docs, err := fbc.Read("catalog.yaml", []byte(tt.src))
			if err != nil {
				t.Fatal(err)
			}
			got, err := Convert(tt.kind, docs, fbc.YAML, "")
			if tt.code != 0 {
				if !failure.Is(err, tt.code) || !strings.Contains(err.Error()+failure.Of(err).Remedy, tt.want) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil || string(got) != tt.want {
				t.Errorf("got %v\n%s\nwant\n%s", err, got, tt.want)
			}
		})
	}
	docs, err := fbc.Read("catalog.yaml", []byte("schema: olm.bundle\nimage: q.io/op:v1\nname: op\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := "{\n    \"schema\": \"olm.template.basic\",\n    \"entries\": [\n        {\n            \"schema\": \"olm.bundle\",\n            \"image\": \"q.io/op:v1\"\n        }\n    ]\n}\n"
	if got, err := Convert("basic", docs, fbc.JSON, ""); err != nil || string(got) != want {
		t.Errorf("in JSON: %v\n%s", err, got)
	}
}
