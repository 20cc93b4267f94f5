package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/cli/files"
	"github.com/olmgraft/graft/internal/cli/output"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
)

// edit is one edit of a template.
type edit func(at files.Located) (*kind.Outcome, error)

// editTemplates edits each template, writes all of them or none, and reports the result.
func (a *app) editTemplates(names []string, w files.Writing, edits func(name string) ([]edit, error)) error {
	repos := files.Repositories{}
	rep := report{}
	var errs []error
	for _, name := range kind.Unique(names) {
		t, err := a.editOne(repos, w, name, edits)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		rep.Templates = append(rep.Templates, t)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	rep.Report = output.NewReport(output.Overall(rep.Templates))
	return a.finishEdits(repos, w.DryRun, rep)
}

func (a *app) editOne(repos files.Repositories, w files.Writing, name string, edits func(name string) ([]edit, error)) (output.Template, error) {
	rep := output.Template{File: name, Result: "unchanged"}
	at, err := repos.LocateToWrite(name, w)
	if err != nil {
		return rep, err
	}
	all, err := edits(name)
	if err != nil {
		return rep, err
	}
	for _, one := range all {
		outcome, err := one(at)
		if err != nil {
			return rep, err
		}
		at.Repo.Add(outcome.Files)
		rep.Changes = append(rep.Changes, outcome.Changes...)
		rep.Notes = append(rep.Notes, outcome.Notes...)
		for _, f := range outcome.Files {
			rep.Result = "updated"
			if f.New && f.Path == at.Path {
				rep.Result = "created"
			}
			rep.Itself = rep.Itself || f.Path == at.Path || strings.HasPrefix(f.Path, at.Path+"/")
			if !slices.Contains(rep.Files, f.Path) {
				rep.Files = append(rep.Files, f.Path)
			}
		}
	}
	return rep, nil
}

func (a *app) finishEdits(repos files.Repositories, dryRun bool, rep report) error {
	if err := repos.Finish(a.App, "files", dryRun); err != nil {
		return err
	}
	if dryRun {
		rep.Planned()
	}
	if a.JSON {
		a.PrintReport(rep)
		return nil
	}
	for _, t := range rep.Templates {
		if !dryRun {
			a.printTemplate(t)
		}
		for _, n := range t.Notes {
			fmt.Fprintf(a.Err, "graft: %s: note: %s\n", t.File, n)
		}
	}
	return nil
}

func (a *app) printTemplate(t output.Template) {
	if t.Result == "updated" && !t.Itself {
		fmt.Fprintf(a.Out, "%s: unchanged; its inputs are updated: %s\n", t.File, strings.Join(t.Files, ", "))
	} else {
		fmt.Fprintf(a.Out, "%s: %s\n", t.File, t.Result)
	}
	for _, c := range t.Changes {
		fmt.Fprintf(a.Out, "  %s\n", output.Sentence(c))
	}
}

// editStdin edits a template from standard input to standard output.
func (a *app) editStdin(one func(*template.Template) (*kind.Outcome, error)) error {
	t, err := files.OpenTemplate(a.In, "-")
	if err != nil {
		return err
	}
	outcome, err := one(t)
	if err != nil {
		return err
	}
	for _, n := range outcome.Notes {
		fmt.Fprintf(a.Err, "graft: note: %s\n", n)
	}
	text := t.Source.File.Src
	if len(outcome.Files) > 0 {
		text = outcome.Files[0].After
	}
	_, err = a.Out.Documents().Write(text)
	return err
}

// editOrStdin calls editTemplates, or editStdin if the only name is -.
func (a *app) editOrStdin(names []string, w files.Writing, inPlace edit, through func(*template.Template) (*kind.Outcome, error)) error {
	if !slices.Contains(names, "-") {
		return a.editTemplates(names, w, func(string) ([]edit, error) { return []edit{inPlace}, nil })
	}
	if len(names) > 1 || a.JSON || w.DryRun {
		return failure.New(failure.Usage, "reading the command line: - excludes other files, --json and --dry-run")
	}
	return a.editStdin(through)
}
