package cli

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"

	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/survey"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
)

// configPage has the keys of graft.yaml. The repository of the reader does not have the page.
const configPage = "https://github.com/olmgraft/graft/blob/main/docs/configuration.md"

// starterFile is a graft.yaml in the making.
type starterFile struct {
	strings.Builder
	proofs map[survey.Pair]proof
	said   map[string]bool
}

// note writes comments, a line each.
func (f *starterFile) note(indent string, lines ...string) {
	for _, line := range lines {
		fmt.Fprintf(f, "%s# %s\n", indent, oneLine(line))
	}
}

// why writes comments for a setting. It leaves out those that the file has already.
func (f *starterFile) why(indent string, lines ...string) {
	for _, line := range lines {
		if !f.said[line] {
			f.said[line] = true
			f.note(indent, line)
		}
	}
}

// starterConfig writes the survey's results, with the reason above each setting.
func starterConfig(s *survey.Survey, proofs map[survey.Pair]proof) []byte {
	f := &starterFile{proofs: proofs, said: map[string]bool{}}
	f.note("", "yaml-language-server: $schema=https://raw.githubusercontent.com/olmgraft/graft/main/internal/config/graft.schema.json",
		"graft init wrote this file. A comment above a setting gives the reason for it: change the setting if the reason is wrong.",
		"All settings: "+configPage)
	packages, repositories := []string{}, []string{}
	for _, t := range s.Targets {
		packages = append(packages, t.Package)
		repositories = append(repositories, t.Repositories...)
	}
	packages, repositories = kind.Unique(packages), kind.Unique(repositories)
	if len(packages) == 1 {
		fmt.Fprintf(f, "package: %s\n", scalar(packages[0]))
	}
	f.WriteString("targets:\n")
	for _, t := range s.Targets {
		f.target(t, len(packages) > 1)
	}
	if len(repositories) > 0 {
		f.note("", "Graft accepts bundles from these repositories only.")
		f.WriteString("allowedRepositories:\n")
		f.list("  ", repositories)
	}
	f.note("", "One pull request for each bundle. With package, one pull request collects all new bundles of a package.")
	f.WriteString("pullRequest:\n  strategy: bundle\n")
	f.left(s.Left)
	return []byte(f.String())
}

// left writes the files without configuration, and why.
func (f *starterFile) left(left []plan.LeftOut) {
	if len(left) > 0 {
		f.note("", "Graft leaves these files alone:")
	}
	for _, l := range left {
		f.note("", "- "+l.Path()+": "+l.Reason)
	}
}

func (f *starterFile) list(indent string, items []string) {
	for _, item := range items {
		fmt.Fprintf(f, "%s- %s\n", indent, scalar(item))
	}
}

// oneLine stops a text from ending its comment, and replaces characters that YAML does not allow.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, strings.Join(strings.Fields(text), " "))
}

// scalar returns a text as YAML, quoted if needed.
func scalar(s string) string {
	text, err := yaml.Marshal(s)
	if err != nil {
		return strconv.Quote(s)
	}
	return strings.TrimSpace(string(text))
}

func (f *starterFile) target(t survey.Target, several bool) {
	if t.About != "" {
		f.note("  ", t.About)
	}
	f.why("  ", t.Notes...)
	fmt.Fprintf(f, "  - template: %s\n", scalar(t.Template))
	if several && t.Package != "" {
		fmt.Fprintf(f, "    package: %s\n", scalar(t.Package))
	}
	f.rules(t.Rules)
	if t.DefaultChannel != "" {
		f.why("    ", "The default channel is that of the newest minor version, as it is now.")
		fmt.Fprintf(f, "    defaultChannel: %s\n", scalar(t.DefaultChannel))
	}
	if t.NewChannel != "" {
		f.why("    ", "A new channel begins with the entries of the channel before it, as the newest channel does.")
		fmt.Fprintf(f, "    newChannel: %s\n", t.NewChannel)
	}
	if skips := skipsOf(t, f.proofs); skips != "" {
		f.why("    ", "The entries of the catalogs replace and skip "+whoSkips[skips]+".")
		fmt.Fprintf(f, "    semverSkips: %s\n", skips)
	}
	f.why("    ", t.EdgesWhy...)
	if t.Edges != "" {
		fmt.Fprintf(f, "    edges: %s\n", t.Edges)
	}
	for i, r := range t.Rewrites {
		if i == 0 {
			f.why("    ", "The catalogs name the same images in another repository than the template.")
			f.WriteString("    rewrite:\n")
		}
		fmt.Fprintf(f, "      - from: %s\n        to: %s\n", scalar(r.From), scalar(r.To))
	}
	f.catalogs(t)
}

