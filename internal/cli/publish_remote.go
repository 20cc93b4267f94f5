package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/config"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/forge"
	"github.com/olmgraft/graft/internal/forge/github"
	"github.com/olmgraft/graft/internal/gitrepo"
	"github.com/olmgraft/graft/internal/markdown"
	"github.com/olmgraft/graft/internal/publish"
)

// defaultIdentity makes commits where nobody else is named. Its address is nobody's: a
// forge shows such commits as no account's.
var defaultIdentity = gitrepo.Identity{Name: "graft", Email: "graft@olmgraft.invalid"}

// openRepository opens the repository at the base that the inputs name, else the one
// that its configuration names, and reads the configuration there.
func (p *publishing) openRepository(ctx context.Context) (*gitrepo.Repo, error) {
	o := gitrepo.Options{Dir: cmp.Or(p.env("GITHUB_WORKSPACE"), "."), Base: p.text("base"), Token: p.token}
	if repository := p.text("repository"); repository != "" {
		o.URL = p.remoteURL(repository)
	}
	repo, err := gitrepo.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	if p.config, err = config.Read(repo.FS()); err == nil && o.Base == "" && p.config.PullRequest.Base != "" && p.config.PullRequest.Base != repo.BaseBranch() {
		_ = repo.Close()
		o.Base = p.config.PullRequest.Base
		if repo, err = gitrepo.Open(ctx, o); err != nil {
			return nil, err
		}
		p.config, err = config.Read(repo.FS())
	}
	if err == nil {
		err = p.sign(repo)
	}
	if err != nil {
		_ = repo.Close()
		return nil, err
	}
	p.base, p.standard = repo.BaseBranch(), repo.DefaultBranch()
	return repo, nil
}

// sign says in whose name commits are made.
func (p *publishing) sign(repo *gitrepo.Repo) error {
	c := p.config.Commit
	s := gitrepo.Signing{Author: defaultIdentity, Signoff: p.is("signoff") || c.Signoff}
	if c.Author != (config.Person{}) {
		s.Author = gitrepo.Identity(c.Author)
	}
	if c.Committer != (config.Person{}) {
		s.Committer = gitrepo.Identity(c.Committer)
	}
	if text := p.text("author"); text != "" {
		given, err := gitrepo.ParseIdentity(text)
		if err != nil {
			return err
		}
		s.Author, s.Committer = given, given
	}
	repo.Sign(s)
	return nil
}

// remoteURL is the address of OWNER/NAME on the server of the run, or the URL given.
func (p *publishing) remoteURL(repository string) string {
	if strings.Contains(repository, "://") || strings.Count(repository, "/") != 1 {
		return repository
	}
	return strings.TrimSuffix(cmp.Or(p.env("GITHUB_SERVER_URL"), "https://github.com"), "/") + "/" + repository
}

// connect gives the options a repository that delivers, and the forge. A dry run needs
// none of the forge.
func (p *publishing) connect(ctx context.Context, repo *gitrepo.Repo, o *publish.Options) error {
	o.Repository = repo
	method := cmp.Or(p.text("commit-method"), string(p.config.Commit.Method))
	if method != string(config.WithGit) && method != string(config.WithAPI) {
		return failure.New(failure.Usage, "reading the inputs: commit-method %q", method).Fix("Give git or api.")
	}
	switch merge := cmp.Or(p.text("auto-merge"), p.config.PullRequest.AutoMerge); merge {
	case "", "merge", "squash", "rebase":
	default:
		return failure.New(failure.Usage, "reading the inputs: auto-merge %q", merge).Fix("Give merge, squash or rebase.")
	}
	if o.DryRun && !p.is("refresh") {
		return nil
	}
	f, err := p.forge(repo)
	if err != nil {
		return err
	}
	if owner := p.text("push-to-fork"); owner != "" && owner != "false" && !o.DryRun {
		if err := f.pushToFork(ctx, repo, owner); err != nil {
			return err
		}
	}
	if method == string(config.WithAPI) {
		if o.Repository, err = f.committing(ctx, repo); err != nil {
			return err
		}
	}
	o.Forge = f
	return nil
}

// forge is the GitHub that the repository is kept on.
func (p *publishing) forge(repo *gitrepo.Repo) (*forgeClient, error) {
	owner, name, err := p.ownerAndName(repo)
	if err != nil {
		return nil, err
	}
	client, err := github.New(github.Options{APIURL: p.env("GITHUB_API_URL"), ServerURL: p.env("GITHUB_SERVER_URL"), Token: p.token, UserAgent: "graft/" + command.Version})
	if err != nil {
		return nil, err
	}
	return &forgeClient{Client: client, publishing: p, owner: owner, name: name, base: repo.BaseBranch(), head: forge.Repository{Owner: owner, Name: name}}, nil
}

