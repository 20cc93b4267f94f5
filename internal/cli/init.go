package cli

import (
	_ "embed" // the workflow
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"
	"gopkg.in/yaml.v3"

	"github.com/olmgraft/graft/internal/atomicfile"
	"github.com/olmgraft/graft/internal/cli/files"
	"github.com/olmgraft/graft/internal/cli/output"
	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/config"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
)

//go:embed workflow.yml
var workflowText string

const workflowFile = ".github/workflows/graft.yml"

func (a *app) initCommand() *cobra.Command {
	dry := false
	cmd := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Write the workflow and graft.yaml for this repository",
		Long: "Init looks at the templates and catalogs of a repository and writes " + config.File + "\n" +
			"and " + workflowFile + ". A file that stands is left as it is.",
		Example: "  graft init --dry-run\n  graft init",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			return a.init(dir, dry)
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "print what would be written, and write nothing")
	return cmd
}

func (a *app) init(dir string, dry bool) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return failure.New(failure.Usage, "finding %s: %w", dir, err)
	}
	root := files.Root(filepath.Join(abs, "x"))
	r, err := os.OpenRoot(root)
	if err != nil {
		return failure.New(failure.Usage, "opening %s: %w", root, err).Fix("Name a directory of the repository.")
	}
	defer r.Close()
	repo := files.At(root, r.FS())
	left, err := starter(r.FS(), &repo.Change, defaultBranch(root))
	for _, l := range left {
		fmt.Fprintf(a.Err, "graft: %s is left out of %s: %s\n", l.Template, config.File, l.Reason)
	}
	if err != nil {
		return err
	}
	names := repo.Names()
	result := "unchanged"
	if len(names) > 0 {
		result = "created"
	}
	if dry {
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
		if dry {
			_, _ = a.Out.Write(diff.Diff("/dev/null", nil, "b/"+name, p.After))
			continue
		}
		fmt.Fprintf(a.Out, "%s: created\n", name)
	}
	if len(names) == 0 {
		fmt.Fprintln(a.Out, "unchanged: the workflow and the configuration stand already")
	}
	return nil
}

// defaultBranch is what the checkout knows of it: that of its origin, else the one that is
// checked out. The git folder of a work tree that was added is named in a file.
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

// starter adds what lacks. A repository of the community layout says all that graft.yaml
// would.
func starter(fsys fs.FS, change *atomicfile.Change, branch string) ([]plan.LeftOut, error) {
	var left []plan.LeftOut
	community, err := fs.Glob(fsys, "operators/*/ci.yaml")
	if err != nil {
		return nil, failure.New(failure.Internal, "looking for operators: %w", err)
	}
	if lacks(fsys, config.File, ".github/graft.yml") && len(community) == 0 {
		var found []plan.Surveyed
		if found, left, err = plan.Survey(fsys); err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return left, failure.New(failure.TemplateNotFound, "looking for templates: the repository has neither a template nor a catalog").
				Fix("Begin one with graft insert --create basic, then run graft init again.")
		}
		text := starterConfig(found)
		if _, err := config.Parse(config.File, text); err != nil {
			return nil, failure.New(failure.Internal, "writing %s: %w", config.File, err)
		}
		change.Set(config.File, nil, text, true)
	}
	if lacks(fsys, workflowFile, ".github/workflows/graft.yaml") {
		change.Set(workflowFile, nil, []byte(starterWorkflow(branch)), true)
	}
	return left, nil
}

func lacks(fsys fs.FS, names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		_, err := fs.Stat(fsys, name)
		return !errors.Is(err, fs.ErrNotExist)
	})
}

// starterWorkflow is the example with this repository's branch and this program's version.
func starterWorkflow(branch string) string {
	text := strings.ReplaceAll(workflowText, "branches: [main]", "branches: ["+branch+"]")
	if command.Version != "dev" {
		text = strings.ReplaceAll(text, "olmgraft/graft@main", "olmgraft/graft@v"+strings.TrimPrefix(command.Version, "v"))
	}
	return text
}

// starterConfig writes what the survey found, with the choices that a person has beside
// it.
func starterConfig(found []plan.Surveyed) []byte {
	var b strings.Builder
	b.WriteString("# yaml-language-server: $schema=https://raw.githubusercontent.com/olmgraft/graft/main/internal/config/graft.schema.json\n")
	packages, repositories := []string{}, []string{}
	for _, s := range found {
		packages = append(packages, s.Package)
		repositories = append(repositories, s.Repositories...)
	}
	packages, repositories = kind.Unique(packages), kind.Unique(repositories)
	if len(packages) == 1 {
		fmt.Fprintf(&b, "package: %s\n", scalar(packages[0]))
	}
	b.WriteString("targets:\n")
	for _, s := range found {
		starterTarget(&b, s, len(packages) > 1)
	}
	if len(repositories) > 0 {
		b.WriteString("# Bundles may come from here only.\nallowedRepositories:\n")
		for _, r := range repositories {
			fmt.Fprintf(&b, "  - %s\n", scalar(r))
		}
	}
	b.WriteString("# One pull request for each bundle; package makes it a rolling one.\npullRequest:\n  strategy: bundle\n")
	return []byte(b.String())
}

// scalar is a text as YAML, quoted where it would be something else.
func scalar(s string) string {
	text, err := yaml.Marshal(s)
	if err != nil {
		return strconv.Quote(s)
	}
	return strings.TrimSpace(string(text))
}

func starterTarget(b *strings.Builder, s plan.Surveyed, several bool) {
	fmt.Fprintf(b, "  - template: %s\n", scalar(s.Path))
	if several && s.Package != "" {
		fmt.Fprintf(b, "    package: %s\n", scalar(s.Package))
	}
	archetypes := template.Traits(s.Kind).Archetypes
	switch {
	case len(archetypes) > 0:
		fmt.Fprintf(b, "    rules:\n      - versions: prerelease\n        channels: [%s]\n", archetypes[0])
		fmt.Fprintf(b, "      - channels: [%s]\n", strings.Join(archetypes[:min(2, len(archetypes))], ", "))
	case len(s.Channels) > 0:
		b.WriteString("    channels: # where the newest bundle stands now\n")
		for _, ch := range s.Channels {
			fmt.Fprintf(b, "      - %s\n", scalar(ch))
		}
	}
	if len(s.Catalogs) == 0 {
		return
	}
	b.WriteString("    catalogs:\n")
	for _, c := range s.Catalogs {
		fmt.Fprintf(b, "      - path: %s\n", scalar(c))
	}
}
