package graph

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
)

// soundCatalog is a catalog without findings.
const soundCatalog = `---
defaultChannel: stable
name: p
schema: olm.package
---
entries:
- name: p.v1.0.0
- name: p.v1.1.0
  replaces: p.v1.0.0
- name: p.v1.2.0
  replaces: p.v1.1.0
  skipRange: '>=1.0.0 <1.2.0'
name: stable
package: p
schema: olm.channel
---
image: example.com/p:1.0.0
name: p.v1.0.0
package: p
properties:
- type: olm.package
  value:
    packageName: p
    version: 1.0.0
schema: olm.bundle
---
image: example.com/p:1.1.0
name: p.v1.1.0
package: p
properties:
- type: olm.package
  value:
    packageName: p
    version: 1.1.0
relatedImages:
- image: example.com/p:1.1.0
  name: ""
schema: olm.bundle
---
image: example.com/p:1.2.0
name: p.v1.2.0
package: p
properties:
- type: olm.gvk
  value:
    group: example.com
    kind: Thing
    version: v1
- type: olm.package
  value:
    packageName: p
    version: 1.2.0
- type: olm.csv.metadata
  value:
    annotations:
      a: b
    installModes:
    - supported: true
      type: AllNamespaces
schema: olm.bundle
---
entries:
- message: old
  reference:
    name: p.v1.0.0
    schema: olm.bundle
- message: slow
  reference:
    name: stable
    schema: olm.channel
package: p
schema: olm.deprecations
`

