package template

import (
	"fmt"
	"strings"
	"testing"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/template/kind"
)

// asked reads a request: the version of op, its channels, and options, for example
//
//	1.1.0 stable,fast replaces=op.v1.0.0 skips=op.v1.0.1 promote
func asked(t *testing.T, text string) kind.Request {
	t.Helper()
	words := strings.Fields(text)
	r := requestFor(semver.MustParse(words[0]))
	if len(words) > 1 && words[1] != "-" {
		r.Channels = strings.Split(words[1], ",")
	}
	for _, word := range words[min(2, len(words)):] {
		option, value, _ := strings.Cut(word, "=")
		switch option {
		case "replaces":
			r.Replaces = "op.v" + value
		case "skips":
			r.Skips = strings.Split("op.v"+strings.ReplaceAll(value, ",", ",op.v"), ",")
		case "range":
			r.SkipRange = strings.ReplaceAll(value, "_", " ")
		case "default":
			r.DefaultChannel = value
		case "for":
			r.SubstitutesFor = "op.v" + value
		case "image":
			r.Bundle.Image = value
		case "name":
			r.Bundle.Name = value
		case "package":
			r.Bundle.Package = strings.ReplaceAll(value, "none", "")
		case "norewire":
			r.NoRewire = true
		case "missing":
			r.AllowMissingPredecessor = true
		case "promote":
			r.Promote = true
		case "document":
			r.Bundle.Document = func(image string, csvMetadata bool) ([]byte, error) {
				held := "olm.bundle.object"
				if csvMetadata {
					held = "olm.csv.metadata"
				}
				return fmt.Appendf(nil, "schema: olm.bundle\nname: %s\npackage: op\nimage: %s\nproperties:\n- type: %s\n  value: {}\n", r.Bundle.Name, image, held), nil
			}
		default:
			t.Fatalf("no option %s", word)
		}
	}
	return r
}

