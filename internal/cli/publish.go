package cli

import (
	"context"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/blang/semver/v4"
	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/action"
	"github.com/olmgraft/graft/internal/config"
	"github.com/olmgraft/graft/internal/event"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/oci"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/publish"
	"github.com/olmgraft/graft/internal/template/kind"
)

func (a *app) publishCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "publish",
		Short: "From a published bundle image to one pull request: what the action runs",
		Long: "Publish takes what a registry announced to a pull request: it plans which catalogs the bundle goes\n" +
			"to, inserts it into their templates, renders and verifies them, pushes a branch and opens one pull\n" +
			"request. In GitHub Actions the inputs of the action count where no flag is given.\n\n" +
			"Environment: GITHUB_TOKEN where --token is not given; GITHUB_API_URL and GITHUB_SERVER_URL for\n" +
			"GitHub Enterprise Server.",
		Example: "  graft publish --dry-run --image quay.io/example/op-bundle:v1.2.3\n" +
			"  graft publish --event event.json\n" +
			"  graft publish --from-tags quay.io/example/op-bundle --versions '>=1.2.0'\n" +
			"  graft publish --refresh",
		Args: cobra.NoArgs,
	}
	addInputs(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		p := &publishing{app: a, values: values{flags: cmd.Flags()}, action: action.Running(a.Env, a.Out)}
		if p.action != nil {
			p.input = p.action.Input
		}
		results, err := p.run(cmd.Context())
		return p.tell(results, err)
	}
	return cmd
}

// publishing is one run of graft publish.
type publishing struct {
	*app
	values
	action *action.Action
	// configs are of the commits that the run meets; config is of the first.
	configs config.Commits
	config  *config.Config
	// base is the branch to change, standard the repository's default one.
	base, standard string
	token          string
	matrix         string
}

func (p *publishing) run(ctx context.Context) ([]*publish.Result, error) {
	timeout, err := time.ParseDuration(p.text("timeout"))
	if err != nil || timeout <= 0 {
		return nil, failure.New(failure.Usage, "reading the inputs: timeout %q", p.text("timeout")).Fix("Give a time such as 15m.")
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	p.readToken()
	repo, err := p.openRepository(ctx)
	if err != nil {
		return nil, err
	}
	defer repo.Close()
	o, err := p.options()
	if err != nil {
		return nil, err
	}
	if p.is("refresh") {
		if err := p.connect(ctx, repo, &o); err != nil {
			return nil, err
		}
		return publish.Refresh(ctx, o)
	}
	requests, err := p.requests(ctx, repo.FS(), o)
	switch {
	case err != nil:
		return nil, err
	case p.is("plan-matrix"):
		p.planMatrix(requests)
		return nil, nil
	case len(requests) == 0:
		return nil, nil
	}
	if err := p.connect(ctx, repo, &o); err != nil {
		return nil, err
	}
	return publish.Publish(ctx, requests, o)
}

func (p *publishing) env(key string) string {
	v, _ := p.Env(key)
	return v
}

// readToken masks all secrets before the first of them is used.
func (p *publishing) readToken() {
	p.token = p.text("token")
	if p.token == "" {
		p.token = p.env("GITHUB_TOKEN")
	}
	if p.action == nil {
		return
	}
	p.action.Mask(p.token)
	for _, in := range publishInputs {
		if in.secret {
			p.action.Mask(p.text(in.name))
		}
	}
	if u, err := url.Parse(p.text("repository")); err == nil && u.User != nil {
		password, _ := u.User.Password()
		p.action.Mask(password)
	}
}

// requests are what there is to publish: the image that is named, what the repositories
// have and the content lacks, or what the event says.
func (p *publishing) requests(ctx context.Context, content fs.FS, o publish.Run) ([]publish.Request, error) {
	found, err := p.announced(ctx, content, o)
	if err != nil {
		return nil, err
	}
	for _, s := range found.Skipped {
		if p.isCatalogTag(o, s) {
			found.Publications = append(found.Publications, s.Publication)
			continue
		}
		p.notice("%s is skipped: %s", s.Publication.Image(), s.Reason)
	}
	var requests []publish.Request
	for _, one := range found.Publications {
		requests = append(requests, publish.Request{Publication: one, Asked: publish.Ask(p.text, p.list)})
	}
	return requests, nil
}

func (p *publishing) announced(ctx context.Context, content fs.FS, o publish.Run) (event.Announcement, error) {
	skip := p.or("skip-tags", p.config.SkipTags)
	if repositories := p.list("from-tags"); len(repositories) > 0 {
		return p.sweep(ctx, content, o, repositories, skip)
	}
	if image := p.text("image"); image != "" {
		one, err := event.ParseReference(image)
		return event.Announcement{Publications: []event.Publication{one}}, err
	}
	name, body := "", []byte(nil)
	if file := p.text("event"); file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return event.Announcement{}, failure.New(failure.Usage, "reading the event: %w", err).Fix("Give --event with a file that exists.")
		}
		body = text
	} else if p.action != nil {
		var err error
		if name, body, err = p.action.Event(); err != nil {
			return event.Announcement{}, err
		}
	}
	if len(body) == 0 {
		return event.Announcement{}, failure.New(failure.Usage, "looking for what was published: there is neither image nor event").
			Fix("Give --image, or run on repository_dispatch, workflow_dispatch or registry_package.")
	}
	return event.ParseAny(name, body, skip)
}