// Each case changes the catalog and lists the findings as "ID BUNDLE @ TEXT", in which TEXT is the line of the
// finding.
var verifyCases = []struct {
	name    string
	changes []string // pairs of old and new text, replaced everywhere, in turn
	want    []string
}{
	{"sound", nil, nil},
	{"no schema", []string{"schema: olm.deprecations", "kind: x"}, []string{"document-unreadable @ entries:"}},
	{"text that opm drops", []string{"schema: olm.package\n", "schema: olm.package\n...\nname: q # dropped\n"}, []string{"document-ignored @ name: q # dropped"}},
	{"a misspelt schema", []string{"schema: olm.deprecations", "schema: olm.deprecation"}, []string{"document-ignored @ entries:"}},
	{"a string for a list", []string{"- name: p.v1.0.0\n", "- name: p.v1.0.0\n  skips: p.v0.9.0\n"}, []string{"document-mistyped @ skips: p.v0.9.0"}},
	{"two wrong types", []string{"- image: example.com/p:1.1.0", "- image: 1", "name: \"\"", "name: 2"},
		[]string{"document-mistyped p.v1.1.0 @ - image: 1", "document-mistyped p.v1.1.0 @ name: 2"}},

	{"no package name", []string{"name: p\n", ""}, []string{"package-without-name @ defaultChannel: stable", "package-without-channel @ defaultChannel: stable",
		"default-channel-unknown @ defaultChannel: stable", "package-unknown @ entries:", "package-unknown @ entries:",
		"package-unknown p.v1.0.0 @ image: example.com/p:1.0.0", "package-unknown p.v1.1.0 @ image: example.com/p:1.1.0", "package-unknown p.v1.2.0 @ image: example.com/p:1.2.0"}},
	{"a package twice", []string{"schema: olm.package\n", "schema: olm.package\n---\nname: p\nschema: olm.package\n"}, []string{"package-duplicate @ name: p"}},
	{"a package name in capitals", []string{": p\n", ": P\n"}, []string{"package-name-invalid @ defaultChannel: stable"}},
	{"an unknown package", []string{"package: p\nschema: olm.deprecations", "package: q\nschema: olm.deprecations"},
		[]string{"package-unknown @ entries:", "deprecation-unknown p.v1.0.0 @ - message: old", "deprecation-unknown @ - message: slow"}},
	{"no default channel", []string{"defaultChannel: stable\n", ""}, []string{"default-channel-missing @ name: p"}},
	{"an unknown default channel", []string{"defaultChannel: stable\n", "defaultChannel: fast\n"}, []string{"default-channel-unknown @ defaultChannel: fast"}},

	{"no channel name", []string{"name: stable\npackage", "package"},
		[]string{"default-channel-unknown @ defaultChannel: stable", "channel-without-name @ entries:", "deprecation-unknown @ - message: slow"}},
	{"a channel twice", []string{"schema: olm.channel\n---", "schema: olm.channel\n---\nname: stable\npackage: p\nschema: olm.channel\n---"}, []string{"channel-duplicate @ name: stable"}},
	{"an empty channel", []string{"schema: olm.channel\n---", "schema: olm.channel\n---\nname: fast\npackage: p\nschema: olm.channel\n---"}, []string{"channel-empty @ name: fast"}},
	{"no head", []string{"- name: p.v1.0.0\n", "- name: p.v1.0.0\n  replaces: p.v1.2.0\n"}, []string{"channel-no-head @ entries:", "replaces-higher p.v1.0.0 @ - name: p.v1.0.0"}},
	{"two heads", []string{"  replaces: p.v1.1.0\n", "  replaces: p.v1.0.0\n"}, []string{"channel-two-heads p.v1.2.0 @ - name: p.v1.2.0"}},
	{"two heads in another channel", []string{"schema: olm.channel\n---", "schema: olm.channel\n---\nentries:\n- name: p.v1.0.0\n- name: p.v1.1.0 # here\nname: zzz\npackage: p\nschema: olm.channel\n---"}, []string{"channel-two-heads p.v1.1.0 @ - name: p.v1.1.0 # here"}},
	{"three heads", []string{"  replaces: p.v1.0.0\n", "", "  replaces: p.v1.1.0\n", ""}, []string{"channel-two-heads p.v1.1.0 @ - name: p.v1.1.0", "channel-two-heads p.v1.2.0 @ - name: p.v1.2.0"}},
	{"two heads in another package", []string{"schema: olm.deprecations", "schema: olm.deprecations\n---\nschema: olm.package\nname: q\ndefaultChannel: c\n---\nschema: olm.channel\npackage: q\nname: c\nentries: []"}, []string{"channel-empty @ schema: olm.channel"}},
	{"a circle", []string{"- name: p.v1.0.0\n", "- name: p.v1.0.0\n  replaces: p.v1.1.0\n"}, []string{"channel-cycle p.v1.1.0 @ - name: p.v1.0.0", "replaces-higher p.v1.0.0 @ - name: p.v1.0.0"}},
	{"a circle behind a skip", []string{"- name: p.v1.0.0\n", "- name: p.v1.0.0\n  replaces: p.v1.1.0\n", "  skipRange: '>=1.0.0 <1.2.0'", "  skips:\n  - p.v1.1.0\n  - p.v1.0.0"},
		[]string{"replaces-higher p.v1.0.0 @ - name: p.v1.0.0", "skipped-cycle p.v1.1.0 @ - name: p.v1.0.0"}},
	{"stranded", []string{"  skipRange: '>=1.0.0 <1.2.0'", "  skips:\n  - p.v1.1.0"}, []string{"entry-stranded p.v1.0.0 @ - name: p.v1.0.0"}},
	{"an entry twice", []string{"- name: p.v1.0.0\n", "- name: p.v1.0.0\n- name: p.v1.0.0\n"}, []string{"entry-duplicate p.v1.0.0 @ - name: p.v1.0.0"}},
	{"an entry without a name", []string{"- name: p.v1.2.0\n  replaces: p.v1.1.0\n", "- name: p.v1.2.0\n  replaces: p.v1.1.0\n- replaces: p.v1.2.0\n"}, []string{"entry-without-name @ - replaces: p.v1.2.0"}},
	{"an entry without a bundle", []string{"- name: p.v1.0.0\n", "- name: p.v1.0.0\n  replaces: p.v0.9.0\n- name: p.v0.9.0\n"}, []string{"entry-without-bundle p.v0.9.0 @ - name: p.v0.9.0"}},
	{"an empty skip", []string{"  skipRange: '>=1.0.0 <1.2.0'", "  skips:\n  - \"\""}, []string{"skip-empty p.v1.2.0 @ - name: p.v1.2.0"}},
	{"a bad range", []string{"'>=1.0.0 <1.2.0'", "'>=1.0'"}, []string{"skip-range-invalid p.v1.2.0 @ - name: p.v1.2.0"}},

	{"no bundle name", []string{"name: p.v1.2.0\npackage", "package"}, []string{"entry-without-bundle p.v1.2.0 @ - name: p.v1.2.0",
		"bundle-without-channel @ image: example.com/p:1.2.0", "bundle-without-name @ image: example.com/p:1.2.0"}},
	{"no bundle package", []string{"name: p.v1.2.0\npackage: p\n", "name: p.v1.2.0\n"}, []string{"entry-without-bundle p.v1.2.0 @ - name: p.v1.2.0", "bundle-without-package p.v1.2.0 @ image: example.com/p:1.2.0"}},
	{"a bundle twice", []string{"name: p.v1.2.0\npackage", "name: p.v1.1.0\npackage"}, []string{"entry-without-bundle p.v1.2.0 @ - name: p.v1.2.0", "bundle-duplicate p.v1.1.0 @ image: example.com/p:1.2.0"}},
	{"no image", []string{"image: example.com/p:1.2.0\n", ""}, []string{"bundle-without-image p.v1.2.0 @ name: p.v1.2.0"}},
	{"no image, and its objects", []string{"image: example.com/p:1.2.0\n", "", "- type: olm.gvk\n", "- type: olm.bundle.object\n  value:\n    data: e30=\n- type: olm.gvk\n"}, nil},
	{"a bad image", []string{"example.com/p:1.2.0\n", "example.com/P:1.2.0\n"}, []string{"image-invalid p.v1.2.0 @ image: example.com/P:1.2.0"}},
	{"a bad related image", []string{"- image: example.com/p:1.1.0", "- image: BAD IMAGE"}, []string{"related-image-invalid p.v1.1.0 @ - image: BAD IMAGE"}},
	{"a property of a wrong type", []string{"kind: Thing", "kind: 1"}, []string{"property-invalid p.v1.2.0 @ kind: 1"}},
	{"metadata of wrong types", []string{"annotations:\n      a: b", "annotations: b", "supported: true", "supported: \"yes\""},
		[]string{"property-invalid p.v1.2.0 @ annotations: b", "property-invalid p.v1.2.0 @ - supported: \"yes\""}},
	{"a property without a value", []string{"- type: olm.gvk\n  value:\n    group: example.com\n    kind: Thing\n    version: v1\n", "- type: olm.gvk\n"}, []string{"property-invalid p.v1.2.0 @ - type: olm.gvk"}},
	{"no package property", []string{"- type: olm.package\n  value:\n    packageName: p\n    version: 1.2.0\n", ""}, []string{"package-property-count p.v1.2.0 @ properties:"}},
	{"another package in the property", []string{"packageName: p\n    version: 1.2.0", "packageName: q\n    version: 1.2.0"}, []string{"package-property-mismatch p.v1.2.0 @ image: example.com/p:1.2.0"}},
	{"a bad version", []string{"version: 1.2.0", "version: v1.2.0"}, []string{"version-invalid p.v1.2.0 @ version: v1.2.0"}},
	{"a version twice", []string{"version: 1.2.0", "version: 1.1.0", "'>=1.0.0 <1.2.0'", "'<1.1.0'"},
		[]string{"version-duplicate p.v1.2.0 @ image: example.com/p:1.2.0", "name-version-mismatch p.v1.2.0 @ image: example.com/p:1.2.0"}},
	{"a release of a version that is there", []string{"version: 1.2.0", "version: 1.1.0\n    release: \"1\"", "p.v1.2.0", "p-v1.1.0-1", "'>=1.0.0 <1.2.0'", "'<1.1.0'"}, nil},
	{"a release twice", []string{"version: 1.2.0", "version: 1.1.0\n    release: \"1\"", "p.v1.2.0", "p-v1.1.0-1", "version: 1.1.0\nrelated", "version: 1.1.0\n    release: \"1\"\nrelated", "p.v1.1.0", "p-v1.1.0-01", "'>=1.0.0 <1.2.0'", "'<1.1.0'"},
		[]string{"release-name-mismatch p-v1.1.0-01 @ name: p-v1.1.0-01", "version-duplicate p-v1.1.0-1 @ image: example.com/p:1.2.0"}},
	{"a bad release", []string{"version: 1.2.0", "version: 1.2.0\n    release: \"01\""}, []string{"release-invalid p.v1.2.0 @ release: \"01\""}},
	{"a release and another name", []string{"version: 1.2.0", "version: 1.2.0\n    release: \"1\""}, []string{"release-name-mismatch p.v1.2.0 @ name: p.v1.2.0"}},
	{"a release and its name", []string{"version: 1.2.0", "version: 1.2.0\n    release: \"1\"", "p.v1.2.0", "p-v1.2.0-1"}, nil},
	{"a release and build metadata", []string{"version: 1.2.0", "version: 1.2.0+a\n    release: \"1\"", "p.v1.2.0", "p-v1.2.0+a-1"}, []string{"release-with-build-metadata p-v1.2.0+a-1 @ value:"}},

	{"deprecations without a package", []string{"package: p\nschema: olm.deprecations", "schema: olm.deprecations"}, []string{"deprecation-without-package @ entries:"}},
	{"deprecations twice", []string{"schema: olm.deprecations", "schema: olm.deprecations\n---\npackage: p\nschema: olm.deprecations"}, []string{"deprecation-duplicate @ package: p"}},
	{"deprecated twice", []string{"name: stable\n    schema: olm.channel", "name: p.v1.0.0\n    schema: olm.bundle"}, []string{"deprecation-duplicate @ - message: slow"}},
	{"a deprecated ghost", []string{"name: stable\n    schema: olm.channel", "name: fast\n    schema: olm.channel"}, []string{"deprecation-unknown @ - message: slow"}},
	{"a deprecated package with a name", []string{"name: stable\n    schema: olm.channel", "name: p\n    schema: olm.package"}, []string{"deprecation-reference-invalid @ - message: slow"}},
	{"a deprecation without a message", []string{"- message: slow\n  reference", "- reference"}, []string{"deprecation-without-message @ - reference:"}},

	{"replaces a higher version", []string{"version: 1.0.0", "version: 1.1.5"}, []string{"replaces-higher p.v1.1.0 @ - name: p.v1.1.0", "name-version-mismatch p.v1.0.0 @ image: example.com/p:1.0.0"}},
	{"a dangling replaces", []string{"  replaces: p.v1.1.0\n", "  replaces: p.v1.0.1\n  skips: [p.v1.1.0, p.v1.0.0]\n"}, []string{"replaces-dangling p.v1.2.0 @ - name: p.v1.2.0"}},
	{"the tail may replace what another channel has", []string{"  replaces: p.v1.1.0\n  skipRange: '>=1.0.0 <1.2.0'", "  replaces: p.v1.0.0\n  skips: [p.v1.1.0]", "- name: p.v1.0.0\n- name: p.v1.1.0\n  replaces: p.v1.0.0\n", "- name: p.v1.1.0\n",
		"schema: olm.channel\n---", "schema: olm.channel\n---\nentries:\n- name: p.v1.0.0\nname: zzz\npackage: p\nschema: olm.channel\n---"}, nil},
	{"the tail may dangle", []string{"- name: p.v1.0.0\n", "- name: p.v1.0.0\n  replaces: p.v0.9.0\n"}, nil},
	{"skips a ghost", []string{"  skipRange: '>=1.0.0 <1.2.0'", "  skips:\n  - q.v1.1.1"}, []string{"skip-unknown p.v1.2.0 @ - name: p.v1.2.0"}},
	{"skips a higher ghost", []string{"  skipRange: '>=1.0.0 <1.2.0'", "  skips:\n  - p.v1.2.1"}, []string{"skip-unknown p.v1.2.0 @ - name: p.v1.2.0"}},
	{"skips a withdrawn release", []string{"  skipRange: '>=1.0.0 <1.2.0'", "  skips:\n  - p.v1.1.1"}, nil},
	{"skips what another replaces", []string{"- name: p.v1.0.0\n", "- name: p.v1.0.0\n  replaces: p.v0.9.0\n", "  skipRange: '>=1.0.0 <1.2.0'", "  skips:\n  - p.v0.9.0"}, nil},
	{"a range that holds itself", []string{"'>=1.0.0 <1.2.0'", "'>=1.0.0'"}, []string{"skip-range-covers-self p.v1.2.0 @ - name: p.v1.2.0"}},
	{"an empty range", []string{"'>=1.0.0 <1.2.0'", "'>=1.1.0 <1.0.0'"}, []string{"skip-range-covers-nothing p.v1.2.0 @ - name: p.v1.2.0"}},
	{"a range above", []string{"'>=1.0.0 <1.2.0'", "'>1.2.0'"}, []string{"skip-range-covers-nothing p.v1.2.0 @ - name: p.v1.2.0"}},
	{"a range that crashes blang/semver", []string{"'>=1.0.0 <1.2.0'", "'>2.0.0 || || <1.2.0'"}, []string{"skip-range-covers-nothing p.v1.2.0 @ - name: p.v1.2.0"}},
	{"only build metadata apart", []string{"version: 1.2.0", "version: 1.1.0+2", "p.v1.2.0", "p.v1.1.0-2", "'>=1.0.0 <1.2.0'", "'<1.1.0'"}, []string{"version-build-only p.v1.1.0-2 @ image: example.com/p:1.2.0"}},
	{"other build metadata in the name", []string{"p.v1.2.0", "p.v1.2.0+1"}, []string{"name-version-mismatch p.v1.2.0+1 @ image: example.com/p:1.2.0"}},
	{"another version in the name", []string{"p.v1.2.0", "p.v1.2.1"}, []string{"name-version-mismatch p.v1.2.1 @ image: example.com/p:1.2.0"}},
	{"a pre-release at the head", []string{"version: 1.2.0", "version: 1.2.0-rc.1", "p.v1.2.0", "p.v1.2.0-rc.1", "<1.2.0", "<1.2.0-rc.1"}, []string{"stable-head-prerelease p.v1.2.0-rc.1 @ - name: p.v1.2.0-rc.1"}},
	{"a number after a hyphen is not a pre-release", []string{"version: 1.2.0", "version: 1.2.0-20240101", "p.v1.2.0", "p.v1.2.0-20240101", "<1.2.0", "<1.2.0-0"}, nil},
	{"a pre-release channel as default", []string{"defaultChannel: stable", "defaultChannel: candidate-v1",
		"schema: olm.channel\n---", "schema: olm.channel\n---\nentries:\n- name: p.v1.2.0\nname: candidate-v1\npackage: p\nschema: olm.channel\n---"}, []string{"default-channel-prerelease @ defaultChannel: candidate-v1"}},
	{"skips that differ", []string{"schema: olm.channel\n---", "schema: olm.channel\n---\nentries:\n- name: p.v1.2.0\n  replaces: p.v1.1.0\n  skips: [p.v1.0.0]\n  skipRange: '>=1.0.0 <1.2.0'\n- name: p.v1.0.0\n- name: p.v1.1.0\n  replaces: p.v1.0.0\nname: zzz\npackage: p\nschema: olm.channel\n---"},
		[]string{"edges-differ p.v1.2.0 @ - name: p.v1.2.0"}},
	{"edges that differ", []string{"schema: olm.channel\n---", "schema: olm.channel\n---\nentries:\n- name: p.v1.2.0\n  replaces: p.v1.0.0\n  skips: [p.v1.1.0] # here\n- name: p.v1.0.0\n- name: p.v1.1.0\n  replaces: p.v1.0.0\nname: zzz\npackage: p\nschema: olm.channel\n---"},
		[]string{"edges-differ p.v1.2.0 @ - name: p.v1.2.0"}},

	{"an unused operand", []string{"schema: olm.deprecations", "schema: olm.deprecations\n---\nimages: [{name: a, image: a@sha256:1}]\nname: a\nversion: 1.0.0\nschema: olm.operand"},
		[]string{"operand-unused @ images: [{name: a, image: a@sha256:1}]"}},
	{"an operand without images", []string{"schema: olm.deprecations", "schema: olm.deprecations\n---\nname: a\nversion: 1.0.0\nschema: olm.operand"}, []string{"operand-invalid @ name: a"}},
	{"an operand that is not there", []string{"- type: olm.gvk", "- type: olm.operand.supported\n  value: {name: a, version: 1.x}\n- type: olm.gvk"},
		[]string{"operand-missing p.v1.2.0 @ image: example.com/p:1.2.0"}},
}

