// Package publish implements graft publish, which the action runs: its inputs and its output. The package
// internal/publish does the work.
package publish

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/action"
	"github.com/olmgraft/graft/internal/atomicfile"
	"github.com/olmgraft/graft/internal/cli/catalogs"
	"github.com/olmgraft/graft/internal/cli/output"
	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/config"
	"github.com/olmgraft/graft/internal/event"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/oci"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/publish"
	"github.com/olmgraft/graft/internal/scratch"
	"github.com/olmgraft/graft/internal/template/kind"
)

// Command returns the verb.
func Command(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "publish [IMAGE]",
		Short: "Publish a bundle: edit templates, render and verify catalogs, open one pull request",
		Long: "Publish turns a new bundle into a pull request. It plans which catalogs the bundle goes to, inserts\n" +
			"the bundle into their templates, renders and verifies the catalogs, pushes a branch and opens one pull\n" +
			"request. In GitHub Actions, the inputs of the action set the flags that are not given.\n\n" +
			"On your machine, --dry-run reads the work tree with its uncommitted changes, and contacts neither the\n" +
			"remote nor the forge. With --remote, --repository or --base it reads the base branch.\n\n" +
			"Environment: GITHUB_TOKEN, unless --token is given; GITHUB_API_URL and GITHUB_SERVER_URL for\n" +
			"GitHub Enterprise Server.",
		Example: "  graft publish --dry-run quay.io/example/op-bundle:v1.2.3\n" +
			"  graft publish --event event.json\n" +
			"  graft publish --from-tags quay.io/example/op-bundle --versions '>=1.2.0'\n" +
			"  graft publish --refresh",
		Args: cobra.MaximumNArgs(1),
	}
	addInputs(cmd.Flags())
	cmd.Flags().Bool("remote", false, "with dry-run, read the base branch of the remote instead of the work tree")
	cmd.Flags().Bool("diff", false, "with dry-run, show each difference, those of catalogs too, and the folded parts of the text")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		for _, image := range args {
			if cmd.Flags().Changed("image") {
				return failure.New(failure.Usage, "reading the command line: the image %s and --image", image).Fix("Give one of them.")
			}
			if err := cmd.Flags().Set("image", image); err != nil {
				return err
			}
		}
		p := &publishing{App: a, configs: config.Commits{}, action: action.Running(a.Env, a.Out), progress: output.NewProgress(a)}
		results, err := p.run(cmd)
		p.progress.End()
		return p.print(results, err)
	}
	return cmd
}

// publishing is one run of graft publish.
type publishing struct {
	*command.App
	*inputs
	action   *action.Action
	progress *output.Progress
	// configs holds the configurations of the commits in the run. config is the first one's with the inputs
	// over it.
	configs config.Commits
	config  *config.Config
	matrix  string
}

func (p *publishing) run(cmd *cobra.Command) (_ []*publish.Result, err error) {
	if p.inputs, err = readInputs(cmd.Flags(), p.action, p.env); err != nil {
		return nil, err
	}
	p.rehearse()
	ctx, cancel := context.WithTimeout(cmd.Context(), p.timeout)
	defer cancel()
	p.progress.Begin("reading the repository")
	repo, err := p.openSource(ctx)
	if err != nil {
		return nil, err
	}
	defer repo.Close()
	r, err := p.publisher(repo.BaseBranch(), repo.DefaultBranch())
	if err != nil {
		return nil, err
	}
	if p.refresh {
		if err := p.connect(ctx, repo, &r); err != nil {
			return nil, err
		}
		return publish.Refresh(ctx, r)
	}
	requests, err := p.requests(ctx, repo.FS(), r)
	switch {
	case err != nil:
		return nil, err
	case p.planMatrix:
		p.printMatrix(requests)
		return nil, nil
	case len(requests) == 0:
		return nil, nil
	}
	if err := p.connect(ctx, repo, &r); err != nil {
		return nil, err
	}
	return publish.Publish(ctx, requests, r)
}