// catalogSources are those of the configuration, with their repositories as events name them.
func (p *publishing) catalogSources() []plan.CatalogSourceSetup {
	all := slices.Clone(p.config.CatalogSources)
	for i, s := range all {
		if one, err := event.ParseReference(s.Repository + ":" + s.Tag); err == nil {
			all[i].Repository = one.Repository
		}
	}
	return all
}

// isCatalogTag reports whether what is skipped for its tag, as no bundle, is a catalog image
// that a CatalogSource names.
func (p *publishing) isCatalogTag(o publish.Run, s event.Skipped) bool {
	return s.Reason == event.SkipReason(s.Publication.Tag, p.or("skip-tags", p.config.SkipTags)) &&
		slices.ContainsFunc(o.CatalogSources, func(one plan.CatalogSourceSetup) bool {
			return one.Repository == s.Publication.Repository && one.Tag == s.Publication.Tag
		})
}

// sweep looks for bundles whose announcements were lost, or never made.
func (p *publishing) sweep(ctx context.Context, content fs.FS, o publish.Run, repositories, skip []string) (found event.Announcement, err error) {
	var wanted semver.Range
	if text := p.text("versions"); text != "" {
		if wanted, err = semver.ParseRange(text); err != nil {
			return found, failure.New(failure.Usage, "reading the inputs: versions %q: %w", text, err).Fix("Give a range such as >=1.2.0.")
		}
	}
	for _, name := range repositories {
		one, err := event.ParseReference(name + ":any")
		if err == nil && o.Allow != nil {
			err = o.Allow(one)
		}
		if err != nil {
			return found, err
		}
		if publish.IsCatalogImage(o.CatalogSources, one.Repository) {
			news, err := publish.News(ctx, o, one.Repository)
			if err != nil {
				return found, err
			}
			found.Publications = append(found.Publications, news...)
			continue
		}
		s := publish.Sweep{Repository: one.Repository, SkipTags: skip, Versions: wanted}
		if production := p.config.Registries[one.Repository]; production != "" {
			s.Names = []string{production}
		}
		missing, err := publish.Missing(ctx, content, o.Registry, s)
		if err != nil {
			return found, err
		}
		p.notice("%s: %d images that no template or catalog names", one.Repository, len(missing))
		found.Publications = append(found.Publications, missing...)
	}
	return found, nil
}

