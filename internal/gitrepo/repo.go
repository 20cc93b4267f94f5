// Package gitrepo reads a base branch and pushes commits made on it.
//
// It only reads a given checkout: the work tree, the index, the branches and the object store stay unchanged.
// Fetched and new objects go to a temporary folder. Commits are built from objects, from the base's tree and
// the given files, so that they cannot contain anything else. A shallow or partial clone, a detached HEAD or
// another owner's folder therefore works like a full clone. No git program is needed.
//
// The package uses the objects, storage and protocol of go-git, but not its fetch and push: its fetch cannot
// keep partial history apart from the checkout's, and its push walks a history that a shallow clone lacks.
// Hosts that require multi_ack, such as Azure DevOps, do not work. Files in Git LFS are their pointers.
package gitrepo

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/olmgraft/graft/internal/failure"
)

// Options configure a repository.
type Options struct {
	// Dir is a folder within a checkout. The base's objects in it are not fetched again. If Dir is "" or not in
	// a checkout, everything comes from URL.
	Dir string
	// URL is the address of the base. The default is the checkout's remote named origin, or its only remote.
	// Credentials in it are used and never shown.
	URL string
	// Base is the base branch. The default is the remote's default branch.
	Base string
	// Token is the password for HTTP, with the user Username or x-access-token. With a token, an SSH address is
	// converted to the HTTPS address of its host.
	Token, Username string

	Signing

	// TempDir holds fetched and new objects. The default is the system's folder.
	TempDir string
	// Transport replaces http.DefaultTransport.
	Transport http.RoundTripper
	// Attempts limits the attempts of one exchange with the remote, including the first. 0 means 4.
	Attempts int
	// Now and Sleep replace the clock in tests.
	Now   func() time.Time
	Sleep func(context.Context, time.Duration) error
}

// Signing sets the identities of commits.
type Signing struct {
	// Author and Committer of the commits. The committer defaults to the author.
	Author, Committer Identity
	// Signoff appends the committer's Signed-off-by to each message.
	Signoff bool
}

// Repo is a repository with a commit of the base branch. Only the result of FS is safe for concurrent use.
type Repo struct {
	o      Options
	store  *store
	source *remote // of the base
	target *remote // of pushed branches

	transport *boundedTransport

	base     string
	standard string // the remote's default branch
	commit   *object.Commit
	fresh    bool // the base was fetched and not used since
	made     map[plumbing.Hash]madeCommit
}

// Open fetches the base branch. Close removes what was fetched.
func Open(ctx context.Context, o Options) (r *Repo, err error) {
	o = o.withDefaults()
	r = &Repo{o: o, made: map[plumbing.Hash]madeCommit{}}
	found, err := findCheckout(o.Dir)
	if err != nil {
		return nil, err
	}
	if found == nil && o.URL == "" {
		return nil, failure.New(failure.GitFailed, "opening %s: there is no git checkout", orHere(o.Dir)).
			Fix("Run in a checkout of the repository, or name the repository.")
	}
	address := o.URL
	if found != nil {
		if address == "" {
			if address, err = found.address(); err != nil {
				return nil, err
			}
		}
	}
	if err := r.connect(address); err != nil {
		return nil, err
	}
	r.store = newStore(o.TempDir, found)
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Close())
		}
	}()
	_, err = r.Fetch(ctx)
	r.fresh = true
	return r, err
}

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Username == "" {
		o.Username = "x-access-token"
	}
	if o.Committer == (Identity{}) {
		o.Committer = o.Author
	}
	return o
}

// Sign sets the identities of later commits.
func (r *Repo) Sign(s Signing) {
	r.o.Signing = s
	r.o = r.o.withDefaults()
}

// Signing returns the identities of commits.
func (r *Repo) Signing() Signing { return r.o.Signing }

// PushTo sets another repository, a fork, as the target of pushes.
func (r *Repo) PushTo(address string) (err error) {
	r.target, err = newRemote(address, r.transport, r.o)
	return err
}

func (r *Repo) connect(address string) (err error) {
	r.transport = newTransport(r.o.Transport)
	if r.source, err = newRemote(address, r.transport, r.o); err != nil {
		return err
	}
	r.target = r.source
	return nil
}

// Close removes all fetched and new objects. After it, the results of FS must not be used.
func (r *Repo) Close() error {
	r.transport.CloseIdleConnections()
	return r.store.close()
}

// URL returns the base's address without credentials.
func (r *Repo) URL() string { return r.source.url }

// BaseBranch returns the name of the base branch without refs/heads/.
func (r *Repo) BaseBranch() string { return r.base }

// DefaultBranch returns the remote's default branch, or "" if the remote does not name it.
func (r *Repo) DefaultBranch() string { return r.standard }

// BaseCommit returns the base commit.
func (r *Repo) BaseCommit() string { return r.commit.Hash.String() }

// FS returns the content of the base commit: the committed bytes, whatever line ends the checkout has. It
// follows symbolic links within the repository. It does not change when Fetch finds a newer base, and is safe
// for concurrent use.
func (r *Repo) FS() fs.FS { return newTreeFS(r.store, r.commit.TreeHash, r.commit.Committer.When) }

// Base fetches the base branch and returns its content and its commit.
func (r *Repo) Base(ctx context.Context) (fs.FS, string, error) {
	if !r.fresh {
		if _, err := r.Fetch(ctx); err != nil {
			return nil, "", err
		}
	}
	r.fresh = false
	return r.FS(), r.BaseCommit(), nil
}

// Retry repeats do while it loses the race for a branch, up to the given number of attempts, with a growing and
// jittered pause. Each attempt must begin with the remote's present state. The pauses grow with the duration of
// an attempt, because so does the chance of a competing push. sleep is pause.For except in tests.
func Retry(ctx context.Context, attempts int, least time.Duration, sleep func(context.Context, time.Duration) error, do func(attempt int) error) error {
	for n := 1; ; n++ {
		began := time.Now()
		err := do(n)
		if n >= attempts || !failure.Is(err, failure.GitRaceLost) {
			return err
		}
		window := (least + time.Since(began)) << min(n-1, 10)
		if sleep(ctx, rand.N(window+1)) != nil {
			return failure.New(failure.Interrupted, "waiting: %w", context.Cause(ctx))
		}
	}
}

func orHere(dir string) string {
	if dir == "" {
		return "."
	}
	return dir
}
