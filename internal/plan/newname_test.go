package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
)

func TestNewChannels(t *testing.T) {
	channels := func(names ...string) string {
		text := "schema: olm.template.basic\nentries:\n- {schema: olm.package, name: op, defaultChannel: " + names[0] + "}\n"
		for _, name := range names {
			text += "- {schema: olm.channel, package: op, name: " + name + ", entries: [{name: op.v1.0.0}]}\n"
		}
		return text + "- {schema: olm.bundle, image: quay.io/example/op-bundle:v1.0.0}\n"
	}
	for name, tt := range map[string]struct {
		held, other []string
		channel     Pattern
		asked       string
		warned      bool
		err         string
	}{
		"an existing one":              {held: []string{"stable"}, channel: "stable"},
		"in another template":          {held: []string{"stable"}, other: []string{"fast"}, channel: "fast"},
		"two letters changed places":   {held: []string{"stable-3.16"}, channel: "stabel-3.17", err: "stable-3.16 is nearly called so"},
		"one letter lacks":             {held: []string{"candidate-v4.1"}, channel: "candidat-v4.2", err: "candidate-v4.1 is nearly"},
		"a capital":                    {held: []string{"stable"}, channel: "Stable", err: "stable is nearly"},
		"misspelt beside another one":  {held: []string{"fast"}, other: []string{"stable"}, channel: "stabl", err: "stable is nearly"},
		"it is requested":              {held: []string{"stable-3.16"}, asked: "stabel-3.17"},
		"the next one":                 {held: []string{"stable-v1.3"}, channel: "stable-v{major}.4"},
		"the next one without a v":     {held: []string{"stable-v1.3"}, channel: "stable-1.4"},
		"the first one with a version": {held: []string{"stable"}, channel: "stable-v1"},
		"the next of two near ones":    {held: []string{"fast-1.0", "last-1.0"}, channel: "last-1.1"},
		"another word":                 {held: []string{"stable"}, channel: "fast", warned: true},
		"a prefix":                     {held: []string{"stable"}, channel: "unstable", warned: true},
		"short words":                  {held: []string{"dev"}, channel: "rev", warned: true},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"t.yaml": channels(tt.held...)}
			setup := &Setup{File: "graft.yaml", Targets: []TargetSetup{{Line: 3, Col: 5, Template: "t.yaml", Rules: rules(tt.channel)}}}
			in := Input{Bundle: bundleOf("1.1.0"), Setup: setup}
			if tt.asked != "" {
				setup.Targets[0].Rules, in.Asked.Channels = nil, []string{tt.asked}
			}
			if tt.other != nil {
				files["u.yaml"] = channels(tt.other...)
				setup.Targets = append(setup.Targets, TargetSetup{Template: "u.yaml", Rules: rules(Pattern(tt.other[0]))})
			}
			p, err := Make(repo(files), in)
			if f := failure.Of(err); tt.err != "" {
				if err == nil || f.Code != failure.ChannelUnknown || !strings.Contains(f.Message, tt.err) || f.File != "graft.yaml" || f.Line != 3 {
					t.Errorf("failed with %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if warned := slices.ContainsFunc(p.Warnings, func(w string) bool { return strings.HasSuffix(w, unheard) }); warned != tt.warned {
				t.Errorf("warned %v: %v", warned, p.Warnings)
			}
		})
	}
}
