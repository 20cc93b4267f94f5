// Package demo shows all of graft publish on one machine, with an image registry, a git remote and a stand-in
// for GitHub in the process.
package demo

import (
	"bytes"
	"context"
	_ "embed" // the initial files
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/cli"
	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/pause"
	"github.com/olmgraft/graft/internal/testkit/gitremote"
	"github.com/olmgraft/graft/internal/testkit/registry"
	"github.com/olmgraft/graft/internal/testkit/servers"
)

//go:embed files.txtar
var archive string

// demo is one run. It runs graft with the commands that a person would type and no other information.
type demo struct {
	*command.App
	keep, listen string
	serve, all   bool

	servers *servers.Servers
	image   string            // the repository of the bundles
	files   map[string]string // of the archive
	first   map[string]string // the initial files of the repository
	dir     string            // the folder for all output
	say     io.Writer         // the short output
	to      io.Writer         // the whole story
	acts    int

	report Report
}

// Report is what graft-demo --json prints.
type Report struct {
	SchemaVersion int      `json:"schemaVersion"`
	Result        string   `json:"result"`
	Steps         []step   `json:"steps"`
	Change        string   `json:"change"`
	Body          string   `json:"body"`
	Graph         string   `json:"graph"`
	Failures      []Failed `json:"failures"`
	Kept          string   `json:"kept,omitempty"`
	Page          string   `json:"page,omitempty"`
}

// step is a command that succeeded.
type step struct {
	Title   string `json:"title"`
	Command string `json:"command"`
	Output  string `json:"output"`
}

// Main runs the command line of graft-demo and returns its exit code.
func Main(ctx context.Context, args []string, stdio command.IO) (code int) {
	return command.Main(ctx, args, stdio, root)
}

func root(run *command.App) *cobra.Command {
	d := &demo{App: run}
	cmd := run.Root(&cobra.Command{
		Use:   "graft-demo",
		Short: "Show graft publish on this machine, with stand-ins for registry, git remote and GitHub",
		Long: "Graft-demo starts an image registry, a git remote and a stand-in for GitHub in its own process, and\n" +
			"publishes bundles to them with the verbs of graft. It needs no other program, and no network.",
		Example: "  graft-demo\n  graft-demo --serve\n  graft-demo --all --keep demo",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return d.run(cmd.Context(), cmd.Flags().Changed("listen")) },
	})
	f := cmd.Flags()
	f.StringVar(&d.keep, "keep", "", "write the checkout, the pull requests and the graph to this new directory")
	f.BoolVar(&d.all, "all", false, "show every step and every failure")
	f.BoolVar(&d.serve, "serve", false, "show pull requests and failures on a local page, until interrupted")
	f.StringVar(&d.listen, "listen", "127.0.0.1:0", "address of the page")
	return cmd
}

func (d *demo) run(ctx context.Context, listens bool) error {
	if listens && !d.serve {
		return failure.New(failure.Usage, "reading the command line: --listen is of no use without --serve").Fix("Give --serve as well.")
	}
	d.say, d.to = d.Out, d.Out
	if d.JSON {
		d.say = io.Discard
	}
	if d.JSON || !d.all {
		d.to = io.Discard
	}
	page, err := d.openPage()
	if err != nil {
		return err
	}
	defer page.close()
	end, err := d.begin(ctx)
	defer end()
	if err != nil {
		return err
	}
	for _, act := range []func(context.Context) error{d.publishAll, d.showChange, d.showGraph, d.fail, d.leave} {
		if err := act(ctx); err != nil {
			return err
		}
	}
	if !d.all {
		d.short()
	}
	page.serve()
	if d.JSON {
		d.report.SchemaVersion, d.report.Result = 1, "ok"
		d.PrintReport(d.report)
	}
	return page.wait(ctx)
}

// begin creates the folder, the servers with the first release in the catalogs, and a checkout, which becomes
// the working directory. Call end in any case.
func (d *demo) begin(ctx context.Context) (end func(), err error) {
	var ends []func()
	end = func() {
		for _, f := range slices.Backward(ends) {
			f()
		}
	}
	if d.dir, err = d.folder(); err != nil {
		return end, err
	}
	if d.keep == "" {
		ends = append(ends, func() { _ = os.RemoveAll(d.dir) })
	}
	if d.servers, err = servers.Start(gitremote.GoBackend); err != nil {
		return end, err
	}
	ends = append(ends, func() { _ = d.servers.Close() })
	d.image = d.servers.Registry.Addr + "/lighthouse-bundle"
	d.files = map[string]string{}
	for _, file := range txtar.Parse([]byte(strings.ReplaceAll(archive, "REGISTRY", d.servers.Registry.Addr))).Files {
		d.files[file.Name] = string(file.Data)
	}
	if err := d.firstRelease(ctx); err != nil {
		return end, err
	}
	before, err := os.Getwd()
	if err != nil {
		return end, err
	}
	ends = append(ends, func() { _ = os.Chdir(before) })
	return end, os.Chdir(filepath.Join(d.dir, "checkout"))
}

