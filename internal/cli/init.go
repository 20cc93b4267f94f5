package cli

import (
	"context"
	_ "embed" // the workflow
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/atomicfile"
	"github.com/olmgraft/graft/internal/cli/files"
	"github.com/olmgraft/graft/internal/cli/output"
	"github.com/olmgraft/graft/internal/config"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/survey"
)

//go:embed workflow.yml
var workflowText string

const workflowFile = ".github/workflows/graft.yml"

func (a *app) initCommand() *cobra.Command {
	var writing files.Writing
	cmd := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Write the workflow and graft.yaml for this repository",
		Long: "Init finds the templates of a repository and the catalogs that they render to, by their content.\n" +
			"It writes " + config.File + " and " + workflowFile + ". Comments in them give the\n" +
			"reason for each setting, the files that init leaves alone, and the catalogs that differ from what their\n" +
			"templates render. Then it prints the next command. Init contacts no registry and overwrites no file.",
		Example: "  graft init --dry-run\n  graft init",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			return a.init(cmd.Context(), dir, writing)
		},
	}
	writing.Flags(cmd.Flags())
	return cmd
}

func (a *app) init(ctx context.Context, dir string, w files.Writing) error {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() || errors.Is(err, fs.ErrNotExist) {
		return failure.New(failure.Usage, "opening %s: it is not a directory", dir).Fix("Name a directory of the repository.")
	}
	at, err := atomicfile.Locate(dir+"/graft.yaml", w.Outside) // of the folder, because .github may not exist yet
	if err != nil {
		return err
	}
	root := at.Root
	if _, err := os.Lstat(filepath.Join(root, ".git")); err != nil {
		root = filepath.Dir(at.String()) // without a repository, init surveys and writes nothing outside of DIR
	}
	r, err := os.OpenRoot(root)
	if err != nil {
		return failure.New(failure.Usage, "opening %s: %w", root, err).Fix("Name a directory of the repository.")
	}
	defer r.Close()
	repo := files.At(root, r.FS())
	progress := output.NewProgress(a.App)
	progress.Begin("looking for templates and catalogs")
	found, said, err := starter(ctx, r.FS(), &repo.Change, defaultBranch(root), progress.Of)
	progress.End()
	for _, line := range said {
		fmt.Fprintf(a.Err, "graft: %s\n", line)
	}
	if err != nil {
		return err
	}
	names := repo.Names()
	result := "unchanged"
	if len(names) > 0 {
		result = "created"
	}
	if w.DryRun {
		result = "planned"
	} else if err := atomicfile.Write(repo.Files()...); err != nil {
		return failure.New(failure.EditRefused, "writing to %s: %w", root, err)
	}
	if a.JSON {
		a.PrintReport(report{Report: output.NewReport(result), Files: names})
		return nil
	}
	for _, name := range names {
		p, _ := repo.Get(name)
		if w.DryRun {
			_, _ = a.Out.Write(diff.Diff("/dev/null", nil, "b/"+name, p.After))
			continue
		}
		fmt.Fprintf(a.Out, "%s: created\n", name)
	}
	if len(names) == 0 {
		fmt.Fprintln(a.Out, "unchanged: the repository has a workflow and a configuration")
	}
	if !w.DryRun {
		fmt.Fprint(a.Err, nextSteps(dir, found.Newest(), len(names) > 0))
	}
	return nil
}

// defaultBranch returns the default branch as the checkout knows it: that of its origin, or else the
// checked-out one. For an added work tree, a file names the git folder.
func defaultBranch(root string) string {
	git := filepath.Join(root, ".git")
	if text, err := os.ReadFile(git); err == nil {
		if dir, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: "); ok {
			git = dir
		}
	}
	common := git
	if text, err := os.ReadFile(filepath.Join(git, "commondir")); err == nil {
		common = filepath.Join(git, strings.TrimSpace(string(text)))
	}
	if name, ok := refIn(filepath.Join(common, "refs", "remotes", "origin", "HEAD"), "ref: refs/remotes/origin/"); ok {
		return name
	}
	if name, ok := refIn(filepath.Join(git, "HEAD"), "ref: refs/heads/"); ok {
		return name
	}
	return "main"
}

func refIn(file, prefix string) (string, bool) {
	text, err := os.ReadFile(file)
	name, ok := strings.CutPrefix(strings.TrimSpace(string(text)), prefix)
	return name, err == nil && ok && name != ""
}

// part is called for each item of a survey or a proof, with the number of all items.
type part func(what string, n, total int)

// starter adds missing files and returns notes for a person. A repository in the community layout needs no
// graft.yaml. The survey is empty if the configuration needs none.
func starter(ctx context.Context, fsys fs.FS, change *atomicfile.Change, branch string, of part) (found *survey.Survey, said []string, err error) {
	community, err := fs.Glob(fsys, "operators/*/ci.yaml")
	if err != nil {
		return nil, nil, failure.New(failure.Internal, "looking for operators: %w", err)
	}
	found = &survey.Survey{}
	if lacks(fsys, config.File, ".github/graft.yml") && len(community) == 0 {
		var text []byte
		if found, text, said, err = surveyed(ctx, fsys, of); err != nil {
			return nil, said, err
		}
		change.Set(config.File, nil, text, true)
	}
	if lacks(fsys, workflowFile, ".github/workflows/graft.yaml") {
		change.Set(workflowFile, nil, []byte(starterWorkflow(branch)), true)
	}
	return found, said, nil
}

// surveyed returns the survey of a repository and the configuration for it.
func surveyed(ctx context.Context, fsys fs.FS, of part) (found *survey.Survey, text []byte, said []string, err error) {
	if found, err = survey.Of(fsys); err != nil {
		return nil, nil, nil, err
	}
	for _, l := range found.Left {
		said = append(said, fmt.Sprintf("%s is not in %s: %s", l.Path(), config.File, oneLine(l.Reason)))
	}
	if len(found.Targets) == 0 {
		return nil, nil, said, nothingFound(found.Left)
	}
	proofs := prove(ctx, fsys, found.Targets, of)
	for _, t := range found.Targets {
		said = append(said, driftLines(t, proofs)...)
	}
	text = starterConfig(found, proofs)
	if _, err := config.Parse(config.File, text); err != nil {
		return nil, nil, said, failure.New(failure.Internal, "writing %s: %w", config.File, err)
	}
	return found, text, said, nil
}

func nothingFound(left []plan.LeftOut) error {
	if i := slices.IndexFunc(left, func(l plan.LeftOut) bool { return l.Catalog == "" }); i >= 0 {
		return failure.New(failure.TemplateNotFound, "looking for templates: the repository has none into which Graft can insert a bundle: %s", left[i].Reason).At(left[i].Template, 0, 0).
			Fix("Add a template for the catalogs, then run graft init again.")
	}
	return failure.New(failure.TemplateNotFound, "looking for templates: the repository has neither a template nor a catalog").
		Fix("Create one with graft insert --create basic, then run graft init again.")
}

func lacks(fsys fs.FS, names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		_, err := fs.Stat(fsys, name)
		return !errors.Is(err, fs.ErrNotExist)
	})
}

// starterWorkflow returns the example with this repository's branch.
func starterWorkflow(branch string) string {
	return strings.ReplaceAll(workflowText, "branches: [main]", "branches: ["+branch+"]")
}
