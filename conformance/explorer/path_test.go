package explorer

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/olmgraft/graft/internal/explorer"
	"github.com/olmgraft/graft/internal/graph"
)

var all = []string{"1.0.0", "1.0.1", "1.1.0", "1.1.1", "1.2.0", "2.0.0", "2.0.1", "2.1.0"}

// randomSays returns properties of some versions. "none" means no bundle.
func randomSays(r *rand.Rand) map[string]string {
	says := map[string]string{}
	for _, v := range all {
		switch r.IntN(12) {
		case 0, 1:
			says[v] = fmt.Sprintf(`{type: olm.maxOpenShiftVersion, value: "4.%d"}`, 16+r.IntN(3))
		case 2:
			says[v] = `{type: olm.constraint, value: {failureMessage: no, gvk: {group: g, kind: K, version: v1}}}`
		case 3:
			says[v] = "none"
		}
	}
	return says
}

// randomPackage returns channels of any shape: skips, ranges, several heads, cycles, deprecations, bundles that
// pin the cluster's version, and entries without a bundle. A bundle has the same properties on each platform,
// because it is one image.
func randomPackage(r *rand.Rand, name string, says map[string]string) string {
	one := func(of int) bool { return r.IntN(of) == 0 }
	l := &lineage{name: name, properties: says}
	any := func() string { return all[r.IntN(len(all))] }
	for _, ch := range []string{"a", "b", "c"}[:1+r.IntN(3)] {
		for i, v := range all {
			if one(3) {
				continue
			}
			entry := fmt.Sprintf("{name: %s.v%s", name, v)
			if i > 0 && !one(3) {
				before := all[i-1]
				if one(4) {
					before = any()
				}
				entry += fmt.Sprintf(", replaces: %s.v%s", name, before)
			}
			if one(4) {
				entry += fmt.Sprintf(", skips: [%s.v%s, %s.v%s]", name, any(), name, any())
			}
			if one(4) {
				entry += fmt.Sprintf(", skipRange: '>=%s <%s'", any(), any())
			}
			l.add(ch, entry+"}")
		}
		if len(l.entries[ch]) == 0 {
			l.add(ch, fmt.Sprintf("{name: %s.v%s}", name, any()))
		}
	}
	l.usual = l.channels[r.IntN(len(l.channels))]
	for _, v := range all {
		if says[v] == "none" {
			continue
		}
		l.bundles = append(l.bundles, v)
		if one(6) {
			l.deprecated = append(l.deprecated, v)
		}
	}
	return l.text()
}

type question struct {
	Hash string `json:"hash"`
	Want string `json:"want"`
	Got  string `json:"got"`
}

// ask returns a question for the page and the answer of FindPath.
func ask(r *rand.Rand, name string, stages []graph.Stage) question {
	version := func() string {
		return name + ".v" + all[r.IntN(len(all))]
	}
	q := graph.PathQuery{Package: name, From: version(), To: version(), Rules: graph.Generation(r.IntN(2)), Anywhere: r.IntN(2) == 0}
	first := r.IntN(len(stages))
	last := first + r.IntN(len(stages)-first)
	if q.Anywhere {
		last = len(stages) - 1
	}
	hash := fmt.Sprintf("#/%s?from=%s&to=%s&start=%s&olm=%s", name, q.From, q.To, stages[first].Name, q.Rules)
	if !q.Anywhere {
		hash += "&end=" + stages[last].Name
	}
	if r.IntN(4) == 0 {
		q.Channel = []string{"a", "b", "c"}[r.IntN(3)]
		hash += "&follow=" + q.Channel
	}
	found, _ := graph.FindPath(stages[first:last+1], q)
	return question{Hash: hash, Want: said(found)}
}

// said returns a path in the page's words.
func said(p *graph.Path) string {
	if p == nil {
		return "There is no path."
	}
	version := func(bundle string) string { _, v, _ := strings.Cut(bundle, ".v"); return "v" + v }
	lines := []string{fmt.Sprintf("%s on %s, channel %s", version(p.Start.Bundle), p.Start.Platform, p.Start.Channel)}
	for _, s := range p.Steps {
		switch s.Kind {
		case graph.UpgradeCluster:
			lines = append(lines, "upgrade the cluster to "+s.Platform)
		case graph.ChangeChannel:
			lines = append(lines, "follow channel "+s.Channel)
		case graph.UpgradeBundle:
			line := "upgrade to " + version(s.Bundle)
			if s.Deprecated {
				line += ", which is deprecated"
			}
			if s.Pinned {
				line += ", by its version: OLM v1 would choose another"
			}
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

var awaited = chromedp.EvalAwaitPromise

// answers makes the page answer all questions, one after the other.
const answers = `(async () => {
	const questions = %s;
	for (const q of questions) {
		location.hash = q.hash;
		while (document.body.dataset.shown !== q.hash) await new Promise((next) => setTimeout(next));
		const steps = [...document.querySelectorAll('.answer li')].map((li) => li.textContent);
		q.got = steps.length ? steps.join('\n') : document.querySelector('.answer').textContent.split('. ')[0] + '.';
	}
	return questions;
})()`

// The page finds the same paths as graft path.
func TestPathsEqualFindPath(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 3))
	var texts [3][]string
	for i := range 150 {
		says := randomSays(r)
		for stage := range texts {
			if r.IntN(8) > 0 {
				texts[stage] = append(texts[stage], randomPackage(r, fmt.Sprintf("p%d", i), says))
			}
		}
	}
	var platforms []explorer.Platform
	var stages []graph.Stage
	for i, text := range texts {
		p := explorer.Platform{Name: fmt.Sprintf("4.%d", 16+i), Catalog: catalogOf(t, text...)}
		platforms = append(platforms, p)
		stages = append(stages, graph.Stage{Name: p.Name, Catalog: p.Catalog})
	}
	var questions []question
	found := 0
	for i := range 150 {
		name := fmt.Sprintf("p%d", i)
		for range 10 {
			q := ask(r, name, stages)
			if slices.ContainsFunc(stages, func(s graph.Stage) bool { return s.Catalog.Package(name) != nil }) {
				questions = append(questions, q)
			}
			if strings.Contains(q.Want, "\n") {
				found++
			}
		}
	}
	if found < len(questions)/10 {
		t.Fatalf("only %d of %d questions have a path with steps", found, len(questions))
	}
	url, _ := stored(t, platforms...)
	p := open(t, start(t))
	p.visit(url)
	list, err := json.Marshal(questions)
	if err != nil {
		t.Fatal(err)
	}
	wrong := 0
	for _, q := range value[[]question](p, fmt.Sprintf(answers, list), awaited) {
		name, _, _ := strings.Cut(strings.TrimPrefix(q.Hash, "#/"), "?")
		q.Got = strings.ReplaceAll(q.Got, name+".v", "v") // an entry without a bundle has no version
		if q.Got != q.Want && !(strings.HasPrefix(q.Got, "No catalog of this file has version ") && q.Want == "There is no path.") {
			if wrong++; wrong <= 3 {
				t.Errorf("%s\n%s\nwant\n%s", q.Hash, q.Got, q.Want)
			}
		}
	}
	t.Logf("%d questions, %d paths with steps, %d answers differ", len(questions), found, wrong)
}
