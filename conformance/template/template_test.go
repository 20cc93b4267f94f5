package template_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/operator-framework/operator-registry/alpha/declcfg"
	opmtemplate "github.com/operator-framework/operator-registry/alpha/template"

	"github.com/olmgraft/graft/internal/bundle"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/oci"
	"github.com/olmgraft/graft/internal/render"
	"github.com/olmgraft/graft/internal/template"
)

// bundles maps images to bundles, for opm and for Graft.
type bundles map[string]string

func (s bundles) add(image, name, version, release string) {
	csv := fmt.Sprintf(`{"kind":"ClusterServiceVersion","apiVersion":"operators.coreos.com/v1alpha1","metadata":{"name":%q},"spec":{"version":%q,"description":"of %s","icon":[{"base64data":"aWNvbg==","mediatype":"image/png"}]}}`, name, version, name)
	value := fmt.Sprintf(`{"packageName":"op","version":%q}`, version)
	if release != "" {
		value = fmt.Sprintf(`{"packageName":"op","release":%q,"version":%q}`, release, version)
	}
	s[image] = fmt.Sprintf(`{"schema":"olm.bundle","name":%q,"package":"op","image":%q,"properties":[{"type":"olm.package","value":%s},{"type":"olm.bundle.object","value":{"data":%q}}],"relatedImages":[{"name":"","image":%q}]}`,
		name, image, value, base64.StdEncoding.EncodeToString([]byte(csv)), image)
}

