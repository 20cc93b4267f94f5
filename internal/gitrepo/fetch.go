package gitrepo

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/plumbing/transport"

	"github.com/olmgraft/graft/internal/failure"
)

// Fetch reads the tip of the base branch, and fetches its content if it moved since the last call. Without a
// given base branch, Fetch takes the remote's default branch and keeps it.
func (r *Repo) Fetch(ctx context.Context) (moved bool, err error) {
	doing := "fetching"
	if r.base != "" {
		doing = "fetching the branch " + r.base + " from"
	}
	tip, err := r.lookUp(ctx, doing)
	if err != nil {
		return false, err
	}
	if r.commit != nil && tip == r.commit.Hash {
		return false, nil
	}
	c, err := r.store.commit(tip)
	if err != nil {
		return false, failure.New(failure.GitFailed, "%s %s: %w", doing, r.source.url, err)
	}
	r.commit = c
	return true, nil
}

// lookUp makes the tip of the base branch available. If objects are missing after a fetch on top of the
// checkout, it fetches once more without the checkout.
func (r *Repo) lookUp(ctx context.Context, doing string) (tip plumbing.Hash, err error) {
	for range 2 {
		err = r.source.fetching(ctx, doing, func(session transport.UploadPackSession, there *refs) error {
			if err := r.chooseBase(there); err != nil {
				return err
			}
			if tip = there.heads[r.base]; r.stands(tip) {
				return nil
			}
			_, err := fetchObjects(ctx, session, there, r.requestFor(tip, 1, ""))
			return err
		})
		if err != nil || r.stands(tip) {
			break
		}
	}
	return tip, err
}

func (r *Repo) chooseBase(there *refs) error {
	r.standard = there.standard
	base := r.base
	if base == "" {
		base = strings.TrimPrefix(r.o.Base, "refs/heads/")
	}
	switch {
	case len(there.heads) == 0:
		return failure.New(failure.GitFailed, "fetching %s: the repository has no commits", r.source.url).
			Fix("Push a first commit to the repository.")
	case base == "" && there.standard == "":
		return failure.New(failure.GitFailed, "fetching %s: it does not say which branch is the default", r.source.url).
			Fix("Name the base branch.")
	case base == "":
		base = there.standard
	}
	if _, ok := there.heads[base]; !ok {
		return failure.New(failure.GitFailed, "fetching %s: there is no branch %s", r.source.url, base).
			Fix("Name a base branch that exists. The default branch is %s.", there.standard)
	}
	r.base = base
	return nil
}

// stands reports whether a commit and its tree are available. If the checkout has only one of them, as when it
// borrows objects from a missing folder, the checkout is not used from then on.
func (r *Repo) stands(commit plumbing.Hash) bool {
	c, err := r.store.commit(commit)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return false
	}
	if err == nil {
		_, err = r.store.tree(c.TreeHash)
	}
	if err != nil {
		r.store.forgetLocal()
	}
	return err == nil
}

// fetchRequest describes the fetch of a commit.
type fetchRequest struct {
	want    plumbing.Hash
	depth   int    // commits; 0 means all
	filter  string // objects to leave out
	haves   []plumbing.Hash
	shallow []plumbing.Hash // commits whose parents are missing locally
	thin    bool            // deltas may refer to local objects
	unpack  func(pack io.Reader, thin bool, shallow, unshallow []plumbing.Hash) error
}

// requestFor builds a request on top of the available commits: the last base, or the checkout's tips.
func (r *Repo) requestFor(want plumbing.Hash, depth int, filter string) fetchRequest {
	w := fetchRequest{want: want, depth: depth, filter: filter, unpack: r.store.unpack}
	if r.commit != nil && r.stands(r.commit.Hash) {
		w.haves = []plumbing.Hash{r.commit.Hash}
	} else {
		w.haves = r.store.localTips(r.base)
	}
	if len(w.haves) > 0 {
		// This also saves bytes: for a shallow repository, git sends in full every file that it may not send as
		// a delta, even an unchanged one.
		w.thin = true
		w.shallow = slices.Collect(maps.Keys(r.store.shallow))
	}
	return w
}

// fetchObjects fetches, and reports whether the remote knows one of the haves.
func fetchObjects(ctx context.Context, session transport.UploadPackSession, there *refs, w fetchRequest) (known bool, err error) {
	if slices.Contains(w.haves, w.want) {
		return true, nil
	}
	req := packp.NewUploadPackRequestFromCapabilities(there.capabilities)
	req.Wants = []plumbing.Hash{w.want}
	can := func(c capability.Capability) bool {
		if !there.capabilities.Supports(c) {
			return false
		}
		_ = req.Capabilities.Set(c) // fails only for a capability that needs a value
		return true
	}
	can(capability.NoProgress)
	if w.filter != "" && can(capability.Filter) {
		req.Filter = packp.Filter(w.filter)
	}
	if w.thin {
		_ = req.Capabilities.Set(capability.ThinPack) // go-git hides whether the remote offers it
	}
	switch {
	case can(capability.Shallow):
		req.Haves, req.Shallows, req.Depth = w.haves, w.shallow, packp.DepthCommits(w.depth)
	case len(w.shallow) == 0:
		req.Haves = w.haves
	}
	answer, err := session.UploadPack(ctx, req)
	if err != nil {
		return false, err
	}
	defer answer.Close()
	known = len(answer.ACKs) > 0
	// A remote that knows no local commit cannot send deltas against local objects.
	thin := w.thin && (known || len(answer.Unshallows) > 0)
	return known, w.unpack(pack(req.Capabilities, answer), thin, answer.Shallows, answer.Unshallows)
}

func pack(used *capability.List, answer io.Reader) io.Reader {
	switch {
	case used.Supports(capability.Sideband64k):
		return sideband.NewDemuxer(sideband.Sideband64k, answer)
	case used.Supports(capability.Sideband):
		return sideband.NewDemuxer(sideband.Sideband, answer)
	}
	return answer
}
