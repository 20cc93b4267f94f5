package config

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/plan"
)

func TestParseCI(t *testing.T) {
	ci, err := ParseCI("ci.yaml", []byte(`---
addReviewers: true
fbc:
  enabled: true
  version_promotion_strategy: always
  catalog_mapping:
    - template_name: basic.yaml
      catalog_names: ["v4.16", v4.17]
      type: olm.template.basic
      owner: someone
    - catalog_names:
        - v4.18
      type: olm.semver
      template_name: sub/semver.yaml
reviewers: [a]
`))
	if err != nil {
		t.Fatal(err)
	}
	want := &CI{Enabled: true, Mapping: []Mapping{
		{Template: "basic.yaml", Catalogs: []string{"v4.16", "v4.17"}, Type: "olm.template.basic", Line: 7, Col: 7},
		{Template: "sub/semver.yaml", Catalogs: []string{"v4.18"}, Type: "olm.semver", Line: 11, Col: 7},
	}}
	if !reflect.DeepEqual(ci, want) {
		t.Errorf("got %+v, want %+v", ci, want)
	}
	for _, nothing := range []string{"", "---\n# nothing yet\n", "reviewers: [a]\n", "fbc:\n", "fbc: {}\n", "fbc: {enabled: false}\n", "fbc: {enabled: false, catalog_mapping: }\n"} {
		ci, err := ParseCI("ci.yaml", []byte(nothing))
		if err != nil || ci.Enabled || len(ci.Mapping) > 0 {
			t.Errorf("%q gives %+v, %v", nothing, ci, err)
		}
	}
}

func TestParseCIRefuses(t *testing.T) {
	entry := func(s string) string { return "fbc:\n  catalog_mapping:\n  - {" + s + "}\n" }
	for _, tt := range []struct{ src, place, message, remedy string }{
		{"- a\n", "1:1", "it is not a mapping", ""},
		{"fbc: true\n", "1:6", "reading fbc: it is true or false and must be a mapping", ""},
		{"fbc: {enabled: \"true\"}\n", "1:16", "fbc.enabled: it is a text", ""},
		{"fbc: {enable: true}\n", "1:7", "there is no key enable", "Did you mean enabled? "},
		{"fbc: {catalog_mapping: {}}\n", "1:24", "must be a list", ""},
		{"fbc: {catalog_mapping: [a]}\n", "1:25", "an entry is not a mapping", ""},
		// The catalogs' own documentation misspells this key in one place.
		{entry("template_name: a.yaml, catalogs_names: [v4.16], type: olm.semver"), "3:29", "there is no key catalogs_names", "Did you mean catalog_names? "},
		{entry("template_name: a.yaml, type: olm.semver"), "3:5", "lacks template_name, catalog_names or type", ""},
		{entry("template_name: a.yaml, catalog_names: v4.16, type: olm.semver"), "3:44", "catalog_names is not a list", ""},
		{entry("template_name: a.yaml, catalog_names: [4.16], type: olm.semver"), "3:45", "it is a number and must be a text", `"4.16"`},
		{entry("template_name: ../a.yaml, catalog_names: [v4.16], type: olm.semver"), "3:21", "is not the name of a file in catalog-templates", ""},
		{entry("template_name: /a.yaml, catalog_names: [v4.16], type: olm.semver"), "3:21", "is not the name of a file in catalog-templates", ""},
		{entry("template_name: a.yaml, catalog_names: [v4.16, ../..], type: olm.semver"), "3:52", "is not the name of a folder in catalogs", ""},
		{entry("template_name: a.yaml, catalog_names: [..], type: olm.semver"), "3:45", "is not the name of a folder in catalogs", ""},
		{entry("template_name: a.yaml, catalog_names: [a/b], type: olm.semver"), "3:45", "is not the name of a folder in catalogs", ""},
		{entry("template_name: a.yaml, catalog_names: ['*'], type: olm.semver"), "3:45", "is not the name of a folder in catalogs", ""},
		{entry("template_name: a.yaml, template_name: b.yaml, catalog_names: [a], type: olm.semver"), "3:29", "the key template_name occurs twice", ""},
		{"fbc: {}\n---\nfbc: {}\n", "2:1", "a second document follows", ""},
	} {
		_, err := ParseCI("ci.yaml", []byte(tt.src))
		check3(t, tt.src, err, "ci.yaml:"+tt.place, tt.message, tt.remedy)
	}
}

