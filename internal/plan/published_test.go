package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
)

func has(versions ...string) func([]Published) (map[string][]fbc.Doc, error) {
	return func(all []Published) (map[string][]fbc.Doc, error) {
		docs := map[string][]fbc.Doc{}
		for _, v := range versions {
			docs[all[0].Catalog] = append(docs[all[0].Catalog], fbc.Doc{Schema: fbc.SchemaBundle, Package: "op", Name: "op.v" + v, Image: "prod/op@sha256:" + v})
		}
		return docs, nil
	}
}

// The published catalogs of a target are those of the platforms that it renders; a target without platforms has
// all of them.
func TestPublishedCatalogsOfATarget(t *testing.T) {
	list := []PublishedSetup{{Platform: "4.19", Catalog: "old"}, {Platform: "v4.20", Catalog: "new"}, {Catalog: "all"}}
	pattern := []PublishedSetup{{Catalog: "index:v{platform}"}, {Catalog: "{package}/{platformDashed}"}}
	for _, tt := range []struct {
		name, template string
		top, own       []PublishedSetup
		catalogs       []CatalogSetup
		want           string
		fails          bool
	}{
		{"a list", "t.yaml", list, nil, []CatalogSetup{{Path: "v4.20/c.yaml"}, {Path: "v4.21/c.yaml"}}, "new all", false},
		{"a pattern", "t.yaml", pattern, nil, []CatalogSetup{{Path: "v4.20/c.yaml"}, {Path: "c.yaml", Platform: "4.21"}}, "index:v4.20 index:v4.21 op/4-20 op/4-21", false},
		{"no catalogs", "t.yaml", list, nil, nil, "old new all", false},
		{"a platform is not known", "t.yaml", list, nil, []CatalogSetup{{Path: "v4.20/c.yaml"}, {Path: "c.yaml"}}, "old new all", false},
		{"the template's platform", "v4.19/t.yaml", list, nil, nil, "old all", false},
		{"the template's platform, by pattern", "v4.19/t.yaml", pattern[:1], nil, nil, "index:v4.19", false},
		{"no platform for a pattern", "t.yaml", pattern, nil, nil, "", true},
		{"of its own", "t.yaml", pattern, list[:1], nil, "old", false},
		{"none", "t.yaml", pattern, []PublishedSetup{}, nil, "", false},
	} {
		setup := &Setup{File: "graft.yaml", Published: tt.top, Targets: []TargetSetup{{
			Line: 3, Col: 5, Template: Pattern(tt.template), Rules: rules("stable"), Catalogs: tt.catalogs, Published: tt.own,
		}}}
		p, err := Make(repo(map[string]string{tt.template: basicTemplate}), mayBegin(Input{Trusted: true, Bundle: bundleOf("1.3.0"), Setup: setup, Published: has()}))
		if tt.fails {
			if f := failure.Of(err); !failure.Is(err, failure.Config) || f.Line != 3 || f.Remedy == "" {
				t.Errorf("%s: got %v", tt.name, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(tt.name, err)
		}
		var got []string
		for _, one := range p.Targets[0].Published {
			got = append(got, one.Catalog)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: got %v, want %s", tt.name, got, tt.want)
		}
	}
}

// By the rule a bundle replaces a head that no user can have, and nothing else.
func TestInsteadOfTheHead(t *testing.T) {
	apart := strings.Replace(basicTemplate, "  name: v1.2\n  entries:\n  - name: op.v1.2.0\n", "  name: v1.2\n  entries:\n  - name: op.v1.2.1\n", 1)
	byDigest := "schema: olm.semver\nStable:\n  Bundles:\n  - Image: quay.io/example/op@" + digest + "\n"
	byTag := "schema: olm.semver\nStable:\n  Bundles:\n  - Image: quay.io/example/op:v1.0.0\n  - Image: quay.io/example/op:v1.2.0\n"
	catalog := strings.NewReplacer("op.v1.0.0", "the-op.v1.2.0", "quay.io/example/op-bundle:v1.0.0", "quay.io/example/op@"+digest).Replace(catalogOf("op", fbc.TypeCSVMetadata))
	for _, tt := range []struct {
		name, template, version string
		channels                []Pattern
		has                     []string
		asked, top, own         string
		want                    string
		reason                  string
	}{
		{name: "not published", version: "1.3.0", want: "op.v1.2.0", reason: "It takes the place of op.v1.2.0: that is the head, and index:v4.20 does not have it."},
		{name: "only lower ones are published", version: "1.3.0", has: []string{"1.0.0"}, want: "op.v1.2.0"},
		{name: "published", version: "1.3.0", has: []string{"1.0.0", "1.2.0"}, reason: "its head op.v1.2.0 is published in index:v4.20"},
		{name: "it arrives late", version: "1.1.0", reason: "its head op.v1.2.0 is the higher version"},
		{name: "an existing bundle", version: "1.2.0"},
		{name: "an existing bundle below the head", version: "1.0.0"},
		{name: "another one is requested", version: "1.3.0", asked: "op.v1.0.0", want: "op.v1.0.0"},
		{name: "not in this target", version: "1.3.0", own: "nobody"},
		{name: "in this target alone", version: "1.3.0", top: "nobody", own: HeadUnpublished, want: "op.v1.2.0"},
		{name: "no such channel", version: "1.3.0", channels: []Pattern{"new"}},
		{name: "one head in two channels", version: "1.3.0", channels: []Pattern{"stable", "v1.2"}, want: "op.v1.2.0"},
		{name: "two heads", version: "1.3.0", template: apart, channels: []Pattern{"stable", "v1.2"}, reason: "op.v1.2.0 and op.v1.2.1 are heads that nobody can have yet"},
		{name: "two heads, one is published", version: "1.3.0", template: apart, channels: []Pattern{"stable", "v1.2"}, has: []string{"1.2.0"}, want: "op.v1.2.1"},
		{name: "images by tag", version: "1.3.0", template: byTag, want: "op.v1.2.0"},
		{name: "images by tag, published", version: "1.3.0", template: byTag, has: []string{"1.2.0"}, reason: "published in"},
		{name: "images by digest, known from the catalog", version: "1.3.0", template: byDigest, want: "the-op.v1.2.0"},
		{name: "images by digest, unknown", version: "1.3.0", template: strings.Replace(byDigest, "0123", "3210", 1), reason: "it is unknown which bundle"},
	} {
		if tt.template == "" {
			tt.template = basicTemplate
		}
		if tt.channels == nil {
			tt.channels = []Pattern{"stable"}
		}
		if tt.top == "" {
			tt.top = HeadUnpublished
		}
		setup := &Setup{File: "graft.yaml", Published: []PublishedSetup{{Catalog: "index:v{platform}"}}, InsteadOf: tt.top, Targets: []TargetSetup{{
			Template: "t.yaml", Rules: rules(tt.channels...), Catalogs: []CatalogSetup{{Path: "v4.20/c.yaml"}}, InsteadOf: tt.own,
		}}}
		in := Input{Trusted: true, Bundle: bundleOf(tt.version), Setup: setup, Published: has(tt.has...), Asked: Asked{InsteadOf: tt.asked}}
		p, err := Make(repo(map[string]string{"t.yaml": tt.template, "v4.20/c.yaml": catalog}), in)
		if err != nil {
			t.Fatal(tt.name, err)
		}
		said := strings.Join(slices.Concat(p.Targets[0].Reasons, p.Warnings), "\n")
		if got := p.Targets[0].Requests[0].InsteadOf; got != tt.want || !strings.Contains(said, tt.reason) {
			t.Errorf("%s: instead of %q, want %q: %s", tt.name, got, tt.want, said)
		}
	}
}

// The rule requires the published catalogs.
func TestInsteadOfNeedsPublished(t *testing.T) {
	for _, own := range [][]PublishedSetup{nil, {}} {
		tt := planCase{files: map[string]string{"t.yaml": basicTemplate}, version: "1.3.0", code: failure.Config, err: "Name them with published"}
		tt.in.Setup = &Setup{InsteadOf: HeadUnpublished, Targets: []TargetSetup{{Line: 2, Col: 3, Template: "t.yaml", Rules: rules("stable"), Published: own}}}
		tt.run(t)
	}
}
