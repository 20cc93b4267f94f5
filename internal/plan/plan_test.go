package plan

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/olmgraft/graft/internal/bundle"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
)

const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

const basicTemplate = `schema: olm.template.basic
entries:
- schema: olm.package
  name: op
  defaultChannel: stable
- schema: olm.channel
  package: op
  name: stable
  entries:
  - name: op.v1.0.0
  - name: op.v1.2.0
    replaces: op.v1.0.0
- schema: olm.channel
  package: op
  name: v1.2
  entries:
  - name: op.v1.2.0
- schema: olm.bundle
  image: quay.io/example/op-bundle:v1.0.0
- schema: olm.bundle
  image: quay.io/example/op-bundle:v1.2.0
`

const semverTemplate = "schema: olm.semver\nCandidate:\n  Bundles:\n  - Image: quay.io/example/op-bundle:v1.0.0\n"

// catalogOf returns a rendered catalog whose bundle has the property.
func catalogOf(pkg, property string) string {
	value := "value: {metadata: {}}"
	if property == fbc.TypeBundleObject {
		value = "value: {data: e30=}"
	}
	return "---\nschema: olm.package\nname: " + pkg + "\ndefaultChannel: stable\n---\nschema: olm.channel\npackage: " + pkg +
		"\nname: stable\nentries:\n- name: " + pkg + ".v1.0.0\n---\nschema: olm.bundle\nname: " + pkg + ".v1.0.0\npackage: " + pkg +
		"\nimage: quay.io/example/" + pkg + "-bundle:v1.0.0\nproperties:\n- type: olm.package\n  value: {packageName: " + pkg + ", version: 1.0.0}\n- type: " + property + "\n  " + value + "\n"
}

