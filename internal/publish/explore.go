package publish

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/explorer"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/plan"
)

// explore keeps a catalog for the explorer: everything that paths use, which is otherwise not read for the
// published catalogs.
func (p *preparation) explore(out *Catalog, after []fbc.Doc) {
	if p.Explore {
		out.whole = graph.FromDocs(after)
		p.levels, p.artifacts = p.Levels, p.Artifacts
	}
}

// Explored returns the catalogs of the change by platform for the explorer, or none without Policy.Explore.
// Several catalogs of one platform are named by their paths.
func (w *Work) Explored() (all []explorer.Platform) {
	catalogs := slices.DeleteFunc(w.catalogs(), func(c Catalog) bool { return c.whole == nil })
	slices.SortStableFunc(catalogs, func(a, b Catalog) int {
		first, _ := plan.ParsePlatform(a.Platform)
		second, _ := plan.ParsePlatform(b.Platform)
		return cmp.Or(first.Compare(second), strings.Compare(a.Path, b.Path))
	})
	of := map[string]int{}
	for _, c := range catalogs {
		of[c.Platform]++
	}
	for _, c := range catalogs {
		name := c.Platform
		if of[c.Platform] > 1 || name == "" && len(catalogs) > 1 {
			name = c.Path
		}
		all = append(all, explorer.Platform{Name: name, Catalog: c.whole, Base: c.Before, Levels: w.levels})
	}
	return all
}

// linkExplorer links the explorer in the pull request.
func (w *Work) linkExplorer(b *strings.Builder) {
	if w.artifacts != "" && len(w.Explored()) > 0 {
		fmt.Fprintf(b, "[The explorer of the catalogs](%s), before and after, is an artifact of the run.\n\n", w.artifacts)
	}
}