func check3(t *testing.T, src string, err error, place, message, remedy string) {
	t.Helper()
	f := failure.Of(err)
	if f == nil || f.Code != failure.Config || f.Place() != place || !strings.Contains(f.Message, message) || !strings.Contains(f.Remedy, remedy) {
		t.Errorf("%q gives %v (%+v), want %s: %s (%s)", src, err, f, place, message, remedy)
	}
}

func TestParseRelease(t *testing.T) {
	all, err := ParseRelease("r.yaml", []byte(`---
merge: false
catalog_templates:
- template_name: basic.yaml
  channels: [stable, stable-1.26]
  replaces: op.v1.0.0
  skips: [op.v0.9.0]
  skipRange: '>=0.1.0 <1.1.0'
  defaultChannel: stable
  ticket: ABC-1
- {template_name: semver.yaml, channels: [Fast], replaces: }
`))
	want := []Release{
		{"basic.yaml", []string{"stable", "stable-1.26"}, "op.v1.0.0", []string{"op.v0.9.0"}, ">=0.1.0 <1.1.0", "stable", 4, 3},
		{Template: "semver.yaml", Channels: []string{"Fast"}, Line: 11, Col: 3},
	}
	if err != nil || !reflect.DeepEqual(all, want) {
		t.Errorf("got %+v, %v, want %+v", all, err, want)
	}
	for _, tt := range []struct{ src, place, message, remedy string }{
		{"catalog_template: []\n", "1:1", "there is no key catalog_template", "Did you mean catalog_templates? "},
		{"merge: true\n", "1:1", "catalog_templates is not a list", ""},
		{"catalog_templates: [a]\n", "1:21", "an entry is not a mapping", ""},
		{"catalog_templates: [{template_name: a.yaml}]\n", "1:21", "lacks template_name or channels", ""},
		{"catalog_templates: [{template_name: a.yaml, channels: []}]\n", "1:21", "lacks template_name or channels", ""},
		{"catalog_templates: [{template_name: a.yaml, channels: [4.1]}]\n", "1:56", "it is a number", `"4.1"`},
		{"catalog_templates: [{template_name: a.yaml, channels: [a], skiprange: x}]\n", "1:60", "there is no key skiprange", "Did you mean skipRange? "},
		{"catalog_templates: [{template_name: a.yaml, channels: [a], skipRange: '<1.2'}]\n", "1:71", "the skipRange", "Write a range"},
		{"catalog_templates: [{template_name: a.yaml, channels: [a], replaces: [b]}]\n", "1:70", "it is a list and must be a text", ""},
	} {
		_, err := ParseRelease("r.yaml", []byte(tt.src))
		check3(t, tt.src, err, "r.yaml:"+tt.place, tt.message, tt.remedy)
	}
}

const ciYAML = `fbc:
  enabled: true
  catalog_mapping:
  - {template_name: basic.yaml, catalog_names: [v4.16, v4.17], type: olm.template.basic}
  - {template_name: semver.yaml, catalog_names: [v4.18], type: olm.semver}
`

