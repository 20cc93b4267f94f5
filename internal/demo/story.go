package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/olmgraft/graft/internal/markdown"
	"github.com/olmgraft/graft/internal/testkit/fakegithub"
)

const backport = 2 // the shown pull request

// publishAll publishes three bundles out of version order, and merges each pull request before the next.
func (d *demo) publishAll(ctx context.Context) error {
	fmt.Fprintf(d.to, "On this machine alone, and only as long as this runs:\n\n   image registry   %s\n   git remote       %s\n   GitHub           %s\n\n",
		d.servers.Registry.Addr, d.servers.Repo.URL(), d.servers.API)
	fmt.Fprintf(d.to, "The catalogs have lighthouse 1.0.0. Three more versions are published, out of order.\n")
	for i, s := range []struct{ title, version, again string }{
		{"The newest one comes first", "1.2.0", ""},
		{"A backport: 1.2.0 is made to replace it", "1.0.1", ""},
		{"One that was late goes in between; announced twice, it is published once", "1.1.0", "unchanged"},
	} {
		d.title(s.title)
		if err := d.step(ctx, s.title, "created", "publish", "--image", d.image+":v"+s.version); err != nil {
			return err
		}
		if s.again != "" {
			if err := d.step(ctx, s.title, s.again, "publish", "--image", d.image+":v"+s.version); err != nil {
				return err
			}
		}
		if err := d.servers.Merge(i + 1); err != nil {
			return err
		}
		fmt.Fprintf(d.to, "   (pull request %d is merged)\n", i+1)
	}
	return d.servers.Checkout(filepath.Join(d.dir, "checkout"))
}

// step shows a command that succeeds with a result.
func (d *demo) step(ctx context.Context, title, result string, args ...string) error {
	command := "graft " + strings.Join(args, " ")
	code, out, said := d.graft(ctx, d.servers.Env(), args...)
	if err := d.hold(code == 0 && strings.Contains(out, ": "+result+"\n"), result, command, code, out+said); err != nil {
		return err
	}
	d.report.Steps = append(d.report.Steps, step{title, command, out})
	fmt.Fprintf(d.to, "   $ %s\n%s", command, indent(out))
	return nil
}

// showChange shows a pull request as its reviewer reads it.
func (d *demo) showChange(context.Context) error {
	changes, err := d.servers.Changes(backport)
	if err != nil {
		return err
	}
	d.title("What the backport changes")
	for _, c := range changes {
		text := unified(c)
		if !strings.HasPrefix(c.Name, "catalog-templates/") {
			fmt.Fprintf(d.to, "   and in %s %s\n", c.Name, lines(text))
			continue
		}
		d.report.Change = text
		fmt.Fprintf(d.to, "%s\n", indent(text))
	}
	d.title("What the reviewer of that reads")
	d.report.Body = d.servers.PullRequests()[backport-1].Body
	fmt.Fprint(d.to, indent(markdown.ForTerminal(d.report.Body)))
	return nil
}

func unified(c fakegithub.Change) string {
	text := diff.Diff("a/"+c.Name, c.Before, "b/"+c.Name, c.After)
	_, text, _ = bytes.Cut(text, []byte("\n")) // git's line before the diff
	return string(text)
}

func lines(change string) string {
	added, removed := -1, -1 // without the two lines that name the file
	for line := range strings.Lines(change) {
		switch line[0] {
		case '+':
			added++
		case '-':
			removed++
		}
	}
	return fmt.Sprintf("+%d -%d", added, removed)
}

// showGraph shows the channel of the catalog as a line, and checks that it is one.
func (d *demo) showGraph(ctx context.Context) error {
	command := "graft graph --json " + newCatalog
	code, out, said := d.graft(ctx, nil, strings.Fields(command)[1:]...)
	d.report.Graph = chain([]byte(out))
	d.title("What users are offered in the end")
	fmt.Fprintf(d.to, "   stable: %s\n\n   graft graph draws it for mermaid, Graphviz, Cincinnati or as SVG.\n", d.report.Graph)
	const want = "1.0.0 → 1.0.1 → 1.1.0 → 1.2.0"
	return d.hold(d.report.Graph == want, want, command, code, said)
}

