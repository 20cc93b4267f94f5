package plan

import (
	"testing"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
)

func TestPlaces(t *testing.T) {
	csv, objects := catalogOf("op", fbc.TypeCSVMetadata), catalogOf("op", fbc.TypeBundleObject)
	files := map[string]string{
		"t.yaml": basicTemplate, "README-4-15": "", "catalog-4-9/package.yaml": objects, "catalog-4-17/bundles/b.yaml": csv, "catalog-4-017/x": "",
		"catalog/v4.16/t-4-16.yaml": objects, "catalog/v4.18/t-4-18.yaml": csv, "catalog/v4.18/t-4-17.yaml": csv, "catalog/latest/t-4-19.yaml": csv,
		"broken/x.yaml": "schema: [", "v4.16/t.yaml": basicTemplate, "v4.16/catalog.yaml": objects, "v4.20/t.yaml": basicTemplate,
	}
	at := func(template Pattern, setups ...CatalogSetup) Input {
		return Input{Setup: &Setup{File: "graft.yaml", Targets: []TargetSetup{{Template: template, Line: 3, Col: 5, Rules: rules("a"), Catalogs: setups}}}}
	}
	asked := at("t.yaml", CatalogSetup{Path: "catalog-{platformDashed}"})
	asked.Asked.Catalog = "catalog-4-17/"
	labelled := at("t.yaml", CatalogSetup{Path: "catalog-{platformDashed}"})
	labelled.OpenShiftVersions = "v4.12"
	for name, tt := range map[string]planCase{
		"existing folders": {in: at("t.yaml", CatalogSetup{Path: "catalog-{platformDashed}"}), want: into + "  render catalog-4-9 yaml objects\n  render catalog-4-17 yaml csv\n"},
		"both in one path": {in: at("t.yaml", CatalogSetup{Path: "catalog/v{platform}/t-{platformDashed}.yaml"}), want: into + "  render catalog/v4.16/t-4-16.yaml yaml objects\n  render catalog/v4.18/t-4-18.yaml yaml csv\n"},
		"in one name":      {in: at("t.yaml", CatalogSetup{Path: "catalog/v4.18/t-{platformDashed}.yaml"}), want: into + "  render catalog/v4.18/t-4-17.yaml yaml csv\n  render catalog/v4.18/t-4-18.yaml yaml csv\n"},
		"none exists":      {in: at("t.yaml", CatalogSetup{Path: "catalogs/v{platform}/c.yaml"}), code: failure.Config, err: "graft.yaml:3:5: finding catalogs: there is none at catalogs/v{platform}/c.yaml"},
		"of the template's folder": {in: at("v*/t.yaml", CatalogSetup{Path: "{folder}/catalog.yaml"}),
			want: "v4.16/t.yaml basic\n  into a\n  render v4.16/catalog.yaml yaml objects\nv4.20/t.yaml basic\n  into a\n  render v4.20/catalog.yaml yaml csv new\n"},
		"at the top":               {in: at("t.yaml", CatalogSetup{Path: "{folder}/c.yaml"}), want: into + "  render c.yaml yaml csv new\n"},
		"of the template's path":   {in: at("v4.16/t.yaml", CatalogSetup{Path: "out/{platform}/c.yaml"}), want: "v4.16/t.yaml basic\n  into a\n  render out/4.16/c.yaml yaml objects new\n"},
		"explicit platform":        {in: at("t.yaml", CatalogSetup{Path: "out/{platformDashed}.yaml", Platform: "4.12"}), want: into + "  render out/4-12.yaml yaml objects new\n"},
		"a folder is requested":    {in: asked, want: into + "  render catalog-4-17 yaml csv\nnot t.yaml catalog-4-9: only catalog-4-17 is requested\n"},
		"the label leaves one out": {in: labelled, want: into + "  render catalog-4-17 yaml csv\nnot t.yaml catalog-4-9: it is for OpenShift 4.9, and the bundle's label com.redhat.openshift.versions is v4.12\n", warning: "t.yaml also makes catalogs"},
		"a template in the folder": {in: at("t.yaml", CatalogSetup{Path: "v4.16"}), code: failure.EditRefused, err: "v4.16/t.yaml:1:1: planning the catalog v4.16: one of its files is a template"},
		"unreadable":               {in: at("t.yaml", CatalogSetup{Path: "broken"}), code: failure.TemplateMalformed, err: "broken/x.yaml:1"},
		"no file of a catalog":     {in: at("t.yaml", CatalogSetup{Path: "README-4-15"}), code: failure.Config, err: "README-4-15 is no folder, and no name of a"},
		"a folder that is begun":   {in: at("v4.16/t.yaml", CatalogSetup{Path: "out/{platform}"}), want: "v4.16/t.yaml basic\n  into a\n  render out/4.16 yaml objects new\n"},
	} {
		tt.files = files
		t.Run(name, tt.run)
	}
}
