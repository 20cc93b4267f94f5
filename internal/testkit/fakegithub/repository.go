package fakegithub

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage"
	"github.com/go-git/go-git/v5/storage/memory"
)

// Repository describes a repository to add.
type Repository struct {
	Owner, Name string
	// Dir is a bare repository, or a folder with .git, that git may use at the same time. If it is missing or
	// empty, it is created. "" keeps the objects in memory.
	Dir string
	// DefaultBranch defaults to HEAD in Dir, or else to main.
	DefaultBranch string
	// Files make the first commit if the default branch does not exist.
	Files map[string]string
	// Writers may push. nil lets every account push, review and be assigned; otherwise only the writers and the
	// owner can.
	Writers    []string
	Teams      []string
	Labels     []string
	Milestones []string
	Private    bool
	Archived   bool
	// AutoMerge allows auto-merge. Drafts are allowed unless NoDrafts is set.
	AutoMerge, NoDrafts bool
	// WorkflowsMayNotOpen stops a workflow's token from opening pull requests. New repositories on GitHub have
	// this setting.
	WorkflowsMayNotOpen bool
	// ForkDir creates and returns the directory for a fork. nil keeps forks in memory.
	ForkDir func(owner, name string) (string, error)
}

type repository struct {
	Repository
	id            int64
	defaultBranch string
	parent        *repository
	mem           storage.Storer
	labels        []*label
	milestones    []*milestone
	pulls         []*pull
}

// AddRepository adds a repository and its owner's account.
func (s *Server) AddRepository(r Repository) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.addRepository(r, nil)
	return err
}

func (s *Server) addRepository(r Repository, parent *repository) (*repository, error) {
	if s.repos[key(r.Owner, r.Name)] != nil {
		return nil, fmt.Errorf("fakegithub: %s/%s is there already", r.Owner, r.Name)
	}
	repo := &repository{
		Repository: r, id: s.nextID(), defaultBranch: r.DefaultBranch, parent: parent,
	}
	if r.Dir == "" {
		repo.mem = memory.NewStorage()
	} else if inner := filepath.Join(r.Dir, ".git"); isDir(inner) {
		repo.Dir = inner
	} else if err := makeBare(r.Dir, r.DefaultBranch); err != nil {
		return nil, err
	}
	s.user(r.Owner)
	for _, login := range r.Writers {
		s.user(login)
	}
	for _, name := range r.Labels {
		repo.label(s, name)
	}
	for i, title := range r.Milestones {
		repo.milestones = append(repo.milestones, &milestone{id: s.nextID(), number: i + 1, title: title})
	}
	if repo.defaultBranch == "" {
		repo.defaultBranch = repo.headBranch()
	}
	if err := repo.firstCommit(s, r.Files); err != nil {
		return nil, err
	}
	s.repos[key(r.Owner, r.Name)] = repo
	return repo, nil
}

func (r *repository) firstCommit(s *Server, files map[string]string) error {
	if len(files) == 0 || r.tip(r.defaultBranch) != plumbing.ZeroHash {
		return nil
	}
	contents := map[string][]byte{}
	for name, text := range files {
		contents[name] = []byte(text)
	}
	who := object.Signature{Name: r.Owner, Email: r.Owner + "@users.noreply.test", When: s.options.Now()}
	_, err := r.commitFiles(r.defaultBranch, who, "Begin\n", contents)
	return err
}

// headBranch returns the branch that a clone would check out.
func (r *repository) headBranch() string {
	if head, err := r.git().Reference(plumbing.HEAD); err == nil && head.Type() == plumbing.SymbolicReference && head.Target().IsBranch() {
		return head.Target().Short()
	}
	return "main"
}

func (r *repository) fullName() string { return r.Owner + "/" + r.Name }

// writes reports whether an account may push.
func (r *repository) writes(login string) bool {
	if strings.EqualFold(login, r.Owner) {
		return true
	}
	return r.Writers == nil || slices.ContainsFunc(r.Writers, func(w string) bool { return strings.EqualFold(w, login) })
}

// root returns the repository at the root of a chain of forks.
func (r *repository) root() *repository {
	for r.parent != nil {
		r = r.parent
	}
	return r
}

func (c *call) getRepository() reply { return ok(c.repository(c.repo, true)) }

