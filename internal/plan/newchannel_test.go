package plan

import (
	"strings"
	"testing"
)

// A new channel begins as its target says. Its first entry gets the edges that the rule yields for the lower
// entries.
func TestNewChannel(t *testing.T) {
	with := func(channel string) map[string]string {
		return map[string]string{"t.yaml": strings.Replace(basicTemplate, "  name: v1.2\n  entries:\n  - name: op.v1.2.0\n", "  name: v1.2\n  entries:\n"+channel, 1)}
	}
	whole := with("  - name: op.v1.2.0\n    skipRange: <1.2.0\n  - name: op.v1.2.1\n    replaces: op.v1.2.0\n    skipRange: <1.2.1\n")
	attached := with("  - name: op.v1.2.0\n    replaces: op.v1.0.0\n    skipRange: '>=1.0.0 <1.2.0'\n")
	for name, tt := range map[string]struct {
		files      map[string]string
		newChannel string
		edges      EdgeRule
		want, why  string
	}{
		"empty, nothing replaced":     {whole, "empty", EdgeRule{From: LikeSiblings}, " replaces= skips= range=<1.3.0", "it is the first one there, and skips the range \"<1.3.0\" as channel v1.2 shows."},
		"empty, the other replaced":   {attached, "", EdgeRule{From: LikeSiblings}, " replaces=op.v1.2.0 skips= range=>=1.2.0 <1.3.0", "and replaces op.v1.2.0"},
		"empty, natural":              {whole, "empty", EdgeRule{}, "", "Channel v1.3 is new and begins with the bundle alone, as graft.yaml says."},
		"like previous, like entries": {whole, LikePrevious, EdgeRule{From: LikeSiblings}, " replaces=op.v1.2.1 skips= range=<1.3.0", "Channel v1.3 is new and begins with the entries of v1.2, as graft.yaml says."},
		"like previous, by a pattern": {whole, LikePrevious, EdgeRule{SkipRange: "<{version}"}, " replaces=op.v1.2.1 skips= range=<1.3.0", "the version below it"},
	} {
		t.Run(name, func(t *testing.T) {
			setup := &Setup{File: "graft.yaml", Edges: tt.edges, Targets: []TargetSetup{{Template: "t.yaml", NewChannel: tt.newChannel, Rules: rules("v{major}.{minor}")}}}
			p, err := Make(repo(tt.files), Input{Bundle: bundleOf("1.3.0"), Setup: setup})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := shown(p), "t.yaml basic\n  into v1.3"+tt.want+"\n"; got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
			if why := strings.Join(p.Targets[0].Reasons, "\n"); !strings.Contains(why, tt.why) {
				t.Errorf("reasons\n%s", why)
			}
			if like := p.Targets[0].Requests[0].LikePrevious; like != (tt.newChannel == LikePrevious) {
				t.Errorf("like the previous: %v", like)
			}
		})
	}
}

// The first channel of a pattern has no previous one.
func TestFirstChannelOfAPattern(t *testing.T) {
	setup := &Setup{File: "graft.yaml", Targets: []TargetSetup{{Template: "t.yaml", NewChannel: LikePrevious, Rules: rules("release-{major}.{minor}")}}}
	p, err := Make(repo(map[string]string{"t.yaml": basicTemplate}), Input{Bundle: bundleOf("1.3.0"), Setup: setup})
	if err != nil || !strings.Contains(strings.Join(p.Targets[0].Reasons, "\n"), "Channel release-1.3 is new and begins with the bundle alone: none comes before it.") {
		t.Fatal(err, p)
	}
}
