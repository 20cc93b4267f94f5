package cli

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/survey"
	"github.com/olmgraft/graft/internal/template/kind"
)

// starterConfig writes the survey's results, with the evidence beside each decision.
func starterConfig(s *survey.Survey, proofs map[survey.Pair]proof) []byte {
	var b strings.Builder
	b.WriteString("# yaml-language-server: $schema=https://raw.githubusercontent.com/olmgraft/graft/main/internal/config/graft.schema.json\n")
	packages, repositories := []string{}, []string{}
	for _, t := range s.Targets {
		packages = append(packages, t.Package)
		repositories = append(repositories, t.Repositories...)
	}
	packages, repositories = kind.Unique(packages), kind.Unique(repositories)
	if len(packages) == 1 {
		fmt.Fprintf(&b, "package: %s\n", scalar(packages[0]))
	}
	b.WriteString("targets:\n")
	for _, t := range s.Targets {
		starterTarget(&b, t, len(packages) > 1, proofs)
	}
	if len(repositories) > 0 {
		b.WriteString("# Bundles may come from here only.\nallowedRepositories:\n")
		for _, r := range repositories {
			fmt.Fprintf(&b, "  - %s\n", scalar(r))
		}
	}
	b.WriteString("# One pull request for each bundle; package makes it a rolling one.\npullRequest:\n  strategy: bundle\n")
	starterLeft(&b, s.Left)
	return []byte(b.String())
}

// starterLeft writes the parts without configuration, and why.
func starterLeft(b *strings.Builder, left []plan.LeftOut) {
	for i, l := range left {
		if i == 0 {
			b.WriteString("# Left alone:\n")
		}
		comment(b, "  ", l.Path()+": "+l.Reason)
	}
}

// comment writes a text behind # on one line.
func comment(b *strings.Builder, indent, text string) {
	fmt.Fprintf(b, "#%s%s\n", indent, oneLine(text))
}

// oneLine stops a text from ending its comment.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// scalar returns a text as YAML, quoted if needed.
func scalar(s string) string {
	text, err := yaml.Marshal(s)
	if err != nil {
		return strconv.Quote(s)
	}
	return strings.TrimSpace(string(text))
}

func starterTarget(b *strings.Builder, t survey.Target, several bool, proofs map[survey.Pair]proof) {
	for _, note := range t.Notes {
		b.WriteString("  ")
		comment(b, " ", note)
	}
	fmt.Fprintf(b, "  - template: %s\n", scalar(t.Template))
	if several && t.Package != "" {
		fmt.Fprintf(b, "    package: %s\n", scalar(t.Package))
	}
	starterRules(b, t.Rules)
	if t.DefaultChannel != "" {
		fmt.Fprintf(b, "    defaultChannel: %s # it has the newest bundle, and others are for lower versions\n", scalar(t.DefaultChannel))
	}
	if t.NewChannel != "" {
		fmt.Fprintf(b, "    newChannel: %s # the newest channel has the entries of the one before it\n", t.NewChannel)
	}
	if skips := skipsOf(t, proofs); skips != "" {
		fmt.Fprintf(b, "    semverSkips: %s # the entries of the catalogs replace and skip so, as %s\n", skips, whoSkips[skips])
	}
	switch {
	case t.Edges != "":
		fmt.Fprintf(b, "    edges: %s # %s\n", t.Edges, oneLine(t.EdgesWhy))
	case t.EdgesWhy != "":
		b.WriteString("    ")
		comment(b, " ", t.EdgesWhy)
	}
	for i, r := range t.Rewrites {
		if i == 0 {
			b.WriteString("    rewrite: # the catalogs have bundles of the template with the same digest by other names\n")
		}
		fmt.Fprintf(b, "      - from: %s\n        to: %s\n", scalar(r.From), scalar(r.To))
	}
	if len(t.Catalogs) > 0 {
		b.WriteString("    catalogs:\n")
	}
	for _, c := range t.Catalogs {
		fmt.Fprintf(b, "      - path: %s # %s\n", scalar(c.Path), oneLine(seen(c, proofs)))
		for _, p := range c.Pairs {
			if len(c.Pairs) > 1 && proofs[p].differs > 0 {
				b.WriteString("        ")
				comment(b, " ", p.Catalog+" "+proofs[p].text)
			}
		}
		starterCut(b, c)
		if c.Metadata != "" {
			fmt.Fprintf(b, "        metadata: %s # as it holds now; the platform does not imply it\n", c.Metadata)
		}
	}
}

