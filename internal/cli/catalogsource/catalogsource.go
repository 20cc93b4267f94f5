// Package catalogsource implements graft catalogsource for the manifests of CatalogSources.
package catalogsource

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/catalogsource"
	"github.com/olmgraft/graft/internal/cli/files"
	"github.com/olmgraft/graft/internal/cli/output"
	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/template/kind"
)

// Command returns the family of verbs.
func Command(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "catalogsource",
		Short: "Resolve, check and convert the manifests of CatalogSources",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(resolveCommand(a), validateCommand(a), convertCommand(a))
	return cmd
}

// report is the output of --json; docs/report.schema.json describes it.
type report struct {
	output.Report
	CatalogSources []sourceReport `json:"catalogSources,omitempty"`
}

// sourceReport is the result for one CatalogSource.
type sourceReport struct {
	File      string           `json:"file"`
	Name      string           `json:"name"`
	Namespace string           `json:"namespace,omitempty"`
	Result    string           `json:"result"`
	Image     string           `json:"image,omitempty"`
	Was       string           `json:"was,omitempty"`
	Digest    string           `json:"digest,omitempty"`
	Platforms []platformReport `json:"platforms,omitempty"`
	Warnings  []warningReport  `json:"warnings,omitempty"`
}

// warningReport is a fault that may come later, or a possible mistake.
type warningReport struct {
	Message string `json:"message"`
	Remedy  string `json:"remedy"`
	Line    int    `json:"line"`
	Col     int    `json:"col"`
}

// platformReport is the image for a platform version.
type platformReport struct {
	Version string `json:"version"`
	Image   string `json:"image"`
	Digest  string `json:"digest,omitempty"`
}

// manifests are the files of one run. All of them are written, or none.
type manifests struct {
	app   *command.App
	repos files.Repositories
	stdin bool
	how   *files.Writing // nil if nothing is written
	text  []byte         // the result for standard input
}

func openManifests(a *command.App, names []string, how *files.Writing, restricted bool) (*manifests, error) {
	m := &manifests{app: a, repos: files.Repositories{}, how: how, stdin: slices.Contains(names, "-")}
	if m.stdin && (len(names) > 1 || a.JSON || restricted || how != nil && how.DryRun) {
		return nil, failure.New(failure.Usage, "reading the command line: - excludes other files, --json, --dry-run and --matrix").
			Fix("Name files, or leave those flags out.")
	}
	return m, nil
}

// each edits every file once.
func (m *manifests) each(names []string, edit func(name string, f *catalogsource.Manifest) ([]byte, error)) []error {
	var errs []error
	for _, name := range kind.Unique(names) {
		if err := m.one(name, edit); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

func (m *manifests) one(name string, edit func(name string, f *catalogsource.Manifest) ([]byte, error)) error {
	if m.stdin {
		src, err := files.Stdin(m.app.In)
		if err != nil {
			return err
		}
		f, err := catalogsource.Open("standard input", src)
		if err != nil {
			return err
		}
		m.text, err = edit("standard input", f)
		return err
	}
	if _, err := os.Stat(name); err != nil {
		return failure.New(failure.Usage, "opening the manifest %s: there is no such file", name).At(name, 0, 0).Fix("Correct the path.")
	}
	at, err := m.locate(name)
	if err != nil {
		return err
	}
	src, err := fs.ReadFile(at.Repo, at.Path)
	if err != nil {
		return failure.New(failure.Usage, "reading the manifest: %w", err).At(name, 0, 0).Fix("Name a file that can be read.")
	}
	f, err := catalogsource.Open(name, src)
	if err != nil {
		return err
	}
	after, err := edit(name, f)
	if err == nil && !bytes.Equal(src, after) {
		at.Repo.Set(at.Path, src, after, false)
	}
	return err
}

func (m *manifests) locate(name string) (files.Located, error) {
	if m.how == nil {
		return m.repos.Locate(name)
	}
	return m.repos.LocateToWrite(name, *m.how)
}

// finish writes the files, or with --dry-run prints the difference.
func (m *manifests) finish() error {
	if m.stdin {
		_, err := m.app.Out.Documents().Write(m.text)
		return err
	}
	return m.repos.Finish(m.app, "manifests", m.how.DryRun)
}

// tell prints the results for the CatalogSources.
func tell(a *command.App, sources []sourceReport, dryRun bool) {
	if a.JSON {
		rep := report{output.NewReport("unchanged"), sources}
		if slices.ContainsFunc(sources, func(s sourceReport) bool { return s.Result == "updated" }) {
			rep.Result = "updated"
		}
		if dryRun {
			rep.Planned()
		}
		a.PrintReport(rep)
		return
	}
	for _, s := range sources {
		if !dryRun {
			fmt.Fprintf(a.Out, "%s: %s: %s%s\n", s.File, s.fullName(), s.Result, s.images())
		}
		for _, p := range s.Platforms {
			fmt.Fprintf(a.Out, "  %s  %s%s\n", p.Version, p.Image, at(p.Digest))
		}
	}
}

func (s sourceReport) fullName() string {
	return strings.TrimPrefix(s.Namespace+"/"+s.Name, "/")
}

func (s sourceReport) images() string {
	switch {
	case s.Image == "":
		return ""
	case s.Was != "":
		return ", " + s.Image + at(s.Digest) + " instead of " + s.Was
	}
	return ", " + s.Image + at(s.Digest)
}

func at(digest string) string {
	if digest == "" {
		return ""
	}
	return " (" + digest + ")"
}