func community(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

func TestSetupOfTheCommunityLayout(t *testing.T) {
	fsys := community(map[string]string{
		"operators/op/ci.yaml":                   ciYAML,
		"operators/op/1.1.0/release-config.yaml": "catalog_templates:\n- {template_name: semver.yaml, channels: [Fast]}\n- {template_name: basic.yaml, channels: [a], replaces: op.v1.0.0, skips: [op.v0.1.0], defaultChannel: a}\n",
		"catalogs/v4.17/op/catalog.json":         "",
	})
	setup, layout, err := Default().Setup(fsys, "op", "1.1.0")
	if err != nil || layout != Community {
		t.Fatal(layout, err)
	}
	want := &plan.Setup{File: "operators/op/1.1.0/release-config.yaml", Community: &plan.Community{CI: "operators/op/ci.yaml", Release: "operators/op/1.1.0/release-config.yaml", Name: "op", Version: "1.1.0"}, VersionsLabel: plan.IgnoreLabel, Targets: []plan.TargetSetup{{
		Line: 2, Col: 3, Template: "operators/op/catalog-templates/semver.yaml", Create: "semver",
		Rules:    []plan.ChannelRule{{Channels: []plan.Pattern{"Fast"}}},
		Catalogs: []plan.CatalogSetup{{Path: "catalogs/v4.18/op/catalog.yaml", Metadata: plan.Auto, Create: true}},
	}, {
		Line: 3, Col: 3, Template: "operators/op/catalog-templates/basic.yaml", Create: "basic",
		Rules: []plan.ChannelRule{{Channels: []plan.Pattern{"a"}, DefaultChannel: "a"}},
		Said:  plan.Edges{Replaces: "op.v1.0.0", Skips: []string{"op.v0.1.0"}},
		Catalogs: []plan.CatalogSetup{
			{Path: "catalogs/v4.16/op/catalog.yaml", Metadata: plan.Auto, Create: true},
			{Path: "catalogs/v4.17/op/catalog.json", Metadata: plan.Auto, Create: true},
		},
	}}}
	if !reflect.DeepEqual(setup, want) {
		t.Errorf("got\n%+v\nwant\n%+v", setup, want)
	}
	// Settings for all targets stay.
	c := Default()
	c.File, c.Registries = File, map[string]string{"a.io/b": "c.io/d"}
	if setup, _, err = c.Setup(fsys, "op", "1.1.0"); err != nil || setup.Registries["a.io/b"] != "c.io/d" {
		t.Errorf("the registries are lost: %+v, %v", setup, err)
	}
	// Targets of graft.yaml take precedence.
	c.Targets = []plan.TargetSetup{{Template: "t.yaml"}}
	if setup, layout, err = c.Setup(fsys, "op", "1.1.0"); err != nil || layout != ByFile || len(setup.Targets) != 1 {
		t.Errorf("graft.yaml does not go first: %s %+v, %v", layout, setup, err)
	}
}

func TestSetupWithoutARelease(t *testing.T) {
	fsys := community(map[string]string{
		"operators/op/ci.yaml":                  ciYAML,
		"operators/op/1.1.0/release-config.yml": "catalog_templates: []\n",
	})
	setup, layout, err := Default().Setup(fsys, "op", "1.1.0")
	if err != nil || layout != Community || len(setup.Targets) != 2 {
		t.Fatalf("%s %+v, %v", layout, setup, err)
	}
	for _, target := range setup.Targets {
		if !target.OnlyAsked || !strings.Contains(target.Unless, "release-config.yaml does not exist") || !strings.Contains(target.Unless, "release-config.yml is not read") {
			t.Errorf("%+v", target)
		}
	}
}

func TestLayouts(t *testing.T) {
	release := "catalog_templates:\n- {template_name: basic.yaml, channels: [a]}\n"
	annotations := "annotations:\n  operators.operatorframework.io.bundle.package.v1: pkg\n"
	for name, tt := range map[string]struct {
		files  map[string]string
		layout Layout
		err    string
	}{
		"nothing":             {nil, Unsaid, ""},
		"operators is a file": {map[string]string{"operators": ""}, Unsaid, ""},
		"no ci.yaml":          {map[string]string{"operators/pkg/1.0.0/release-config.yaml": release}, Unsaid, ""},
		"not enabled":         {map[string]string{"operators/pkg/ci.yaml": "reviewers: [a]\n"}, Unsaid, ""},
		"not enabled, released": {map[string]string{"operators/pkg/ci.yaml": "reviewers: [a]\n", "operators/pkg/1.0.0/release-config.yaml": release}, Unsaid,
			"operators/pkg/ci.yaml:1:1: reading operators/pkg/1.0.0/release-config.yaml: operators/pkg/ci.yaml says nothing of fbc.enabled: true"},
		"released":       {map[string]string{"operators/pkg/ci.yaml": ciYAML, "operators/pkg/1.0.0/release-config.yaml": release}, Community, ""},
		"ci.yml":         {map[string]string{"operators/pkg/ci.yml": ciYAML, "operators/pkg/1.0.0/release-config.yaml": release}, Community, ""},
		"folder v":       {map[string]string{"operators/pkg/ci.yaml": ciYAML, "operators/pkg/v1.0.0/release-config.yaml": release}, Community, ""},
		"other name":     {map[string]string{"operators/a/1.0.0/metadata/annotations.yaml": "annotations: {}\n", "operators/short/ci.yaml": ciYAML, "operators/short/1.0.0/release-config.yaml": release, "operators/short/1.0.0/metadata/annotations.yaml": annotations}, Community, ""},
		"other operator": {map[string]string{"operators/short/ci.yaml": ciYAML, "operators/short/1.0.0/release-config.yaml": release}, Unsaid, ""},
		"nothing mapped": {map[string]string{"operators/pkg/ci.yaml": "fbc: {enabled: true}\n"}, Unsaid, "the operator is kept as file-based catalogs, and no template is named"},
		"unmapped": {map[string]string{"operators/pkg/ci.yaml": ciYAML, "operators/pkg/1.0.0/release-config.yaml": "catalog_templates:\n- {template_name: basics.yaml, channels: [a]}\n"}, Unsaid,
			"operators/pkg/1.0.0/release-config.yaml:2:3: reading catalog_templates: operators/pkg/ci.yaml maps no template basics.yaml to catalogs"},
		"leads out": {map[string]string{"operators/pkg/ci.yaml": ciYAML, "operators/pkg/1.0.0/release-config.yaml": "catalog_templates:\n- {template_name: ../../x.yaml, channels: [a]}\n"}, Unsaid,
			"maps no template ../../x.yaml to catalogs"},
		"broken": {map[string]string{"operators/pkg/ci.yaml": "fbc: 1\n"}, Unsaid, "operators/pkg/ci.yaml:1:6: reading fbc"},
	} {
		_, layout, err := Default().Setup(community(tt.files), "pkg", "1.0.0")
		if layout != tt.layout || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: %s, %v; want %s, %s", name, layout, err, tt.layout, tt.err)
		}
	}
}

