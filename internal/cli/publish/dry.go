package publish

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/olmgraft/graft/internal/cli/output"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/markdown"
	"github.com/olmgraft/graft/internal/publish"
)

// printDry prints the result of a dry run: the difference of the templates, a line for each catalog (with
// --diff its whole difference), and the pull request as its reviewer reads it.
func (p *publishing) printDry(r *publish.Result) {
	fmt.Fprintln(p.Out)
	catalogs := map[string]publish.Catalog{}
	for _, t := range r.Work.Targets {
		for _, c := range t.Catalogs {
			if c.Rendered {
				catalogs[c.Path] = c
			}
		}
	}
	var stats []string
	for _, name := range r.Work.Changed() {
		text := fileDifference(r, name)
		c, rendered := catalogOf(catalogs, name)
		if rendered && !p.diff {
			stats = append(stats, fmt.Sprintf("%s: %s%s", name, lineCount(text), newBundles(c, name)))
			continue
		}
		for line := range strings.Lines(text) {
			fmt.Fprint(p.Out, p.tinted(line))
		}
	}
	if len(stats) > 0 {
		fmt.Fprintf(p.Out, "\n%s\n--diff shows the difference of catalogs.\n", strings.Join(stats, "\n"))
	}
	fmt.Fprintf(p.Out, "\nPull request: %s\n\n", output.Printable(r.Title))
	for line := range strings.Lines(markdown.ForTerminal(r.Body)) {
		fmt.Fprintln(p.Out, output.Printable(strings.TrimSuffix(line, "\n")))
	}
}

// catalogOf returns the catalog of a file: the file itself, or the directory that holds it.
func catalogOf(all map[string]publish.Catalog, name string) (publish.Catalog, bool) {
	for path, c := range all {
		if name == path || strings.HasPrefix(name, path+"/") {
			return c, true
		}
	}
	return publish.Catalog{}, false
}

// newBundles names the bundles that are new in a catalog.
func newBundles(c publish.Catalog, name string) string {
	if name != c.Path {
		return "" // a part of it may hold something else
	}
	var names []string
	for _, pkg := range c.After.Packages {
		for _, b := range pkg.Bundles {
			if !hasBundle(c.Before, pkg.Name, b.Name) {
				names = append(names, b.Name)
			}
		}
	}
	switch {
	case len(names) == 0:
		return ""
	case c.Before == nil || len(c.Before.Packages) == 0:
		return ", a new catalog"
	}
	return ", new document " + strings.Join(names, ", ")
}

func hasBundle(c *graph.Catalog, pkg, name string) bool {
	if c == nil || c.Package(pkg) == nil {
		return false
	}
	return slices.ContainsFunc(c.Package(pkg).Bundles, func(b *graph.Bundle) bool { return b.Name == name })
}

func lineCount(text string) string {
	added, removed := 0, 0
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "--- "):
		case line[0] == '+':
			added++
		case line[0] == '-':
			removed++
		}
	}
	return fmt.Sprintf("+%d -%d lines", added, removed)
}

// tinted colours a line of a difference if colours are on.
func (p *publishing) tinted(line string) string {
	colour := map[byte]string{'+': "\x1b[32m", '-': "\x1b[31m", '@': "\x1b[36m"}[line[0]]
	if colour == "" || !p.Colour() {
		return line
	}
	return colour + strings.TrimSuffix(line, "\n") + "\x1b[0m\n"
}

func difference(r *publish.Result) string {
	var out strings.Builder
	for _, name := range r.Work.Changed() {
		out.WriteString(fileDifference(r, name))
	}
	return out.String()
}

func fileDifference(r *publish.Result, name string) string {
	p, after := r.Work.File(name), "b/"+name
	if p.Gone {
		after = "/dev/null"
	}
	return string(diff.Diff("a/"+name, p.Before, after, p.After))
}
