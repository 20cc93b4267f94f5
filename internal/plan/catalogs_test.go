package plan

import (
	"testing"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
)

func renders(label string, catalogs ...CatalogSetup) Input {
	return Input{OpenShiftVersions: label, Setup: &Setup{Targets: []TargetSetup{{Template: "t.yaml", Line: 3, Col: 5, Rules: rules("a"), Catalogs: catalogs}}}}
}

const into = "t.yaml basic\n  into a\n"

func TestMetadata(t *testing.T) {
	objects, csv := catalogOf("op", fbc.TypeBundleObject), catalogOf("op", fbc.TypeCSVMetadata)
	for name, tt := range map[string]struct {
		setup    CatalogSetup
		standing string
		want     string
		warning  string
	}{
		"4.16 by its folder":                   {CatalogSetup{Path: "v4.16/c.yaml"}, "", "v4.16/c.yaml yaml objects new", ""},
		"4.17 by its folder":                   {CatalogSetup{Path: "v4.17/c.yaml"}, "", "v4.17/c.yaml yaml csv new", ""},
		"5.0":                                  {CatalogSetup{Path: "v5.0/c.yaml", Metadata: Auto}, "", "v5.0/c.yaml yaml csv new", ""},
		"Kubernetes":                           {CatalogSetup{Path: "v1.30/c.yaml"}, "", "v1.30/c.yaml yaml csv new", ""},
		"an explicit platform wins":            {CatalogSetup{Path: "v4.17/c.yaml", Platform: "4.12"}, "", "v4.17/c.yaml yaml objects new", ""},
		"no platform":                          {CatalogSetup{Path: "c.json"}, "", "c.json json csv new", ""},
		"no platform, existing csv":            {CatalogSetup{Path: "c.yaml"}, csv, "c.yaml yaml csv", ""},
		"no platform, existing objects":        {CatalogSetup{Path: "c.yaml"}, objects, "c.yaml yaml objects", "c.yaml holds olm.bundle.object, which OpenShift 4.17 and later refuse"},
		"no platform, both exist":              {CatalogSetup{Path: "c.yaml"}, csv + objects, "c.yaml yaml csv", "c.yaml holds olm.bundle.object and olm.csv.metadata now and is rendered with olm.csv.metadata"},
		"4.16, existing objects":               {CatalogSetup{Path: "v4.16/c.yaml"}, objects, "v4.16/c.yaml yaml objects", ""},
		"4.17, existing objects":               {CatalogSetup{Path: "v4.17/c.yaml"}, objects, "v4.17/c.yaml yaml csv", "all of its bundles change"},
		"4.16, existing csv":                   {CatalogSetup{Path: "v4.16/c.yaml"}, csv, "v4.16/c.yaml yaml objects", "all of its bundles change"},
		"configured":                           {CatalogSetup{Path: "c.yaml", Metadata: BundleObject}, "", "c.yaml yaml objects new", ""},
		"configured, unlike the platform":      {CatalogSetup{Path: "v4.18/c.yaml", Metadata: BundleObject}, "", "v4.18/c.yaml yaml objects new", "v4.18/c.yaml is for OpenShift 4.18, which wants olm.csv.metadata, and graft.yaml has it hold olm.bundle.object"},
		"configured, unlike Kubernetes":        {CatalogSetup{Path: "v1.30/c.yaml", Metadata: BundleObject}, "", "v1.30/c.yaml yaml objects new", ""},
		"configured, unlike the existing file": {CatalogSetup{Path: "c.yaml", Metadata: CSVMetadata}, objects, "c.yaml yaml csv", "c.yaml holds olm.bundle.object now"},
		"an empty file":                        {CatalogSetup{Path: "c.yaml"}, "\n", "c.yaml yaml csv", ""},
		"an unreadable catalog":                {CatalogSetup{Path: "c.yaml"}, "schema: [", "c.yaml yaml csv", "c.yaml cannot be read as a catalog"},
		"a text names the other":               {CatalogSetup{Path: "c.yaml"}, csv + "- type: other\n  value: uses olm.bundle.object\n", "c.yaml yaml csv", ""},
		"yml is YAML":                          {CatalogSetup{Path: "c.yml"}, "", "c.yml yaml csv new", ""},
		"a name in a pattern for JSON":         {CatalogSetup{Path: "{template}.json"}, "", "t.json json csv new", ""},
	} {
		files := map[string]string{"t.yaml": basicTemplate}
		if tt.standing != "" {
			files[string(tt.setup.Path)] = tt.standing
		}
		t.Run(name, planCase{files: files, in: renders("", tt.setup), want: into + "  render " + tt.want + "\n", warning: tt.warning}.run)
	}
}