// folder returns the folder to keep, which must be empty, or a temporary one.
func (d *demo) folder() (string, error) {
	if d.keep == "" {
		return os.MkdirTemp("", "graft-demo-")
	}
	dir, err := filepath.Abs(d.keep)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	var inside []os.DirEntry
	if err == nil {
		inside, err = os.ReadDir(dir)
	}
	if err == nil && len(inside) > 0 {
		err = errors.New("it is not empty")
	}
	if err != nil {
		return "", failure.New(failure.Usage, "making the folder %s: %w", d.keep, err).Fix("Name a folder that does not exist yet.")
	}
	return dir, nil
}

// firstRelease creates the repository with version 1.0.0 rendered to each catalog.
func (d *demo) firstRelease(ctx context.Context) error {
	for _, version := range []string{"1.0.0", "1.0.1", "1.1.0", "1.2.0"} {
		if _, err := d.servers.Registry.Push("lighthouse-bundle:v"+version, d.bundle(version), registry.Form{}); err != nil {
			return err
		}
	}
	d.first = d.below("repository/")
	start := filepath.Join(d.dir, "start")
	if err := writeFiles(start, d.first); err != nil {
		return err
	}
	for catalog, level := range map[string]string{"catalogs/v4.16/lighthouse/catalog.yaml": "none", newCatalog: "bundle-object-to-csv-metadata"} {
		args := []string{"render", "--migrate-level", level, filepath.Join(start, "catalog-templates", "lighthouse.yaml")}
		code, out, said := d.graft(ctx, nil, args...)
		if err := d.hold(code == 0, "a catalog", "graft render", code, said); err != nil {
			return err
		}
		d.first[catalog] = out
	}
	return errors.Join(os.RemoveAll(start), d.servers.Create(d.first), d.servers.Checkout(filepath.Join(d.dir, "checkout")))
}

func (d *demo) bundle(version string) registry.Bundle {
	files := map[string][]byte{}
	for name, text := range d.below("bundle/") {
		files[name] = []byte(strings.ReplaceAll(text, "VERSION", version))
	}
	return registry.Bundle{Files: files, Labels: map[string]string{
		"operators.operatorframework.io.bundle.package.v1":  "lighthouse",
		"operators.operatorframework.io.bundle.channels.v1": "stable",
	}}
}

// below returns the files of a folder of the archive.
func (d *demo) below(dir string) map[string]string {
	files := maps.Clone(d.files)
	for name, text := range d.files {
		delete(files, name)
		if rest, ok := strings.CutPrefix(name, dir); ok {
			files[rest] = text
		}
	}
	return files
}

// graft runs the command in this process with only the given environment.
func (d *demo) graft(ctx context.Context, env map[string]string, args ...string) (code int, out, said string) {
	var stdout, stderr bytes.Buffer
	code = cli.Main(ctx, args, command.IO{In: strings.NewReader(""), Out: &stdout, Err: &stderr, Sleep: hurry, Env: func(key string) (string, bool) {
		value, ok := env[key]
		return value, ok
	}})
	return code, stdout.String(), stderr.String()
}

// hurry waits a hundredth of the time, because the demo only competes with itself.
func hurry(ctx context.Context, d time.Duration) error { return pause.For(ctx, d/100) }

// hold fails the demo if its output would be wrong.
func (d *demo) hold(so bool, want, command string, code int, said string) error {
	if so {
		return nil
	}
	return failure.New(failure.Internal, "showing %s: %s was expected, and it ended with %d: %s", command, want, code, said)
}

func writeFiles(dir string, files map[string]string) error {
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// title starts a part of the story.
func (d *demo) title(text string) {
	d.acts++
	fmt.Fprintf(d.to, "\n%d. %s\n\n", d.acts, text)
}

func indent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			b.WriteString("   ")
		}
		b.WriteString(line)
	}
	return b.String()
}
