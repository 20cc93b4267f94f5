package cli

import (
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/config"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/survey"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/testkit/corpus"
)

// driftOf has the catalogs that differ from their templates, by repository: the causes are images that occur twice,
// and a bundle that one catalog lacks.
var driftOf = map[string]string{
	"konflux-coo-fbc": "6 catalogs of catalog/catalog-template.yaml (4.17, 4.18, 4.19, 4.20, 4.21, 4.22): each differs from its template in 2 documents" +
		" (bundle cluster-observability-operator.v1.5.1; bundle cluster-observability-operator.v1.5.2, which the template lacks)",
	"trustee-fbc": "v4.15/catalog/trustee-operator/catalog.json lacks 1 of the 4 bundles of its template; its template is v4.15/catalog-template.yaml",
}

// TestInitOfRepositories writes the configuration of public repositories and plans with it: the version after
// the newest goes into exactly the templates and catalogs that the survey found for it.
func TestInitOfRepositories(t *testing.T) {
	c := corpus.Large(t)
	for _, file := range c.Files(t, "repositories/*.tar.xz") {
		name := strings.TrimSuffix(filepath.Base(file), ".tar.xz")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsys, err := fs.Sub(c.Archive(t, "repositories/"+name), name)
			if err != nil {
				t.Fatal(err)
			}
			found, text, said, err := surveyed(t.Context(), fsys, func(string, int, int) {})
			if name == "trusted-profile-analyzer-operator-fbc" {
				if !failure.Is(err, failure.TemplateNotFound) || !strings.Contains(err.Error(), "generate-fbc.sh:122 generates it") {
					t.Fatalf("its graphs are made by a script: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			cfg, err := config.Parse(config.File, text)
			if err != nil {
				t.Fatal(err)
			}
			drift := slices.DeleteFunc(said, func(line string) bool { return strings.Contains(line, " is not in "+config.File+": ") })
			if got := strings.Join(drift, "\n"); got != driftOf[name] {
				t.Errorf("catalogs that differ from their templates:\n%s\nwant:\n%s", got, driftOf[name])
			}
			for _, target := range found.Targets {
				planNext(t, fsys, cfg, target)
			}
		})
	}
}

// planNext plans the patch release after the newest bundle of a target.
func planNext(t *testing.T, fsys fs.FS, cfg *config.Config, target survey.Target) {
	t.Helper()
	b := after(t, fsys, target)
	setup, _, err := cfg.Setup(fsys, b.Package, b.Version.String())
	if err != nil {
		t.Fatal(err)
	}
	made, err := plan.Make(fsys, plan.Input{Bundle: b, Setup: setup, Trusted: cfg.AllowedRepositories != nil})
	if err != nil {
		t.Fatalf("%s: planning for %s: %v", target.Template, b.Name, err)
	}
	want, got := map[string][]string{}, map[string][]string{}
	for _, path := range target.Templates {
		want[path] = nil
	}
	for _, c := range target.Catalogs {
		for _, p := range c.Pairs {
			want[p.Template] = append(want[p.Template], p.Catalog)
		}
	}
	for _, planned := range made.Targets {
		if _, mine := want[planned.Template]; !mine {
			continue
		}
		var catalogs []string
		for _, c := range planned.Catalogs {
			catalogs = append(catalogs, c.Path)
		}
		got[planned.Template] = catalogs
	}
	same := maps.EqualFunc(want, got, func(a, b []string) bool {
		return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
	})
	if !same {
		t.Errorf("%s: %s goes into %v, want %v; left out: %v", target.Template, b.Name, got, want, made.LeftOut)
	}
}

// after returns a bundle of the next patch version.
func after(t *testing.T, fsys fs.FS, target survey.Target) kind.Bundle {
	t.Helper()
	var top semver.Version
	pkg := target.Package
	first := "" // the version in the default channel of a template
	look := func(path string) {
		tmpl, err := template.Open(fsys, path, path)
		if err != nil {
			t.Fatal(err)
		}
		first = strings.TrimPrefix(tmpl.Describe().DefaultChannel, "release-v") + ".0"
		for _, ch := range tmpl.Describe().Channels {
			for _, e := range ch.Entries {
				if v, ok := graph.VersionOf(e); ok && v.GT(top) {
					top = v
				}
			}
		}
	}
	for _, path := range target.Templates {
		look(path)
	}
	for _, c := range target.Catalogs {
		for _, p := range c.Pairs {
			look(p.Catalog)
		}
	}
	if top.Major+top.Minor+top.Patch == 0 { // templates without bundles
		var err error
		if top, err = semver.Parse(first); err != nil {
			t.Fatal(err)
		}
	}
	top.Patch++
	top.Pre, top.Build = nil, nil
	return kind.Bundle{Name: pkg + ".v" + top.String(), Version: top, Package: pkg, Image: "registry.example.com/" + pkg + ":v" + top.String()}
}
