package plan

import (
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
)

func edgesCase(version string, rule EdgeRule, asked Edges, said Edges, want string) planCase {
	return planCase{
		files:   map[string]string{"t.yaml": basicTemplate},
		version: version,
		in: Input{Asked: Asked{Edges: asked}, Setup: &Setup{Edges: rule, Targets: []TargetSetup{{
			Template: "t.yaml", Line: 3, Col: 5, Rules: rules("stable", "v1.2", "new"), Said: said,
		}}}},
		want: "t.yaml basic\n" + want,
	}
}

func TestEdges(t *testing.T) {
	inRange := EdgeRule{SkipRange: ">={major}.{minor}.0 <{version}"}
	for name, tt := range map[string]planCase{
		"natural":     edgesCase("1.3.0", EdgeRule{}, Edges{}, Edges{}, "  into stable,v1.2,new\n"),
		"asked":       edgesCase("1.3.0", inRange, Edges{Replaces: "op.v1.2.0", Skips: []string{"op.v1.0.0"}}, Edges{Replaces: "x"}, "  into stable,v1.2,new replaces=op.v1.2.0 skips=op.v1.0.0 range=\n"),
		"said":        edgesCase("1.3.0", inRange, Edges{}, Edges{SkipRange: "<1.3.0"}, "  into stable,v1.2,new replaces= skips= range=<1.3.0\n"),
		"range, head": edgesCase("1.3.0", inRange, Edges{}, Edges{}, "  into stable,v1.2 replaces=op.v1.2.0 skips= range=>=1.3.0 <1.3.0\n  into new replaces= skips= range=>=1.3.0 <1.3.0\n"),
		// A backport replaces the bundle below it, in the channel that has one.
		"range, backport": edgesCase("1.1.5", inRange, Edges{}, Edges{}, "  into stable replaces=op.v1.0.0 skips= range=>=1.1.0 <1.1.5\n  into v1.2\n  into new replaces= skips= range=>=1.1.0 <1.1.5\n"),
		"range, there":    edgesCase("1.2.0", inRange, Edges{}, Edges{}, "  into stable,v1.2\n  into new replaces= skips= range=>=1.2.0 <1.2.0\n"),
		"replaces":        edgesCase("1.2.7", EdgeRule{Replaces: "op.v{major}.{minor}.{previousPatch}"}, Edges{}, Edges{}, "  into stable,v1.2,new replaces=op.v1.2.6 skips= range=\n"),
		"replaces, with a range": edgesCase("1.2.7", EdgeRule{Replaces: "op.v{major}.{minor}.0", SkipRange: "<{version}"}, Edges{}, Edges{},
			"  into stable,v1.2,new replaces=op.v1.2.0 skips= range=<1.2.7\n"),
		"like siblings":     edgesCase("1.3.0", EdgeRule{From: LikeSiblings}, Edges{}, Edges{}, "  into stable,v1.2 replaces=op.v1.2.0 skips= range=\n  into new\n"),
		"from nowhere":      edgesCase("1.3.0", EdgeRule{From: FromCSV}, Edges{}, Edges{}, "  into stable,v1.2,new\n"),
		"replaces nothing":  edgesCase("1.3.0", EdgeRule{Replaces: "op.v{major}.{minor}.{previousPatch}"}, Edges{}, Edges{}, "  into stable,v1.2,new\n"),
		"replaces itself":   edgesCase("1.3.0", EdgeRule{Replaces: "op.v{major}.{minor}.0"}, Edges{}, Edges{}, "  into stable,v1.2,new\n"),
		"explicit and said": edgesCase("1.3.0", EdgeRule{Explicit: true}, Edges{Replaces: "op.v1.2.0"}, Edges{}, "  into stable,v1.2,new replaces=op.v1.2.0 skips= range=\n"),
	} {
		t.Run(name, tt.run)
	}
	stated := edgesCase("1.3.0", EdgeRule{From: FromCSV}, Edges{}, Edges{}, "  into stable,v1.2,new replaces=op.v1.2.0 skips=op.v1.0.0 range=<1.3.0\n")
	stated.in.Stated = Edges{Replaces: "op.v1.2.0", Skips: []string{"op.v1.0.0"}, SkipRange: "<1.3.0"}
	t.Run("from the bundle", stated.run)
	missing := edgesCase("1.3.0", EdgeRule{Explicit: true}, Edges{}, Edges{}, "")
	missing.code, missing.err = failure.Usage, "graft.yaml:3:5: planning for op.v1.3.0: graft.yaml leaves the edges to be said"
	t.Run("explicit and not said", missing.run)
	rewires := edgesCase("1.1.5", EdgeRule{SkipRange: "<{version}", NoRewire: true}, Edges{}, Edges{}, "")
	rewires.code, rewires.err = failure.EdgeConflict, "op.v1.2.0 replaces op.v1.0.0 and would have to replace op.v1.1.5"
	t.Run("no rewire", rewires.run)
}

