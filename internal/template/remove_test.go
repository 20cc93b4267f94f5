package template

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/template/kind"
)

// removal reads a removal, for example
//
//	1.1.0,1.2.0 stable,fast package=op stranded aaaa=1.0.0
func removal(text string) kind.Removal {
	words := strings.Fields(text)
	r := kind.Removal{Names: map[string]string{}}
	if words[0] != "-" {
		for _, v := range strings.Split(words[0], ",") {
			r.Bundles = append(r.Bundles, "op.v"+v)
		}
	}
	for i, word := range words[1:] {
		option, value, _ := strings.Cut(word, "=")
		switch {
		case option == "package":
			r.Package = value
		case option == "default":
			r.DefaultChannel = value
		case option == "stranded":
			r.AllowStranded = true
		case value != "":
			r.Names["sha256:"+option] = "op.v" + value
		case i == 0 && option != "-":
			r.Channels = strings.Split(option, ",")
		}
	}
	return r
}

// basicOf returns a basic template with these channels and further documents.
func basicOf(channels string, more ...string) string {
	return "schema: olm.template.basic\nentries:\n- schema: olm.package\n  name: op\n  defaultChannel: stable\n" + channels + strings.Join(more, "")
}

func channelDoc(name string, entries ...string) string {
	return "- schema: olm.channel\n  package: op\n  name: " + name + "\n  entries:\n  - " + strings.Join(entries, "\n  - ") + "\n"
}

func bundleDocs(versions ...string) (out string) {
	for _, v := range versions {
		out += "- schema: olm.bundle\n  image: quay.io/example/op:v" + v + "\n"
	}
	return out
}

const (
	bottom = "name: op.v1.0.0"
	middle = "name: op.v1.1.0\n    replaces: op.v1.0.0\n    skipRange: <1.1.0"
	top    = "name: op.v1.2.0\n    replaces: op.v1.1.0\n    skipRange: <1.2.0"
)

var jsonBasic = `{
  "schema": "olm.template.basic",
  "entries": [
    {"schema": "olm.package", "name": "op", "defaultChannel": "stable"},
    {
      "schema": "olm.channel",
      "package": "op",
      "name": "stable",
      "entries": [
        {"name": "op.v1.0.0"},
        {"name": "op.v1.1.0", "replaces": "op.v1.0.0"},
        {"name": "op.v1.2.0", "replaces": "op.v1.1.0", "skipRange": "<1.2.0"}
      ]
    },
    {"schema": "olm.bundle", "image": "quay.io/example/op:v1.0.0"},
    {"schema": "olm.bundle", "image": "quay.io/example/op:v1.1.0"},
    {"schema": "olm.bundle", "image": "quay.io/example/op:v1.2.0"}
  ]
}
`