func TestVerify(t *testing.T) {
	covered := map[string]bool{}
	for _, test := range verifyCases {
		t.Run(test.name, func(t *testing.T) {
			src := soundCatalog
			for i := 0; i < len(test.changes); i += 2 {
				if !strings.Contains(src, test.changes[i]) {
					t.Fatalf("the catalog has no %q", test.changes[i])
				}
				src = strings.ReplaceAll(src, test.changes[i], test.changes[i+1])
			}
			lines := strings.Split(src, "\n")
			missing := map[string]int{}
			for _, w := range test.want {
				missing[w]++
			}
			for _, f := range Verify(load("c.yaml", []byte(src)), nil, Levels{}) {
				got := strings.TrimSpace(f.ID+" "+f.Bundle) + " @ " + strings.TrimSpace(lines[f.Line-1])
				covered[f.ID] = true
				if missing[got]--; missing[got] < 0 {
					t.Errorf("found %s: %s", got, f.Message)
				}
				if f.File != "c.yaml" || f.Remedy == "" || f.Message == "" {
					t.Errorf("incomplete: %+v", f)
				}
			}
			for w, n := range missing {
				if n > 0 {
					t.Errorf("did not find %s", w)
				}
			}
		})
	}
	if t.Failed() {
		return
	}
	for _, r := range Rules {
		// Findings about two catalogs, OLM v1 and the community have their own tests.
		if !strings.HasPrefix(r.ID, "olm-v1-") && !strings.HasPrefix(r.ID, "community-") && !covered[r.ID] && r.Code == failure.GraphInvalid && r.ID != "default-channel-changed" {
			t.Errorf("no case covers %s", r.ID)
		}
	}
}

