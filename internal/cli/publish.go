package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/action"
	"github.com/olmgraft/graft/internal/config"
	"github.com/olmgraft/graft/internal/event"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/gitrepo"
	"github.com/olmgraft/graft/internal/oci"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/publish"
	"github.com/olmgraft/graft/internal/pullrequest"
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
			"  graft publish --event event.json",
		Args: cobra.NoArgs,
	}
	addInputs(cmd.Flags())
	cmd.RunE = run(func(cmd *cobra.Command, _ []string) error {
		p := &publishing{app: a, values: values{flags: cmd.Flags()}, action: action.Running(a.Env, a.Out)}
		if p.action != nil {
			p.input = p.action.Input
		}
		results, err := p.run(cmd.Context())
		return p.tell(results, err)
	})
	return cmd
}

// publishing is one run of graft publish.
type publishing struct {
	*app
	values
	action *action.Action
	config *config.Config
	token  string
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
	if p.config, err = config.Read(repo.FS()); err != nil {
		return nil, err
	}
	announced, err := p.announced()
	if err != nil || len(announced) == 0 {
		return nil, err
	}
	o, err := p.options(repo)
	if err != nil {
		return nil, err
	}
	var results []*publish.Result
	var errs []error
	for _, one := range announced {
		end := p.group("publishing " + one.Image())
		r, err := publish.Publish(ctx, one, o)
		end()
		if r != nil {
			results = append(results, r)
		}
		errs = append(errs, err)
	}
	return results, errors.Join(errs...)
}

func (p *publishing) group(title string) func() {
	if p.action != nil {
		return p.action.Group(title)
	}
	return func() {}
}

func (p *publishing) env(key string) string {
	v, _ := p.Env(key)
	return v
}

func (p *publishing) readToken() {
	p.token = p.text("token")
	if p.token == "" {
		p.token = p.env("GITHUB_TOKEN")
	}
	if p.action != nil {
		p.action.Mask(p.token)
	}
}

// announced is what there is to publish: the image that is named, or what the event says.
func (p *publishing) announced() ([]event.Publication, error) {
	skip := p.config.SkipTags
	if list := p.list("skip-tags"); len(list) > 0 {
		skip = list
	}
	found, err := p.readEvent(skip)
	if err != nil {
		return nil, err
	}
	for _, s := range found.Skipped {
		p.notice("%s is skipped: %s", s.Publication.Image(), s.Reason)
	}
	allowed := p.config.AllowedRepositories
	if list := p.list("allowed-repositories"); len(list) > 0 {
		allowed = list
	}
	var errs []error
	for _, one := range found.Publications {
		if len(allowed) > 0 {
			errs = append(errs, event.Check(allowed, one))
		}
	}
	return found.Publications, errors.Join(errs...)
}