// starterCut writes what a catalog leaves out of its template.
func starterCut(b *strings.Builder, c survey.Catalog) {
	for i, e := range c.Exclude {
		if i == 0 {
			b.WriteString("        exclude: # what the template has and the catalogs have not\n")
		}
		begin := "          - "
		if e.Versions != "" {
			fmt.Fprintf(b, "%sversions: %s\n", begin, scalar(e.Versions))
			begin = "            "
		}
		if e.Channel != "" {
			fmt.Fprintf(b, "%schannels: [%s]\n", begin, scalar(e.Channel))
		}
		var ends []string
		if e.Min != "" {
			ends = append(ends, fmt.Sprintf("min: %q", e.Min))
		}
		if e.Max != "" {
			ends = append(ends, fmt.Sprintf("max: %q", e.Max))
		}
		if len(ends) > 0 {
			fmt.Fprintf(b, "            platforms: {%s}\n", strings.Join(ends, ", "))
		}
	}
	for i, ch := range slices.Sorted(maps.Keys(c.Heads)) {
		if i == 0 {
			b.WriteString("        heads: # where the channels end in it\n")
		}
		fmt.Fprintf(b, "          %s: %s\n", scalar(ch), scalar(c.Heads[ch]))
	}
	if c.Closed {
		b.WriteString("        danglingReplaces: remove # as it has no edges to bundles that it does not hold\n")
	}
}

// whoSkips explains unusual rules for skips in catalogs of semver templates.
var whoSkips = map[kind.SemverSkips]string{
	kind.SkipMinor:   "the documentation of opm has it",
	kind.SkipChannel: "opm did from v1.37 to v1.60",
}

// skipsOf returns the rule for the skips of minor versions' heads in a target's catalogs; empty for the
// default, or if it is unknown.
func skipsOf(t survey.Target, proofs map[survey.Pair]proof) kind.SemverSkips {
	for _, c := range t.Catalogs {
		for _, p := range c.Pairs {
			if skips := proofs[p].skips; skips != "" {
				return skips
			}
		}
	}
	return ""
}

func starterRules(b *strings.Builder, rules []survey.Rule) {
	indent := "    "
	if len(rules) == 1 && rules[0].Versions == "" {
		fmt.Fprintf(b, "%schannels: # %s\n", indent, oneLine(rules[0].Why))
		for _, ch := range rules[0].Channels {
			fmt.Fprintf(b, "%s  - %s\n", indent, scalar(ch))
		}
		return
	}
	for i, r := range rules {
		if i == 0 {
			fmt.Fprintf(b, "%srules:\n", indent)
		}
		if r.Versions == "" {
			fmt.Fprintf(b, "%s  - channels: # %s\n", indent, oneLine(r.Why))
		} else {
			fmt.Fprintf(b, "%s  - versions: %s # %s\n%s    channels:\n", indent, scalar(r.Versions), oneLine(r.Why), indent)
		}
		for _, ch := range r.Channels {
			fmt.Fprintf(b, "%s      - %s\n", indent, scalar(ch))
		}
	}
}

// seen returns the evidence that catalogs belong to their template, and how they compare with its rendering.
func seen(c survey.Catalog, proofs map[survey.Pair]proof) string {
	if len(c.Pairs) == 1 {
		return c.Pairs[0].Why + "; it " + proofs[c.Pairs[0]].text
	}
	differ := 0
	for _, p := range c.Pairs {
		if proofs[p].differs > 0 {
			differ++
		}
	}
	how := "each as the template renders"
	switch differ {
	case 0:
	case len(c.Pairs):
		how = "none as the template renders"
	default:
		how = fmt.Sprintf("%d of them as the template renders", len(c.Pairs)-differ)
	}
	return fmt.Sprintf("%d catalogs, %s; of %s %s", len(c.Pairs), how, c.Pairs[0].Catalog, c.Pairs[0].Why)
}
