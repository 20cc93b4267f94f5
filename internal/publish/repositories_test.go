package publish

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/config"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/oci"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/render"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/testkit/corpus"
)

// layouts are configurations for public repositories, which follow the cuts and splits of their own scripts.
var layouts = map[string]struct {
	pkg, image, config string
	catalogs           int
	differs            []string // in each catalog
}{
	"gatekeeper-operator-fbc": {pkg: "gatekeeper-operator-product", image: "registry.redhat.io/gatekeeper/gatekeeper-operator-bundle", catalogs: 6, config: `
targets:
- template: catalog-template-v1.yaml
  catalogs: [{path: catalog-4-14}, {path: catalog-4-17}]
- template: catalog-template-v2.yaml
  catalogs: [{path: catalog-4-19}]
- template: catalog-template-v3.yaml
  catalogs:
  - path: catalog-4-20
  - path: catalog-4-21
    exclude: [{versions: <3.16.0-0}]
  - path: catalog-4-22
    exclude: [{versions: <3.19.0-0}]
`},
	"submariner-operator-fbc": {pkg: "submariner", image: "registry.redhat.io/rhacm2/submariner-operator-bundle", catalogs: 8, config: `
targets:
- template: catalog-template.yaml
  catalogs:
  - path: catalog-{platformDashed}
    exclude:
    - {versions: <0.17.0-0}
    - {versions: <0.19.0-0, platforms: {min: "4.17"}}
    - {versions: <0.20.0-0, platforms: {min: "4.19"}}
    - {versions: <0.21.0-0, platforms: {min: "4.20"}}
    - {versions: <0.22.0-0, platforms: {min: "4.21"}}
  rewrite:
  - from: quay.io/redhat-user-workloads/submariner-tenant/submariner-bundle-*
    to: registry.redhat.io/rhacm2/submariner-operator-bundle
`},
	"volsync-operator-product-fbc": {pkg: "volsync-product", image: "registry.redhat.io/rhacm2/volsync-operator-bundle", catalogs: 10, config: `
targets:
- template: catalog-template.yaml
  catalogs:
  - path: catalog-{platformDashed}
    danglingReplaces: remove
    exclude:
    - {versions: ">=0.16.0-0", platforms: {max: "4.15"}}
    - {channels: [stable-0.16], platforms: {max: "4.15"}}
    - {channels: [acm-2.6], platforms: {min: "4.15"}}
    - {versions: <0.8.0-0, platforms: {min: "4.15"}}
    - {versions: <0.9.0-0, platforms: {min: "4.16"}}
    - {versions: <0.10.0-0, platforms: {min: "4.17"}}
    - {versions: <0.11.0-0, platforms: {min: "4.18"}}
    - {versions: <0.12.0-0, platforms: {min: "4.19"}}
    - {versions: <0.13.0-0, platforms: {min: "4.20"}}
    - {versions: <0.14.0-0, platforms: {min: "4.21"}}
    - {versions: <0.15.0-0, platforms: {min: "4.22"}}
    - {versions: <0.16.0-0, platforms: {min: "4.23"}}
`},
	// Its script replaces the image of each bundle before rendering. The template has one bundle twice.
	"konflux-coo-fbc": {differs: []string{"olm.bundle cluster-observability-operator.v1.5.1", "olm.bundle cluster-observability-operator.v1.5.2 goes"}, pkg: "cluster-observability-operator", image: "registry.redhat.io/cluster-observability-operator/cluster-observability-operator-bundle", catalogs: 6, config: `
targets:
- template: catalog/catalog-template.yaml
  catalogs:
  - path: catalog/coo-product-v{platform}/catalog.yaml
    heads: {stable: cluster-observability-operator.v1.5.2}
  rewrite:
  - from: quay.io/redhat-user-workloads/cluster-observabilit-tenant/cluster-observability-operator/cluster-observability-operator-bundle
    to: registry.redhat.io/cluster-observability-operator/cluster-observability-operator-bundle
`},
}