const (
	plainBasic = `schema: olm.template.basic
entries:
- schema: olm.package
  name: op
  defaultChannel: stable
- schema: olm.channel
  package: op
  name: stable
  entries:
  - name: op.v1.0.0
  - name: op.v1.2.0
    replaces: op.v1.0.0
- schema: olm.bundle
  image: quay.io/example/op:v1.0.0
- schema: olm.bundle
  image: quay.io/example/op:v1.2.0
`
	namedBasic = `schema: olm.template.basic
entries:
- schema: olm.package
  name: op
- schema: olm.channel
  package: op
  name: stable
  entries:
  - {name: op.v1.0.0}
- schema: olm.bundle
  name: op.v1.0.0
  image: quay.io/example/op@sha256:aaaa
`
	// forkedBasic has several entries that replace the same one, and two heads in its channel.
	forkedBasic = `schema: olm.template.basic
entries:
- schema: olm.channel
  package: op
  name: stable
  entries:
  - name: op.v1.0.0
  - name: op.v1.2.0
    replaces: op.v1.0.0
  - name: op.v1.3.0
    replaces: op.v1.0.0
    skips: [op.v1.2.0]
- schema: olm.bundle
  image: quay.io/example/op:v1.0.0
`
	// bundleFirst is a stream in which the bundle comes before its channel.
	bundleFirst = `schema: olm.package
name: op
---
schema: olm.bundle
image: quay.io/example/op:v1.0.0
---
schema: olm.channel
package: op
name: stable
entries:
- name: op.v1.0.0
`
	// digestBasic has bundles that differ only in their digest.
	digestBasic = `schema: olm.template.basic
entries:
- schema: olm.channel
  package: op
  name: stable
  entries:
  - name: op.v1.0.0
  - name: op.v1.1.0
    replaces: op.v1.0.0
- schema: olm.bundle
  image: quay.io/example/op@sha256:aaaa
- schema: olm.bundle
  image: quay.io/example/op@sha256:bbbb
`
	plainSemver = `Schema: olm.semver
Candidate:
  Bundles:
  - Image: quay.io/example/op:v1.0.0
  - Image: quay.io/example/op:v1.2.0
Stable:
  Bundles:
  - Image: quay.io/example/op:v1.0.0
`
	downSemver = `Schema: olm.semver
Stable:
  Bundles:
  - Image: quay.io/example/op:v1.2.0
  - Image: quay.io/example/op:v1.0.0
`
	stagedSemver = `Schema: olm.semver
Fast:
  Bundles:
  - Image: stage.io/op:v1.1.0@sha256:aaaa
Stable:
  Bundles:
  - Image: quay.io/example/op:v1.0.0
  - Image: stage.io/op:v1.1.0@sha256:aaaa # soon
`
	plainGoodstuff = `schema: olm.template.goodstuff
package:
  name: op
  defaultChannel: stable
bundles:
  images:
  - quay.io/example/op:v1.0.0
  - quay.io/example/op:v1.3.0
graph-description:
- package: op
  name: stable
  entries:
  - op.v1.0.0
  - op.v1.1.0
  - op.v1.3.0
  tombstones:
  - op.v1.1.0
  tailEdges:
    skips:
    - op.v0.9.0
    replaces: op.v0.8.0
- package: op
  name: fast
  entries:
  - op.v1.3.0
  - op.v1.0.0
`
	foundGoodstuff = `schema: olm.template.goodstuff
package: {name: op}
bundles:
  repo: quay.io/example/op
  tagRegex: '^v\d+\.\d+\.\d+$'
  semverRange: ">=1.0.0"
graph-description:
  name: stable
  entries: [op.v1.0.0]
`
	plainSubstitutes = `schema: olm.template.substitutes
entries:
- schema: olm.package
  name: op
- schema: olm.channel
  package: op
  name: stable
  entries:
  - name: op.v1.0.0
- schema: olm.bundle
  name: op.v1.0.0
  package: op
  image: quay.io/example/op:v1.0.0
  properties:
  - type: olm.package
    value: {packageName: op, version: 1.0.0}
  - type: olm.bundle.object
    value: {data: e30=}
substitutions:
- name: quay.io/example/op:v1.0.0-1
  base: op.v1.0.0
`
)

