package template

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/template/kind"
)

const deprecatedBundle = "- schema: olm.deprecations\n  package: op\n  entries:\n  - message: \"old\" # since May\n    reference:\n      name: op.v1.0.0\n      schema: olm.bundle\n"

// deprecations lists the lines that a deprecation removes and adds, as lineDiff writes them.
var deprecations = []struct {
	name, template string
	asked          kind.Deprecation
	want           string
	code           failure.Code
	says           string
}{
	{"a new document", basicOf(channelDoc("stable", bottom), bundleDocs("1.0.0")), kind.Deprecation{Channels: []string{"stable"}},
		"+- schema: olm.deprecations\n+  package: op\n+  entries:\n+  - reference:\n+      schema: olm.channel\n+      name: stable\n+    message: new\n", 0, ""},
	{"the package", basicOf(channelDoc("stable", bottom)), kind.Deprecation{},
		"+- schema: olm.deprecations\n+  package: op\n+  entries:\n+  - reference:\n+      schema: olm.package\n+    message: new\n", 0, ""},
	{"beside another, as that is written", basicOf(channelDoc("stable", bottom, middle), deprecatedBundle), kind.Deprecation{Bundles: []string{"op.v1.1.0"}},
		"+  - message: \"new\"\n+    reference:\n+      name: op.v1.1.0\n+      schema: olm.bundle\n", 0, ""},
	{"another message", basicOf(channelDoc("stable", bottom), deprecatedBundle), kind.Deprecation{Bundles: []string{"op.v1.0.0"}},
		"-  - message: \"old\" # since May\n+  - message: \"new\" # since May\n", 0, ""},
	{"no message so far", basicOf(channelDoc("stable", bottom), "- schema: olm.deprecations\n  package: op\n  entries:\n  - reference:\n      schema: olm.package\n"), kind.Deprecation{}, "+    message: new\n", 0, ""},
	{"an empty message", basicOf(channelDoc("stable", bottom), "- schema: olm.deprecations\n  package: op\n  entries:\n  - reference:\n      schema: olm.package\n    message:\n"), kind.Deprecation{}, "-    message:\n+    message: new\n", 0, ""},
	{"an empty list", basicOf(channelDoc("stable", bottom), "- schema: olm.deprecations\n  package: op\n  entries: []\n"), kind.Deprecation{},
		"-  entries: []\n+  entries:\n+  - reference:\n+      schema: olm.package\n+    message: new\n", 0, ""},
	{"no list", basicOf(channelDoc("stable", bottom), "- schema: olm.deprecations\n  package: op\n"), kind.Deprecation{},
		"+  entries:\n+  - reference:\n+      schema: olm.package\n+    message: new\n", 0, ""},
	{"several at once", basicOf(channelDoc("stable", bottom, middle)), kind.Deprecation{Bundles: []string{"op.v1.0.0", "op.v1.1.0"}, Channels: []string{"stable"}},
		"+- schema: olm.deprecations\n+  package: op\n+  entries:\n+  - reference:\n+      schema: olm.channel\n+      name: stable\n+    message: new\n+  - reference:\n+      schema: olm.bundle\n+      name: op.v1.0.0\n+    message: new\n+  - reference:\n+      schema: olm.bundle\n+      name: op.v1.1.0\n+    message: new\n", 0, ""},
	{"CRLF", strings.ReplaceAll(basicOf(channelDoc("stable", bottom)), "\n", "\r\n"), kind.Deprecation{},
		"+- schema: olm.deprecations\r\n+  package: op\r\n+  entries:\r\n+  - reference:\r\n+      schema: olm.package\r\n+    message: new\r\n", 0, ""},
	{"JSON", "{\n  \"schema\": \"olm.template.basic\",\n  \"entries\": [\n    {\"schema\": \"olm.package\", \"name\": \"op\"}\n  ]\n}\n", kind.Deprecation{},
		"-    {\"schema\": \"olm.package\", \"name\": \"op\"}\n+    {\"schema\": \"olm.package\", \"name\": \"op\"},\n+    {\"schema\": \"olm.deprecations\", \"package\": \"op\", \"entries\": [{\"reference\": {\"schema\": \"olm.package\"}, \"message\": \"new\"}]}\n", 0, ""},
	{"a stream", bundleFirst, kind.Deprecation{Channels: []string{"stable"}},
		"+---\n+schema: olm.deprecations\n+package: op\n+entries:\n+- reference:\n+    schema: olm.channel\n+    name: stable\n+  message: new\n", 0, ""},
	{"a catalog", "---\nschema: olm.package\nname: op\n---\nschema: olm.bundle\nname: op.v1.0.0\npackage: op\nimage: a/b@sha256:aaaa\nproperties: []\n", kind.Deprecation{Bundles: []string{"op.v1.0.0"}},
		"+---\n+schema: olm.deprecations\n+package: op\n+entries:\n+- reference:\n+    schema: olm.bundle\n+    name: op.v1.0.0\n+  message: new\n", 0, ""},
	{"substitutes", plainSubstitutes, kind.Deprecation{Package: "op"},
		"+- schema: olm.deprecations\n+  package: op\n+  entries:\n+  - reference:\n+      schema: olm.package\n+    message: new\n", 0, ""},
	{"an unknown channel", basicOf(channelDoc("stable", bottom)), kind.Deprecation{Channels: []string{"slow"}}, "", failure.ChannelUnknown, "deprecating channel slow, which package op does not have"},
	{"an unknown bundle", basicOf(channelDoc("stable", bottom)), kind.Deprecation{Bundles: []string{"op.v1.1.0"}}, "", failure.BundleNotFound, "deprecating bundle op.v1.1.0, which package op does not have"},
	{"another package", basicOf(channelDoc("stable", bottom)), kind.Deprecation{Package: "other"}, "", failure.Usage, "deprecating all of package other in t.yaml, which holds package op"},
	{"a message on several lines", basicOf(channelDoc("stable", bottom), "- schema: olm.deprecations\n  package: op\n  entries:\n  - reference:\n      schema: olm.package\n    message: |\n      old\n"), kind.Deprecation{}, "", failure.EditRefused, "not on one line"},
	{"semver", plainSemver, kind.Deprecation{}, "", failure.TemplateUnsupported, "a semver template holds no olm.deprecations"},
	{"goodstuff", plainGoodstuff, kind.Deprecation{}, "", failure.TemplateUnsupported, "a goodstuff template holds no olm.deprecations"},
}

// TestDeprecate makes each deprecation twice and checks that no other line changes.
func TestDeprecate(t *testing.T) {
	for _, tt := range deprecations {
		tt.asked.Message = "new"
		got, o, err := deprecate([]byte(tt.template), tt.asked)
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
		if len(o.Changes) != len(tt.asked.References()) {
			t.Errorf("%s: changes %+v", tt.name, o.Changes)
		}
		if again, o, err := deprecate(got, tt.asked); err != nil || string(again) != string(got) || len(o.Changes) > 0 {
			t.Errorf("%s: once more: %v\n%s", tt.name, err, lineDiff(string(got), string(again)))
		}
	}
}

func deprecate(src []byte, d kind.Deprecation) ([]byte, *kind.Outcome, error) {
	o, err := Deprecate(fstest.MapFS{"t.yaml": {Data: src}}, "t.yaml", "t.yaml", nil, d)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range o.Files {
		src = f.After
	}
	return src, o, nil
}