var removals = []struct {
	name, template, asked string
	want                  string // the removed and added lines, as - and +
	code                  failure.Code
	says                  string
}{
	{"basic: the middle", basicOf(channelDoc("stable", bottom, middle, top), bundleDocs("1.0.0", "1.1.0", "1.2.0")), "1.1.0",
		"-  - name: op.v1.1.0\n-    replaces: op.v1.0.0\n-    skipRange: <1.1.0\n-    replaces: op.v1.1.0\n+    replaces: op.v1.0.0\n-- schema: olm.bundle\n-  image: quay.io/example/op:v1.1.0\n", 0, ""},
	{"basic: the end of the chain", basicOf(channelDoc("stable", bottom, middle, top), bundleDocs("1.0.0", "1.1.0", "1.2.0")), "1.0.0",
		"-  - name: op.v1.0.0\n-    replaces: op.v1.0.0\n-- schema: olm.bundle\n-  image: quay.io/example/op:v1.0.0\n", 0, ""},
	{"basic: the head", basicOf(channelDoc("stable", bottom, middle, top), bundleDocs("1.0.0", "1.1.0", "1.2.0")), "1.2.0",
		"", failure.UpgradePathLost, "who has op.v1.2.0 could no longer reach the head of channel stable"},
	{"basic: the head, allowed", basicOf(channelDoc("stable", bottom, middle, top), bundleDocs("1.0.0", "1.1.0", "1.2.0")), "1.2.0 - stranded",
		"-  - name: op.v1.2.0\n-    replaces: op.v1.1.0\n-    skipRange: <1.2.0\n-- schema: olm.bundle\n-  image: quay.io/example/op:v1.2.0\n", 0, ""},
	{"basic: two at once", basicOf(channelDoc("stable", bottom, middle, top), bundleDocs("1.0.0", "1.1.0", "1.2.0")), "1.0.0,1.1.0",
		"-  - name: op.v1.0.0\n-  - name: op.v1.1.0\n-    replaces: op.v1.0.0\n-    skipRange: <1.1.0\n-    replaces: op.v1.1.0\n-- schema: olm.bundle\n-  image: quay.io/example/op:v1.0.0\n-- schema: olm.bundle\n-  image: quay.io/example/op:v1.1.0\n", 0, ""},
	{"basic: a bundle that no entry skips", basicOf(channelDoc("stable", bottom, "name: op.v1.1.0\n    replaces: op.v1.0.0", "name: op.v1.2.0\n    replaces: op.v1.1.0"), bundleDocs("1.0.0", "1.1.0", "1.2.0")), "1.1.0",
		"", failure.UpgradePathLost, "who has op.v1.1.0 could"},
	{"basic: a bundle that the head skips by name", basicOf(channelDoc("stable", bottom, "name: op.v1.1.0\n    replaces: op.v1.0.0", "name: op.v1.2.0\n    replaces: op.v1.0.0\n    skips:\n    - op.v1.1.0"), bundleDocs("1.0.0", "1.1.0", "1.2.0")), "1.1.0",
		"-  - name: op.v1.1.0\n-    replaces: op.v1.0.0\n-- schema: olm.bundle\n-  image: quay.io/example/op:v1.1.0\n", 0, ""},
	{"basic: one channel of two", basicOf(channelDoc("stable", bottom, middle, top)+channelDoc("fast", bottom, middle), bundleDocs("1.0.0", "1.1.0", "1.2.0")), "1.0.0 fast",
		"-  - name: op.v1.0.0\n-    replaces: op.v1.0.0\n", 0, ""},
	{"basic: a channel", basicOf(channelDoc("stable", bottom)+channelDoc("fast", bottom, middle), bundleDocs("1.0.0", "1.1.0")), "- fast stranded",
		"-- schema: olm.channel\n-  package: op\n-  name: fast\n-  entries:\n-  - name: op.v1.0.0\n-  - name: op.v1.1.0\n-    replaces: op.v1.0.0\n-    skipRange: <1.1.0\n-- schema: olm.bundle\n-  image: quay.io/example/op:v1.1.0\n", 0, ""},
	{"basic: a channel, not allowed", basicOf(channelDoc("stable", bottom) + channelDoc("fast", bottom)), "- fast",
		"", failure.UpgradePathLost, "who has op.v1.0.0 would have no channel any more, as fast goes"},
	{"basic: a channel that becomes empty", basicOf(channelDoc("stable", bottom)+channelDoc("fast", middle), bundleDocs("1.0.0", "1.1.0")), "1.1.0 - stranded",
		"-- schema: olm.channel\n-  package: op\n-  name: fast\n-  entries:\n-  - name: op.v1.1.0\n-    replaces: op.v1.0.0\n-    skipRange: <1.1.0\n-- schema: olm.bundle\n-  image: quay.io/example/op:v1.1.0\n", 0, ""},
	{"basic: the default channel", basicOf(channelDoc("stable", bottom) + channelDoc("fast", bottom)), "- stable stranded", "", failure.EditRefused, "channel stable would go, and it is the package's default"},
	{"basic: the default channel, which moves", basicOf(channelDoc("stable", bottom) + channelDoc("fast", bottom)), "- stable default=fast stranded",
		"-  defaultChannel: stable\n+  defaultChannel: fast\n-- schema: olm.channel\n-  package: op\n-  name: stable\n-  entries:\n-  - name: op.v1.0.0\n", 0, ""},
	{"basic: the default channel, which moves to nothing", basicOf(channelDoc("stable", bottom) + channelDoc("fast", bottom)), "- stable default=slow stranded", "", failure.ChannelUnknown, "setting the default channel to slow"},
	{"basic: the channel to which the default one moves", basicOf(channelDoc("stable", bottom) + channelDoc("fast", bottom)), "- fast default=fast stranded", "", failure.EditRefused, "channel fast would go"},
	{"basic: the last entry of the default channel", basicOf(channelDoc("stable", bottom)), "1.0.0 - stranded", "", failure.EditRefused, "channel stable would go, and it is the package's default"},
	{"basic: nothing of that name", basicOf(channelDoc("stable", bottom), bundleDocs("1.0.0")), "1.5.0 stable", "", 0, "there is no bundle op.v1.5.0 to remove"},
	{"basic: no such channel", basicOf(channelDoc("stable", bottom), bundleDocs("1.0.0")), "- slow", "", 0, "there is no channel slow to remove"},
	{"basic: another package", basicOf(channelDoc("stable", bottom)), "1.0.0 - package=other", "", failure.Usage, "removing op.v1.0.0 of package other in t.yaml, which holds package op"},
	{"basic: by digest", digestBasic, "1.0.0 - stranded", "", failure.BundleConflict, "t.yaml:7:5: removing op.v1.0.0: the template has an entry of that name, and it is unknown"},
	{"basic: by digest, with its name", digestBasic, "1.0.0 - aaaa=1.0.0 stranded", "-  - name: op.v1.0.0\n-    replaces: op.v1.0.0\n-- schema: olm.bundle\n-  image: quay.io/example/op@sha256:aaaa\n", 0, ""},
	{"basic: the tag of another build", strings.ReplaceAll(basicOf(channelDoc("stable", bottom, top), bundleDocs("1.0.0", "1.2.0")), "op:v1.0.0", "op:v1.0.0-4"), "1.0.0 - stranded", "", failure.BundleConflict, "it is unknown which bundle quay.io/example/op:v1.0.0-4 is"},
	{"basic: two images of one version", basicOf(channelDoc("stable", bottom, top), bundleDocs("1.0.0", "1.2.0"), "- schema: olm.bundle\n  image: stage.io/op:v1.0.0\n"), "1.0.0 - stranded", "", failure.BundleConflict, "both quay.io/example/op:v1.0.0 and stage.io/op:v1.0.0 may be its image"},
	{"basic: deprecated", basicOf(channelDoc("stable", bottom, middle, top), bundleDocs("1.0.0", "1.1.0", "1.2.0"), "- schema: olm.deprecations\n  package: op\n  entries:\n  - reference:\n      schema: olm.bundle\n      name: op.v1.1.0\n    message: old\n  - reference:\n      schema: olm.package\n    message: all\n"), "1.1.0",
		"-  - name: op.v1.1.0\n-    replaces: op.v1.0.0\n-    skipRange: <1.1.0\n-    replaces: op.v1.1.0\n+    replaces: op.v1.0.0\n-- schema: olm.bundle\n-  image: quay.io/example/op:v1.1.0\n-  - reference:\n-      schema: olm.bundle\n-      name: op.v1.1.0\n-    message: old\n", 0, ""},
	{"basic: all that is deprecated", basicOf(channelDoc("stable", bottom)+channelDoc("fast", bottom), bundleDocs("1.0.0"), "- schema: olm.deprecations\n  package: op\n  entries:\n  - reference:\n      schema: olm.channel\n      name: fast\n    message: old\n"), "- fast stranded",
		"-- schema: olm.channel\n-  package: op\n-  name: fast\n-  entries:\n-  - name: op.v1.0.0\n-- schema: olm.deprecations\n-  package: op\n-  entries:\n-  - reference:\n-      schema: olm.channel\n-      name: fast\n-    message: old\n", 0, ""},
	{"basic: comments", basicOf("# channels\n"+channelDoc("stable", bottom+" # the first\n  # about 1.1", middle, top), bundleDocs("1.0.0")), "1.0.0 - stranded",
		"-  - name: op.v1.0.0 # the first\n-    replaces: op.v1.0.0\n-- schema: olm.bundle\n-  image: quay.io/example/op:v1.0.0\n", 0, ""},
	{"basic: CRLF", strings.ReplaceAll(basicOf(channelDoc("stable", bottom, middle, top), bundleDocs("1.0.0", "1.1.0", "1.2.0")), "\n", "\r\n"), "1.0.0",
		"-  - name: op.v1.0.0\r\n-    replaces: op.v1.0.0\r\n-- schema: olm.bundle\r\n-  image: quay.io/example/op:v1.0.0\r\n", 0, ""},
	{"basic: on one line each", basicOf(channelDoc("stable", "{name: op.v1.0.0}", "{name: op.v1.1.0, replaces: op.v1.0.0, skipRange: <1.1.0}")), "1.0.0",
		"-  - {name: op.v1.0.0}\n-  - {name: op.v1.1.0, replaces: op.v1.0.0, skipRange: <1.1.0}\n+  - {name: op.v1.1.0, skipRange: <1.1.0}\n", 0, ""},
	{"basic: all on one line", basicOf("- {schema: olm.channel, package: op, name: stable, entries: [{name: op.v1.0.0}, {name: op.v1.1.0, skipRange: <1.1.0}]}\n", bundleDocs("1.0.0", "1.1.0")), "1.0.0",
		"-- {schema: olm.channel, package: op, name: stable, entries: [{name: op.v1.0.0}, {name: op.v1.1.0, skipRange: <1.1.0}]}\n+- {schema: olm.channel, package: op, name: stable, entries: [{name: op.v1.1.0, skipRange: <1.1.0}]}\n-- schema: olm.bundle\n-  image: quay.io/example/op:v1.0.0\n", 0, ""},
	{"basic: JSON", jsonBasic, "1.1.0",
		"-        {\"name\": \"op.v1.1.0\", \"replaces\": \"op.v1.0.0\"},\n-        {\"name\": \"op.v1.2.0\", \"replaces\": \"op.v1.1.0\", \"skipRange\": \"<1.2.0\"}\n+        {\"name\": \"op.v1.2.0\", \"replaces\": \"op.v1.0.0\", \"skipRange\": \"<1.2.0\"}\n-    {\"schema\": \"olm.bundle\", \"image\": \"quay.io/example/op:v1.1.0\"},\n", 0, ""},
	{"basic: JSON, the last", jsonBasic, "1.2.0 - stranded",
		"-        {\"name\": \"op.v1.1.0\", \"replaces\": \"op.v1.0.0\"},\n+        {\"name\": \"op.v1.1.0\", \"replaces\": \"op.v1.0.0\"}\n-        {\"name\": \"op.v1.2.0\", \"replaces\": \"op.v1.1.0\", \"skipRange\": \"<1.2.0\"}\n-    {\"schema\": \"olm.bundle\", \"image\": \"quay.io/example/op:v1.1.0\"},\n+    {\"schema\": \"olm.bundle\", \"image\": \"quay.io/example/op:v1.1.0\"}\n-    {\"schema\": \"olm.bundle\", \"image\": \"quay.io/example/op:v1.2.0\"}\n", 0, ""},
	{"stream: a document", bundleFirst + "- name: op.v1.1.0\n  skipRange: <1.1.0\n", "1.0.0", "----\n-schema: olm.bundle\n-image: quay.io/example/op:v1.0.0\n-- name: op.v1.0.0\n", 0, ""},
	{"semver: in one archetype", plainSemver, "1.0.0 stable stranded", "-Stable:\n-  Bundles:\n-  - Image: quay.io/example/op:v1.0.0\n", 0, "the default channel moves from stable-v1.0 to candidate-v1.2"},
	{"semver: the archetype of the default channel", plainSemver, "- stable stranded", "", failure.EditRefused, "channel stable-v1.0 would go, and it is the package's default"},
	{"semver: the default stays", plainSemver, "1.0.0 candidate stranded", "-  - Image: quay.io/example/op:v1.0.0\n", 0, ""},
	{"semver: an archetype", plainSemver, "- candidate stranded", "-Candidate:\n-  Bundles:\n-  - Image: quay.io/example/op:v1.0.0\n-  - Image: quay.io/example/op:v1.2.0\n", 0, ""},
	{"semver: stranded", plainSemver, "1.2.0", "", failure.UpgradePathLost, "who has op.v1.2.0, quay.io/example/op:v1.0.0 would have no channel any more, as candidate-v1.2 goes"},
	{"semver: not an archetype", plainSemver, "1.2.0 alpha", "", failure.ChannelUnknown, "has Candidate, Fast, Stable"},
	{"semver: nothing of that name", plainSemver, "1.5.0", "", 0, "there is no bundle op.v1.5.0"},
	{"semver: an archetype with the last image", strings.ReplaceAll(plainSemver, "Stable:", "Fast:") + "Stable:\n  Bundles:\n  - Image: quay.io/example/op:v1.4.0\n", "1.0.0 fast stranded", "-Fast:\n-  Bundles:\n-  - Image: quay.io/example/op:v1.0.0\n", 0, ""},
	{"goodstuff: stranded", plainGoodstuff, "1.0.0 fast", "", failure.UpgradePathLost, "who has op.v1.0.0"},
	{"goodstuff: in order", plainGoodstuff, "1.0.0 stable stranded", "-  - op.v1.0.0\n", 0, ""},
	{"goodstuff: a tombstone", plainGoodstuff, "1.1.0 stable stranded", "-  - op.v1.1.0\n-  tombstones:\n-  - op.v1.1.0\n", 0, ""},
	{"goodstuff: before a tombstone", plainGoodstuff, "1.3.0 stable stranded", "", failure.EditRefused, "no live entry of stable would come after the tombstone op.v1.1.0"},
	{"goodstuff: everywhere", plainGoodstuff, "1.0.0 - stranded", "-  - quay.io/example/op:v1.0.0\n-  - op.v1.0.0\n-  - op.v1.0.0\n", 0, ""},
	{"goodstuff: a channel", plainGoodstuff, "- fast stranded", "-- package: op\n-  name: fast\n-  entries:\n-  - op.v1.3.0\n-  - op.v1.0.0\n", 0, ""},
	{"goodstuff: the default channel", plainGoodstuff, "- stable stranded", "", failure.EditRefused, "channel stable would go, and it is the package's default"},
	{"goodstuff: the default channel, which moves", plainGoodstuff, "- stable default=fast stranded",
		"-  defaultChannel: stable\n+  defaultChannel: fast\n-- package: op\n-  name: stable\n-  entries:\n-  - op.v1.0.0\n-  - op.v1.1.0\n-  - op.v1.3.0\n-  tombstones:\n-  - op.v1.1.0\n-  tailEdges:\n-    skips:\n-    - op.v0.9.0\n-    replaces: op.v0.8.0\n", 0, ""},
	{"goodstuff: a bundle that a pattern finds", strings.ReplaceAll(foundGoodstuff, "[op.v1.0.0]", "[op.v1.0.0, op.v1.1.0]"), "1.0.0 - stranded", "", failure.EditRefused, "repo, tagRegex and semverRange find its image"},
	{"goodstuff: another package", plainGoodstuff, "1.0.0 - package=other", "", failure.Usage, "which holds package op"},
	{"substitutes: the base of a substitute", plainSubstitutes, "1.0.0 - stranded", "", failure.EdgeConflict, "quay.io/example/op:v1.0.0-1 substitutes op.v1.0.0"},
	{"substitutes: a substitute", plainSubstitutes, "1.0.0-1 - stranded", "-substitutions:\n-- name: quay.io/example/op:v1.0.0-1\n-  base: op.v1.0.0\n", 0, ""},
	{"substitutes: one of two substitutes", plainSubstitutes + "- name: quay.io/example/op:v1.0.0-2\n  base: op.v1.0.0-1\n", "1.0.0-2 - stranded", "-- name: quay.io/example/op:v1.0.0-2\n-  base: op.v1.0.0-1\n", 0, ""},
	{"substitutes: a substitute that is the base of another one", plainSubstitutes + "- name: quay.io/example/op:v1.0.0-2\n  base: op.v1.0.0-1\n", "1.0.0-1 - stranded", "", failure.EdgeConflict, "quay.io/example/op:v1.0.0-2 substitutes op.v1.0.0-1"},
	{"substitutes: both", plainSubstitutes, "1.0.0,1.0.0-1 - stranded",
		"-- schema: olm.channel\n-  package: op\n-  name: stable\n-  entries:\n-  - name: op.v1.0.0\n-- schema: olm.bundle\n-  name: op.v1.0.0\n-  package: op\n-  image: quay.io/example/op:v1.0.0\n-  properties:\n-  - type: olm.package\n-    value: {packageName: op, version: 1.0.0}\n-  - type: olm.bundle.object\n-    value: {data: e30=}\n-substitutions:\n-- name: quay.io/example/op:v1.0.0-1\n-  base: op.v1.0.0\n", 0, ""},
	{"raw: all that is known", "---\nschema: olm.packDge\nname: op\n---\nschema: olm.channel\npackage: op\nname: stable\nentries:\n- name: op.v1.0.0\n---\nschema: olm.bundle\nname: op.v1.0.0\npackage: op\nimage: a/b@sha256:aaaa\nproperties: []\n", "1.0.0 - stranded", "", failure.EditRefused, "what would remain is not a template"},
	{"raw: all but a broken bundle", "---\nschema: olm.package\nname: op\n---\nschema: olm.channel\npackage: op\nname: stable\nentries:\n- name: op.v1.0.0\n- name: op.v1.1.0\n---\nschema: olm.bundle\nname: op.v1.0.0\npackage: op\nimage: a/b@sha256:aaaa\nproperties:\n- type: x\n  value: y\n---\nschema: olm.bundle\n", "1.0.0 - stranded", "", failure.EditRefused, "what would remain is not a template"},
	{"basic: the last of the package, beside another document", "schema: olm.template.basic\nentries:\n- schema: example.com/own\n  name: op\n- schema: olm.channel\n  package: op\n  name: stable\n  entries:\n  - name: op.v1.0.0\n", "1.0.0 - stranded",
		"-- schema: olm.channel\n-  package: op\n-  name: stable\n-  entries:\n-  - name: op.v1.0.0\n", 0, ""},
	{"raw: a file", "---\nschema: olm.package\nname: op\n---\nschema: olm.channel\npackage: op\nname: stable\nentries:\n- name: op.v1.0.0\n- name: op.v1.1.0\n  replaces: op.v1.0.0\n  skipRange: <1.1.0\n---\nschema: olm.bundle\nname: op.v1.0.0\npackage: op\nimage: a/b@sha256:aaaa\nproperties:\n- type: x\n  value: y\n---\nschema: olm.bundle\nname: op.v1.1.0\npackage: op\nimage: a/b@sha256:bbbb\nproperties: []\n", "1.0.0",
		"-- name: op.v1.0.0\n-  replaces: op.v1.0.0\n----\n-schema: olm.bundle\n-name: op.v1.0.0\n-package: op\n-image: a/b@sha256:aaaa\n-properties:\n-- type: x\n-  value: y\n", 0, ""},
}