// rehearse makes a run of act without a token a dry run of the work tree that act copied.
func (p *publishing) rehearse() {
	if p.action == nil || p.env("ACT") != "true" || p.token != "" || p.dryRun {
		return
	}
	p.dryRun, p.fromWorkTree = true, true
	p.notice("act gives no token: this is a dry run. Give act -s GITHUB_TOKEN to open a pull request.")
}

func (p *publishing) env(key string) string {
	v, _ := p.Env(key)
	return v
}

// requests returns the bundles to publish: those in the repositories and not in the content, or those of the
// inputs or the event.
func (p *publishing) requests(ctx context.Context, content fs.FS, r publish.Run) ([]publish.Request, error) {
	if edits, err := p.edit(); edits || err != nil {
		return []publish.Request{p.asked}, err
	}
	var found []publish.Found
	var err error
	if len(p.fromTags) > 0 {
		p.step("looking for images that were not announced")
		found, err = r.Unannounced(ctx, content, p.fromTags, publish.Sweep{Stages: p.config.Registries, SkipTags: p.config.SkipTags, Versions: p.versions, Sum: p.config.Sum, Jobs: p.registry.Jobs})
	} else {
		var one event.Announcement
		if one, err = p.announcement(p.action, p.config.SkipTags); err == nil {
			for _, image := range r.Announced(one, p.config.SkipTags) {
				found = append(found, publish.Found{Publication: image})
			}
		}
	}
	var requests []publish.Request
	for _, one := range found {
		r := p.asked
		r.Publication, r.Swept = one.Publication, one.Swept
		requests = append(requests, r)
	}
	return requests, err
}

// edit reports whether the run removes or deprecates instead of publishing. The package defaults to the
// configured one.
func (p *publishing) edit() (bool, error) {
	e := &p.asked.Edit
	if e.Said() {
		e.Package = cmp.Or(e.Package, p.config.OnlyPackage())
	}
	return e.Said(), e.Check()
}

func (p *publishing) line(format string, args ...any) {
	fmt.Fprintf(p.Err, "graft: "+format+"\n", args...)
}

// step reports the current step. In a workflow it writes a line to the log.
func (p *publishing) step(what string) {
	if p.action != nil {
		p.line("%s", what)
	}
	p.progress.Begin("%s", what)
}

func (p *publishing) notice(format string, args ...any) {
	if p.action == nil {
		p.line(format, args...)
		return
	}
	p.action.Notice(fmt.Sprintf(format, args...))
}

func (p *publishing) group(title string) (end func()) {
	if p.action == nil {
		return func() {}
	}
	return p.action.Group(title)
}

// mostJobs is GitHub's limit for one matrix.
const mostJobs = 256

// printMatrix prints a value for strategy.matrix of a workflow: a job for each image.
func (p *publishing) printMatrix(requests []publish.Request) {
	type job struct {
		Image      string `json:"image"`
		Repository string `json:"repository"`
		Tag        string `json:"tag"`
	}
	if n := len(requests) - mostJobs; n > 0 {
		p.notice("%d images are left out: a matrix has at most %d jobs; merge or close the pull requests of these before the next run", n, mostJobs)
		requests = requests[:mostJobs]
	}
	matrix := struct {
		Include []job `json:"include"`
	}{Include: []job{}}
	for _, r := range requests {
		matrix.Include = append(matrix.Include, job{r.Image(), r.Repository, r.Tag})
	}
	p.matrix = asJSON(matrix)
	if p.action == nil && !p.JSON {
		fmt.Fprintln(p.Out, p.matrix)
	}
}