func repo(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

func rules(channels ...Pattern) []ChannelRule { return []ChannelRule{{Channels: channels}} }

// shown formats what a plan does, one line for each thing.
func shown(p *Plan) string {
	var b strings.Builder
	for _, t := range p.Targets {
		fmt.Fprintf(&b, "%s %s", t.Template, t.Kind)
		if t.Create {
			b.WriteString(" new")
		}
		if len(t.Names) > 0 {
			fmt.Fprintf(&b, " %v", t.Names)
		}
		b.WriteString("\n")
		for _, r := range t.Requests {
			fmt.Fprintf(&b, "  into %s", strings.Join(r.Channels, ","))
			if r.Explicit() {
				fmt.Fprintf(&b, " replaces=%s skips=%s range=%s", r.Replaces, strings.Join(r.Skips, ","), r.SkipRange)
			}
			if r.DefaultChannel != "" {
				b.WriteString(" default=" + r.DefaultChannel)
			}
			b.WriteString("\n")
		}
		for _, c := range t.Catalogs {
			fmt.Fprintf(&b, "  render %s %s %s", c.Path, map[fbc.Format]string{fbc.YAML: "yaml", fbc.JSON: "json"}[c.Format],
				map[bundle.MetadataFormat]string{bundle.BundleObjects: "objects", bundle.CSVMetadata: "csv"}[c.Metadata])
			if c.New {
				b.WriteString(" new")
			}
			b.WriteString("\n")
		}
	}
	for _, l := range p.LeftOut {
		fmt.Fprintf(&b, "not %s %s: %s\n", l.Template, l.Catalog, l.Reason)
	}
	return b.String()
}

type planCase struct {
	files   map[string]string
	version string
	in      Input
	want    string
	warning string       // part of a warning; empty: no warning
	code    failure.Code // in place of a plan
	err     string       // part of its text
}

// mayBegin returns an input that allows creating its catalogs.
func mayBegin(in Input) Input {
	if in.Setup == nil {
		return in
	}
	setup := *in.Setup
	setup.Targets = slices.Clone(setup.Targets)
	for i := range setup.Targets {
		t := &setup.Targets[i]
		t.Catalogs = slices.Clone(t.Catalogs)
		for j := range t.Catalogs {
			t.Catalogs[j].Create = true
		}
	}
	in.Setup = &setup
	return in
}

func (tt planCase) run(t *testing.T) {
	t.Helper()
	if tt.version == "" {
		tt.version = "1.1.0"
	}
	if tt.in.Bundle.Name == "" {
		tt.in.Bundle = bundleOf(tt.version)
	}
	if tt.in.Setup != nil && tt.in.Setup.File == "" {
		tt.in.Setup.File = "graft.yaml"
	}
	p, err := Make(repo(tt.files), mayBegin(tt.in))
	if tt.code != 0 || err != nil {
		f := failure.Of(err)
		if f == nil || f.Code != tt.code || !strings.Contains(f.Error()+" "+f.Remedy, tt.err) {
			t.Errorf("failed with %v (%+v), want %d: %s", err, f, tt.code, tt.err)
		}
		return
	}
	if got := shown(p); got != tt.want {
		t.Errorf("planned\n%s\nwant\n%s", got, tt.want)
	}
	// New channels have their own test.
	warnings := strings.Join(slices.DeleteFunc(p.Warnings, func(w string) bool { return strings.HasSuffix(w, unheard) }), "\n")
	if (warnings == "") != (tt.warning == "") || !strings.Contains(warnings, tt.warning) {
		t.Errorf("warnings are %q, want %q", warnings, tt.warning)
	}
	for _, target := range p.Targets {
		if len(target.Reasons) == 0 {
			t.Errorf("%s is planned without a reason", target.Template)
		}
		for _, c := range target.Catalogs {
			if len(c.Reasons) == 0 {
				t.Errorf("%s is planned without a reason", c.Path)
			}
		}
	}
}

func TestTargetsOfASetup(t *testing.T) {
	both := map[string]string{"t/basic.yaml": basicTemplate, "t/semver.yaml": semverTemplate, "t/README.md": "x"}
	byVersion := []ChannelRule{{Versions: Prerelease, Channels: []Pattern{"Candidate"}}, {Versions: "<2.0.0", Channels: []Pattern{"Candidate", "Fast"}}}
	for name, tt := range map[string]planCase{
		"channels": {files: both, in: Input{Setup: &Setup{Targets: []TargetSetup{{Template: "t/basic.yaml", Rules: rules("stable", "v{major}.{minor}")}}}},
			want: "t/basic.yaml basic\n  into stable,v1.1\n"},
		"the order is that of the setup": {files: both, in: Input{Setup: &Setup{Targets: []TargetSetup{{Template: "t/semver.yaml", Rules: rules("Fast")}, {Template: "./t/basic.yaml", Rules: rules("a", "a")}}}},
			want: "t/semver.yaml semver\n  into Fast\nt/basic.yaml basic\n  into a\n"},
		"pre-release": {files: both, version: "1.1.0-rc.1", in: Input{Setup: &Setup{Targets: []TargetSetup{{Template: "t/semver.yaml", Rules: byVersion}}}},
			want: "t/semver.yaml semver\n  into Candidate\n"},
		"release": {files: both, in: Input{Setup: &Setup{Targets: []TargetSetup{{Template: "t/semver.yaml", Rules: byVersion}}}},
			want: "t/semver.yaml semver\n  into Candidate,Fast\n"},
		"no rule fits": {files: both, version: "2.0.0", in: Input{Setup: &Setup{Targets: []TargetSetup{{Template: "t/semver.yaml", Rules: byVersion}}}},
			want: "not t/semver.yaml : no rule of graft.yaml fits version 2.0.0\n"},
		"glob": {files: both, in: Input{Asked: Asked{Channels: []string{"Fast"}}, Setup: &Setup{Targets: []TargetSetup{{Template: "t/*"}}}},
			want: "t/basic.yaml basic\n  into Fast\nt/semver.yaml semver\n  into Fast\n"},
		"glob over other packages": {files: map[string]string{"a/t.yaml": strings.ReplaceAll(basicTemplate, "op", "ap"), "op/t.yaml": basicTemplate}, in: Input{Setup: &Setup{Targets: []TargetSetup{{Template: "*/t.yaml", Rules: rules("stable")}}}},
			want: "op/t.yaml basic\n  into stable\nnot a/t.yaml : it is a template of package ap\n"},
		"placeholders in paths": {files: map[string]string{"op/t.yaml": basicTemplate}, in: Input{Setup: &Setup{Targets: []TargetSetup{{Template: "{package}/t.yaml", Rules: rules("a"), Catalogs: []CatalogSetup{{Path: "out/{template}-{package}-{major}.json"}}}}}},
			want: "op/t.yaml basic\n  into a\n  render out/t-op-1.json json csv new\n"},
		"glob without a match": {files: both, in: Input{Setup: &Setup{Targets: []TargetSetup{{Template: "x/*.yaml", Line: 3, Col: 5}}}},
			code: failure.TemplateNotFound, err: "graft.yaml:3:5: finding templates: no file matches x/*.yaml"},
		"glob that leads out": {files: both, in: Input{Setup: &Setup{Targets: []TargetSetup{{Template: "../*/t.yaml", Line: 3, Col: 5}}}},
			code: failure.Config, err: "graft.yaml:3:5: finding a template: ../*/t.yaml is not a path within the repository"},
		"absolute": {files: both, in: Input{Setup: &Setup{Targets: []TargetSetup{{Template: "/t/basic.yaml"}}}},
			code: failure.Config, err: "/t/basic.yaml is not a path within the repository"},
		"missing": {files: both, in: Input{Setup: &Setup{Targets: []TargetSetup{{Template: "t/none.yaml", Line: 3, Col: 5}}}},
			code: failure.TemplateNotFound, err: "graft.yaml:3:5: opening t/none.yaml: there is no such file"},
		"created": {files: both, in: Input{Setup: &Setup{Targets: []TargetSetup{{Template: "t/none.yaml", Create: "semver", Rules: rules("Fast")}}}},
			want: "t/none.yaml semver new\n  into Fast\n"},
		"no template at all": {files: map[string]string{"t.yaml": "a: b\n"}, in: Input{Setup: &Setup{Targets: []TargetSetup{{Template: "t.yaml"}}}},
			code: failure.TemplateUnsupported, err: "t.yaml"},
		"another package": {files: both, in: Input{Setup: &Setup{Package: "ap", Targets: []TargetSetup{{Template: "t/basic.yaml"}, {Template: "t/semver.yaml", Package: "op", Rules: rules("Fast")}}}},
			want: "t/semver.yaml semver\n  into Fast\nnot t/basic.yaml : it is for package ap\n"},
		"one is requested": {files: both, in: Input{Asked: Asked{Template: "t/semver.yaml"}, Setup: &Setup{Targets: []TargetSetup{{Template: "t/basic.yaml", Rules: rules("a")}, {Template: "t/semver.yaml", Rules: rules("Fast")}}}},
			want: "t/semver.yaml semver\n  into Fast\nnot t/basic.yaml : only t/semver.yaml is requested\n"},
		"one beside the setup is requested": {files: both, in: Input{Asked: Asked{Template: "t/semver.yaml", Channels: []string{"Fast"}}, Setup: &Setup{Targets: []TargetSetup{{Template: "t/basic.yaml", Rules: rules("a")}}}},
			want: "t/semver.yaml semver\n  into Fast\nnot t/basic.yaml : only t/semver.yaml is requested\n"},
		"only asked": {files: both, in: Input{Setup: &Setup{Targets: []TargetSetup{{Template: "t/basic.yaml", OnlyAsked: true, Unless: "because"}}}},
			want: "not t/basic.yaml : because\n"},
		"only asked, and asked": {files: both, in: Input{Asked: Asked{Channels: []string{"b"}}, Setup: &Setup{Targets: []TargetSetup{{Template: "t/basic.yaml", OnlyAsked: true}}}},
			want: "t/basic.yaml basic\n  into b\n"},
		"all faults reported": {files: both, in: Input{Setup: &Setup{Targets: []TargetSetup{{Template: "a.yaml"}, {Template: "b.yaml"}}}},
			code: failure.TemplateNotFound, err: "a.yaml"},
		"hostile channel by a pattern": {files: both, in: Input{Bundle: named("op.v1.1.0", "op"), Setup: &Setup{Targets: []TargetSetup{{Template: "t/basic.yaml", Rules: rules("a b")}}}},
			code: failure.Config, err: `"a b" is not the name of a channel`},
	} {
		t.Run(name, tt.run)
	}
}

func named(name, pkg string) kind.Bundle {
	b := bundleOf("1.1.0")
	b.Name, b.Package = name, pkg
	return b
}

func TestChannelsThatNobodySays(t *testing.T) {
	one := strings.Replace(basicTemplate, "- schema: olm.channel\n  package: op\n  name: v1.2\n  entries:\n  - name: op.v1.2.0\n", "", 1)
	setup := &Setup{Targets: []TargetSetup{{Template: "t.yaml"}}}
	fromBundle := &Setup{Targets: []TargetSetup{{Template: "t.yaml", FromBundle: true}}}
	noDefault := strings.Replace(basicTemplate, "defaultChannel: stable", "defaultChannel: fast", 1)
	two := basicTemplate + strings.NewReplacer("schema: olm.template.basic\nentries:\n", "", "op", "ap", "stable", "beta").Replace(basicTemplate)
	stable := "schema: olm.semver\nStable:\n  Bundles:\n  - Image: quay.io/example/op-bundle:v1.0.0\nFast:\n  Bundles:\n  - Image: quay.io/example/op-bundle:v1.0.0\n"
	for name, tt := range map[string]planCase{
		"annotations": {files: map[string]string{"t.yaml": basicTemplate}, in: Input{Setup: fromBundle, Annotated: []string{"beta", "stable", "beta"}},
			want: "t.yaml basic\n  into beta,stable\n"},
		"annotations for semver": {files: map[string]string{"t.yaml": semverTemplate}, in: Input{Setup: fromBundle, Annotated: []string{"beta", "fast"}},
			want: "t.yaml semver\n  into fast\n"},
		"annotations without channels":  {files: map[string]string{"t.yaml": basicTemplate}, in: Input{Setup: fromBundle}, want: "t.yaml basic\n  into stable\n"},
		"annotations that are not used": {files: map[string]string{"t.yaml": basicTemplate}, in: Input{Setup: setup, Annotated: []string{"beta"}}, want: "t.yaml basic\n  into stable\n"},
		"annotations for a new template": {in: Input{Setup: &Setup{Targets: []TargetSetup{{Template: "t.yaml", Create: "basic", FromBundle: true}}}, Annotated: []string{"beta"}},
			want: "t.yaml basic new\n  into beta\n"},
		"a new template":        {in: Input{Setup: &Setup{Targets: []TargetSetup{{Template: "t.yaml", Create: "semver"}}}, Annotated: []string{"beta"}}, code: failure.Usage, err: "the template has Candidate, Fast, Stable"},
		"the lowest archetype":  {files: map[string]string{"t.yaml": stable}, in: Input{Setup: setup, Annotated: []string{"stable"}}, want: "t.yaml semver\n  into Fast\n"},
		"of several packages":   {files: map[string]string{"t.yaml": two}, in: Input{Setup: setup}, want: "t.yaml basic\n  into stable\n"},
		"the default of others": {files: map[string]string{"t.yaml": two}, in: Input{Setup: setup, Bundle: named("ap.v1.1.0", "ap")}, want: "t.yaml basic\n  into beta\n"},
		"parts choose for themselves": {files: map[string]string{
			"t.yaml":     "schema: olm.composite\ncomponents:\n- name: a\n  strategy: {template: {schema: olm.builder.basic, config: {input: basic.yaml}}}\n",
			"basic.yaml": basicTemplate,
		}, in: Input{Setup: setup, Annotated: []string{"beta"}}, want: "t.yaml composite\n  into \n"},
		"the only channel":    {files: map[string]string{"t.yaml": one}, in: Input{Setup: setup}, want: "t.yaml basic\n  into stable\n"},
		"the only archetype":  {files: map[string]string{"t.yaml": semverTemplate}, in: Input{Setup: setup, Annotated: []string{"beta"}}, want: "t.yaml semver\n  into Candidate\n"},
		"several channels":    {files: map[string]string{"t.yaml": noDefault}, in: Input{Setup: setup}, code: failure.Usage, err: "the template has stable, v1.2"},
		"annotations are bad": {files: map[string]string{"t.yaml": basicTemplate}, in: Input{Setup: fromBundle, Annotated: []string{"a\n::set-env"}}, code: failure.BundleInvalid, err: "which is no name"},
		"asked goes first": {files: map[string]string{"t.yaml": basicTemplate}, in: Input{Setup: setup, Annotated: []string{"beta"}, Asked: Asked{Channels: []string{"a", "a"}}},
			want: "t.yaml basic\n  into a\n"},
	} {
		t.Run(name, tt.run)
	}
}

func TestWhatIsAskedIsChecked(t *testing.T) {
	files := map[string]string{"t.yaml": basicTemplate}
	for name, tt := range map[string]planCase{
		"name":              {in: Input{Bundle: named("op/../x", "op")}, code: failure.BundleInvalid, err: "make a name"},
		"package":           {in: Input{Bundle: named("op.v1.1.0", "..")}, code: failure.BundleInvalid, err: "make a name"},
		"channel":           {in: Input{Asked: Asked{Channels: []string{"a b"}}}, code: failure.Usage, err: `"a b" is not the name of a channel`},
		"default channel":   {in: Input{Asked: Asked{DefaultChannel: "a\nb"}}, code: failure.Usage, err: "is not the name of a channel"},
		"skip range":        {in: Input{Asked: Asked{Edges: Edges{SkipRange: "x"}}}, code: failure.Usage, err: "the skip range"},
		"template path":     {in: Input{Asked: Asked{Template: "../t.yaml"}}, code: failure.EditRefused, err: "../t.yaml is not a path within the repository"},
		"absolute template": {in: Input{Asked: Asked{Template: "/t.yaml"}}, code: failure.EditRefused, err: "with slashes"},
		"catalog path":      {in: Input{Asked: Asked{Catalog: `..\c.yaml`}}, code: failure.EditRefused, err: "is not a path"},
	} {
		tt.files = files
		t.Run(name, tt.run)
	}
}

func TestRegistries(t *testing.T) {
	setup := func() *Setup {
		return &Setup{File: "graft.yaml", Registries: map[string]string{"quay.io/example/op-bundle": "registry.example.com/op"}, Targets: []TargetSetup{{Template: "t.yaml", Rules: rules("stable")}}}
	}
	fsys := repo(map[string]string{"t.yaml": basicTemplate})
	b := bundleOf("1.1.0")
	b.Digest = digest
	p, err := Make(fsys, Input{Bundle: b, Setup: setup()})
	if err != nil {
		t.Fatal(err)
	}
	r := p.Targets[0].Requests[0]
	if want := "registry.example.com/op@" + digest; r.Bundle.Image != want || p.Bundle.Image != want || !r.Promote || r.Bundle.Digest != digest || len(p.Reasons) != 1 {
		t.Errorf("the request is %+v, the reasons %q", r, p.Reasons)
	}
	b.Image, b.Digest = "quay.io/example/op-bundle@"+digest, ""
	if p, err = Make(fsys, Input{Bundle: b, Setup: setup()}); err != nil || p.Bundle.Image != "registry.example.com/op@"+digest {
		t.Errorf("the digest of the reference is lost: %+v, %v", p, err)
	}
	b.Image = "quay.io/example/op-bundle:v1.1.0"
	if _, err = Make(fsys, Input{Bundle: b, Setup: setup()}); !failure.Is(err, failure.ImageUnpinned) {
		t.Errorf("without a digest: %v", err)
	}
	b.Digest = "sha256:0\n"
	if _, err = Make(fsys, Input{Bundle: b, Setup: setup()}); !failure.Is(err, failure.ImageUnpinned) {
		t.Errorf("with an invalid digest: %v", err)
	}
	b.Image = "quay.io/example/other:v1.1.0"
	if p, err = Make(fsys, Input{Bundle: b, Setup: setup(), Trusted: true}); err != nil || p.Bundle.Image != b.Image || p.Targets[0].Requests[0].Promote {
		t.Errorf("another repository is promoted: %+v, %v", p, err)
	}
}

// A plan can be inserted: the template accepts its requests one after another, and repeating them changes
// nothing.
func TestPlansAreTaken(t *testing.T) {
	skipRange := EdgeRule{SkipRange: ">={major}.{minor}.0 <{version}"}
	for name, ts := range map[string]TargetSetup{
		"natural":     {Rules: rules("stable", "v1.2")},
		"skip range":  {Rules: rules("stable", "v1.2", "new"), Edges: &skipRange, DefaultChannel: "v1.2"},
		"replaces":    {Rules: rules("stable"), Edges: &EdgeRule{Replaces: "{package}.v{major}.{minor}.0"}},
		"said, twice": {Rules: rules("stable"), Said: Edges{Replaces: "op.v1.2.0", SkipRange: "<1.2.3"}},
	} {
		t.Run(name, func(t *testing.T) {
			ts.Template = "t.yaml"
			fsys := repo(map[string]string{"t.yaml": basicTemplate})
			for round := range 2 {
				p, err := Make(fsys, Input{Bundle: bundleOf("1.2.3"), Setup: &Setup{File: "graft.yaml", Targets: []TargetSetup{ts}}})
				if err != nil {
					t.Fatal(err)
				}
				changed := false
				for _, r := range p.Targets[0].Requests {
					tmpl, err := template.Open(fsys, "t.yaml", "t.yaml")
					if err != nil {
						t.Fatal(err)
					}
					o, err := tmpl.Insert(r)
					if err != nil {
						t.Fatalf("round %d: %+v: %v", round, r, err)
					}
					for _, w := range o.Files {
						fsys[w.Path] = &fstest.MapFile{Data: w.After}
						changed = true
					}
				}
				if changed != (round == 0) {
					t.Errorf("round %d changes something: %v", round, changed)
				}
			}
			src, _ := fs.ReadFile(fsys, "t.yaml")
			if !strings.Contains(string(src), "name: op.v1.2.3\n    replaces: op.v1.2.0") {
				t.Errorf("the template is\n%s", src)
			}
		})
	}
}

func TestPlatformsAreThere(t *testing.T) {
	p, err := Make(repo(map[string]string{"t.yaml": basicTemplate}), mayBegin(Input{Bundle: bundleOf("1.1.0"), Setup: &Setup{Targets: []TargetSetup{{
		Template: "t.yaml", Rules: rules("stable"), Catalogs: []CatalogSetup{{Path: "v4.17/c.yaml"}, {Path: "v4.18/c.yaml", Platform: "4.9"}, {Path: "c.yaml"}},
	}}}}))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range p.Targets[0].Catalogs {
		got = append(got, fmt.Sprint(c.Platform))
	}
	if want := []string{"4.17", "4.9", "<nil>"}; !slices.Equal(got, want) {
		t.Errorf("platforms are %v, want %v", got, want)
	}
}

// A missing catalog counts as misspelt, unless create is set, its template is created as well, or it was
// requested.
func TestCatalogsAreBegun(t *testing.T) {
	for name, tt := range map[string]struct {
		target TargetSetup
		asked  string
		err    string
	}{
		"not allowed":         {target: TargetSetup{Template: "t.yaml", Catalogs: []CatalogSetup{{Path: "c.yaml"}}}, err: "the catalog c.yaml of t.yaml does not exist"},
		"a folder":            {target: TargetSetup{Template: "t.yaml", Catalogs: []CatalogSetup{{Path: "c"}}}, err: "the catalog c of t.yaml does not exist"},
		"the setup says so":   {target: TargetSetup{Template: "t.yaml", Catalogs: []CatalogSetup{{Path: "c.yaml", Create: true}}}},
		"with its template":   {target: TargetSetup{Template: "new.yaml", Create: "basic", Catalogs: []CatalogSetup{{Path: "c.yaml"}}}},
		"it is requested":     {target: TargetSetup{Template: "t.yaml"}, asked: "c.yaml"},
		"asked of those said": {target: TargetSetup{Template: "t.yaml", Catalogs: []CatalogSetup{{Path: "c.yaml"}}}, asked: "c.yaml", err: "does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			tt.target.Rules, tt.target.Line, tt.target.Col = rules("stable"), 3, 5
			_, err := Make(repo(map[string]string{"t.yaml": basicTemplate}), Input{Bundle: bundleOf("1.1.0"), Asked: Asked{Catalog: tt.asked}, Setup: &Setup{File: "graft.yaml", Targets: []TargetSetup{tt.target}}})
			f := failure.Of(err)
			if (tt.err == "") != (err == nil) || err != nil && (f.Code != failure.Config || f.File != "graft.yaml" || f.Line != 3 || !strings.Contains(f.Message, tt.err)) {
				t.Errorf("failed with %v, want %q", err, tt.err)
			}
		})
	}
}