// insertCases lists what an insert does to a template, to the byte: edits alternates between old and new text; no
// edits means that the template already has everything. A refusal has its code and place.
var insertCases = []struct {
	name, src, ask string
	edits          []string
	code           failure.Code
	refusal        string
}{
	{"basic: between its neighbours", plainBasic, "1.1.0 stable", []string{
		"  - name: op.v1.2.0\n    replaces: op.v1.0.0\n", "  - name: op.v1.1.0\n    replaces: op.v1.0.0\n  - name: op.v1.2.0\n    replaces: op.v1.1.0\n",
		"- schema: olm.bundle\n  image: quay.io/example/op:v1.2.0\n", "- schema: olm.bundle\n  image: quay.io/example/op:v1.1.0\n- schema: olm.bundle\n  image: quay.io/example/op:v1.2.0\n"}, 0, ""},
	{"basic: all that replaced its predecessor is rewired", forkedBasic, "1.1.0 stable", []string{
		"  - name: op.v1.2.0\n    replaces: op.v1.0.0\n  - name: op.v1.3.0\n    replaces: op.v1.0.0\n", "  - name: op.v1.1.0\n    replaces: op.v1.0.0\n  - name: op.v1.2.0\n    replaces: op.v1.1.0\n  - name: op.v1.3.0\n    replaces: op.v1.1.0\n",
		"op:v1.0.0\n", "op:v1.0.0\n- schema: olm.bundle\n  image: quay.io/example/op:v1.1.0\n"}, 0, ""},
	{"raw: a byte order mark", "\uFEFF" + emptyRaw + renderedBundle("op.v1.0.0", "a/b:v1"), "1.1.0 v1.0 document", []string{"- name: op.v1.0.0\n", "- name: op.v1.0.0\n- name: op.v1.1.0\n  replaces: op.v1.0.0\n",
		"    version: 1.0.0\n", "    version: 1.0.0\n---\nimage: quay.io/example/op:v1.1.0\nname: op.v1.1.0\npackage: op\nproperties:\n- type: olm.csv.metadata\n  value: {}\nschema: olm.bundle\n"}, 0, ""},
	{"basic: a name, as other bundles have one", namedBasic, "1.1.0 stable", []string{
		"  - {name: op.v1.0.0}\n", "  - {name: op.v1.0.0}\n  - {name: op.v1.1.0, replaces: op.v1.0.0}\n",
		"op@sha256:aaaa\n", "op@sha256:aaaa\n- schema: olm.bundle\n  name: op.v1.1.0\n  image: quay.io/example/op:v1.1.0\n"}, 0, ""},
	{"basic: another default channel", plainBasic, "1.2.0 stable default=stable", nil, 0, ""},
	{"basic: a first default channel", namedBasic, "1.0.0 stable default=stable image=quay.io/example/op@sha256:aaaa", []string{"  name: op\n- schema: olm.channel", "  name: op\n  defaultChannel: stable\n- schema: olm.channel"}, 0, ""},
	{"basic: a default channel that comes with it", plainBasic, "1.2.0 fast default=fast", []string{"defaultChannel: stable", "defaultChannel: fast",
		"    replaces: op.v1.0.0\n", "    replaces: op.v1.0.0\n- schema: olm.channel\n  package: op\n  name: fast\n  entries:\n  - name: op.v1.2.0\n"}, 0, ""},
	{"basic: an unknown default channel", plainBasic, "1.1.0 stable default=fast", nil, failure.ChannelUnknown, "t.yaml:3:3: setting the default channel to fast, which package op does not have"},
	{"basic: no channel", "schema: olm.template.basic\nentries:\n- {schema: olm.package, name: op, defaultChannel: stable}\n", "1.1.0", nil, failure.Usage, "t.yaml: inserting op.v1.1.0: no channel is given"},
	{"basic: no package", "schema: olm.template.basic\nentries:\n- schema: olm.channel\n  name: stable\n", "1.1.0 stable package=none", nil, failure.Usage, "inserting op.v1.1.0 into t.yaml: which package is it of?"},
	{"basic: another package", plainBasic, "1.1.0 stable name=other.v1.1.0 package=other", nil, failure.Usage, "inserting other.v1.1.0 of package other into t.yaml, which holds package op"},
	{"basic: the version under another name", namedBasic, "1.0.0 stable name=operator.v1.0.0 image=quay.io/example/op@sha256:bb", nil, failure.BundleConflict, "t.yaml:9:5: inserting operator.v1.0.0 into channel stable: the template has version 1.0.0 as op.v1.0.0"},
	{"basic: the name under another image", plainBasic, "1.2.0 stable image=quay.io/other/op:v1.2.0", nil, failure.BundleConflict, "t.yaml:15:3: inserting op.v1.2.0 with image quay.io/other/op:v1.2.0: the template has it with image quay.io/example/op:v1.2.0"},
	{"basic: the image under another name", namedBasic, "1.1.0 stable image=quay.io/example/op@sha256:aaaa", nil, failure.BundleConflict, "t.yaml:10:3: inserting op.v1.1.0: the template has its image quay.io/example/op@sha256:aaaa under the name op.v1.0.0"},
	{"basic: promoted", namedBasic, "1.0.0 stable promote image=prod.io/op@sha256:aaaa", []string{"quay.io/example/op@sha256:aaaa", "prod.io/op@sha256:aaaa"}, 0, ""},
	{"basic: promoted with another digest", namedBasic, "1.0.0 stable promote image=prod.io/op@sha256:bbbb", nil, failure.BundleConflict, "t.yaml:10:3: "},
	{"basic: other edges than the existing ones", plainBasic, "1.2.0 stable replaces=1.0.0 skips=1.1.0", nil, failure.EdgeConflict, "t.yaml:11:5: inserting op.v1.2.0 into channel stable: the channel has it, and it replaces op.v1.0.0; you asked that it replaces op.v1.0.0, skips op.v1.1.0"},
	{"basic: the existing edges", plainBasic, "1.2.0 stable replaces=1.0.0", nil, 0, ""},
	{"basic: a predecessor that is not there", plainBasic, "1.3.0 stable replaces=1.1.0", nil, failure.PredecessorMissing, "t.yaml:9:3: placing op.v1.3.0: it is to replace op.v1.1.0, which is nowhere in the channel (channel stable)"},
	{"basic: a predecessor that may be missing", plainBasic, "1.3.0 stable replaces=1.1.0 missing", []string{"    replaces: op.v1.0.0\n", "    replaces: op.v1.0.0\n  - name: op.v1.3.0\n    replaces: op.v1.1.0\n", "op:v1.2.0\n", "op:v1.2.0\n- schema: olm.bundle\n  image: quay.io/example/op:v1.3.0\n"}, 0, ""},
	{"basic: a second image of a bundle", digestBasic, "1.1.0 stable image=quay.io/example/op@sha256:cccc", nil, failure.BundleConflict, "t.yaml:8:5: inserting op.v1.1.0 with image quay.io/example/op@sha256:cccc: the template has an entry op.v1.1.0, and it is unknown which bundles 2 images are, quay.io/example/op@sha256:aaaa among them"},
	{"basic: another bundle by digest", digestBasic, "1.2.0 stable image=quay.io/example/op@sha256:cccc", []string{"    replaces: op.v1.0.0\n", "    replaces: op.v1.0.0\n  - name: op.v1.2.0\n    replaces: op.v1.1.0\n", "@sha256:bbbb\n", "@sha256:bbbb\n- schema: olm.bundle\n  image: quay.io/example/op@sha256:cccc\n"}, 0, ""},
	{"basic: a null in JSON", `{"schema":"olm.template.basic","entries":[{"schema":"olm.channel","package":"op","name":"stable","entries":[{"name":"op.v1.0.0","replaces":null}]}]}`, "0.9.0 stable", []string{
		`"entries":[{"name":"op.v1.0.0","replaces":null}]}`, `"entries":[{"name":"op.v0.9.0"},{"name":"op.v1.0.0","replaces":"op.v0.9.0"}]},{"schema":"olm.bundle","image":"quay.io/example/op:v0.9.0"}`}, 0, ""},
	{"basic, a stream: below its first bundle", bundleFirst, "0.9.0 stable", []string{"---\nschema: olm.bundle", "---\nschema: olm.bundle\nimage: quay.io/example/op:v0.9.0\n---\nschema: olm.bundle", "- name: op.v1.0.0\n", "- name: op.v0.9.0\n- name: op.v1.0.0\n  replaces: op.v0.9.0\n"}, 0, ""},
	{"basic: to skip itself", plainBasic, "1.3.0 stable skips=1.3.0", nil, failure.Usage, "inserting op.v1.3.0: it is to replace or skip itself"},
	{"basic: to substitute", plainBasic, "1.3.0 stable for=1.2.0", nil, failure.Usage, "inserting op.v1.3.0: a basic template has no substitutions"},
	{"basic: all edges", plainBasic, "1.3.0 stable replaces=1.2.0 skips=1.0.1,1.0.2 range=>=1.0.0_<1.3.0", []string{
		"    replaces: op.v1.0.0\n", "    replaces: op.v1.0.0\n  - name: op.v1.3.0\n    replaces: op.v1.2.0\n    skips:\n    - op.v1.0.1\n    - op.v1.0.2\n    skipRange: '>=1.0.0 <1.3.0'\n",
		"op:v1.2.0\n", "op:v1.2.0\n- schema: olm.bundle\n  image: quay.io/example/op:v1.3.0\n"}, 0, ""},

	{"semver: in order", plainSemver, "1.1.0 candidate,Stable,stable", []string{"  - Image: quay.io/example/op:v1.2.0\n", "  - Image: quay.io/example/op:v1.1.0\n  - Image: quay.io/example/op:v1.2.0\n", "Stable:\n  Bundles:\n  - Image: quay.io/example/op:v1.0.0\n", "Stable:\n  Bundles:\n  - Image: quay.io/example/op:v1.0.0\n  - Image: quay.io/example/op:v1.1.0\n"}, 0, ""},
	{"semver: newest first", downSemver, "1.1.0 stable", []string{"  - Image: quay.io/example/op:v1.0.0\n", "  - Image: quay.io/example/op:v1.1.0\n  - Image: quay.io/example/op:v1.0.0\n"}, 0, ""},
	{"semver: the newest, newest first", downSemver, "1.3.0 stable", []string{"  - Image: quay.io/example/op:v1.2.0\n", "  - Image: quay.io/example/op:v1.3.0\n  - Image: quay.io/example/op:v1.2.0\n"}, 0, ""},
	{"semver: an archetype between others", plainSemver, "1.0.0 fast", []string{"Stable:\n  Bundles:\n  - Image: quay.io/example/op:v1.0.0\n", "Stable:\n  Bundles:\n  - Image: quay.io/example/op:v1.0.0\nFast:\n  Bundles:\n  - Image: quay.io/example/op:v1.0.0\n"}, 0, ""},
	{"semver: no archetype", "schema: olm.semver\n", "1.1.0", nil, failure.Usage, "t.yaml: inserting op.v1.1.0: no channel is given"},
	{"semver: another image of a version elsewhere", plainSemver, "1.2.0 stable image=quay.io/other/op:v1.2.0", nil, failure.BundleConflict, "t.yaml:5:5: "},
	{"semver: build metadata", plainSemver, "1.0.0+2 stable image=quay.io/example/op@sha256:aa name=op.v1.0.0-2", nil, failure.VersionUnordered, "t.yaml:8:5: inserting op.v1.0.0-2 into Stable: version 1.0.0+2 and that of quay.io/example/op:v1.0.0 differ in build metadata only"},
	{"semver: promoted in every archetype", stagedSemver, "1.1.0 fast promote image=prod.io/op:v1.1.0@sha256:aaaa", []string{"stage.io/op:v1.1.0@sha256:aaaa\nStable", "prod.io/op:v1.1.0@sha256:aaaa\nStable", "stage.io/op:v1.1.0@sha256:aaaa # soon", "prod.io/op:v1.1.0@sha256:aaaa # soon"}, 0, ""},
	{"semver: promoted with another digest", stagedSemver, "1.1.0 fast promote image=prod.io/op:v1.1.0@sha256:bbbb", nil, failure.BundleConflict, "t.yaml:4:5: "},

	{"goodstuff: between its neighbours", plainGoodstuff, "1.2.0 stable", []string{"  - op.v1.3.0\n  tombstones", "  - op.v1.2.0\n  - op.v1.3.0\n  tombstones", "  - quay.io/example/op:v1.3.0\n", "  - quay.io/example/op:v1.2.0\n  - quay.io/example/op:v1.3.0\n"}, 0, ""},
	{"goodstuff: an existing bundle", plainGoodstuff, "1.3.0 stable", nil, 0, ""},
	{"goodstuff: the edges of the order", plainGoodstuff, "1.2.0 stable replaces=1.0.0 skips=1.1.0", []string{"  - op.v1.3.0\n  tombstones", "  - op.v1.2.0\n  - op.v1.3.0\n  tombstones", "  - quay.io/example/op:v1.3.0\n", "  - quay.io/example/op:v1.2.0\n  - quay.io/example/op:v1.3.0\n"}, 0, ""},
	{"goodstuff: other skips than the tombstones", plainGoodstuff, "1.2.0 stable replaces=1.0.0 skips=1.0.5", nil, failure.EdgeConflict, `t.yaml:10:3: placing op.v1.2.0: the order of entries makes it replace "op.v1.0.0" and skip [op.v1.1.0]`},
	{"goodstuff: another predecessor than the order's", plainGoodstuff, "1.2.0 stable replaces=1.1.0", nil, failure.EdgeConflict, "t.yaml:10:3: "},
	{"goodstuff: a predecessor that is not there", plainGoodstuff, "1.2.0 stable replaces=1.0.9", nil, failure.PredecessorMissing, "t.yaml:10:3: placing op.v1.2.0: it is to replace op.v1.0.9, which is no entry of stable"},
	{"goodstuff: a range", plainGoodstuff, "1.2.0 stable range=<1.2.0", nil, failure.EdgeConflict, "t.yaml:10:3: "},
	{"goodstuff: other edges of an existing bundle", plainGoodstuff, "1.3.0 stable replaces=1.1.0", nil, failure.EdgeConflict, "t.yaml:15:5: "},
	{"goodstuff: a bundle that tail edges skip", plainGoodstuff, "0.9.0 stable", nil, failure.EdgeConflict, "t.yaml:10:3: placing op.v0.9.0: the tail edges of stable replace or skip it"},
	{"goodstuff: a bundle that tail edges replace", plainGoodstuff, "0.8.0 stable", nil, failure.EdgeConflict, "t.yaml:10:3: "},
	{"goodstuff: below all that are out of order", plainGoodstuff, "0.1.0 fast", nil, failure.VersionUnordered, "t.yaml:22:3: placing op.v0.1.0: the entries are not in order of version"},
	{"goodstuff: above all that are out of order", plainGoodstuff, "1.4.0 fast", []string{"  - op.v1.3.0\n  - op.v1.0.0\n", "  - op.v1.3.0\n  - op.v1.0.0\n  - op.v1.4.0\n", "  - quay.io/example/op:v1.3.0\n", "  - quay.io/example/op:v1.3.0\n  - quay.io/example/op:v1.4.0\n"}, 0, ""},
	{"goodstuff: build metadata", plainGoodstuff, "1.3.0+1 stable image=quay.io/example/op@sha256:aa name=op.v1.3.0-1", nil, failure.VersionUnordered, "t.yaml:10:3: "},
	{"goodstuff: the version under another name", plainGoodstuff, "1.3.0 stable name=operator.v1.3.0", nil, failure.BundleConflict, "t.yaml:10:3: placing operator.v1.3.0: the template has version 1.3.0 as op.v1.3.0"},
	{"goodstuff: another package", plainGoodstuff, "1.2.0 stable package=other", nil, failure.Usage, "inserting op.v1.2.0 of package other into t.yaml, which holds package op"},
	{"goodstuff: no channel of two", strings.Replace(plainGoodstuff, "defaultChannel: stable", "defaultChannel: slow", 1), "1.2.0", nil, failure.Usage, "t.yaml: inserting op.v1.2.0: no channel is given"},
	{"goodstuff: a new channel", plainGoodstuff, "1.3.0 new", []string{"  - op.v1.3.0\n  - op.v1.0.0\n", "  - op.v1.3.0\n  - op.v1.0.0\n- package: op\n  name: new\n  entries:\n  - op.v1.3.0\n"}, 0, ""},
	{"goodstuff: another default channel", plainGoodstuff, "1.3.0 stable default=fast", []string{"defaultChannel: stable", "defaultChannel: fast"}, 0, ""},
	{"goodstuff: an unknown default channel", plainGoodstuff, "1.3.0 stable default=slow", nil, failure.ChannelUnknown, "t.yaml:1:1: "},
	{"goodstuff: a first default channel", foundGoodstuff, "1.0.0 stable default=stable", []string{"{name: op}", "{name: op, defaultChannel: stable}"}, 0, ""},
	{"goodstuff: an image that is found", foundGoodstuff, "1.1.0 -", []string{"[op.v1.0.0]", "[op.v1.0.0, op.v1.1.0]"}, 0, ""},
	{"goodstuff: a tag that no pattern finds", foundGoodstuff, "1.1.0 - image=quay.io/example/op:1.1.0", []string{"[op.v1.0.0]", "[op.v1.0.0, op.v1.1.0]", "\">=1.0.0\"\n", "\">=1.0.0\"\n  images:\n  - quay.io/example/op:1.1.0\n"}, 0, ""},
	{"goodstuff: a version outside of the range", foundGoodstuff, "0.9.0 -", []string{"[op.v1.0.0]", "[op.v0.9.0, op.v1.0.0]", "\">=1.0.0\"\n", "\">=1.0.0\"\n  images:\n  - quay.io/example/op:v0.9.0\n"}, 0, ""},
	{"goodstuff: another repository than is searched", foundGoodstuff, "1.1.0 - image=quay.io/other/op:v1.1.0", []string{"[op.v1.0.0]", "[op.v1.0.0, op.v1.1.0]", "\">=1.0.0\"\n", "\">=1.0.0\"\n  images:\n  - quay.io/other/op:v1.1.0\n"}, 0, ""},
	{"goodstuff: a second image of a bundle", strings.ReplaceAll(plainGoodstuff, "op:v", "op@sha256:"), "1.3.0 stable image=quay.io/example/op@sha256:cc", nil, failure.BundleConflict, "t.yaml:7:3: "},
	{"goodstuff: promoted", plainGoodstuff, "1.3.0 stable promote image=prod.io/op:v1.3.0", nil, failure.BundleConflict, "t.yaml:8:5: "},

	{"substitutes: another base", plainSubstitutes, "1.0.0-1 - for=1.0.0 image=quay.io/example/op:v1.0.0-2", nil, failure.EdgeConflict, "t.yaml:20:3: substituting quay.io/example/op:v1.0.0-2 for op.v1.0.0: quay.io/example/op:v1.0.0-1 does so already"},
	{"substitutes: another base of an existing substitute", plainSubstitutes, "1.0.0-1 - for=1.1.0", nil, failure.EdgeConflict, "t.yaml:20:3: substituting quay.io/example/op:v1.0.0-1 for op.v1.1.0: it substitutes op.v1.0.0 already"},
	{"substitutes: no such base", plainSubstitutes, "1.1.0-1 - for=1.1.0", nil, failure.PredecessorMissing, "t.yaml:1:1: "},
	{"substitutes: an existing substitution", plainSubstitutes, "1.0.0-1 - for=1.0.0", nil, 0, ""},
	{"substitutes: a bundle in the form of its siblings", plainSubstitutes, "1.1.0 stable document", []string{"  - name: op.v1.0.0\n", "  - name: op.v1.0.0\n  - name: op.v1.1.0\n    replaces: op.v1.0.0\n",
		"substitutions:\n", "- schema: olm.bundle\n  name: op.v1.1.0\n  package: op\n  image: quay.io/example/op:v1.1.0\n  properties:\n  - type: olm.bundle.object\n    value: {}\nsubstitutions:\n"}, 0, ""},
	{"substitutes: a bundle as current platforms want it", strings.Replace(plainSubstitutes, "olm.bundle.object", "olm.csv.metadata", 1), "1.1.0 stable document", []string{"  - name: op.v1.0.0\n", "  - name: op.v1.0.0\n  - name: op.v1.1.0\n    replaces: op.v1.0.0\n",
		"substitutions:\n", "- schema: olm.bundle\n  name: op.v1.1.0\n  package: op\n  image: quay.io/example/op:v1.1.0\n  properties:\n  - type: olm.csv.metadata\n    value: {}\nsubstitutions:\n"}, 0, ""},
	{"substitutes: no document", plainSubstitutes, "1.1.0 stable", nil, failure.Usage, "inserting op.v1.1.0: the template holds rendered bundles, and none is given"},
}

