package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/transport"

	"github.com/olmgraft/graft/internal/failure"
)

// Push describes a branch to point at a commit.
type Push struct {
	Branch string
	Commit string // made by Repo.Commit
	// Expect is the last known tip of the branch, or "" if the branch was absent. Push does not touch a branch
	// that has moved since, even with Force.
	Expect string
	// Force discards the branch's commits beyond the base.
	Force bool
	// OnBase requires that the base branch is still at the commit's parent.
	OnBase bool
}

// Push points a branch at a commit and sends the objects that its parent, which the remote has, lacks. It
// returns git-race-lost if the branch or the base moved meanwhile: then call Fetch and begin again. If the
// answer to a push is lost, Push reads the branch before it pushes again.
func (r *Repo) Push(ctx context.Context, p Push) error {
	p.Branch = strings.TrimPrefix(p.Branch, "refs/heads/")
	if err := checkBranch(p.Branch); err != nil {
		return err
	}
	made, ok := r.made[plumbing.NewHash(p.Commit)]
	if !ok {
		return failure.New(failure.Internal, "pushing the branch %s: the commit %s was not made here", p.Branch, p.Commit)
	}
	if p.Expect != "" && !p.Force && !slices.Contains(made.ParentHashes, plumbing.NewHash(p.Expect)) {
		return failure.New(failure.GitFailed, "pushing the branch %s to %s: %s does not descend from %s", p.Branch, r.target.url, p.Commit, p.Expect).
			Fix("Push to another branch, or give --force.")
	}
	err := r.target.again(ctx, func() error { return r.push(ctx, p, made) }, "pushing the branch "+p.Branch+" to", "contents: write")
	if err == nil && r.target == r.source && p.Branch == r.base {
		r.commit = made.Commit
	}
	return err
}

// Delete removes a branch if its tip is still the expected one. It succeeds if the branch is already gone.
func (r *Repo) Delete(ctx context.Context, branch, expect string) error {
	if err := checkBranch(branch); err != nil {
		return err
	}
	p := Push{Branch: branch, Expect: expect, Commit: plumbing.ZeroHash.String()}
	return r.target.again(ctx, func() error { return r.push(ctx, p, madeCommit{}) }, "deleting the branch "+branch+" of", "contents: write")
}

func checkBranch(branch string) error {
	if plumbing.NewBranchReferenceName(branch).Validate() != nil {
		return failure.New(failure.Usage, "pushing the branch %q: git allows no such name", branch).
			Fix("Correct the pattern of the branch's name.")
	}
	return nil
}

// push makes one attempt.
func (r *Repo) push(ctx context.Context, p Push, made madeCommit) error {
	ep := r.target.endpoint
	session, err := r.target.client.NewReceivePackSession(&ep, r.target.auth)
	if err != nil {
		return err
	}
	defer session.Close()
	adv, err := session.AdvertisedReferencesContext(ctx)
	if err != nil {
		return err
	}
	there := readRefs(adv)
	command := &packp.Command{Name: plumbing.NewBranchReferenceName(p.Branch), Old: plumbing.NewHash(p.Expect), New: plumbing.NewHash(p.Commit)}
	now := there.heads[p.Branch]
	switch {
	case now == command.New:
		return nil // an attempt with a lost answer pushed it, or another client deleted it
	case now != command.Old:
		return r.raceLost(p.Branch, p.Branch, now)
	}
	if err := r.checkBase(ctx, p, there); err != nil {
		return err
	}
	if err := r.checkRoom(p.Branch, there); err != nil {
		return err
	}
	return r.send(ctx, session, there.capabilities, command, made)
}

// checkBase checks that the base is still the commit's parent.
func (r *Repo) checkBase(ctx context.Context, p Push, there *refs) error {
	if !p.OnBase {
		return nil
	}
	if r.target != r.source {
		var err error
		if there, err = r.source.list(ctx, "reading the branches of"); err != nil {
			return err
		}
	}
	if now := there.heads[r.base]; now != r.commit.Hash {
		return r.raceLost(p.Branch, r.base, now)
	}
	return nil
}

// checkRoom refuses a branch whose name is a folder of another branch's name or below it. Git reports that like
// a race, which retries would never win.
func (r *Repo) checkRoom(branch string, there *refs) error {
	for other := range there.heads {
		if strings.HasPrefix(other, branch+"/") || strings.HasPrefix(branch, other+"/") {
			return failure.New(failure.GitFailed, "pushing the branch %s to %s: the branch %s is in the way", branch, r.target.url, other).
				Fix("Delete the branch %s, or give branches another pattern.", other)
		}
	}
	return nil
}