// A package or version is foreign text and must not lead to other files.
func TestHostileNamesLeadNowhere(t *testing.T) {
	fsys := community(map[string]string{"operators/op/ci.yaml": ciYAML, "ci.yaml": ciYAML})
	for _, pkg := range []string{"..", ".", "", "../operators/op", "/etc", "op/..", `..\op`, "*", "o\x00p"} {
		if setup, layout, err := Default().Setup(fsys, pkg, "1.0.0"); err != nil || layout != Unsaid || len(setup.Targets) > 0 {
			t.Errorf("package %q gives %s, %+v, %v", pkg, layout, setup, err)
		}
	}
	for _, version := range []string{"..", "../../x", "/", ""} {
		if _, layout, err := Default().Setup(fsys, "op", version); err != nil || layout != Unsaid {
			t.Errorf("version %q gives %s, %v", version, layout, err)
		}
	}
}

func FuzzCommunity(f *testing.F) {
	f.Add(ciYAML, "catalog_templates:\n- {template_name: basic.yaml, channels: [a], skips: [b]}\n")
	f.Add("fbc: {enabled: true, catalog_mapping: [{template_name: ../x, catalog_names: [..], type: t}]}", "")
	f.Fuzz(func(t *testing.T, ci, release string) {
		for _, err := range []error{second(ParseCI("f", []byte(ci))), second(ParseRelease("f", []byte(release)))} {
			if e := failure.Of(err); err != nil && (e.Code != failure.Config || e.File != "f" || e.Line == 0) {
				t.Errorf("%q, %q give %+v", ci, release, e)
			}
		}
		fsys := community(map[string]string{"operators/op/ci.yaml": ci, "operators/op/1.0.0/release-config.yaml": release})
		setup, _, err := Default().Setup(fsys, "op", "1.0.0")
		if err != nil {
			return
		}
		for _, target := range setup.Targets {
			if err := plan.CheckPath(string(target.Template)); err != nil || !strings.HasPrefix(string(target.Template), "operators/op/catalog-templates/") {
				t.Errorf("%q leads to %s", ci, target.Template)
			}
			if slices.ContainsFunc(target.Catalogs, func(c plan.CatalogSetup) bool {
				return plan.CheckPath(string(c.Path)) != nil || !strings.HasPrefix(string(c.Path), "catalogs/")
			}) {
				t.Errorf("%q leads to %+v", ci, target.Catalogs)
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }
