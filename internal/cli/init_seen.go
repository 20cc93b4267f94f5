package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/survey"
)

// seen returns the evidence that catalogs belong to their templates, and how they compare with what these render.
func seen(c survey.Catalog, proofs map[survey.Pair]proof) []string {
	if len(c.Pairs) == 1 {
		return seenOne(c, c.Pairs[0], proofs[c.Pairs[0]])
	}
	first, last := c.Pairs[0], c.Pairs[len(c.Pairs)-1]
	lines := []string{fmt.Sprintf("%d catalogs, one for each template.", len(c.Pairs))}
	if first.Template == last.Template {
		lines[0] = fmt.Sprintf("%d catalogs of this template, for the platforms %s to %s.", len(c.Pairs), nameOf(first), nameOf(last))
	}
	differ, count := drifts(c, proofs)
	switch count {
	case 0:
		return append(lines, "Each is exactly what its template renders"+lessCut(c)+".")
	case len(c.Pairs):
		lines = append(lines, "None is exactly what its template renders"+lessCut(c)+":")
	default:
		lines = append(lines, "Each is exactly what its template renders"+lessCut(c)+", except for these:")
	}
	for _, d := range differ {
		lines = append(lines, "- "+d.names()+": "+d.text)
	}
	return append(lines, corrected...)
}

// difference is the same difference of several catalogs.
type difference struct {
	text string
	of   []survey.Pair
}

// drifts returns the differences of catalogs and the number of catalogs that differ.
func drifts(c survey.Catalog, proofs map[survey.Pair]proof) (all []difference, count int) {
	for _, p := range c.Pairs {
		of := proofs[p]
		if of.differs == 0 {
			continue
		}
		count++
		i := slices.IndexFunc(all, func(d difference) bool { return d.text == of.text })
		if i < 0 {
			i = len(all)
			all = append(all, difference{text: of.text})
		}
		all[i].of = append(all[i].of, p)
	}
	return all, count
}

func (d difference) names() string {
	var names []string
	for _, p := range d.of {
		names = append(names, nameOf(p))
	}
	return strings.Join(names, ", ")
}

// driftLines returns the differences of a target's catalogs, a line each.
func driftLines(t survey.Target, proofs map[survey.Pair]proof) (lines []string) {
	for _, c := range t.Catalogs {
		differ, _ := drifts(c, proofs)
		for _, d := range differ {
			if len(d.of) > 1 {
				lines = append(lines, fmt.Sprintf("%d catalogs of %s (%s): each %s", len(d.of), t.Template, d.names(), oneLine(d.text)))
			} else {
				lines = append(lines, fmt.Sprintf("%s %s; its template is %s", d.of[0].Catalog, oneLine(d.text), d.of[0].Template))
			}
		}
	}
	return lines
}

// corrected follows the differences of catalogs.
var corrected = []string{
	"Graft renders the whole catalog, so the next pull request also changes this.",
	"If the catalog is right, correct the template first.",
}

func seenOne(c survey.Catalog, p survey.Pair, of proof) []string {
	var lines []string
	switch {
	case of.differs == 0:
		lines = append(lines, "The template renders exactly this catalog"+lessCut(c)+".")
	case p.Of == 0:
		lines = append(lines, "The catalog is empty. It "+of.text+".")
	default:
		lines = append(lines, fmt.Sprintf("The template has %d of the %d bundles and entries of this catalog.", p.Held, p.Of), "The catalog "+of.text+".")
		lines = append(lines, corrected...)
	}
	if p.Chosen != "" {
		lines = append(lines, "Other templates have its contents too; "+p.Chosen+".")
	}
	return lines
}

// lessCut mentions the parts that a catalog leaves out.
func lessCut(c survey.Catalog) string {
	if len(c.Exclude)+len(c.Heads) == 0 {
		return ""
	}
	return " without the entries below"
}

// nameOf returns the platform of a catalog, or else its path.
func nameOf(p survey.Pair) string {
	if platform, ok := plan.PlatformOf(p.Catalog); ok {
		return platform.String()
	}
	return p.Catalog
}
