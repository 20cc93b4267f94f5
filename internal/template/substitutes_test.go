package template

import (
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/reference"
)

// released finds substitutes by the tag of their image: repo:NAME-vVERSION-RELEASE.
type released struct{}

func (released) Bundle(image string) (fbc.Facts, error) {
	_, name, _ := reference.Cut(image)
	version, release, _ := strings.Cut(strings.TrimPrefix(name, "op-v"), "-")
	return fbc.Facts{Name: name, Package: "op", Image: image, Version: version, Release: release}, nil
}

func (released) Showcase(string) (fbc.Showcase, error) { return fbc.Showcase{}, nil }

// substitutesTemplate returns a template with channels in the notation of catalogOf, and substitutions as
// "SUBSTITUTE for BASE".
func substitutesTemplate(channels []string, substitutions ...string) string {
	out := "schema: olm.template.substitutes\nentries:\n"
	for _, document := range strings.Split(strings.TrimSpace(catalogOf(channels...)), "\n---\n") {
		out += "- " + strings.ReplaceAll(document, "\n", "\n  ") + "\n"
	}
	out += "substitutions:\n"
	for _, s := range substitutions {
		name, base, _ := strings.Cut(s, " for ")
		out += "- name: q.io/op:" + name + "\n  base: " + base + "\n"
	}
	return out
}

// TestSubstitutes checks that a substitute takes the edges of its base and skips it, and that entries which
// replaced or skipped the base now also replace or skip the substitute.
func TestSubstitutes(t *testing.T) {
	const chain = "stable: 1.0.0 | 1.1.0<1.0.0 | 1.2.0<1.1.0"
	for _, tt := range []struct {
		name, channel string
		substitutions []string
		want          string
	}{
		{"the head", chain, []string{"op-v1.2.0-1 for op.v1.2.0"}, "stable: 1.0.0 | 1.1.0<1.0.0 | 1.2.0 | op-v1.2.0-1<1.1.0 -1.2.0"},
		{"an entry that another replaces", chain, []string{"op-v1.1.0-1 for op.v1.1.0"}, "stable: 1.0.0 | 1.1.0 | 1.2.0<op-v1.1.0-1 -1.1.0 | op-v1.1.0-1<1.0.0 -1.1.0"},
		{"an entry that another skips", "stable: 1.0.0 | 1.1.0<1.0.0 | 1.2.0<1.0.0 -1.0.9,1.1.0", []string{"op-v1.1.0-1 for op.v1.1.0"}, "stable: 1.0.0 | 1.1.0 | 1.2.0<1.0.0 -1.0.9,op-v1.1.0-1 | op-v1.1.0-1<1.0.0 -1.1.0"},
		{"an entry with skips", "stable: 1.0.0 | 1.1.0<1.0.0 -1.0.8,1.0.9", []string{"op-v1.1.0-1 for op.v1.1.0"}, "stable: 1.0.0 | 1.1.0 | op-v1.1.0-1<1.0.0 -1.0.8,1.0.9,1.1.0"},
		{"the tail", chain, []string{"op-v1.0.0-1 for op.v1.0.0"}, "stable: 1.0.0 | 1.1.0<op-v1.0.0-1 -1.0.0 | 1.2.0<1.1.0 | op-v1.0.0-1 -1.0.0"},
		{"in every channel that has it", chain + "/fast: 1.1.0/slow: 1.0.0", []string{"op-v1.1.0-1 for op.v1.1.0"}, "stable: 1.0.0 | 1.1.0 | 1.2.0<op-v1.1.0-1 -1.1.0 | op-v1.1.0-1<1.0.0 -1.1.0\nfast: 1.1.0 | op-v1.1.0-1 -1.1.0\nslow: 1.0.0"},
		{"a substitute again", chain, []string{"op-v1.2.0-1 for op.v1.2.0", "op-v1.2.0-2 for op-v1.2.0-1"}, "stable: 1.0.0 | 1.1.0<1.0.0 | 1.2.0 | op-v1.2.0-1 | op-v1.2.0-2<1.1.0 -1.2.0,op-v1.2.0-1"},
	} {
		tmpl, err := Parse("t.yaml", []byte(substitutesTemplate(strings.Split(tt.channel, "/"), tt.substitutions...)))
		if err != nil {
			t.Fatal(err)
		}
		c, err := tmpl.Expand(released{}, nil)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got := short(c, "op"); got != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.name, got, tt.want)
		}
		if len(c.Images) != len(tt.substitutions) {
			t.Errorf("%s: bundles to render: %v", tt.name, c.Images)
		}
	}
	for name, tt := range map[string]struct {
		channel       string
		substitutions []string
		want          string
	}{
		"no such base":             {chain, []string{"op-v1.2.0-1 for op.v1.3.0"}, "t.yaml:34:3: rendering a substitution: the template has no bundle op.v1.3.0 to substitute"},
		"of a lower version":       {chain, []string{"op-v1.1.0-1 for op.v1.2.0"}, "op-v1.1.0-1 is not above op.v1.2.0"},
		"of the same version":      {chain, []string{"op-v1.2.0 for op.v1.2.0"}, "op-v1.2.0 is not above op.v1.2.0"},
		"of a lower release":       {chain, []string{"op-v1.2.0-10 for op.v1.2.0", "op-v1.2.0-9 for op-v1.2.0-10"}, "op-v1.2.0-9 is not above op-v1.2.0-10"},
		"a channel with two heads": {"stable: 1.0.0 | 1.1.0<1.0.0 | 1.2.0<1.0.0", []string{"op-v1.2.0-1 for op.v1.2.0"}, "has 2 heads"},
	} {
		tmpl, err := Parse("t.yaml", []byte(substitutesTemplate(strings.Split(tt.channel, "/"), tt.substitutions...)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tmpl.Expand(released{}, nil); !failure.Is(err, failure.RenderFailed) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
