package plan

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
)

func TestDiscover(t *testing.T) {
	catalog, other := catalogOf("op", fbc.TypeCSVMetadata), catalogOf("ap", fbc.TypeCSVMetadata)
	asked := func(a Asked) Input {
		if a.Channels == nil {
			a.Channels = []string{"a"}
		}
		return Input{Asked: a}
	}
	split := map[string]string{
		"c/op/package.yaml":           "schema: olm.package\nname: op\ndefaultChannel: stable\n",
		"c/op/channels/stable.yaml":   "schema: olm.channel\npackage: op\nname: stable\nentries:\n- name: op.v1.0.0\n",
		"c/op/bundles/op.v1.0.0.json": `{"schema": "olm.bundle", "package": "op", "name": "op.v1.0.0", "image": "quay.io/example/op-bundle:v1.0.0", "properties": [{"type": "olm.package", "value": {"packageName": "op", "version": "1.0.0"}}]}`,
	}
	with := func(base map[string]string, more ...string) map[string]string {
		out := map[string]string{}
		for k, v := range base {
			out[k] = v
		}
		for i := 0; i < len(more); i += 2 {
			out[more[i]] = more[i+1]
		}
		return out
	}
	for name, tt := range map[string]planCase{
		"one of each": {files: map[string]string{"templates/basic.yaml": basicTemplate, "catalog/v4.18/op/catalog.yaml": catalog, "config/x.yaml": "a: {olm.skipRange: b}\n", "Makefile": "x"}, in: asked(Asked{}),
			want: "templates/basic.yaml basic\n  into a\n  render catalog/v4.18/op/catalog.yaml yaml csv\n"},
		"two channels":           {files: map[string]string{"t.yaml": basicTemplate}, in: asked(Asked{Channels: []string{"a", "b"}}), want: "t.yaml basic\n  into a,b\n"},
		"a template alone":       {files: map[string]string{"t.yml": semverTemplate}, in: asked(Asked{Channels: []string{"Fast"}}), want: "t.yml semver\n  into Fast\n"},
		"a catalog alone":        {files: map[string]string{"c.yaml": catalog}, in: asked(Asked{}), want: "c.yaml raw\n  into a\n"},
		"the catalog is split":   {files: with(split, "t.yaml", basicTemplate), in: asked(Asked{}), want: "t.yaml basic\n  into a\n  render c/op json csv\n"},
		"split, at the top":      {files: map[string]string{"package.yaml": split["c/op/package.yaml"], "channels.yaml": split["c/op/channels/stable.yaml"], "t.yaml": basicTemplate}, in: asked(Asked{}), want: "t.yaml basic\n  into a\nnot t.yaml .: its files are at the top of the repository, among all others\n"},
		"a split catalog alone":  {files: split, in: asked(Asked{}), want: "c/op raw\n  into a\n"},
		"a package beside it":    {files: map[string]string{"c/op.yaml": catalog, "c/ap.yaml": other}, in: asked(Asked{}), want: "c/op.yaml raw\n  into a\n"},
		"of other packages":      {files: map[string]string{"t/op.yaml": basicTemplate, "t/ap.yaml": strings.ReplaceAll(basicTemplate, "op", "ap"), "c/ap.yaml": other}, in: asked(Asked{}), want: "t/op.yaml basic\n  into a\n"},
		"two templates":          {files: map[string]string{"a.yaml": basicTemplate, "b.yaml": semverTemplate}, in: asked(Asked{}), code: failure.Usage, err: "looking for the template of package op: there are 2: a.yaml, b.yaml Name one with --template"},
		"two catalogs":           {files: map[string]string{"t.yaml": basicTemplate, "v4.17/c.yaml": catalog, "v4.18/c.yaml": catalog}, in: asked(Asked{}), code: failure.Usage, err: "looking for the catalog of package op: there are 2: v4.17/c.yaml, v4.18/c.yaml"},
		"two catalogs alone":     {files: map[string]string{"v4.17/c.yaml": catalog, "v4.18/c.yaml": catalog}, in: asked(Asked{}), code: failure.Usage, err: "there are 2"},
		"two, and one asked for": {files: map[string]string{"v4.17/c.yaml": catalog, "v4.18/c.yaml": catalog}, in: asked(Asked{Catalog: "v4.18/c.yaml"}), want: "v4.18/c.yaml raw\n  into a\n"},
		"template asked for":     {files: map[string]string{"a.yaml": basicTemplate, "b.yaml": basicTemplate, "c.yaml": catalog}, in: asked(Asked{Template: "b.yaml"}), want: "b.yaml basic\n  into a\n  render c.yaml yaml csv\n"},
		"catalog asked for": {files: map[string]string{"a.yaml": basicTemplate, "v4.17/c.yaml": catalog, "v4.18/c.yaml": catalog}, in: asked(Asked{Catalog: "v4.17/c.yaml"}),
			want: "a.yaml basic\n  into a\n  render v4.17/c.yaml yaml csv\n"},
		"both asked for": {files: map[string]string{"a.yaml": basicTemplate, "b.yaml": basicTemplate}, in: asked(Asked{Template: "b.yaml", Catalog: "new/v4.12/c.json"}),
			want: "b.yaml basic\n  into a\n  render new/v4.12/c.json json objects new\n"},
		"a catalog asked for as template": {files: map[string]string{"c.yaml": catalog, "d.yaml": catalog}, in: asked(Asked{Template: "c.yaml"}), want: "c.yaml raw\n  into a\n"},
		"asked for and missing":           {files: map[string]string{"c.yaml": catalog}, in: asked(Asked{Template: "t.yaml"}), code: failure.TemplateNotFound, err: "t.yaml"},
		"asked for and created":           {files: map[string]string{"c.yaml": catalog}, in: asked(Asked{Template: "t.yaml", Create: "basic"}), want: "t.yaml basic new\n  into a\n  render c.yaml yaml csv\n"},
		"nothing":                         {files: map[string]string{"README.md": "x", "a.yaml": "a: b\n"}, in: asked(Asked{}), code: failure.TemplateNotFound, err: "graft insert --create"},
		"nothing that can be read":        {files: map[string]string{"a.yaml": "schema: olm.semver\n\tx\n"}, in: asked(Asked{}), code: failure.TemplateNotFound, err: "Correct a.yaml, or name the template."},
		"passed over": {files: map[string]string{
			"t.yaml": basicTemplate, ".git/t.yaml": basicTemplate, ".github/t.yaml": basicTemplate, "x/node_modules/t.yaml": basicTemplate, "vendor/a/t.yaml": basicTemplate, "x/testdata/t.yaml": basicTemplate, "t.txt": basicTemplate,
		}, in: asked(Asked{}), want: "t.yaml basic\n  into a\n"},
		"the catalogs of a composite template are not templates": {files: map[string]string{"catalogs.yaml": "schema: olm.composite.catalogs\ncatalogs: []\n", "t.yaml": basicTemplate}, in: asked(Asked{}), want: "t.yaml basic\n  into a\n"},
	} {
		t.Run(name, tt.run)
	}
}