func TestEdgesOfATargetGoFirst(t *testing.T) {
	tt := edgesCase("1.3.0", EdgeRule{Explicit: true}, Edges{}, Edges{}, "  into stable,v1.2,new\n")
	tt.in.Setup.Targets[0].Edges = &EdgeRule{AllowMissingPredecessor: true, NoRewire: true}
	tt.run(t)
	p, err := Make(repo(tt.files), Input{Bundle: bundleOf("1.3.0"), Setup: tt.in.Setup})
	if err != nil {
		t.Fatal(err)
	}
	if r := p.Targets[0].Requests[0]; !r.AllowMissingPredecessor || !r.NoRewire {
		t.Errorf("the request is %+v", r)
	}
}

// Kinds that generate their edges get none by pattern. Explicit ones are passed on, and the kind decides about
// them.
func TestKindsWithoutEdges(t *testing.T) {
	goodstuff := "schema: olm.template.goodstuff\npackage: {name: op, defaultChannel: stable}\nbundles: {images: [quay.io/example/op-bundle:v1.0.0]}\ngraph-description: {package: op, name: stable, entries: [op.v1.0.0]}\n"
	for name, tt := range map[string]planCase{
		"semver":    {files: map[string]string{"t.yaml": semverTemplate}, want: "t.yaml semver\n  into stable\n"},
		"goodstuff": {files: map[string]string{"t.yaml": goodstuff}, want: "t.yaml goodstuff\n  into stable\n"},
	} {
		rule := EdgeRule{SkipRange: "<{version}", Explicit: true}
		tt.in = Input{Setup: &Setup{Edges: rule, Targets: []TargetSetup{{Template: "t.yaml", Rules: rules("stable")}}}}
		t.Run(name, tt.run)
		tt.in.Asked.Edges.Replaces = "op.v1.0.0"
		tt.want = strings.Replace(tt.want, "stable\n", "stable replaces=op.v1.0.0 skips= range=\n", 1)
		t.Run(name+", said", tt.run)
	}
}

func TestEdgesInAllFormsOfTemplates(t *testing.T) {
	stream := "---\nschema: olm.package\nname: op\ndefaultChannel: stable\n---\nschema: olm.channel\npackage: op\nname: stable\nentries:\n- name: op.v1.0.0\n---\nschema: olm.bundle\nimage: quay.io/example/op-bundle:v1.0.0\n"
	setup := func(template Pattern) Input {
		return Input{Setup: &Setup{Edges: EdgeRule{SkipRange: "<{version}"}, Targets: []TargetSetup{{Template: template, Rules: rules("stable")}}}}
	}
	upToSecond, _, _ := strings.Cut(basicTemplate, "  - name: op.v1.2.0")
	const edges = "\n  into stable replaces=op.v1.0.0 skips= range=<1.1.0\n"
	for name, tt := range map[string]planCase{
		"stream": {files: map[string]string{"t.yaml": stream}, in: setup("t.yaml"), want: "t.yaml basic" + edges},
		"raw":    {files: map[string]string{"c.yaml": catalogOf("op", "olm.csv.metadata")}, in: setup("c.yaml"), want: "c.yaml raw" + edges},
		"raw directory": {files: map[string]string{"c/op/catalog.yaml": catalogOf("op", "olm.csv.metadata"), "c/ap/catalog.yaml": catalogOf("ap", "olm.csv.metadata")}, in: setup("c/"),
			want: "c raw" + edges},
		"substitutes": {files: map[string]string{"t.yaml": strings.Replace(upToSecond, "olm.template.basic", "olm.template.substitutes", 1)}, in: setup("t.yaml"),
			want: "t.yaml substitutes" + edges},
		"new": {in: Input{Asked: Asked{Create: "basic"}, Setup: setup("t.yaml").Setup}, want: "t.yaml basic new\n  into stable replaces= skips= range=<1.1.0\n"},
	} {
		t.Run(name, tt.run)
	}
}