func (p *publishing) readEvent(skip []string) (event.Announcement, error) {
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

func (p *publishing) notice(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if p.action != nil {
		p.action.Notice(text)
		return
	}
	fmt.Fprintf(p.Err, "graft: %s\n", text)
}

func (p *publishing) openRepository(ctx context.Context) (*gitrepo.Repo, error) {
	author := gitrepo.Identity{Name: "graft", Email: "graft@users.noreply.github.com"}
	if text := p.text("author"); text != "" {
		var err error
		if author, err = gitrepo.ParseIdentity(text); err != nil {
			return nil, err
		}
	}
	dir := p.env("GITHUB_WORKSPACE")
	if dir == "" {
		dir = "."
	}
	o := gitrepo.Options{Dir: dir, Base: p.text("base"), Token: p.token, Author: author, Signoff: p.is("signoff")}
	if repository := p.text("repository"); repository != "" {
		o.URL = p.remoteURL(repository)
	}
	return gitrepo.Open(ctx, o)
}

// remoteURL is the address of OWNER/NAME on the server of the run, or the URL given.
func (p *publishing) remoteURL(repository string) string {
	if strings.Contains(repository, "://") || strings.Count(repository, "/") != 1 {
		return repository
	}
	return strings.TrimSuffix(p.server(), "/") + "/" + repository
}

func (p *publishing) server() string {
	if s := p.env("GITHUB_SERVER_URL"); s != "" {
		return s
	}
	return "https://github.com"
}

func (p *publishing) options(repo *gitrepo.Repo) (publish.Options, error) {
	registry := registryOptions{useHTTP: p.is("use-http"), skipTLSVerify: p.is("skip-tls-verify"), conf: p.text("registries-conf"), jobs: 8}
	client, err := registry.client()
	if err != nil {
		return publish.Options{}, err
	}
	levels := verifyOptions{levels: p.list("findings")}
	l, err := levels.levelsOf()
	if err != nil {
		return publish.Options{}, err
	}
	for id, level := range p.config.Levels {
		if _, said := l.Of[id]; !said {
			l.Of[id] = level
		}
	}
	progress := p.progress("rendering")
	o := publish.Options{
		Registry: client, Repository: gitRepository{repo}, Levels: l, Jobs: registry.jobs, Progress: progress.step,
		Log: func(format string, args ...any) { fmt.Fprintf(p.Err, "graft: "+format+"\n", args...) },
		Setup: func(content fs.FS, b kind.Bundle) (*plan.Setup, error) {
			c, err := config.Read(content)
			if err != nil {
				return nil, err
			}
			setup, _, err := c.Setup(content, b.Package, b.Version.String())
			return setup, err
		},
		Asked: plan.Asked{
			Template: p.text("template"), Catalog: p.text("catalog"), Channels: p.list("channels"), DefaultChannel: p.text("default-channel"),
			Edges: plan.Edges{Replaces: p.text("replaces"), Skips: p.list("skips"), SkipRange: p.text("skip-range")},
		},
		Branch: p.pattern("branch", p.config.PullRequest.Branch), Title: p.pattern("title", p.config.PullRequest.Title), Message: p.pattern("message", p.config.Commit.Message),
		DryRun: p.is("dry-run"), Force: p.is("force"), Patience: time.Minute,
	}
	if dir := p.text("cache"); dir != "" {
		if o.Cache, err = oci.OpenCache(dir); err != nil {
			return o, failure.New(failure.Usage, "opening the cache: %w", err)
		}
	}
	if !o.DryRun {
		o.Forge, err = p.forge(repo)
	}
	return o, err
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

// forge is the GitHub that the repository is kept on.
func (p *publishing) forge(repo *gitrepo.Repo) (publish.Forge, error) {
	owner, name, err := p.ownerAndName(repo)
	if err != nil {
		return nil, err
	}
	client, err := pullrequest.New(pullrequest.Options{APIURL: p.env("GITHUB_API_URL"), ServerURL: p.env("GITHUB_SERVER_URL"), Token: p.token, UserAgent: "graft/" + Version})
	if err != nil {
		return nil, err
	}
	return &forgeClient{client: client, publishing: p, owner: owner, name: name, base: repo.BaseBranch()}, nil
}

func (p *publishing) ownerAndName(repo *gitrepo.Repo) (owner, name string, err error) {
	full := p.text("repository")
	if strings.Contains(full, "://") || full == "" {
		full = p.env("GITHUB_REPOSITORY")
	}
	if full == "" || p.text("repository") != "" && strings.Contains(p.text("repository"), "://") {
		if u, err := url.Parse(repo.URL()); err == nil {
			full = strings.TrimSuffix(strings.Trim(u.Path, "/"), ".git")
		}
	}
	owner, name, ok := strings.Cut(full, "/")
	if !ok || strings.Contains(name, "/") {
		return "", "", failure.New(failure.Usage, "looking for the repository's name on the forge: %q is not OWNER/NAME", full).Fix("Give --repository OWNER/NAME.")
	}
	return owner, name, nil
}

// forgeClient makes proposals pull requests.
type forgeClient struct {
	*publishing
	client            *pullrequest.Client
	owner, name, base string
}

// Propose implements publish.Forge.
func (f *forgeClient) Propose(ctx context.Context, p publish.Proposal) (publish.Proposed, error) {
	request, err := json.Marshal(p.Request)
	if err != nil {
		return publish.Proposed{}, failure.New(failure.Internal, "writing the request: %w", err)
	}
	pr := f.config.PullRequest
	r, err := f.client.Ensure(ctx, pullrequest.Request{
		Owner: f.owner, Repo: f.name, Head: p.Branch, Base: f.base,
		Title: pullrequest.Plain(p.Title), Body: f.warned() + p.Body, Pointer: "The rest was cut; the summary of the workflow run has it.",
		Marker: pullrequest.Marker{Key: p.Key, Request: request},
		Labels: f.or("labels", pr.Labels), Reviewers: f.or("reviewers", pr.Reviewers), TeamReviewers: f.or("team-reviewers", pr.TeamReviewers),
		Assignees: f.or("assignees", pr.Assignees), Milestone: first(f.text("milestone"), pr.Milestone), Draft: f.is("draft") || pr.Draft,
		AutoMerge: first(f.text("auto-merge"), pr.AutoMerge), MaintainerCanModify: pr.MaintainerCanModify,
	})
	return publish.Proposed{Number: r.Number, URL: r.URL, Operation: string(r.Operation), Notes: r.Notes}, err
}

// warned tells of the one token whose pull requests do not start checks.
func (f *forgeClient) warned() string {
	if f.action == nil || f.token == "" || f.token != f.env("GITHUB_TOKEN") && f.text("token") != f.env("GITHUB_TOKEN") {
		return ""
	}
	return "> [!NOTE]\n> GITHUB_TOKEN made this pull request, so its checks do not start by themselves: close and reopen it, or let an app's token make it.\n\n"
}

func (f *forgeClient) or(name string, configured []string) []string {
	if list := f.list(name); len(list) > 0 {
		return list
	}
	return configured
}

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// printDry shows what a dry run found: the difference, and the pull request's text.
func (p *publishing) printDry(r *publish.Result) {
	for _, name := range r.Work.Changed() {
		before, after := r.Work.File(name)
		_, _ = p.Out.Write(diff.Diff("a/"+name, before, "b/"+name, after))
	}
	fmt.Fprintf(p.Out, "\n%s", r.Body)
}