// chain returns the versions of the first channel along its upgrades, starting with the one that replaces
// nothing. If they are not a line, a version is repeated or missing.
func chain(picture []byte) string {
	var g struct {
		Packages []struct {
			Channels []struct {
				Nodes []struct{ Name, Version string }
				Edges []struct{ From, To string }
			}
		}
	}
	if json.Unmarshal(picture, &g) != nil || len(g.Packages) == 0 || len(g.Packages[0].Channels) == 0 {
		return ""
	}
	c := g.Packages[0].Channels[0]
	versions, next, upgraded := map[string]string{}, map[string]string{}, map[string]bool{}
	for _, e := range c.Edges {
		next[e.From], upgraded[e.To] = e.To, true
	}
	at := ""
	for _, n := range c.Nodes {
		versions[n.Name] = n.Version
		if !upgraded[n.Name] {
			at = n.Name
		}
	}
	line := []string{versions[at]}
	for range c.Edges {
		at = next[at]
		line = append(line, versions[at])
	}
	return strings.Join(line, " → ")
}

// short prints the story on one screen of a terminal.
func (d *demo) short() {
	change := d.report.Change
	_, change, _ = strings.Cut(change, "@@\n")
	change, _, _ = strings.Cut(change, "\n \n")
	fmt.Fprintf(d.say, "A registry, a git remote and GitHub run in this process. lighthouse 1.0.0 and 1.2.0 are in the catalogs.\n"+
		"A backport arrives:\n\n  $ graft publish --image %s:v1.0.1\n\n%s\n\n", d.image, indent(change))
	about := map[string]string{}
	for line := range strings.Lines(markdown.ForTerminal(d.report.Body)) {
		for _, start := range []string{"- stable: ", "The graph of "} {
			if strings.HasPrefix(line, start) {
				about[start] = strings.TrimSpace(line)
			}
		}
	}
	fmt.Fprintf(d.say, "Pull request 2: %s\n  %s\n  %s\n\nThen 1.1.0 arrives, late and twice. Users get: %s\n%d runs that fail, each with its own exit code: --all shows them.\n\n",
		d.servers.PullRequests()[backport-1].Title, about["- stable: "], about["The graph of "], d.report.Graph, len(d.report.Failures))
	fmt.Fprint(d.say, "  graft-demo --serve   pull requests and failures in a browser\n  graft-demo --all     every step; --keep DIR keeps catalogs, pull requests and graph\n")
}

// leave writes the kept files and prints their place.
func (d *demo) leave(ctx context.Context) error {
	files := map[string]string{}
	for _, pr := range d.servers.PullRequests() {
		changes, err := d.servers.Changes(pr.Number)
		if err != nil {
			return err
		}
		for _, c := range changes {
			files[fmt.Sprintf("pull-requests/%d.diff", pr.Number)] += unified(c)
		}
		files[fmt.Sprintf("pull-requests/%d.md", pr.Number)] = pr.Body
	}
	code, svg, said := d.graft(ctx, nil, "graph", "-o", "svg", newCatalog)
	if err := d.hold(code == 0, "a picture", "graft graph -o svg", code, said); err != nil {
		return err
	}
	files["graph.svg"] = svg
	if err := writeFiles(d.dir, files); err != nil {
		return err
	}
	out := d.to
	if d.keep != "" {
		out = d.say
	}
	d.title("Where it is")
	if d.keep == "" {
		fmt.Fprint(d.to, "   In a temporary folder, which is removed. --keep DIR keeps it: the checkout with its catalogs,\n"+
			"   the pull requests, the graph and what each failure says. --serve shows it in a browser.\n")
		return nil
	}
	d.report.Kept = d.dir
	for _, e := range [][2]string{
		{"checkout", "template and catalogs, as merged"}, {"pull-requests", "body and difference of each"},
		{"graph.svg", "the graph as a picture"}, {"failures.txt", "what each failure says"}, {"failures", "the files that are wrong"},
	} {
		fmt.Fprintf(out, "   %-*s  %s\n", len(d.dir)+len("/pull-requests"), filepath.Join(d.dir, e[0]), e[1])
	}
	return nil
}