// noRegistry has no images: rendering only copies.
type noRegistry struct{ render.Registry }

func (noRegistry) Pull(context.Context, string) (*oci.Pulled, error) {
	return nil, errors.New("a bundle would be pulled")
}

// The catalogs of public repositories equal the rendering of their templates with their own documents: no file
// changes.
func TestRepositoriesAsTheyStand(t *testing.T) {
	c := corpus.Large(t)
	for name, tt := range layouts {
		t.Run(name, func(t *testing.T) {
			sub, err := fs.Sub(c.Archive(t, "repositories/"+name), name)
			if err != nil {
				t.Fatal(err)
			}
			files := template.NewFiles(sub)
			conf, err := config.Parse(config.File, []byte(strings.TrimSpace(tt.config)))
			if err != nil {
				t.Fatal(err)
			}
			setup, _, err := conf.Setup(files, tt.pkg, "99.0.0")
			if err != nil {
				t.Fatal(err)
			}
			made, err := plan.Make(files, plan.Input{Setup: setup, Annotated: []string{"stable"}, Bundle: kind.Bundle{
				Name: tt.pkg + ".v99.0.0", Package: tt.pkg, Version: semver.MustParse("99.0.0"), Image: tt.image + "@sha256:" + strings.Repeat("0", 64),
			}})
			if err != nil {
				t.Fatal(err)
			}
			catalogs := 0
			for _, target := range made.Targets {
				for _, one := range target.Catalogs {
					catalogs++
					if got := differs(t, files, target, one); !slices.Equal(got, tt.differs) {
						t.Errorf("of %s change:\n%s", one.Path, strings.Join(got, "\n"))
					}
				}
			}
			if catalogs != tt.catalogs {
				t.Errorf("%d catalogs", catalogs)
			}
		})
	}
}

// differs renders a catalog from its own documents and returns the changed files.
func differs(t *testing.T, files *template.Files, target plan.Target, c plan.Catalog) (names []string) {
	t.Helper()
	tmpl, err := template.Open(files, target.Template, target.Template)
	if err != nil {
		t.Fatal(err)
	}
	standing, err := files.Catalog(c.Path)
	if err != nil {
		t.Fatal(err)
	}
	p := &preparation{publisher: &publisher{}, base: Base{Files: files}, catalogs: map[string][]plan.Catalog{target.Template: target.Catalogs}}
	o := render.Options{Registry: noRegistry{}, Format: c.Format, Metadata: c.Metadata, Rewrite: c.Rewrite, Base: render.NewBase(standing)}
	p.cut(&o, tmpl, c)
	result, err := render.Render(t.Context(), tmpl, o)
	if err != nil {
		t.Errorf("%s: %v", c.Path, err)
		return nil
	}
	if !c.Folder {
		var text bytes.Buffer
		if err := result.Write(&text); err != nil {
			t.Fatal(err)
		}
		return differing(t, standing, text.Bytes(), c.Path)
	}
	changed, err := result.Parts(files, c.Path, standing)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range changed {
		names = append(names, f.Path)
	}
	return names
}

// differing names the documents of a file whose content differs.
func differing(t *testing.T, standing []fbc.Doc, text []byte, file string) (names []string) {
	t.Helper()
	now, err := fbc.Read(file, text)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, d := range standing {
		b, err := d.Blob(fbc.YAML)
		if err != nil {
			t.Fatal(err)
		}
		all[d.Schema+" "+d.Name] = string(b.Body)
	}
	for _, d := range now {
		b, err := d.Blob(fbc.YAML)
		if err != nil {
			t.Fatal(err)
		}
		if all[d.Schema+" "+d.Name] != string(b.Body) {
			names = append(names, d.Schema+" "+d.Name)
		}
		delete(all, d.Schema+" "+d.Name)
	}
	for name := range all {
		names = append(names, name+" goes")
	}
	slices.Sort(names)
	return names
}