func (r *Repo) raceLost(branch, moved string, to plumbing.Hash) error {
	where := "is gone"
	if !to.IsZero() {
		where = "moved to " + to.String()
	}
	return failure.New(failure.GitRaceLost, "pushing the branch %s to %s: %s %s meanwhile", branch, r.target.url, moved, where)
}

func (r *Repo) send(ctx context.Context, session transport.ReceivePackSession, can *capability.List, command *packp.Command, made madeCommit) error {
	req := packp.NewReferenceUpdateRequestFromCapabilities(can)
	req.Commands = []*packp.Command{command}
	var said bytes.Buffer
	if can.Supports(capability.Sideband64k) {
		_ = req.Capabilities.Set(capability.Sideband64k) // fails only for a capability that needs a value
		req.Progress = &said
	}
	if command.Action() == packp.Delete {
		if !can.Supports(capability.DeleteRefs) {
			return failure.New(failure.GitFailed, "deleting a branch of %s: the remote does not offer it", r.target.url)
		}
		_ = req.Capabilities.Set(capability.DeleteRefs)
	} else {
		pack, err := r.pack(made.objects, can)
		if err != nil {
			return failure.New(failure.GitFailed, "packing the commit %s: %w", made.Hash, err)
		}
		req.Packfile = io.NopCloser(pack)
	}
	report, err := session.ReceivePack(ctx, req)
	switch {
	case report == nil && err == nil:
		return errors.New("the remote did not say what became of it")
	case report == nil:
		return err
	case report.UnpackStatus != "ok":
		return r.declined(ctx, command, "it cannot unpack the sent objects: "+report.UnpackStatus, said.String())
	}
	for _, status := range report.CommandStatuses {
		if status.Error() != nil {
			return r.declined(ctx, command, status.Status, said.String())
		}
	}
	return nil
}

// pack stores the objects in full. Deltas would save little for new content, and cost time that grows with the
// catalogs.
func (r *Repo) pack(objects []plumbing.Hash, can *capability.List) (*bytes.Buffer, error) {
	objects = slices.Clone(objects)
	plumbing.HashesSort(objects)
	var out bytes.Buffer
	return &out, r.store.locked(func(o layers) error {
		_, err := packfile.NewEncoder(&out, o, !can.Supports(capability.OFSDelta)).Encode(slices.Compact(objects), 0)
		return err
	})
}

// declined distinguishes a lost race from a refusal. Each host reports a race in other words, so declined reads
// the branch too.
func (r *Repo) declined(ctx context.Context, c *packp.Command, status, said string) error {
	branch := c.Name.Short()
	if there, err := r.target.list(ctx, "reading the branches of"); err == nil && there.heads[branch] != c.Old {
		return r.raceLost(branch, branch, there.heads[branch])
	}
	text := r.target.clean(status + hookMessages(said))
	lower := strings.ToLower(text)
	for _, race := range []string{"failed to update ref", "cannot lock ref", "unable to lock", "reference already exists", "incorrect old value"} {
		if strings.Contains(lower, race) {
			return failure.New(failure.GitRaceLost, "pushing the branch %s to %s: %s", branch, r.target.url, text)
		}
	}
	f := failure.New(failure.GitFailed, "pushing the branch %s to %s: the remote declined it: %s", branch, r.target.url, text)
	switch {
	case strings.Contains(lower, "workflow") && (strings.Contains(lower, "scope") || strings.Contains(lower, "permission")):
		return f.Fix("Give the token the permission workflows: write.")
	case strings.Contains(lower, "gh006"), strings.Contains(lower, "protected branch"), strings.Contains(lower, "gh013"), strings.Contains(lower, "rule violations"):
		return f.Fix("Let the token's owner bypass the rules that protect the branch %s, or push to another branch.", branch)
	case strings.Contains(lower, "non-fast-forward"):
		return f.Fix("Allow forced pushes to the branch %s, which the host forbids, or delete the branch.", branch)
	}
	return f.Fix("Do what the remote's message asks for.")
}

// hookMessages returns the output of a hook or the host, without git's progress lines.
func hookMessages(said string) string {
	var kept []string
	for line := range strings.FieldsFuncSeq(said, func(r rune) bool { return r == '\n' || r == '\r' }) {
		line = strings.TrimSpace(line)
		if line == "" || strings.Contains(line, "% (") || strings.HasPrefix(line, "Resolving deltas") {
			continue
		}
		kept = append(kept, line)
	}
	if len(kept) == 0 {
		return ""
	}
	return fmt.Sprintf(": %s", strings.Join(kept, " "))
}