func (c *call) fork(ask struct{ Organization, Name string }) reply {
	owner, name := ask.Organization, ask.Name
	if owner == "" {
		owner = c.who.Login
	}
	if name == "" {
		name = c.repo.Name
	}
	if c.s.users[strings.ToLower(owner)] == nil || strings.EqualFold(ask.Organization, c.who.Login) {
		return invalid(wrong("Fork", "organization", "invalid"))
	}
	accepted := func(r *repository) reply {
		return reply{status: http.StatusAccepted, body: c.repository(r, true)}
	}
	for _, r := range c.s.sorted() {
		if strings.EqualFold(r.Owner, owner) && r.root() == c.repo.root() {
			return accepted(r)
		}
	}
	for i := 1; c.s.repos[key(owner, name)] != nil; i++ {
		name = fmt.Sprintf("%s-%d", c.repo.Name, i)
	}
	fork, err := c.makeFork(owner, name)
	if err != nil {
		return failed(http.StatusInternalServerError, err.Error())
	}
	return accepted(fork)
}

func (c *call) makeFork(owner, name string) (*repository, error) {
	settings := Repository{
		Owner: owner, Name: name, DefaultBranch: c.repo.defaultBranch, Private: c.repo.Private,
		Writers: []string{owner, c.who.Login}, ForkDir: c.repo.ForkDir,
	}
	if settings.ForkDir != nil {
		dir, err := settings.ForkDir(owner, name)
		if err != nil {
			return nil, err
		}
		settings.Dir = dir
	}
	fork, err := c.s.addRepository(settings, c.repo)
	if err != nil {
		return nil, err
	}
	for _, ref := range c.repo.git().branches() {
		if err := copyHistory(fork, c.repo, ref.Hash()); err != nil {
			return nil, err
		}
		if err := fork.git().setRef(ref.Name().String(), ref.Hash(), plumbing.ZeroHash); err != nil {
			return nil, err
		}
	}
	return fork, nil
}

type mergeUpstreamBody struct {
	Branch string `json:"branch"`
}

// mergeUpstream updates a branch of a fork from its parent, by fast-forward or merge.
func (c *call) mergeUpstream(ask mergeUpstreamBody) reply {
	if c.repo.parent == nil {
		return failed(http.StatusUnprocessableEntity, "Repository is not a fork")
	}
	ours, theirs := c.repo.tip(ask.Branch), c.repo.parent.tip(ask.Branch)
	if ours == plumbing.ZeroHash || theirs == plumbing.ZeroHash {
		return failed(http.StatusUnprocessableEntity, "The branch "+ask.Branch+" is not in both repositories")
	}
	done := func(kind, message string) reply {
		return ok(fields{"merge_type": kind, "message": message, "base_branch": c.repo.parent.Owner + ":" + ask.Branch})
	}
	if err := copyHistory(c.repo, c.repo.parent, theirs); err != nil {
		return failed(http.StatusInternalServerError, err.Error())
	}
	g := c.repo.git()
	switch {
	case ours == theirs || g.isAncestor(theirs, ours):
		return done("none", "This branch is not behind the upstream "+c.repo.parent.Owner+":"+ask.Branch+".")
	case g.isAncestor(ours, theirs):
		if err := g.setRef("refs/heads/"+ask.Branch, theirs, ours); err != nil {
			return failed(http.StatusConflict, err.Error())
		}
		return done("fast-forward", "Successfully fetched and fast-forwarded from upstream "+c.repo.parent.Owner+":"+ask.Branch+".")
	}
	sha, err := g.merge(ours, theirs, c.signature(), "Merge branch '"+ask.Branch+"' of "+c.repo.parent.fullName()+"\n")
	if err == nil {
		err = g.setRef("refs/heads/"+ask.Branch, sha, ours)
	}
	if err != nil {
		return failed(http.StatusConflict, "There are merge conflicts")
	}
	return done("merge", "Successfully fetched and merged from upstream "+c.repo.parent.Owner+":"+ask.Branch+".")
}

// sorted returns the repositories in the order in which they were added.
func (s *Server) sorted() []*repository {
	all := make([]*repository, 0, len(s.repos))
	for _, r := range s.repos {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *repository) int { return int(a.id - b.id) })
	return all
}

// makeBare creates a bare repository unless there is one.
func makeBare(dir, branch string) error {
	if isDir(filepath.Join(dir, "objects")) {
		return nil
	}
	if branch == "" {
		branch = "main"
	}
	for _, name := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.FromSlash(name)), 0o755); err != nil {
			return err
		}
	}
	config := "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n"
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o644),
		os.WriteFile(filepath.Join(dir, "HEAD"), []byte("ref: refs/heads/"+branch+"\n"), 0o644),
	)
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
