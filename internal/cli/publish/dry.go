package publish

import (
	"fmt"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/cli/output"
	"github.com/olmgraft/graft/internal/cli/unified"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/markdown"
	"github.com/olmgraft/graft/internal/publish"
	"github.com/olmgraft/graft/internal/template/kind"
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
	var differences, stats []about
	counts := map[string]*stat{}
	for _, name := range r.Work.Changed() {
		text := fileDifference(r, name)
		c, rendered := catalogOf(catalogs, name)
		if !rendered || p.diff {
			differences = append(differences, about{name, text})
			continue
		}
		if counts[c.Path] == nil {
			counts[c.Path] = &stat{}
			stats = append(stats, about{file: c.Path})
		}
		counts[c.Path].add(text)
	}
	for i, s := range stats {
		stats[i].text = counts[s.file].String() + newBundles(catalogs[s.file])
	}
	p.printDifferences(r.Work, differences)
	if len(stats) > 0 {
		fmt.Fprintln(p.Out)
		printOnce(p.Out, "", ofCatalogs, stats)
	}
	body := r.Body
	if !p.diff {
		body = markdown.Folded(body)
	}
	fmt.Fprintf(p.Out, "\nPull request: %s\n\n", output.Printable(r.Title))
	for line := range strings.Lines(markdown.ForTerminal(body)) {
		fmt.Fprintln(p.Out, output.Printable(strings.TrimSuffix(line, "\n")))
	}
	if !p.diff {
		fmt.Fprintln(p.Out, "\n--diff shows each difference, those of catalogs too, and the folded parts (▸).")
	}
}

// printDifferences prints equal differences once, unless --diff is given.
func (p *publishing) printDifferences(w *publish.Work, all []about) {
	separate := false
	for _, said := range failure.Once(all, func(a about) failure.Saying {
		if p.diff {
			return failure.Saying{Text: a.text, Place: a.file}
		}
		return failure.Saying{Text: hunks(a.text), Place: a.file}
	}) {
		if separate {
			fmt.Fprintln(p.Out)
		}
		if separate = len(said.Places) > 1; separate {
			fmt.Fprintln(p.Out, output.Printable(output.In(said.Places, nounFor(w, said.Places))))
		}
		for line := range strings.Lines(said.First.text) {
			fmt.Fprint(p.Out, p.tinted(line))
		}
	}
}

// nounFor returns the noun for files: template if they all are, or else file.
func nounFor(w *publish.Work, files []string) string {
	templates := map[string]bool{}
	for _, t := range w.Targets {
		templates[t.Template] = !slices.ContainsFunc(t.Changes, ofOtherFile)
	}
	if slices.ContainsFunc(files, func(name string) bool { return !templates[name] }) {
		return "file"
	}
	return "template"
}

// ofOtherFile reports whether a change is one of a file that is no template.
func ofOtherFile(c kind.Change) bool {
	return slices.Contains([]string{kind.FieldSet, kind.OperandAdded, kind.CatalogSourceSet, kind.ClusterCatalogSet}, c.What)
}

// hunks returns a difference without the names of its files and the numbers of its lines.
func hunks(text string) string {
	var out strings.Builder
	n := 0
	for line := range strings.Lines(text) {
		switch n++; {
		case n <= headerLines:
		case line[0] == '@':
			out.WriteString("@@\n")
		default:
			out.WriteString(line)
		}
	}
	return out.String()
}

// headerLines is the number of lines before the first hunk of a difference.
const headerLines = 3

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
func newBundles(c publish.Catalog) string {
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
	if len(names) > 1 {
		return ", new documents " + output.First(names)
	}
	return ", new document " + names[0]
}

func hasBundle(c *graph.Catalog, pkg, name string) bool {
	if c == nil || c.Package(pkg) == nil {
		return false
	}
	return slices.ContainsFunc(c.Package(pkg).Bundles, func(b *graph.Bundle) bool { return b.Name == name })
}

// stat counts the changed lines of a catalog, in one file or several.
type stat struct{ files, added, removed int }

func (s *stat) add(difference string) {
	s.files++
	for line := range strings.Lines(difference) {
		switch {
		case strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "--- "):
		case line[0] == '+':
			s.added++
		case line[0] == '-':
			s.removed++
		}
	}
}

func (s *stat) String() string {
	text := fmt.Sprintf("+%d -%d lines", s.added, s.removed)
	if s.files > 1 {
		text += fmt.Sprintf(" in %d files", s.files)
	}
	return text
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
	return string(unified.Diff("a/"+name, p.Before, after, p.After))
}