func TestRulesAreSound(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Rules {
		if seen[r.ID] {
			t.Errorf("%s occurs twice", r.ID)
		}
		seen[r.ID] = true
		if r.Meaning == "" || r.Remedy == "" || strings.ToLower(r.ID) != r.ID || strings.Contains(r.ID, " ") {
			t.Errorf("incomplete: %+v", r)
		}
		if r.Opm && r.Level != Error {
			t.Errorf("opm rejects for %s, so it must be an error", r.ID)
		}
	}
}

func TestLevels(t *testing.T) {
	src := strings.Replace(soundCatalog, "'>=1.0.0 <1.2.0'", "'>=1.0.0'", 1)
	c := load("c.yaml", []byte(src))
	for _, test := range []struct {
		levels Levels
		want   string
	}{
		{Levels{}, "skip-range-covers-self warning"},
		{Levels{Strict: true}, "skip-range-covers-self error"},
		{Levels{Of: map[string]Level{"skip-range-covers-self": Error}}, "skip-range-covers-self error"},
		{Levels{Of: map[string]Level{"skip-range-covers-self": Off}, Strict: true}, ""},
	} {
		var got []string
		for _, f := range Verify(c, nil, test.levels) {
			got = append(got, f.ID+" "+string(f.Level))
		}
		if strings.Join(got, ", ") != test.want {
			t.Errorf("%+v: got %v, want %s", test.levels, got, test.want)
		}
	}
	for _, bad := range []Levels{{Of: map[string]Level{"nope": Error}}, {Of: map[string]Level{"skip-empty": "loud"}}, {Of: map[string]Level{"skip-empty": ""}}} {
		if err := bad.Check(); !failure.Is(err, failure.Config) {
			t.Errorf("%v: %v", bad, err)
		}
	}
	if err := (Levels{Of: map[string]Level{"skip-empty": Warning}}).Check(); err != nil {
		t.Error(err)
	}
}