func TestInsert(t *testing.T) {
	for _, tt := range insertCases {
		t.Run(tt.name, func(t *testing.T) {
			got, o, err := insert(t, "t.yaml", []byte(tt.src), asked(t, tt.ask))
			if tt.code != 0 {
				if !failure.Is(err, tt.code) || !strings.HasPrefix(err.Error(), tt.refusal) {
					t.Errorf("got %v, want %s: %s", err, tt.code.Class(), tt.refusal)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := tt.src
			for i := 0; i < len(tt.edits); i += 2 {
				if strings.Count(want, tt.edits[i]) != 1 {
					t.Fatalf("the template does not have %q exactly once", tt.edits[i])
				}
				want = strings.Replace(want, tt.edits[i], tt.edits[i+1], 1)
			}
			if string(got) != want || (len(o.Files) > 0) != (len(tt.edits) > 0) || (len(o.Changes) > 0) != (len(tt.edits) > 0) {
				t.Errorf("%d files, changes %+v; got\n%s\nwant\n%s", len(o.Files), o.Changes, got, want)
			}
		})
	}
}

// TestCreate checks that a new template holds only the bundle, with everything that the request sets.
func TestCreate(t *testing.T) {
	const head = "---\nschema: olm.template.basic\nentries:\n- schema: olm.package\n  name: op\n  defaultChannel: "
	channel := func(name, edges string) string {
		return "- schema: olm.channel\n  package: op\n  name: " + name + "\n  entries:\n  - name: op.v1.1.0\n" + edges
	}
	const bundle = "- schema: olm.bundle\n  image: quay.io/example/op:v1.1.0\n"
	for _, tt := range []struct {
		kind, ask, want string
		code            failure.Code
	}{
		{"basic", "1.1.0 stable", head + "stable\n" + channel("stable", "") + bundle, 0},
		{"basic", "1.1.0 stable,fast default=fast", head + "fast\n" + channel("stable", "") + channel("fast", "") + bundle, 0},
		{"basic", "1.1.0 stable replaces=1.0.0 skips=1.0.1,1.0.2 range=<1.1.0", head + "stable\n" + channel("stable", "    replaces: op.v1.0.0\n    skips:\n    - op.v1.0.1\n    - op.v1.0.2\n    skipRange: <1.1.0\n") + bundle, 0},
		{"basic", "1.1.0", "no channel is given", failure.Usage},
		{"basic", "1.1.0 stable default=fast", "whose default channel is fast", failure.ChannelUnknown},
		{"basic", "1.1.0 stable replaces=1.1.0", "replace or skip itself", failure.Usage},
		{"basic", "1.1.0 stable skips=1.0.0,1.1.0", "replace or skip itself", failure.Usage},
		{"semver", "1.1.0 stable,candidate", "---\nSchema: olm.semver\nGenerateMajorChannels: true\nGenerateMinorChannels: true\nCandidate:\n  Bundles:\n  - Image: quay.io/example/op:v1.1.0\nStable:\n  Bundles:\n  - Image: quay.io/example/op:v1.1.0\n", 0},
		{"semver", "1.1.0", "no channel is given", failure.Usage},
		{"semver", "1.1.0 stable,beta", "creating a semver template with beta", failure.ChannelUnknown},
		{"goodstuff", "1.1.0 stable,fast", "---\nschema: olm.template.goodstuff\npackage:\n  name: op\n  defaultChannel: stable\nbundles:\n  images:\n  - quay.io/example/op:v1.1.0\ngraph-description:\n- package: op\n  name: stable\n  entries:\n  - op.v1.1.0\n- package: op\n  name: fast\n  entries:\n  - op.v1.1.0\n", 0},
		{"goodstuff", "1.1.0", "no channel is given", failure.Usage},
		{"raw", "1.1.0 stable", "Give --create with one of semver, basic, goodstuff.", failure.Usage},
	} {
		got, err := Create(tt.kind, asked(t, tt.ask))
		if tt.code != 0 {
			if !failure.Is(err, tt.code) || !strings.Contains(err.Error()+failure.Of(err).Remedy, tt.want) {
				t.Errorf("%s, %s: got %v", tt.kind, tt.ask, err)
			}
			continue
		}
		if err != nil || string(got) != tt.want {
			t.Errorf("%s, %s: got %v\n%s", tt.kind, tt.ask, err, got)
		}
	}
}
