package publish

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/olmgraft/graft/internal/config"
	"github.com/olmgraft/graft/internal/forge"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/template/kind"
)

// newCommunity returns a repository in the layout of the community catalogs, with one operator.
func newCommunity(t *testing.T, files map[string]string) *setup {
	t.Helper()
	w := newSetup(t)
	w.repo.files = fstest.MapFS{}
	all := map[string]string{
		"operators/op/ci.yaml":                      "fbc:\n  enabled: true\n  catalog_mapping:\n  - {template_name: basic.yaml, catalog_names: [v4.20], type: olm.template.basic}\n",
		"operators/op/1.1.0/release-config.yaml":    "catalog_templates:\n- {template_name: basic.yaml, channels: [stable]}\n",
		"operators/op/catalog-templates/basic.yaml": strings.ReplaceAll(basicTemplate, "REGISTRY", w.Addr),
		"catalogs/v4.20/.indexignore":               "*.md\n",
	}
	for name, text := range files {
		all[name] = text
	}
	for name, text := range all {
		w.repo.files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	configs := config.Commits{}
	w.o.Setup = func(base Base, b kind.Bundle) (*plan.Setup, error) {
		c, err := configs.At(base, base.Commit)
		if err != nil {
			return nil, err
		}
		setup, _, err := c.Setup(base, b.Package, b.Version.String())
		return setup, err
	}
	return w
}

// The release bot's open pull request is named in the report and in the body, and Graft's is proposed beside it.
func TestTheCommunitysReleaseBotIsNamed(t *testing.T) {
	for title, named := range map[string]bool{"Auto FBC release op 1.1.0": true, "Auto FBC release op 1.1.1": false} {
		w := newCommunity(t, nil)
		w.forge.bot = map[string]forge.Proposal{title + " from add-op-1.1.0-to-fbc-": {Number: 7, URL: "https://forge/7"}}
		results, err := Publish(t.Context(), []Request{{Publication: w.push(t, "1.1.0")}}, w.o)
		if err != nil || len(results) != 1 || results[0].Result != Created {
			t.Fatalf("%+v %v", results, err)
		}
		const text = "release bot proposes op 1.1.0 already, in #7"
		if warned := strings.Contains(strings.Join(results[0].Warnings, "\n"), text); warned != named {
			t.Errorf("%s: %v", title, results[0].Warnings)
		}
		if in := strings.Contains(w.forge.all[0].Body, "release bot proposes op 1.1.0 already"); in != named {
			t.Errorf("%s: %s", title, w.forge.all[0].Body)
		}
	}
}

// merge: false in either file leaves the merge to a person.
func TestMergeFalse(t *testing.T) {
	ci := "merge: false\nfbc:\n  enabled: true\n  catalog_mapping:\n  - {template_name: basic.yaml, catalog_names: [v4.20], type: olm.template.basic}\n"
	release := "merge: false\ncatalog_templates:\n- {template_name: basic.yaml, channels: [stable]}\n"
	for name, files := range map[string]map[string]string{
		"": nil, "operators/op/ci.yaml": {"operators/op/ci.yaml": ci}, "operators/op/1.1.0/release-config.yaml": {"operators/op/1.1.0/release-config.yaml": release},
	} {
		w := newCommunity(t, files)
		results, err := Publish(t.Context(), []Request{{Publication: w.push(t, "1.1.0")}}, w.o)
		if err != nil || len(w.forge.all) != 1 {
			t.Fatalf("%+v %v", results, err)
		}
		want := ""
		if name != "" {
			want = name + " says merge: false"
		}
		if got := w.forge.all[0].ByHand; got != want {
			t.Errorf("%q, not %q", got, want)
		}
		if found := strings.Contains(w.forge.all[0].Body, "community-not-merged"); found != (name != "") {
			t.Errorf("%s: %s", name, w.forge.all[0].Body)
		}
	}
}

// All operators of a catalog are loaded together, as in the community's pipeline.
func TestACatalogAsAWhole(t *testing.T) {
	other := "---\nschema: olm.package\nname: NAME\ndefaultChannel: a\n---\nschema: olm.channel\npackage: NAME\nname: a\nentries:\n- name: NAME.v1.0.0\n---\n" +
		"schema: olm.bundle\npackage: NAME\nname: NAME.v1.0.0\nimage: quay.io/example/o:v1\nproperties:\n- type: olm.package\n  value: {packageName: NAME, version: 1.0.0}\n"
	many := map[string]string{}
	for n := range mostOperators + 1 {
		many[fmt.Sprintf("catalogs/v4.20/o%d/catalog.yaml", n)] = "A catalog.\n"
	}
	for _, test := range []struct{ name, file, text, want string }{
		{"sound", "catalogs/v4.20/other/catalog.yaml", strings.ReplaceAll(other, "NAME", "other"), ""},
		{"our package in another's folder", "catalogs/v4.20/aaa/catalog.yaml", strings.ReplaceAll(other, "NAME", "op"), `package-duplicate: package "op" already exists at catalogs/v4.20/aaa/catalog.yaml:2`},
		{"another's file that is none", "catalogs/v4.20/other/catalog.yaml", "A catalog.\n", "catalogs/v4.20/other/catalog.yaml:1: community-catalog-invalid: catalogs/v4.20 as a whole: document-unreadable"},
		{"left out", "catalogs/v4.20/README.md", "A catalog.\n", ""},
		{"another catalog", "catalogs/v4.21/other/catalog.yaml", "A catalog.\n", ""},
		{"too large", "catalogs/v4.20/other/catalog.yaml", "A catalog.\n" + strings.Repeat("#", maxWhole), ""},
		{"too many", "catalogs/v4.20/other/catalog.yaml", "A catalog.\n", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := map[string]string{test.file: test.text}
			if test.name == "too many" {
				maps.Copy(files, many)
			}
			w := newCommunity(t, files)
			var lines strings.Builder
			w.o.Line = func(format string, args ...any) { fmt.Fprintf(&lines, format+"\n", args...) }
			_, err := Publish(t.Context(), []Request{{Publication: w.push(t, "1.1.0")}}, w.o)
			if (err != nil) != (test.want != "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, not %s", err, test.want)
			}
			if told := strings.Contains(lines.String(), "not loaded as a whole"); told != strings.HasPrefix(test.name, "too ") {
				t.Errorf("%s", lines.String())
			}
		})
	}
}