func (f *starterFile) catalogs(t survey.Target) {
	switch {
	case len(t.Catalogs) > 0:
		f.WriteString("    catalogs:\n")
	case !template.Traits(t.Kind).IsCatalog:
		f.note("    ", "The repository has no catalog of this template. Graft edits the template only.")
	}
	for _, c := range t.Catalogs {
		f.note("      ", seen(c, f.proofs)...)
		fmt.Fprintf(f, "      - path: %s\n", scalar(c.Path))
		f.cut(c)
		if c.Metadata != "" {
			f.why("        ", "The bundles of the catalog have this form of metadata. Without this line, Graft would write another.")
			fmt.Fprintf(f, "        metadata: %s\n", c.Metadata)
		}
	}
}

// cut writes what a catalog leaves out of its template.
func (f *starterFile) cut(c survey.Catalog) {
	for i, e := range c.Exclude {
		if i == 0 {
			f.why("        ", "The template has these entries, and the catalogs do not.")
			f.WriteString("        exclude:\n")
		}
		begin := "          - "
		if e.Versions != "" {
			fmt.Fprintf(f, "%sversions: %s\n", begin, scalar(e.Versions))
			begin = "            "
		}
		if e.Channel != "" {
			fmt.Fprintf(f, "%schannels: [%s]\n", begin, scalar(e.Channel))
		}
		var ends []string
		if e.Min != "" {
			ends = append(ends, fmt.Sprintf("min: %q", e.Min))
		}
		if e.Max != "" {
			ends = append(ends, fmt.Sprintf("max: %q", e.Max))
		}
		if len(ends) > 0 {
			fmt.Fprintf(f, "            platforms: {%s}\n", strings.Join(ends, ", "))
		}
	}
	for i, ch := range slices.Sorted(maps.Keys(c.Heads)) {
		if i == 0 {
			f.why("        ", "In the catalog, these channels end before the template's.")
			f.WriteString("        heads:\n")
		}
		fmt.Fprintf(f, "          %s: %s\n", scalar(ch), scalar(c.Heads[ch]))
	}
	if c.Closed {
		f.why("        ", "The entries of the catalog replace no bundle that the catalog lacks.")
		f.WriteString("        danglingReplaces: remove\n")
	}
}

// whoSkips explains unusual rules for skips in catalogs of semver templates.
var whoSkips = map[kind.SemverSkips]string{
	kind.SkipMinor:   "as the documentation of opm describes",
	kind.SkipChannel: "as opm did from v1.37 to v1.60",
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

func (f *starterFile) rules(rules []survey.Rule) {
	if len(rules) == 1 && rules[0].Versions == "" {
		f.why("    ", rules[0].Why...)
		f.WriteString("    channels:\n")
		f.list("      ", rules[0].Channels)
		return
	}
	for i, r := range rules {
		if i == 0 {
			f.WriteString("    rules:\n")
		}
		f.why("      ", r.Why...)
		begin := "      - "
		if r.Versions != "" {
			fmt.Fprintf(f, "%sversions: %s\n", begin, scalar(r.Versions))
			begin = "        "
		}
		fmt.Fprintf(f, "%schannels:\n", begin)
		f.list("          ", r.Channels)
	}
}