func TestLabel(t *testing.T) {
	three := []CatalogSetup{{Path: "v4.12/c.yaml"}, {Path: "v4.18/c.yaml"}, {Path: "latest/c.yaml"}}
	files := map[string]string{"t.yaml": basicTemplate}
	const (
		low, high, latest = "  render v4.12/c.yaml yaml objects new\n", "  render v4.18/c.yaml yaml csv new\n", "  render latest/c.yaml yaml csv new\n"
		left              = "it is for OpenShift 4.12, and the bundle's label com.redhat.openshift.versions is "
		also              = "t.yaml also makes catalogs for versions of OpenShift that the bundle's label leaves out"
	)
	for name, tt := range map[string]planCase{
		"none":     {in: renders("", three...), want: into + low + high + latest},
		"later":    {in: renders("v4.13", three...), want: into + high + latest + "not t.yaml v4.12/c.yaml: " + left + "v4.13\n", warning: also},
		"list":     {in: renders("v4.13,v4.14", three...), want: into + high + latest + "not t.yaml v4.12/c.yaml: " + left + "v4.13,v4.14\n", warning: "is a list"},
		"old list": {in: renders("v4.6,v4.5", three...), want: into + low + high + latest},
		"all left out": {in: renders("=v4.20", three[:2]...),
			want: "not t.yaml v4.12/c.yaml: " + left + "=v4.20\nnot t.yaml v4.18/c.yaml: it is for OpenShift 4.18, and the bundle's label com.redhat.openshift.versions is =v4.20\n"},
		"Kubernetes is not meant":   {in: renders("v4.20", CatalogSetup{Path: "v1.30/c.yaml"}), want: into + "  render v1.30/c.yaml yaml csv new\n"},
		"malformed":                 {in: renders("latest", three...), code: failure.BundleInvalid, err: `invalid value "latest", want such as v4.12, =v4.12 or v4.12-v4.15`},
		"malformed, but not needed": {in: renders("latest", three[2]), want: into + latest},
	} {
		tt.files = files
		t.Run(name, tt.run)
	}
	ignored := renders("=v4.20", three[:2]...)
	ignored.Setup.VersionsLabel = IgnoreLabel
	t.Run("ignored", planCase{files: files, in: ignored, want: into + low + high}.run)
	ignored.OpenShiftVersions = "latest"
	t.Run("ignored and malformed", planCase{files: files, in: ignored, want: into + low + high}.run)
	ignored.OpenShiftVersions, ignored.Setup.Targets[0].VersionsLabel = "v4.13", "honour"
	t.Run("ignored, but not in this target", planCase{files: files, in: ignored, want: into + high + "not t.yaml v4.12/c.yaml: " + left + "v4.13\n", warning: also}.run)
	raw := planCase{
		files: map[string]string{"v4.12/c.yaml": catalogOf("op", fbc.TypeBundleObject)},
		in:    Input{OpenShiftVersions: "v4.16", Annotated: []string{"stable"}, Setup: &Setup{Targets: []TargetSetup{{Template: "v4.12/c.yaml"}}}},
		want:  "not v4.12/c.yaml v4.12/c.yaml: " + left + "v4.16\n",
	}
	t.Run("a catalog without template", raw.run)
}