// TestRemove makes each removal twice and checks that no other line changes.
func TestRemove(t *testing.T) {
	for _, tt := range removals {
		got, o, err := remove([]byte(tt.template), removal(tt.asked))
		if tt.code != 0 {
			if !failure.Is(err, tt.code) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%s: got %v and\n%s", tt.name, err, got)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if lines := lineDiff(tt.template, string(got)); !sameLines(lines, tt.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.name, lines, tt.want)
		}
		if tt.says != "" && !strings.Contains(strings.Join(o.Notes, "\n"), tt.says) {
			t.Errorf("%s: notes %q", tt.name, o.Notes)
		}
		if (len(o.Changes) > 0) != (tt.want != "") {
			t.Errorf("%s: changes %+v", tt.name, o.Changes)
		}
		if again, o, err := remove(got, removal(tt.asked)); err != nil || string(again) != string(got) || len(o.Changes) > 0 {
			t.Errorf("%s: once more: %v\n%s", tt.name, err, lineDiff(string(got), string(again)))
		}
	}
}

// lists reports whether a channel of a template has an entry with that name; it also does if there is no name.
func lists(t *testing.T, text, channel, name string) bool {
	tmpl, err := Parse("t.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return name == "" || slices.ContainsFunc(tmpl.Describe().Channels, func(c kind.Channel) bool { return c.Name == channel && slices.Contains(c.Entries, name) })
}

func remove(src []byte, r kind.Removal) ([]byte, *kind.Outcome, error) {
	o, err := Remove(fstest.MapFS{"t.yaml": {Data: src}}, "t.yaml", "t.yaml", nil, r)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range o.Files {
		src = f.After
	}
	return src, o, nil
}

// sameLines compares differences in any order of their lines.
func sameLines(a, b string) bool {
	return slices.Equal(slices.Sorted(strings.Lines(a)), slices.Sorted(strings.Lines(b)))
}

// lineDiff returns the removed and added lines; a line that is in both texts in the same order is omitted.
func lineDiff(before, after string) string {
	a, b := slices.Collect(strings.Lines(before)), slices.Collect(strings.Lines(after))
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if common[i][j] = max(common[i+1][j], common[i][j+1]); a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	var out strings.Builder
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			i, j = i+1, j+1
		case i < len(a) && (j == len(b) || common[i+1][j] >= common[i][j+1]):
			out.WriteString("-" + a[i])
			i++
		default:
			out.WriteString("+" + b[j])
			j++
		}
	}
	return out.String()
}