func TestDefaultChannel(t *testing.T) {
	setup := func(rule, target Pattern) *Setup {
		return &Setup{Targets: []TargetSetup{{Template: "t.yaml", DefaultChannel: target, Rules: []ChannelRule{{Channels: []Pattern{"stable"}, DefaultChannel: rule}}}}}
	}
	files := map[string]string{"t.yaml": basicTemplate}
	for name, tt := range map[string]planCase{
		"kept":             {version: "1.3.0", in: Input{Setup: setup("", "")}, want: "t.yaml basic\n  into stable\n"},
		"constant":         {version: "1.1.0", in: Input{Setup: setup("stable", "")}, want: "t.yaml basic\n  into stable default=stable\n"},
		"of the target":    {version: "1.1.0", in: Input{Setup: setup("", "stable")}, want: "t.yaml basic\n  into stable default=stable\n"},
		"of the rule":      {version: "1.1.0", in: Input{Setup: setup("a", "stable")}, want: "t.yaml basic\n  into stable default=a\n"},
		"moves forward":    {version: "1.3.0", in: Input{Setup: setup("v{major}.{minor}", "")}, want: "t.yaml basic\n  into stable default=v1.3\n"},
		"never back":       {version: "1.1.0", in: Input{Setup: setup("v{major}.{minor}", "")}, want: "t.yaml basic\n  into stable\n"},
		"the same again":   {version: "1.2.0", in: Input{Setup: setup("v{major}.{minor}", "")}, want: "t.yaml basic\n  into stable default=v1.2\n"},
		"asked":            {version: "1.1.0", in: Input{Asked: Asked{DefaultChannel: "x"}, Setup: setup("a", "")}, want: "t.yaml basic\n  into stable default=x\n"},
		"channels asked":   {version: "1.3.0", in: Input{Asked: Asked{Channels: []string{"b"}}, Setup: setup("a", "a")}, want: "t.yaml basic\n  into b\n"},
		"with annotations": {version: "1.3.0", in: Input{Annotated: []string{"b"}, Setup: &Setup{Targets: []TargetSetup{{Template: "t.yaml", FromBundle: true, DefaultChannel: "b"}}}}, want: "t.yaml basic\n  into b default=b\n"},
	} {
		tt.files = files
		t.Run(name, tt.run)
	}
	semver := planCase{files: map[string]string{"t.yaml": semverTemplate}, in: Input{Setup: setup("a", "")}, want: "t.yaml semver\n  into stable\n"}
	t.Run("semver", semver.run)
}

// A default channel with placeholders moves forward even if no bundle of its version exists yet.
func TestDefaultChannelMovesForward(t *testing.T) {
	for now, want := range map[string]string{"release-v2.13": "", "release-v5.0": "", "release-v2.12": "release-v2.12", "release-v2.9": "release-v2.12", "other": "release-v2.12"} {
		text := strings.ReplaceAll(basicTemplate, "stable", now)
		setup := &Setup{File: "graft.yaml", Targets: []TargetSetup{{
			Template: "basic.yaml", Rules: []ChannelRule{{Channels: []Pattern{Pattern(now)}}}, DefaultChannel: "release-v{major}.{minor}",
		}}}
		p, err := Make(repo(map[string]string{"basic.yaml": text}), Input{Trusted: true, Bundle: bundleOf("2.12.7"), Setup: setup})
		if err != nil || p.Targets[0].Requests[0].DefaultChannel != want {
			t.Errorf("from %s: %+v, %v, want %q", now, p, err, want)
		}
	}
}
