package plan

import (
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
)

func TestForeignBundles(t *testing.T) {
	of := func(images ...string) string {
		text := "schema: olm.template.basic\nentries:\n- {schema: olm.package, name: op, defaultChannel: stable}\n" +
			"- {schema: olm.channel, package: op, name: stable, entries: [{name: op.v1.0.0}]}\n"
		for _, image := range images {
			text += "- {schema: olm.bundle, image: " + image + "}\n"
		}
		return text
	}
	semver := func(image string) string {
		return "Schema: olm.semver\nGenerateMinorChannels: true\nStable:\n  Bundles:\n  - Image: " + image + "\n"
	}
	const stage, production = "quay.io/stage/op-bundle", "registry.redhat.io/op/op-bundle"
	for name, tt := range map[string]struct {
		template, catalog, image, pkg, said string
		trusted                             bool
		registries                          map[string]string
		err                                 string
	}{
		"of its siblings":                 {template: of(stage + ":v1.0.0"), image: stage + ":v1.1.0"},
		"by digest":                       {template: of(stage + "@" + digest), image: stage + ":v1.1.0"},
		"of one of two repositories":      {template: of(stage+"@"+digest, production+"@"+digest), image: stage + ":v1.1.0"},
		"of another repository":           {template: of(production + "@" + digest), image: stage + ":v1.1.0", err: "its repository is quay.io/stage/op-bundle, and the bundles of t.yaml are from " + production},
		"of another one, and allowed":     {template: of(production + "@" + digest), image: stage + ":v1.1.0", trusted: true},
		"promoted":                        {template: of("quay.io/old/op@" + digest), image: stage + "@" + digest, registries: map[string]string{stage: production}},
		"the first one":                   {template: of(), image: stage + ":v1.1.0"},
		"an account of Docker Hub":        {template: of("example/op:v1.0.0"), image: "index.docker.io/example/op:v1.1.0"},
		"of a semver template":            {template: semver(stage + ":v1.0.0"), image: stage + ":v1.1.0"},
		"foreign to a semver template":    {template: semver(stage + ":v1.0.0"), image: "quay.io/else/op:v1.1.0", err: "its repository is quay.io/else/op"},
		"of another package":              {template: of(stage + ":v1.0.0"), image: stage + ":v1.1.0", pkg: "other", err: "it is of package other, and t.yaml holds op"},
		"of another package, as the file": {template: of(stage + ":v1.0.0"), image: stage + ":v1.1.0", pkg: "other", said: "other"},
		"of a package its catalog lacks":  {template: semver(stage + ":v1.0.0"), catalog: catalogOf("op", fbc.TypeCSVMetadata), image: stage + ":v1.1.0", pkg: "other", err: "and t.yaml holds op"},
		"of the package of its catalog":   {template: semver(stage + ":v1.0.0"), catalog: catalogOf("op", fbc.TypeCSVMetadata), image: stage + ":v1.1.0"},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"t.yaml": tt.template}
			target := TargetSetup{Line: 3, Col: 5, Package: tt.said, Template: "t.yaml", Rules: rules("Stable")}
			if !strings.HasPrefix(tt.template, "Schema") {
				target.Rules = rules("stable")
			}
			if tt.catalog != "" {
				files["c.yaml"] = tt.catalog
				target.Catalogs = []CatalogSetup{{Path: "c.yaml"}}
			}
			b := bundleOf("1.1.0")
			b.Image, b.Digest = tt.image, digest
			if tt.pkg != "" {
				b.Package = tt.pkg
			}
			_, err := Make(repo(files), Input{Bundle: b, Trusted: tt.trusted, Setup: &Setup{File: "graft.yaml", Targets: []TargetSetup{target}, Registries: tt.registries}})
			f := failure.Of(err)
			if (tt.err == "") != (err == nil) || err != nil && (f.Code != failure.BundleNotAllowed || !strings.Contains(f.Message, tt.err) || f.Line != 3) {
				t.Errorf("failed with %v, want %q", err, tt.err)
			}
		})
	}
}