func (p *publishing) notice(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if p.action != nil {
		p.action.Notice(text)
		return
	}
	fmt.Fprintf(p.Err, "graft: %s\n", text)
}

// mostJobs is what GitHub makes of one matrix.
const mostJobs = 256

// planMatrix prints what strategy.matrix of a workflow takes: a job for each image.
func (p *publishing) planMatrix(requests []publish.Request) {
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

// options are those that need no repository and no forge.
func (p *publishing) options() (publish.Run, error) {
	registry := registryOptions{useHTTP: p.is("use-http"), skipTLSVerify: p.is("skip-tls-verify"), conf: p.text("registries-conf"), jobs: 8, auth: p.text("registry-auth")}
	if p.action != nil {
		registry.token = p.token // where it is the workflow's, it may pull from ghcr.io
	}
	client, err := registry.client()
	if err != nil {
		return publish.Run{}, err
	}
	levels, err := p.levels()
	if err != nil {
		return publish.Run{}, err
	}
	configured := p.config.PullRequest
	o := publish.Run{
		Ports: publish.Ports{Registry: client, Setup: p.setup, Sleep: p.Sleep},
		Policy: publish.Policy{
			BaseBranch: p.base, Levels: levels, Operands: p.config.Operands, CatalogSources: p.catalogSources(),
			Rolling: configured.Strategy == config.ForPackage, Supersede: p.is("supersede") || configured.Supersede,
			DryRun: p.is("dry-run"), Force: p.is("force"), Jobs: registry.jobs, Patience: time.Minute,
		},
		Texts: publish.Texts{
			Branch: p.pattern("branch", p.config.BranchFor(p.base, p.standard)), CatalogBranch: string(config.BranchOf("graft/catalogsources", p.base, p.standard)),
			Title: p.pattern("title", configured.Title), Message: p.pattern("message", p.config.Commit.Message), Intro: configured.Intro.For,
		},
		Log: publish.Log{Line: func(format string, args ...any) { fmt.Fprintf(p.Err, "graft: "+format+"\n", args...) }, Progress: p.progress("rendering").step},
	}
	if given := p.text("branch"); given != "" {
		if err := p.config.CheckBranch(plan.Pattern(given)); err != nil {
			return o, err
		}
	}
	if p.action != nil {
		o.Group = p.action.Group
	}
	if allowed := p.or("allowed-repositories", p.config.AllowedRepositories); len(allowed) > 0 {
		o.Allow = func(one event.Publication) error { return event.Check(allowed, one) }
	}
	if dir := p.text("cache"); dir != "" {
		if o.Cache, err = oci.OpenCache(dir); err != nil {
			return o, failure.New(failure.Usage, "opening the cache: %w", err)
		}
	}
	return o, nil
}

// setup is what the base says, which may have changed since the run began.
func (p *publishing) setup(base publish.Base, b kind.Bundle) (*plan.Setup, error) {
	return p.configs.Setup(base, base.Commit, b.Package, b.Version.String())
}

func (p *publishing) levels() (graph.Levels, error) {
	given := verifyOptions{levels: p.list("findings")}
	l, err := given.levelsOf()
	if err != nil {
		return l, err
	}
	for id, level := range p.config.Levels {
		if _, said := l.Of[id]; !said {
			l.Of[id] = level
		}
	}
	return l, nil
}

func (p *publishing) pattern(name string, configured plan.Pattern) publish.Text {
	if text := p.text(name); text != "" {
		configured = plan.Pattern(text)
	}
	return func(b kind.Bundle) (string, error) {
		text, err := configured.For(b)
		if err != nil {
			return "", failure.New(failure.Usage, "reading the pattern of the %s: %w", name, err).Fix("Its placeholders are {%s}.", strings.Join(plan.Placeholders, "}, {"))
		}
		return text, nil
	}
}

// or is a list of the inputs, else that of the configuration.
func (p *publishing) or(name string, configured []string) []string {
	if list := p.list(name); len(list) > 0 {
		return list
	}
	return configured
}