// Findings are sorted by place, with errors first.
func TestSort(t *testing.T) {
	want := []Finding{
		{Package: "a", Channel: "z", File: "z", Line: 9},
		{Package: "b", File: "z", Line: 9},
		{Package: "b", Channel: "c", File: "a", Line: 7},
		{Package: "b", Channel: "c", File: "b", Line: 2, Level: Warning},
		{Package: "b", Channel: "c", File: "b", Line: 10, Level: Error, ID: "z"},
		{Package: "b", Channel: "c", File: "b", Line: 10, Level: Warning, ID: "a", Message: "b"},
		{Package: "b", Channel: "c", File: "b", Line: 10, Level: Warning, ID: "b", Message: "a"},
		{Package: "b", Channel: "c", File: "b", Line: 10, Level: Warning, ID: "b", Message: "c"},
		{Package: "b", Channel: "d", File: "a", Line: 1},
	}
	got := slices.Clone(want)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
	if Sort(got); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

func TestSkipsOfWhatWasPublishedAreKnown(t *testing.T) {
	src := strings.Replace(soundCatalog, "  skipRange: '>=1.0.0 <1.2.0'", "  skips:\n  - p.v1.1.1", 1)
	was := strings.NewReplacer("p.v1.1.0", "p.v1.1.1").Replace(soundCatalog)
	if found := Verify(load("c.yaml", []byte(src)), load("old.yaml", []byte(was)), Levels{}); len(found) > 0 {
		t.Errorf("p.v1.1.1 was published, and yet: %v", found)
	}
}

func TestFailuresCarryTheirCodes(t *testing.T) {
	var err error
	for _, e := range Failures([]Finding{
		newFinding("skip-unknown", Pos{}, "a warning"),
		newFinding("version-skew", Pos{"c.yaml", 3}, "skew"),
		newFinding("upgrade-path-lost", Pos{"c.yaml", 2}, "lost"),
		newFinding("entry-pruned", Pos{"c.yaml", 1}, "pruned"),
	}) {
		err = joined{err, e}
	}
	if code := failure.ExitCode(err); code != int(failure.CatalogPruned) {
		t.Errorf("pruned comes before lost and skew, and the code is %d", code)
	}
	if all := failure.All(err); len(all) != 3 || all[0].Place() != "c.yaml:1" {
		t.Errorf("%v", all)
	}
}

type joined [2]error

func (j joined) Error() string   { return fmt.Sprint(j[0], j[1]) }
func (j joined) Unwrap() []error { return j[:] }

// Building the view of a catalog with missing parts never panics.
func TestNothingInACatalogPanics(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 4))
	lines := strings.SplitAfter(soundCatalog, "\n")
	sound := load("c.yaml", []byte(soundCatalog))
	for range 2000 {
		var b strings.Builder
		for _, line := range lines {
			switch r.IntN(30) {
			case 0:
			case 1:
				b.WriteString(lines[r.IntN(len(lines))])
			default:
				b.WriteString(line)
			}
		}
		c := load("c.yaml", []byte(b.String()))
		Verify(c, sound, Levels{})
		CompareBase(sound, c, Levels{})
		CompareNext([]Stage{{"a", sound}, {"b", c}, {"c", sound}}, Levels{})
		Diff(sound, c)
		Diff(c, sound)
	}
}