// A found template comes with the reason for choosing it.
func TestDiscoveryGivesReasons(t *testing.T) {
	p, err := Make(repo(map[string]string{"t.yaml": basicTemplate, "c.yaml": catalogOf("op", fbc.TypeCSVMetadata)}), Input{Bundle: bundleOf("1.1.0"), Annotated: []string{"stable"}})
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(p.Targets[0].Reasons, "\n")
	want := `t.yaml is the only template in the repository for package op.
c.yaml is the only catalog in the repository with package op.
It goes into stable, the default channel of t.yaml, because no channels are given.
No edges are given: it takes its place by version.`
	if got != want {
		t.Errorf("the reasons are\n%s\nwant\n%s", got, want)
	}
}

// Links are not followed, and unreadable files are not candidates.
func TestDiscoveryOfOddFiles(t *testing.T) {
	fsys := repo(map[string]string{"t.yaml": basicTemplate})
	fsys["link.yaml"] = &fstest.MapFile{Data: []byte("t.yaml"), Mode: fs.ModeSymlink | 0o777}
	fsys["pipe.yaml"] = &fstest.MapFile{Mode: fs.ModeNamedPipe}
	p, err := Make(fsys, Input{Bundle: bundleOf("1.1.0"), Annotated: []string{"stable"}})
	if err != nil || len(p.Targets) != 1 || p.Targets[0].Template != "t.yaml" {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestNamesSchema(t *testing.T) {
	for text, want := range map[string]bool{
		"schema: olm.semver":                    true,
		"Schema:   'olm.semver'":                true,
		`{"name": "x", "schema":"olm.package"}`: true,
		"a: olm.x\nb: 1\nschema: olm.package":   true,
		"olm.semver":                            false,
		"olm.skipRange: '>=1.0.0'":              false,
		"kind: olm.semver":                      false,
		"schema: other":                         false,
		"":                                      false,
	} {
		if got := namesSchema([]byte(text), "olm."); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func BenchmarkDiscover(b *testing.B) {
	files := map[string]string{"t.yaml": basicTemplate, "c.yaml": catalogOf("op", fbc.TypeCSVMetadata)}
	for _, r := range "abcdefghij" {
		for _, s := range "abcdefghij" {
			files["manifests/"+string(r)+string(s)+".yaml"] = strings.Repeat("key: some text that says olm. now and then\n", 2000)
		}
	}
	fsys := repo(files)
	in := Input{Bundle: bundleOf("1.1.0"), Annotated: []string{"stable"}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Make(fsys, in); err != nil {
			b.Fatal(err)
		}
	}
}
