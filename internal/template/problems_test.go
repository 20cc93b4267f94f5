package template

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/template/kind"
)

const basicHead = "schema: olm.template.basic\nentries:\n"

// TestProblems checks that everything which opm would read differently from how it is written is reported with
// its place, and that nothing is inserted or rendered until it is fixed.
func TestProblems(t *testing.T) {
	for _, tt := range []struct{ name, src, want string }{
		{"basic: sound", plainBasic, ""},
		{"basic: entries that are a mapping", "schema: olm.template.basic\nentries: {}\n", "2:10 reading the template: entries is not a list"},
		{"basic: an item that is not a document", basicHead + "- olm.package\n", "3:3 reading the template: an item of entries is no document"},
		{"basic: a misspelt key at the top", "schema: olm.template.basic\nentris: []\n", "2:1 reading the template: opm knows no key entris and drops it"},
		{"basic: a key of one's own at the top", "schema: olm.template.basic\nmaintainers: [a]\nentries: []\n", ""},
		{"basic: a second document", plainBasic + "---\nschema: olm.bundle\n", "18:1 reading the template: opm reads its first document and ignores this one"},
		{"basic: no schema", basicHead + "- name: op\n", "3:3 reading a document that has no schema"},
		{"basic: a bundle that lost its schema", basicHead + "- {schema: olm.package, name: op}\n- {image: q.io/op:a, name: op.v1.0.0}\n", ""},
		{"basic: a key in two cases", basicHead + "- schema: olm.package\n  name: op\n  Name: op\n", "5:3 reading olm.package op: the key Name exists as name as well, and opm reads one of them"},
		{"basic: a package twice", basicHead + strings.Repeat("- schema: olm.package\n  name: op\n", 2), "5:3 reading package op, which occurs twice"},
		{"basic: a channel twice", basicHead + strings.Repeat("- schema: olm.channel\n  package: op\n  name: stable\n  entries: []\n", 2), "7:3 reading channel stable, which occurs twice"},
		{"basic: a channel of each package", basicHead + "- {schema: olm.channel, package: a, name: stable}\n- {schema: olm.channel, package: b, name: stable}\n", ""},
		{"basic: a channel that is a number", basicHead + "- schema: olm.channel\n  package: op\n  name: 4.20\n", "5:9 reading channel 4.20: its name is no string"},
		{"basic: a channel whose entries are a mapping", basicHead + "- schema: olm.channel\n  name: stable\n  entries: {}\n", "5:12 reading channel stable: entries is not a list"},
		{"basic: an entry that is not a mapping", basicHead + "- schema: olm.channel\n  name: stable\n  entries: [op.v1.0.0]\n", "5:12 reading channel stable: an entry is not a mapping"},
		{"basic: an entry twice", basicHead + "- schema: olm.channel\n  name: stable\n  entries:\n  - name: op.v1.0.0\n  - name: op.v1.0.0\n", "7:5 reading channel stable: entry op.v1.0.0 occurs twice"},
		{"basic: an entry without name", basicHead + "- schema: olm.channel\n  name: stable\n  entries:\n  - replaces: op.v1.0.0\n", "6:5 reading channel stable: an entry has no name"},
		{"basic: edges of other types", basicHead + "- schema: olm.channel\n  name: stable\n  entries:\n  - {name: op.v1.0.0, replaces: 1.0, skips: op.v0.9.0}\n  - {name: op.v1.1.0, skips: [1.0]}\n",
			"6:33 reading an entry of channel stable: replaces is no string; 6:45 reading an entry of channel stable: skips is not a list; 7:30 reading an entry of channel stable: an item of skips is no string"},
		{"basic: a bundle without image", basicHead + "- schema: olm.bundle\n  name: op.v1.0.0\n", "3:3 reading bundle op.v1.0.0: it has no image"},
		{"basic: a bundle twice", basicHead + "- {schema: olm.bundle, name: op.v1.0.0, image: q.io/op:a}\n- {schema: olm.bundle, name: op.v1.0.0, image: q.io/op:b}\n", "4:3 reading bundle op.v1.0.0, which occurs twice"},
		{"basic: an image of another version", basicHead + "- {schema: olm.bundle, name: op.v1.0.0, image: q.io/op:v1.0.1}\n", "3:3 reading bundle op.v1.0.0: its name does not match its image q.io/op:v1.0.1"},
		{"basic: a build number in the tag", basicHead + "- {schema: olm.bundle, name: op.v1.0.0, image: q.io/op:v1.0.0-7}\n", ""},
		{"basic, a stream: a document that is not a mapping", "schema: olm.package\nname: op\n---\n- a\n---\nschema: olm.bundle\nimage: q.io/op:v1\n", "4:1 "},

		{"semver: sound", plainSemver, ""},
		{"semver: invalid flags", "schema: olm.semver\ngenerateMajorChannels: maybe\nGenerateMinorChannels: yes\ndefaultChannelTypePreference: patch\n", "2:24 reading generateMajorChannels: \"maybe\" is neither true nor false; 4:31 reading DefaultChannelTypePreference: \"patch\" is neither major nor minor"},
		{"semver: an archetype of another type", "schema: olm.semver\nstable: []\n", "2:9 reading stable: it is not a mapping"},
		{"semver: bundles of another type", "schema: olm.semver\nstable:\n  bundles: {}\n", "3:12 reading stable: its bundles are no list"},
		{"semver: a bundle of another type", "schema: olm.semver\nstable:\n  bundles: [q.io/op:v1]\n", "3:13 reading stable: a bundle is no mapping with an image"},
		{"semver: an image that is a number", "schema: olm.semver\nstable:\n  bundles:\n  - image: 1\n", "4:5 reading stable: a bundle has no image"},
		{"semver: a merge key", "schema: olm.semver\n<<: {stable: {bundles: []}}\n", "2:1 reading the template: a merge key at the top hides which"},
		{"semver: an unknown archetype", "schema: olm.semver\nbeta:\n  bundles: []\n", "2:1 reading the template: opm knows no key beta"},

		{"goodstuff: sound", plainGoodstuff, ""},
		{"goodstuff: nothing", "schema: olm.template.goodstuff\n", "1:1 reading the template: it names no package; 1:1 reading the template: it has no graph-description"},
		{"goodstuff: invalid patterns", "schema: olm.template.goodstuff\npackage: {name: op}\nbundles:\n  tagRegex: '['\n  semverRange: '>1.x.y'\ngraph-description: {name: a, entries: []}\n", "4:13 reading tagRegex: ; 5:16 reading semverRange: "},
		{"goodstuff: an image twice", "schema: olm.template.goodstuff\npackage: {name: op}\nbundles:\n  images: [a, a]\ngraph-description: {name: a, entries: []}\n", "4:15 reading bundles: image a occurs twice"},
		{"goodstuff: an entry twice", "schema: olm.template.goodstuff\npackage: {name: op}\ngraph-description: {name: a, entries: [x, x]}\n", "3:43 reading graph-description a: entry x occurs twice"},
		{"goodstuff: a tombstone without an entry", "schema: olm.template.goodstuff\npackage: {name: op}\ngraph-description: {name: a, entries: [x], tombstones: [y]}\n", "3:20 reading graph-description a: tombstone y is none of its entries"},
		{"goodstuff: a graph twice", "schema: olm.template.goodstuff\npackage: {name: op}\ngraph-description:\n- {name: a, entries: [x]}\n- {name: a, entries: [x]}\n", "5:3 reading graph-description a, which occurs twice"},
		{"goodstuff: unknown keys", "schema: olm.template.goodstuff\npackage: {name: op, channel: a}\nbundles: {image: [a]}\ngraph-description: {name: a, entries: [x], tailEdges: {skip: [y]}}\n",
			"2:21 reading the package: opm knows no key channel; 3:11 reading bundles: opm knows no key image; 4:56 reading tailEdges of a: opm knows no key skip"},

		{"composite: unknown builders and inputs", "schema: olm.composite\ncomponents:\n- {name: a, strategy: {template: {schema: olm.builder.other, config: {input: a.yaml}}}}\n- {name: b, strategy: {template: {schema: olm.builder.basic}}}\n- {name: c, strategy: {template: {schema: olm.builder.custom}}}\n",
			"3:3 reading component a: opm knows no builder \"olm.builder.other\"; 4:3 reading component b: it has no config.input"},
		{"substitutes: halves", "schema: olm.template.substitutes\nentries: []\nsubstitutions:\n- {name: a, base: b}\n- {name: c}\n- {name: a, base: d}\n- {name: e, base: b}\n", "5:3 reading a substitution: it lacks name or base; 6:3 reading a substitution: a or d is in another one; 7:3 reading a substitution: e or b is in another one"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tmpl, err := Parse("t.yaml", []byte(tt.src))
			if err != nil {
				t.Fatal(err)
			}
			problems := tmpl.Describe().Problems
			var want []string
			if tt.want != "" {
				want = strings.Split(tt.want, "; ")
			}
			for i, p := range problems {
				if got := fmt.Sprintf("%d:%d %s", p.Line, p.Col, p.Message); i >= len(want) || !strings.HasPrefix(got, want[i]) || p.File != "t.yaml" {
					t.Errorf("found %s", got)
				}
			}
			if len(problems) != len(want) {
				t.Errorf("found %d of %d problems", len(problems), len(want))
			}
			if _, err := tmpl.Insert(asked(t, "9.9.9 stable")); tt.want != "" && len(failure.All(err)) != len(want) {
				t.Errorf("it is inserted all the same: %v", err)
			}
			if _, err := tmpl.Images(nil); tt.want != "" && len(failure.All(err)) != len(want) {
				t.Errorf("it is rendered all the same: %v", err)
			}
		})
	}
}

// Keys that opm drops, and ranges that only opm validate refuses, hinder neither rendering nor edits elsewhere. A note
// names their places. If such a key looks misspelt, edits of its mapping are refused.
func TestDroppedKeys(t *testing.T) {
	const channel = basicHead + "- {schema: olm.package, name: op, defaultChannel: stable}\n- schema: olm.channel\n  package: op\n  name: stable\n"
	const bundle = "- {schema: olm.bundle, image: q.io/op:v1.0.0}\n"
	for _, tt := range []struct {
		name, src, note string
		above, below    bool // whether a bundle above op.v1.0.0, and one below it, are refused
	}{
		{"a key of a package", basicHead + "- schema: olm.package\n  name: op\n  maintainer: me\n- {schema: olm.channel, package: op, name: stable, entries: [{name: op.v1.0.0}]}\n" + bundle,
			"t.yaml:5:3: reading olm.package op: opm knows no key maintainer and drops it", false, false},
		{"a key of a channel", channel + "  comment: x\n  entries:\n  - name: op.v1.0.0\n" + bundle, "t.yaml:7:3: reading olm.channel stable: opm knows no key comment and drops it", false, false},
		{"a misspelt key of a channel", channel + "  entires:\n  - name: op.v1.0.0\n" + bundle, "t.yaml:7:3: reading olm.channel stable: opm knows no key entires and drops it", true, true},
		{"a key of an entry", channel + "  entries:\n  - name: op.v1.0.0\n    comment: x\n" + bundle, "t.yaml:9:5: reading an entry of channel stable: opm knows no key comment and drops it", false, false},
		{"a misspelt key of an entry", channel + "  entries:\n  - name: op.v1.0.0\n    replacess: op.v0.8.0\n" + bundle, "t.yaml:9:5: reading an entry of channel stable: opm knows no key replacess and drops it", false, true},
		{"a range", channel + "  entries:\n  - name: op.v1.0.0\n    skipRange: <v1.0.0\n" + bundle, "t.yaml:9:16: reading an entry of channel stable: skipRange is no range: ", false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tmpl, err := Parse("t.yaml", []byte(tt.src))
			if err != nil {
				t.Fatal(err)
			}
			if notes := tmpl.Notes(); len(notes) != 1 || !strings.HasPrefix(notes[0], tt.note) {
				t.Errorf("notes %q", notes)
			}
			if images, err := tmpl.Images(nil); err != nil || len(images) != 1 {
				t.Errorf("rendering takes %v: %v", images, err)
			}
			_, message, _ := strings.Cut(tt.note, ": ")
			for bundle, refused := range map[string]bool{"9.9.9 stable": tt.above, "0.9.0 stable": tt.below} {
				o, err := tmpl.Insert(asked(t, bundle))
				switch {
				case refused && (err == nil || !strings.HasPrefix(err.Error(), tt.note)):
					t.Errorf("%s: %v", bundle, err)
				case !refused && (err != nil || len(o.Files) != 1 || !strings.Contains(strings.Join(o.Notes, ""), message)):
					t.Errorf("%s: %v, %v", bundle, o, err)
				}
			}
		})
	}
}

// An entry with a misspelt key is refused also if another entry is removed or replaced that it replaces.
func TestDroppedKeysOfReferences(t *testing.T) {
	const src = basicHead + "- {schema: olm.package, name: op, defaultChannel: stable}\n- schema: olm.channel\n  package: op\n  name: stable\n  entries:\n" +
		"  - name: op.v1.0.0\n  - name: op.v1.1.0\n    replaces: op.v1.0.0\n    skip: [op.v0.9.0]\n" +
		"- {schema: olm.bundle, image: q.io/op:v1.0.0, name: op.v1.0.0}\n- {schema: olm.bundle, image: q.io/op:v1.1.0, name: op.v1.1.0}\n"
	const refusal = "t.yaml:11:5: reading an entry of channel stable: opm knows no key skip and drops it"
	tmpl, err := Parse("t.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tmpl.Remove(kind.Removal{Bundles: []string{"op.v1.0.0"}, AllowStranded: true}); err == nil || !strings.HasPrefix(err.Error(), refusal) {
		t.Errorf("removed: %v", err)
	}
	r := asked(t, "1.0.1 stable")
	r.InsteadOf = "op.v1.0.0"
	if _, err := tmpl.Insert(r); err == nil || !strings.HasPrefix(err.Error(), refusal) {
		t.Errorf("replaced: %v", err)
	}
}

// TestCompositeInputs checks that a composite template finds its inputs, beside it or from the top of the
// repository, each once, and never outside of the repository.
func TestCompositeInputs(t *testing.T) {
	component := func(catalog, builder, input string) string {
		return "- {name: " + catalog + ", strategy: {template: {schema: olm.builder." + builder + ", config: {input: " + input + "}}}}\n"
	}
	files := map[string]string{"op/semver.yaml": plainSemver, "op/basic.yaml": plainBasic, "shared/semver.yaml": plainSemver, "op/catalogs.yaml": "schema: olm.composite.catalogs\ncatalogs: []\n"}
	for _, tt := range []struct {
		name, components, catalogs string
		want                       string // the written files
		code                       failure.Code
		refusal                    string
	}{
		{"beside it", component("v4.20", "semver", "semver.yaml"), "", "op/semver.yaml", 0, ""},
		{"from the top", component("v4.20", "semver", "shared/semver.yaml"), "", "shared/semver.yaml", 0, ""},
		{"upwards", component("v4.20", "semver", "../shared/semver.yaml"), "", "shared/semver.yaml", 0, ""},
		{"each once", component("v4.20", "semver", "semver.yaml") + component("v4.21", "semver", "./semver.yaml") + component("v4.21", "basic", "basic.yaml"), "", "op/semver.yaml op/basic.yaml", 0, ""},
		{"of the catalogs that are asked for", component("v4.20", "semver", "semver.yaml") + component("v4.21", "basic", "basic.yaml") + component("v4.22", "semver", "shared/semver.yaml"), "v4.22,v4.21", "op/basic.yaml shared/semver.yaml", 0, ""},
		{"of an unknown catalog", component("v4.20", "semver", "semver.yaml"), "v4.19", "", failure.Usage, "op/composite.yaml:1:1: inserting op.v1.1.0: no component contributes to v4.19"},
		{"none", component("v4.20", "semver", "none.yaml"), "", "", failure.TemplateNotFound, "op/none.yaml: "},
		{"out of the repository", component("v4.20", "semver", "../../semver.yaml"), "", "", failure.EditRefused, "op/composite.yaml:3:83: following the input ../../semver.yaml of catalog v4.20: it leaves the repository"},
		{"from the root of the machine", component("v4.20", "semver", "/op/semver.yaml"), "", "", failure.EditRefused, "op/composite.yaml:3:83: "},
		{"a builder of one's own", component("v4.20", "semver", "semver.yaml") + component("v4.21", "custom", "x"), "", "", failure.TemplateOpaque, "op/composite.yaml:4:3: "},
		{"a builder of one's own for another catalog", component("v4.20", "semver", "semver.yaml") + component("v4.21", "custom", "x"), "v4.20", "op/semver.yaml", 0, ""},
		{"the file of catalogs", component("v4.20", "semver", "catalogs.yaml"), "", "", failure.TemplateUnsupported, "op/catalogs.yaml:1:1: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := fstest.MapFS{"op/composite.yaml": {Data: []byte("schema: olm.composite\ncomponents:\n" + tt.components)}}
			for name, text := range files {
				fsys[name] = &fstest.MapFile{Data: []byte(text)}
			}
			o, err := Insert(fsys, "op/composite.yaml", "op/composite.yaml", "", strings.FieldsFunc(tt.catalogs, func(r rune) bool { return r == ',' }), asked(t, "1.1.0 stable"))
			if tt.code != 0 {
				if !failure.Is(err, tt.code) || !strings.HasPrefix(err.Error(), tt.refusal) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range o.Files {
				got = append(got, f.Path)
			}
			if strings.Join(got, " ") != tt.want || len(o.Changes) < len(got) {
				t.Errorf("written are %v, changes %+v", got, o.Changes)
			}
		})
	}
}

// TestNoTemplate checks that a file which is not a template is distinguished from a template of an unknown kind,
// with its place.
func TestNoTemplate(t *testing.T) {
	for _, tt := range []struct {
		src  string
		code failure.Code
		want string
	}{
		{"", failure.TemplateMalformed, "t.yaml:1:1: reading t.yaml: the file is empty"},
		{"# nothing\n---\n", failure.TemplateMalformed, "t.yaml:1:1: reading t.yaml: the file is empty"},
		{"\n- a\n", failure.TemplateMalformed, "t.yaml:2:1: reading the template: it is not a mapping"},
		{"a: b\n", failure.TemplateUnsupported, "t.yaml:1:1: reading t.yaml: it is no catalog template"},
		{"schema: acme.template\n", failure.TemplateUnsupported, "t.yaml:1:1: reading t.yaml: its schema is acme.template, of which Graft knows nothing"},
		{"a: [\n", failure.TemplateMalformed, "t.yaml:1:4: parsing it as YAML: "},
		{"\xff\xfea\x00", failure.TemplateMalformed, "t.yaml:1:1: reading it: UTF-16 text"},
		{"a: b\nc: \xff\n", failure.TemplateMalformed, "t.yaml:2:4: reading it: not valid UTF-8"},
	} {
		if _, err := Parse("t.yaml", []byte(tt.src)); !failure.Is(err, tt.code) || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%q: got %v", tt.src, err)
		}
	}
}