// TestRemoveFile checks that a directory loses the file of a removed bundle that is alone in it, and keeps the
// other files.
func TestRemoveFile(t *testing.T) {
	fsys := fstest.MapFS{
		"c/package.yaml":       {Data: []byte("schema: olm.package\nname: op\ndefaultChannel: stable\n")},
		"c/channels.yaml":      {Data: []byte("schema: olm.channel\npackage: op\nname: stable\nentries:\n- name: op.v1.0.0\n- name: op.v1.1.0\n  replaces: op.v1.0.0\n  skipRange: <1.1.0\n---\nschema: olm.channel\npackage: op\nname: fast\nentries:\n- name: op.v1.0.0\n")},
		"c/bundles/1.0.0.yaml": {Data: []byte("schema: olm.bundle\nname: op.v1.0.0\npackage: op\nimage: a/b@sha256:aaaa\nproperties: []\n")},
		"c/bundles/1.1.0.yaml": {Data: []byte("schema: olm.bundle\nname: op.v1.1.0\npackage: op\nimage: a/b@sha256:bbbb\nproperties: []\n")},
	}
	o, err := Remove(fsys, "c", "c", nil, removal("1.0.0 - stranded"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range o.Files {
		got = append(got, fmt.Sprint(f.Path, " ", f.Gone, " ", string(f.After)))
	}
	slices.Sort(got)
	want := []string{"c/bundles/1.0.0.yaml true ", "c/channels.yaml false schema: olm.channel\npackage: op\nname: stable\nentries:\n- name: op.v1.1.0\n  skipRange: <1.1.0\n"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if _, err := Remove(fsys, "c", "c", nil, removal("- stable,fast stranded")); !failure.Is(err, failure.EditRefused) {
		t.Errorf("the default channel: %v", err)
	}
}

// TestRemoveUndoesInsert checks that removing an inserted bundle restores the bytes from before.
func TestRemoveUndoesInsert(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	texts := map[string]string{}
	for _, tt := range removals {
		texts[tt.name] = tt.template
		texts[tt.name+", CRLF"] = strings.ReplaceAll(strings.ReplaceAll(tt.template, "\r\n", "\n"), "\n", "\r\n")
		texts[tt.name+", blank lines"] = strings.NewReplacer("\n- schema", "\n\n- schema", "\n  - name", "\n\n  - name", "\n  # about 1.1", "").Replace(tt.template)
		texts[tt.name+", no final newline"] = strings.TrimSuffix(tt.template, "\n")
		texts[tt.name+", comments"] = strings.ReplaceAll(tt.template, "\n- schema", "\n# this\n- schema")
	}
	tried := 0
	for name, text := range texts {
		for range 4 {
			v := semver.Version{Major: 1, Minor: uint64(rnd.IntN(6)), Patch: uint64(1 + rnd.IntN(3))}
			r := requestFor(v, []string{"stable", "fast"}[rnd.IntN(2)])
			r.Bundle.Document = func(image string, _ bool) ([]byte, error) {
				return fmt.Appendf(nil, "schema: olm.bundle\nname: %s\npackage: op\nimage: %s\nproperties:\n- type: x\n  value: {}\n", r.Bundle.Name, image), nil
			}
			with, o, err := insert(t, "t.yaml", []byte(text), r)
			if err != nil || len(o.Files) == 0 || slices.Contains(o.Notes, "repo, tagRegex and semverRange find the image already") ||
				slices.ContainsFunc(o.Changes, func(c kind.Change) bool { return c.What == kind.EntryRewired && !lists(t, text, c.Channel, c.From) }) {
				continue
			}
			tried++
			got, _, err := remove(with, kind.Removal{Bundles: []string{r.Bundle.Name}, AllowStranded: true, Names: map[string]string{
				"sha256:aaaa": "op.v0.0.8", "sha256:bbbb": "op.v0.0.9", "quay.io/example/op:v1.0.0-4": "op.v1.0.0",
			}})
			if err != nil || string(got) != text {
				t.Errorf("%s, %s into %v: %v\n%s", name, v, r.Channels, err, lineDiff(text, string(got)))
			}
		}
	}
	if tried < 100 {
		t.Errorf("only %d inserts were tried", tried)
	}
}

// FuzzRemove checks the promises of a removal on any text that the fuzzer finds, for every kind.
func FuzzRemove(f *testing.F) {
	for _, tt := range removals {
		f.Add([]byte(tt.template), "op.v1.0.0", "")
		f.Add([]byte(tt.template), "op.v1.1.0", "stable")
		f.Add([]byte(tt.template), "", "fast")
	}
	f.Fuzz(func(t *testing.T, src []byte, bundle, channel string) {
		r := kind.Removal{Bundles: kind.Unique([]string{bundle}), Channels: kind.Unique([]string{channel}), AllowStranded: true}
		if len(r.Bundles)+len(r.Channels) == 0 {
			return
		}
		tmpl, err := Parse("t.yaml", src)
		if err != nil {
			return
		}
		o, err := tmpl.Remove(r)
		if err != nil || len(o.Files) == 0 {
			return
		}
		again, err := Parse("t.yaml", o.Files[0].After)
		if err != nil {
			t.Fatalf("the result is not a template: %v\n%q", err, o.Files[0].After)
		}
		if o, err := again.Remove(r); err != nil || len(o.Files) > 0 {
			t.Fatalf("the second run: %v %+v\n%q", err, o, src)
		}
	})
}