// publisher returns the run's parts that need no repository and no forge.
func (p *publishing) publisher(base, standard string) (r publish.Run, err error) {
	client, err := p.registry.Client()
	if err != nil {
		return r, err
	}
	if p.branch != "" {
		if err := p.config.CheckBranch(p.branch); err != nil {
			return r, err
		}
	} else {
		p.branch = p.config.BranchFor(base, standard)
	}
	pr := p.config.PullRequest
	r = publish.Run{
		Ports: publish.Ports{Registry: client, Setup: p.setup, Sleep: p.Sleep},
		Policy: publish.Policy{
			BaseBranch: base, Levels: graph.Levels{Of: p.config.Levels}, Operands: p.config.Operands, CatalogSources: publish.AsAnnounced(p.config.CatalogSources),
			Rolling: pr.Strategy == config.ForPackage, Supersede: pr.Supersede, Reopen: p.reopen, DryRun: p.dryRun, Force: p.force, Explore: p.explorer != "", RefuseDrift: p.config.Drift == config.RefuseDrift, Jobs: p.registry.Jobs, Patience: p.wait,
		},
		Texts: publish.Texts{
			Branch: text("branch", p.branch), CatalogBranch: string(config.BranchOf("graft/catalogsources", base, standard)),
			EditBranches: string(config.BranchOf("graft", base, standard)), EditTitle: ifGiven("title", p.given.PullRequest.Title), EditMessage: ifGiven("message", p.given.Commit.Message),
			Title: text("title", pr.Title), Message: text("message", p.config.Commit.Message), Intro: pr.Intro.For,
			Flags: p.flags, Artifacts: p.artifacts(),
			RebuildTitle: text("title", config.OfRebuild(pr.Title)), RebuildMessage: text("message", config.OfRebuild(p.config.Commit.Message)),
		},
		Log: publish.Log{Line: p.line, Notice: p.notice, Step: p.step, Part: p.progress.Of, Progress: p.progress.Step, Group: p.group},
	}
	if allowed := p.config.AllowedRepositories; len(allowed) > 0 {
		place := p.allowedBy
		if len(p.given.AllowedRepositories) == 0 {
			place = "allowedRepositories in " + p.config.File
		}
		r.Allow = func(one event.Publication) error { return event.Check(allowed, place, one) }
	}
	if p.allowCommands {
		r.Commands = func(ctx context.Context, base fs.FS, change *atomicfile.Change, commands []string) (map[string][]byte, error) {
			return scratch.Run(ctx, base, change, commands, func(line string) { p.line("after: %s", line) })
		}
	}
	if p.cache != "" {
		if r.Cache, err = oci.OpenCache(p.cache); err != nil {
			return r, failure.New(failure.Usage, "opening the cache: %w", err)
		}
	}
	if base != standard && standard != "" {
		r.OtherBase = base
	}
	r.Catalogs = catalogs.Images{Client: client, Cache: r.Cache}.Package
	return r, nil
}

// setup returns the base's configuration, which may have changed since the start of the run.
func (p *publishing) setup(base publish.Base, b kind.Bundle) (*plan.Setup, error) {
	c, err := p.configs.At(base, base.Commit)
	if err != nil {
		return nil, err
	}
	setup, _, err := c.Setup(base, b.Package, b.Version.String())
	if err == nil && len(p.published) > 0 {
		setup.Published = p.published
		setup.Targets = slices.Clone(setup.Targets)
		for i := range setup.Targets {
			setup.Targets[i].Published = nil
		}
	}
	return setup, err
}

// ifGiven returns the text of an input, or nil: the configuration's texts are for bundles.
func ifGiven(name string, pattern plan.Pattern) publish.Text {
	if pattern == "" {
		return nil
	}
	return text(name, pattern)
}

func text(name string, pattern plan.Pattern) publish.Text {
	return func(b kind.Bundle) (string, error) {
		text, err := pattern.For(b)
		if err != nil {
			return "", failure.New(failure.Usage, "reading the pattern of the %s: %w", name, err).Fix("Its placeholders are {%s}.", strings.Join(plan.Placeholders, "}, {"))
		}
		return text, nil
	}
}
