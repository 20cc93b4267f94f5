package publish

import (
	"fmt"
	"io"
	"strings"

	"github.com/olmgraft/graft/internal/cli/output"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/publish"
	"github.com/olmgraft/graft/internal/template/kind"
)

func ofCatalogs([]string) string { return "catalog" }

func ofFiles([]string) string { return "file" }

// about is a text about a file.
type about struct{ file, text string }

// printOnce prints each text once: after its file, or below a line with its files. Texts about the same files
// share that line.
func printOnce(w io.Writer, indent string, noun func(files []string) string, all []about) {
	type group struct{ files, texts []string }
	var groups []*group
	by := map[string]*group{}
	for _, said := range failure.Once(all, func(a about) failure.Saying { return failure.Saying{Text: a.text, Place: a.file} }) {
		key := strings.Join(said.Places, "\x00")
		if by[key] == nil {
			by[key] = &group{files: said.Places}
			groups = append(groups, by[key])
		}
		by[key].texts = append(by[key].texts, said.First.text)
	}
	for _, g := range groups {
		before := indent + g.files[0] + ": "
		if len(g.files) > 1 {
			fmt.Fprintf(w, "%s%s\n", indent, output.Printable(output.In(g.files, noun(g.files))))
			before = indent + "  "
		}
		for _, text := range g.texts {
			fmt.Fprintln(w, output.Printable(before+text))
		}
	}
}

// printBeside prints the changes besides the bundles.
func printBeside(w io.Writer, one changeReport) {
	for _, d := range publish.Once(one.Drift) {
		fmt.Fprintf(w, "  drift: %s\n", output.Printable(output.Some(d.Catalogs, "catalog")+" "+d.String()))
	}
	var catalogs []string
	for _, b := range one.Begun {
		if b.Catalog != "" {
			catalogs = append(catalogs, b.Catalog)
		}
	}
	switch {
	case len(catalogs) == 1:
		fmt.Fprintf(w, "  new catalog: %s\n", catalogs[0])
	case len(catalogs) > 1:
		fmt.Fprintf(w, "  %d new catalogs: %s\n", len(catalogs), output.First(catalogs))
	}
	for _, b := range one.Begun {
		if b.Catalog == "" {
			fmt.Fprintf(w, "  new channel: %s in %s\n", b.Channel, output.Some(b.In, "file"))
		}
	}
	for _, m := range one.Moved {
		fmt.Fprintf(w, "  %s\n", output.Printable(m.Channel+": "+m.Bundle+" "+m.Change))
	}
}

func (p *publishing) printWork(one changeReport, w *publish.Work) {
	var all []about
	for _, t := range w.Targets {
		for _, c := range inChannels(t.Changes) {
			all = append(all, about{t.Template, output.Sentence(c)})
		}
	}
	printOnce(p.Out, "  ", func(files []string) string { return nounFor(w, files) }, all)
	n, reused, pulled := len(one.Catalogs), 0, 0
	for _, c := range one.Catalogs {
		if reused, pulled = reused+c.Reused, pulled+c.Pulled; n <= output.Named {
			fmt.Fprintf(p.Out, "  %s: %s\n", c.File, output.Copied(c.Reused, c.Pulled))
		}
	}
	if n > output.Named {
		fmt.Fprintf(p.Out, "  %d catalogs: %s\n", n, output.Copied(reused, pulled))
	}
}

// inChannels joins changes that differ only in the channel.
func inChannels(changes []kind.Change) (all []kind.Change) {
	for _, said := range failure.Once(changes, func(c kind.Change) failure.Saying {
		return failure.Saying{Text: fmt.Sprintf("%q", []string{c.What, c.Name, c.From, c.To}), Place: c.Channel}
	}) {
		c := said.First
		c.Channel = strings.Join(said.Places, ", ")
		all = append(all, c)
	}
	return all
}
