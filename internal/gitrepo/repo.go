// Package gitrepo reads a base branch and pushes commits made upon it.
//
// A checkout that it is pointed at is only read: its work tree, its index, its
// branches and its object store stay as they are. What has to be fetched or made goes
// to a temporary folder, and commits are built from objects, out of the base's tree
// and the files given, so that nothing else can slip in. A shallow or partial clone, a
// detached HEAD and another owner's folder are therefore as good as a full clone. No
// git program is needed.
//
// Of go-git it takes the objects, the storage and the protocol, but not its fetch and
// push: the one keeps no unfinished history apart from the checkout's, and the other
// walks a history that a shallow clone lacks. Hosts that insist on multi_ack, such as
// Azure DevOps, are out of its reach, and files in Git LFS are the pointers that they
// are in git.
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

// Options of a repository.
type Options struct {
	// Dir is a folder within a checkout. What of the base stands there is not fetched.
	// Without it, or where no checkout is, everything comes from URL.
	Dir string
	// URL is where the base is read; without it, the checkout's remote named origin,
	// or its only one. Credentials in it are used and never shown.
	URL string
	// Base is the branch to build upon; without it, the remote's default branch.
	Base string
	// Token authenticates HTTP, as the password of Username, which is x-access-token
	// by default. With a token, an SSH address is taken for the HTTPS one of its host.
	Token, Username string

	Signing

	// TempDir is for what is fetched and made; without it, the system's.
	TempDir string
	// Transport replaces http.DefaultTransport.
	Transport http.RoundTripper
	// Attempts of one exchange with the remote, the first included; 0 means 4.
	Attempts int
	// Now and Sleep replace the clock in tests.
	Now   func() time.Time
	Sleep func(context.Context, time.Duration) error
}

// Signing says in whose name commits are made.
type Signing struct {
	// Author and Committer of the commits; the author commits where no committer is given.
	Author, Committer Identity
	// Signoff ends each message with the committer's Signed-off-by.
	Signoff bool
}

// Repo is a repository with a commit of the base branch at hand. It is used by one
// goroutine at a time, but for what FS returns.
type Repo struct {
	o      Options
	store  *store
	source *remote // the base is read there
	target *remote // branches are pushed there

	transport *boundedTransport

	base     string
	standard string // the remote's default branch
	commit   *object.Commit
	fresh    bool // the base was looked up, and nobody has asked for it since
	made     map[plumbing.Hash]madeCommit
}

// Open looks up the base branch and makes its content available. Close frees what was
// fetched.
func Open(ctx context.Context, o Options) (r *Repo, err error) {
	o = o.withDefaults()
	r = &Repo{o: o, made: map[plumbing.Hash]madeCommit{}}
	found, err := findCheckout(o.Dir)
	if err != nil {
		return nil, err
	}
	if found == nil && o.URL == "" {
		return nil, failure.New(failure.GitFailed, "opening %s: there is no git checkout", orHere(o.Dir)).
			Fix("run in a checkout of the repository, or name the repository")
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

// Sign makes later commits in another name.
func (r *Repo) Sign(s Signing) {
	r.o.Signing = s
	r.o = r.o.withDefaults()
}

// Signing says in whose name commits are made.
func (r *Repo) Signing() Signing { return r.o.Signing }

// PushTo has branches pushed elsewhere than where the base is read: to a fork.
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

// Close removes what was fetched and made. What FS returned is of no use then.
func (r *Repo) Close() error {
	r.transport.CloseIdleConnections()
	return r.store.close()
}

// URL is where the base is read, without credentials.
func (r *Repo) URL() string { return r.source.url }

// BaseBranch is the branch that is built upon, without refs/heads/.
func (r *Repo) BaseBranch() string { return r.base }

// DefaultBranch is the one that is built upon where none is named; "" where the remote
// does not tell.
func (r *Repo) DefaultBranch() string { return r.standard }

// BaseCommit is the commit that is built upon.
func (r *Repo) BaseCommit() string { return r.commit.Hash.String() }

// FS is the content of the base commit: the bytes as they are committed, whatever the
// checkout made of their line ends. Symbolic links are followed within the repository.
// It stays the same when Fetch finds the base elsewhere, and may be used concurrently.
func (r *Repo) FS() fs.FS { return newTreeFS(r.store, r.commit.TreeHash, r.commit.Committer.When) }

// Base looks up the base branch and returns its content and its commit.
func (r *Repo) Base(ctx context.Context) (fs.FS, string, error) {
	if !r.fresh {
		if _, err := r.Fetch(ctx); err != nil {
			return nil, "", err
		}
	}
	r.fresh = false
	return r.FS(), r.BaseCommit(), nil
}

// Retry does it again, after a growing and jittered pause, as long as the race for a
// branch is lost, attempts times in all. Each time do has to begin with what stands on
// the remote then. The pauses grow with what one attempt takes, since so does the
// chance that somebody comes in between. sleep is pause.For, but for tests.
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