// ownerAndName go by where the base is read: pushes and pull requests belong together.
func (p *publishing) ownerAndName(repo *gitrepo.Repo) (owner, name string, err error) {
	full := p.env("GITHUB_REPOSITORY")
	if u, err := url.Parse(repo.URL()); err == nil && u.Host != "" {
		parts := strings.Split(strings.TrimSuffix(strings.Trim(u.Path, "/"), ".git"), "/")
		if len(parts) >= 2 {
			full = strings.Join(parts[len(parts)-2:], "/")
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
	*github.Client
	*publishing
	owner, name, base string
	head              forge.Repository // that branches are pushed to: the same, or a fork
}

func (f *forgeClient) forked() bool { return !strings.EqualFold(f.head.Owner, f.owner) }

// pushToFork has branches go to a fork, which is made or brought up to date first.
func (f *forgeClient) pushToFork(ctx context.Context, repo *gitrepo.Repo, owner string) (err error) {
	if owner == "true" {
		owner = ""
	}
	if f.head, err = f.EnsureFork(ctx, f.owner, f.name, owner); err != nil {
		return err
	}
	if err := f.SyncFork(ctx, f.head.Owner, f.head.Name, f.base); err != nil {
		return err
	}
	// The fork stands beside the repository, under its own name.
	address, git := strings.CutSuffix(repo.URL(), ".git")
	address = strings.TrimSuffix(address, f.owner+"/"+f.name) + f.head.Owner + "/" + f.head.Name
	if git {
		address += ".git"
	}
	return repo.PushTo(address)
}

// Open implements forge.Forge.
func (f *forgeClient) Open(ctx context.Context, prefix string) ([]forge.Proposal, error) {
	var forks []string
	if f.forked() {
		forks = append(forks, f.head.Owner)
	}
	open, err := f.Client.Open(ctx, f.owner, f.name, prefix, forks...)
	var ours []forge.Proposal
	for _, pr := range open {
		if pr.Base == f.base && strings.EqualFold(pr.HeadOwner, f.head.Owner) {
			ours = append(ours, pr)
		}
	}
	return ours, err
}

// Ended implements forge.Forge.
func (f *forgeClient) Ended(ctx context.Context, branch, commit string) (bool, error) {
	return f.Client.Ended(ctx, f.owner, f.name, f.from(branch), commit)
}

// from is a branch as pull requests name it.
func (f *forgeClient) from(branch string) string {
	if f.forked() {
		return f.head.Owner + ":" + branch
	}
	return branch
}

// Close implements forge.Forge.
func (f *forgeClient) Close(ctx context.Context, number int, why string) error {
	_, err := f.Client.Close(ctx, f.owner, f.name, number, why)
	return err
}

// longestRequest leaves most of a body to its reader; a longer one the commits hold alone.
const longestRequest = 12 << 10

// Propose implements forge.Forge.
func (f *forgeClient) Propose(ctx context.Context, p forge.Change) (forge.Result, error) {
	request, err := json.Marshal(p.Requests)
	if err != nil {
		return forge.Result{}, failure.New(failure.Internal, "writing the request: %w", err)
	}
	if len(request) > longestRequest {
		request = nil
	}
	pr := f.config.PullRequest
	return f.Ensure(ctx, github.Request{
		Owner: f.owner, Repo: f.name, Head: f.from(p.Branch), Base: f.base,
		Title: markdown.Plain(p.Title), Body: p.Body, Pointer: "The rest was cut; the summary of the workflow run has it.", ForAuthor: warned,
		Marker: forge.Marker{Key: p.Key, Request: request},
		Labels: f.or("labels", pr.Labels), Reviewers: f.or("reviewers", pr.Reviewers), TeamReviewers: f.or("team-reviewers", pr.TeamReviewers),
		Assignees: f.or("assignees", pr.Assignees), Milestone: cmp.Or(f.text("milestone"), pr.Milestone), Draft: f.is("draft") || pr.Draft,
		AutoMerge: cmp.Or(f.text("auto-merge"), pr.AutoMerge), MaintainerCanModify: pr.MaintainerCanModify,
	})
}

// warned tells of the one token whose pull requests do not start checks.
func warned(author string) string {
	if author != "github-actions[bot]" {
		return ""
	}
	return "> [!NOTE]\n> GITHUB_TOKEN made this pull request, so its checks do not start by themselves: close and reopen it, or let an app's token make it.\n\n"
}

// apiRepository has the forge make the commits.
type apiRepository struct {
	*gitrepo.Repo
	forge *forgeClient
	// named are author and committer, nil where the forge commits in its own name, and
	// signs.
	author, committer *forge.Signature
}

// committing makes commits through the API. Those of an app or a workflow the forge signs
// where they name nobody; those of a user are unsigned in any case, and carry the same
// names as with git.
func (f *forgeClient) committing(ctx context.Context, repo *gitrepo.Repo) (publish.Repository, error) {
	a := apiRepository{Repo: repo, forge: f}
	user, err := f.IsUser(ctx)
	if err != nil {
		return nil, err
	}
	if s := repo.Signing(); user || s.Author != defaultIdentity {
		a.author = &forge.Signature{Name: s.Author.Name, Email: s.Author.Email}
		a.committer = &forge.Signature{Name: s.Committer.Name, Email: s.Committer.Email}
	}
	return a, nil
}

// Deliver implements publish.Repository.
func (a apiRepository) Deliver(ctx context.Context, d gitrepo.Delivery) (gitrepo.Delivered, error) {
	d.Put = func(ctx context.Context, made gitrepo.Commit, state gitrepo.State, files map[string]gitrepo.File) (string, error) {
		f := a.forge
		tip, err := f.Branch(ctx, f.owner, f.name, f.base)
		if err != nil {
			return "", err
		}
		if tip != d.Base {
			return "", failure.New(failure.GitRaceLost, "committing to the branch %s: %s moved to %s meanwhile", d.Branch, f.base, tip)
		}
		c := forge.Commit{Owner: f.head.Owner, Repo: f.head.Name, Branch: d.Branch, Parent: d.Base, Tip: state.Head, Message: made.Message, Author: a.author, Committer: a.committer}
		for name, file := range files {
			c.Files = append(c.Files, forge.File{Path: name, Content: file.Data})
		}
		return f.Commit(ctx, c)
	}
	return a.Repo.Deliver(ctx, d)
}