func (s bundles) opm(_ context.Context, image string) (*declcfg.DeclarativeConfig, error) {
	text, ok := s[image]
	if !ok {
		return nil, fmt.Errorf("no bundle %s", image)
	}
	cfg, err := declcfg.LoadReader(strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	// opm's rendering of an image leaves this field, and its loading of a catalog does not.
	var object struct{ Data []byte }
	if err := json.Unmarshal(cfg.Bundles[0].Properties[1].Value, &object); err != nil {
		return nil, err
	}
	cfg.Bundles[0].CsvJSON = string(object.Data)
	return cfg, nil
}

// base returns the bundles as an earlier catalog, so that no registry is needed.
func (s bundles) base(t *testing.T) *render.Base {
	var all []fbc.Doc
	for image, text := range s {
		docs, err := fbc.Read(image, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, docs...)
	}
	return render.NewBase(all)
}

// Pull implements render.Registry for bundles whose showcase is needed, which the base does not have.
func (s bundles) Pull(_ context.Context, image string) (*oci.Pulled, error) {
	docs, err := fbc.Read(image, []byte(s[image]))
	if err != nil {
		return nil, err
	}
	if len(docs) == 0 {
		return nil, fmt.Errorf("no bundle %s", image)
	}
	b, err := docs[0].Bundle()
	if err != nil {
		return nil, err
	}
	var object struct{ Data []byte }
	if err := json.Unmarshal(b.Properties[1].Value, &object); err != nil {
		return nil, err
	}
	return &oci.Pulled{
		Ref: image, Digest: "sha256:0",
		Labels: map[string]string{"operators.operatorframework.io.bundle.package.v1": "op"},
		Files: map[string][]byte{
			"manifests/csv.json":        object.Data,
			"metadata/annotations.yaml": []byte("annotations:\n  operators.operatorframework.io.bundle.package.v1: op\n  operators.operatorframework.io.bundle.channels.v1: stable\n"),
		},
	}, nil
}

func (s bundles) Resolve(context.Context, string) (string, error) { return "sha256:0", nil }
func (s bundles) Tags(context.Context, string) ([]string, error)  { return nil, nil }

// compare renders a template with both and compares verdicts and bytes.
func compare(t *testing.T, s bundles, src string) (rendered bool) {
	t.Helper()
	for _, format := range []fbc.Format{fbc.YAML, fbc.JSON} {
		want, opmErr := renderOPM(s, src, format)
		got, err := renderGraft(t, s, src, format)
		if (opmErr == nil) != (err == nil) {
			t.Fatalf("opm says %v, Graft says %v of\n%s", opmErr, err, src)
		}
		if err == nil && !bytes.Equal(got, want) {
			t.Fatalf("the bytes differ for\n%s\nopm:\n%.4000s\nGraft:\n%.4000s", src, want, got)
		}
		rendered = err == nil
	}
	return rendered
}

func renderOPM(s bundles, src string, format fbc.Format) ([]byte, error) {
	tmpl, reader, err := opmtemplate.NewRegistry().CreateTemplateBySchema(strings.NewReader(src), s.opm)
	if err != nil {
		return nil, err
	}
	cfg, err := tmpl.Render(context.Background(), reader)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if format == fbc.JSON {
		err = declcfg.WriteJSON(*cfg, &b)
	} else {
		err = declcfg.WriteYAML(*cfg, &b)
	}
	return b.Bytes(), err
}

func renderGraft(t *testing.T, s bundles, src string, format fbc.Format) ([]byte, error) {
	tmpl, err := template.Parse("t.yaml", []byte(src))
	if err != nil {
		return nil, err
	}
	r, err := render.Render(context.Background(), tmpl, render.Options{Registry: s, Format: format, Metadata: bundle.BundleObjects, Base: s.base(t)})
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = r.Write(&b)
	return b.Bytes(), err
}

func randomVersion(rnd *rand.Rand) string {
	v := fmt.Sprintf("%d.%d.%d", rnd.IntN(3), rnd.IntN(4), rnd.IntN(4))
	switch rnd.IntN(8) {
	case 0:
		v += fmt.Sprintf("-rc.%d", rnd.IntN(3))
	case 1:
		v += "-alpha"
	case 2:
		v += fmt.Sprintf("+b%d", rnd.IntN(2))
	}
	return v
}

func TestSemverTemplates(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	pick := func(of ...string) string { return of[rnd.IntN(len(of))] }
	rendered := 0
	for range 3000 {
		s := bundles{}
		var b strings.Builder
		b.WriteString(pick("Schema", "schema") + ": olm.semver\n")
		b.WriteString(pick("", "", "GenerateMajorChannels: true\n", "generateMajorChannels: yes\n", "GenerateMajorChannels: false\n"))
		b.WriteString(pick("", "", "GenerateMinorChannels: true\n", "generateMinorChannels: off\n", "GenerateMinorChannels: false\n"))
		b.WriteString(pick("", "", "", "DefaultChannelTypePreference: major\n", "DefaultChannelTypePreference: minor\n"))
		var images []string
		for range 1 + rnd.IntN(12) {
			v := randomVersion(rnd)
			image := "quay.io/x/op:v" + strings.ReplaceAll(v, "+", "_")
			s.add(image, "op.v"+v, v, "")
			images = append(images, image)
		}
		for _, a := range []string{"Candidate", "fast", "Stable"} {
			if rnd.IntN(3) == 0 {
				continue
			}
			b.WriteString(a + ":\n  " + pick("Bundles", "bundles") + ":\n")
			seen := map[string]bool{}
			for _, image := range images {
				if rnd.IntN(3) > 0 && !seen[image] {
					seen[image] = true
					b.WriteString("  - " + pick("Image", "image") + ": " + image + "\n")
				}
			}
		}
		if compare(t, s, b.String()) {
			rendered++
		}
	}
	t.Logf("%d of 3000 semver templates render, the others are refused by both", rendered)
	if rendered < 1000 {
		t.Error("the generator makes too few templates that render")
	}
}

func TestBasicTemplates(t *testing.T) {
	s := bundles{}
	s.add("quay.io/x/op:v1.0.0", "op.v1.0.0", "1.0.0", "")
	s.add("quay.io/x/op:v1.1.0", "op.v1.1.0", "1.1.0", "")
	const head = "schema: olm.template.basic\nentries:\n"
	for name, src := range map[string]string{
		"plain":             head + "- schema: olm.package\n  name: op\n  defaultChannel: stable\n- schema: olm.channel\n  package: op\n  name: stable\n  entries:\n  - name: op.v1.0.0\n- schema: olm.bundle\n  image: quay.io/x/op:v1.0.0\n- schema: olm.bundle\n  name: op.v1.1.0\n  image: quay.io/x/op:v1.1.0\n",
		"JSON":              `{"schema":"olm.template.basic","entries":[{"schema":"olm.package","name":"op","defaultChannel":"stable","description":"<&>\u2028","icon":{"base64data":"aWNvbg==","mediatype":"image/png"}}]}`,
		"others":            head + "- schema: custom.thing\n  package: op\n  z: 1\n  a: [1.0, 1e3, 12345678901234567890, ~, yes]\n- schema: olm.package\n  name: op\n- schema: acme\n  name: root\n- schema: olm.deprecations\n  package: op\n  entries:\n  - reference: {schema: olm.package}\n    message: \"old\\nthing\"\n",
		"a rendered bundle": head + "- schema: olm.bundle\n  package: op\n  name: op.v1\n  image: x\n",
		"a bad icon":        head + "- schema: olm.package\n  name: op\n  icon: {base64data: '!', mediatype: x}\n",
		"a missing bundle":  head + "- schema: olm.bundle\n  image: quay.io/x/op:v9\n",
		"two packages":      head + "- schema: olm.package\n  name: zeta\n- schema: olm.package\n  name: alpha\n- schema: olm.channel\n  package: zeta\n  name: b\n  entries: []\n- schema: olm.channel\n  package: zeta\n  name: a\n",
		"wrong type":        head + "- schema: olm.channel\n  package: op\n  name: 1\n",
		"keys of one's own": head + "- schema: olm.package\n  name: op\n  maintainer: me\n- schema: olm.channel\n  package: op\n  name: stable\n  comment: x\n  entries:\n  - name: op.v1.0.0\n    replacess: op.v0.9.0\n    comment: x\n- schema: olm.bundle\n  image: quay.io/x/op:v1.0.0\n  comment: x\n",
		"a bad range":       head + "- schema: olm.channel\n  package: op\n  name: stable\n  entries:\n  - name: op.v1.0.0\n    skipRange: <v1.0.0\n- schema: olm.bundle\n  image: quay.io/x/op:v1.0.0\n",
		"a directive":       "%YAML 1.1\n---\n" + head + "- schema: olm.package\n  name: op\n",
		"a late directive":  "\n# c\n%TAG ! tag:example.com:\n--- # c\n" + head + "- schema: olm.package\n  name: op\n",
		"a start":           "---\n" + head + "- schema: olm.package\n  name: op\n",
		"a comment first":   "# c\n---\n" + head + "- schema: olm.package\n  name: op\n",
		"blank lines first": "\n\n---\n" + head + "- schema: olm.package\n  name: op\n",
		"upper case":        head + "- Schema: olm.package\n  Name: op\n  DefaultChannel: x\n",
	} {
		t.Run(name, func(t *testing.T) { compare(t, s, src) })
	}
}

func TestSubstitutesTemplates(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	rendered := 0
	for range 1500 {
		s := bundles{}
		var entries, edges []string
		n := 2 + rnd.IntN(4)
		for i := range n {
			v := fmt.Sprintf("1.%d.0", i)
			name := "op.v" + v
			s.add("quay.io/x/op:v"+v, name, v, "")
			entries = append(entries, s["quay.io/x/op:v"+v])
			e := fmt.Sprintf(`{"name":%q`, name)
			if i > 0 {
				e += fmt.Sprintf(`,"replaces":"op.v1.%d.0"`, i-1)
			}
			if i > 1 && rnd.IntN(3) == 0 {
				e += fmt.Sprintf(`,"skips":["op.v1.%d.0"]`, rnd.IntN(i-1))
			}
			if rnd.IntN(4) == 0 {
				e += fmt.Sprintf(`,"skipRange":"<%s"`, v)
			}
			edges = append(edges, e+"}")
		}
		var subs []string
		for range 1 + rnd.IntN(2) {
			i := rnd.IntN(n)
			v, release := fmt.Sprintf("1.%d.0", i), fmt.Sprint(1+rnd.IntN(2))
			if rnd.IntN(3) == 0 {
				v, release = fmt.Sprintf("1.%d.1", i), ""
			}
			base := i
			if rnd.IntN(6) == 0 {
				base = rnd.IntN(n + 1)
			}
			image := fmt.Sprintf("quay.io/x/op:v%s-%s", v, release)
			s.add(image, "op.v"+v+"-r"+release, v, release)
			subs = append(subs, fmt.Sprintf(`{"name":%q,"base":"op.v1.%d.0"}`, image, base))
		}
		src := fmt.Sprintf(`{"schema":"olm.template.substitutes","entries":[{"schema":"olm.package","name":"op","defaultChannel":"stable"},{"schema":"olm.channel","package":"op","name":"stable","entries":[%s]},%s],"substitutions":[%s]}`,
			strings.Join(edges, ","), strings.Join(entries, ","), strings.Join(subs, ","))
		if compare(t, s, src) {
			rendered++
		}
	}
	t.Logf("%d of 1500 substitutes templates render, the others are refused by both", rendered)
	if rendered < 200 {
		t.Error("the generator makes too few templates that render")
	}
}