func TestCatalogsThatAreAskedFor(t *testing.T) {
	files := map[string]string{"t.yaml": basicTemplate, "u.yaml": basicTemplate}
	in := func(asked string, catalogs ...CatalogSetup) Input {
		out := renders("", catalogs...)
		out.Asked.Catalog = asked
		return out
	}
	two := []CatalogSetup{{Path: "a.yaml"}, {Path: "b.yaml", Name: "bee"}}
	for name, tt := range map[string]planCase{
		"itself":               {files: map[string]string{"t.yaml": catalogOf("op", fbc.TypeCSVMetadata)}, in: in("t.yaml"), want: "t.yaml raw\n  into a\n"},
		"not itself":           {files: map[string]string{"t.yaml": catalogOf("op", fbc.TypeCSVMetadata)}, in: in("other.yaml"), code: failure.Usage, err: "no target has the catalog other.yaml"},
		"by path":              {in: in("./a.yaml", two...), want: into + "  render a.yaml yaml csv new\nnot t.yaml b.yaml: only a.yaml is requested\n"},
		"by name":              {in: in("bee", two...), want: "t.yaml basic [bee]\n  into a\n  render b.yaml yaml csv new\nnot t.yaml a.yaml: only bee is requested\n"},
		"unknown":              {in: in("c.yaml", two...), code: failure.Usage, err: "Give one of a.yaml, b.yaml."},
		"a target without any": {in: in("c.yaml"), want: into + "  render c.yaml yaml csv new\n"},
		"a folder that is new": {in: renders("", CatalogSetup{Path: "catalogs/{package}"}), want: into + "  render catalogs/op yaml csv new\n"},
		"leads out":            {in: renders("", CatalogSetup{Path: "../c.yaml"}), code: failure.Config, err: "graft.yaml:3:5: finding a catalog: ../c.yaml is not a path within the repository"},
		"is a pattern":         {in: renders("", CatalogSetup{Path: "*/c.yaml"}), code: failure.Config, err: "is no name"},
		"unknown words":        {in: renders("", CatalogSetup{Path: "{catalog}/c.yaml"}), code: failure.Config, err: "{catalog} has no value here"},
		"a folder there":       {files: map[string]string{"t.yaml": basicTemplate, "c.yaml/x": ""}, in: renders("", CatalogSetup{Path: "c.yaml"}), code: failure.EditRefused, err: "reading the catalog c.yaml"},
		"of two templates": {in: Input{Setup: &Setup{Targets: []TargetSetup{
			{Template: "t.yaml", Rules: rules("a"), Catalogs: []CatalogSetup{{Path: "c.yaml"}}},
			{Template: "u.yaml", Rules: rules("a"), Catalogs: []CatalogSetup{{Path: "./c.yaml"}}},
		}}}, code: failure.Config, err: "two templates make the catalog c.yaml: t.yaml and u.yaml"},
		"of a pattern's templates": {in: Input{Setup: &Setup{Targets: []TargetSetup{{Template: "*.yaml", Rules: rules("a"), Catalogs: []CatalogSetup{{Path: "out/{template}.yaml"}}}}}},
			want: into + "  render out/t.yaml yaml csv new\nu.yaml basic\n  into a\n  render out/u.yaml yaml csv new\n"},
		"over the template": {in: renders("", CatalogSetup{Path: "t.yaml"}), code: failure.Config, err: "t.yaml is a template and a catalog"},
		// A release-config.yaml may name one template twice.
		"of one template twice": {in: Input{Setup: &Setup{Targets: []TargetSetup{
			{Template: "t.yaml", Rules: rules("a"), Catalogs: []CatalogSetup{{Path: "c.yaml"}}},
			{Template: "t.yaml", Rules: rules("b"), Said: Edges{Replaces: "op.v1.0.0"}, Catalogs: []CatalogSetup{{Path: "c.yaml"}}},
			{Template: "t.yaml", Rules: rules("a"), Catalogs: []CatalogSetup{{Path: "c.yaml"}}},
		}}}, want: into + "  into b replaces=op.v1.0.0 skips= range=\n  render c.yaml yaml csv new\n"},
	} {
		if tt.files == nil {
			tt.files = files
		}
		t.Run(name, tt.run)
	}
}

func TestComposite(t *testing.T) {
	composite := "schema: olm.composite\ncomponents:\n" +
		"- name: first\n  strategy: {name: basic, template: {schema: olm.builder.basic, config: {input: basic.yaml, output: a.yaml}}}\n" +
		"- name: second\n  strategy: {name: semver, template: {schema: olm.builder.semver, config: {input: semver.yaml, output: b.yaml}}}\n"
	files := map[string]string{"t/composite.yaml": composite, "t/basic.yaml": basicTemplate, "t/semver.yaml": semverTemplate}
	setup := &Setup{Edges: EdgeRule{SkipRange: "<{version}"}, Targets: []TargetSetup{{Template: "t/composite.yaml", Rules: rules("stable"), Catalogs: []CatalogSetup{
		{Path: "v4.16/c.yaml", Name: "first"}, {Path: "v4.17/c.yaml", Name: "second"},
	}}}}
	for name, tt := range map[string]planCase{
		"all":                  {in: Input{Setup: setup}, want: "t/composite.yaml composite [first second]\n  into stable\n  render v4.16/c.yaml yaml objects new\n  render v4.17/c.yaml yaml csv new\n"},
		"label":                {in: Input{Setup: setup, OpenShiftVersions: "v4.17"}, want: "t/composite.yaml composite [second]\n  into stable\n  render v4.17/c.yaml yaml csv new\nnot t/composite.yaml v4.16/c.yaml: it is for OpenShift 4.16, and the bundle's label com.redhat.openshift.versions is v4.17\n"},
		"found":                {in: Input{Asked: Asked{Channels: []string{"stable"}}}, want: "t/composite.yaml composite\n  into stable\n"},
		"found, one asked for": {in: Input{Asked: Asked{Channels: []string{"stable"}, Catalog: "second"}}, want: "t/composite.yaml composite [second]\n  into stable\n"},
		"no channel":           {in: Input{}, want: "t/composite.yaml composite\n  into \n"},
	} {
		tt.files = files
		t.Run(name, tt.run)
	}
}
