package github

import (
	"context"
	"crypto/sha1" //nolint:gosec // it is git's own name for a blob
	"encoding/base64"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/google/go-github/v60/github"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/forge"
)

// Commit implements forge.Forge with the Git data API.
//
// GitHub's API has no compare-and-swap for refs. When a branch is replaced, another client can move it between
// the read and the write. When a branch is extended, GitHub itself refuses anything but a fast-forward.
func (f *Forge) Commit(ctx context.Context, c forge.Commit) (string, error) {
	m := &committing{f: f, Commit: c, trees: map[string]map[string]*github.TreeEntry{}}
	sha, err := m.make(ctx)
	if err == nil {
		err = m.move(ctx, sha)
	}
	if err != nil {
		return "", f.fail(ctx, m.op(), err)
	}
	return sha, nil
}

// committing is a Commit in progress.
type committing struct {
	forge.Commit
	f    *Forge
	root string
	// trees caches the entries of the base's trees by name.
	trees map[string]map[string]*github.TreeEntry
}

func (m *committing) op() operation {
	return operation{
		doing: fmt.Sprintf("committing to the branch %s of %s", m.Branch, m.f.head),
		needs: "contents: write", refused: failure.GitFailed,
	}
}

// make makes the commit without moving a branch.
func (m *committing) make(ctx context.Context) (string, error) {
	parent, _, err := m.f.gh.Git.GetCommit(ctx, m.f.head.Owner, m.f.head.Name, m.Parent)
	if err != nil {
		return "", err
	}
	m.root = parent.GetTree().GetSHA()
	var entries []*github.TreeEntry
	for _, name := range slices.Sorted(maps.Keys(m.Files)) {
		entry, err := m.entry(ctx, name, m.Files[name])
		if err != nil {
			return "", err
		}
		if entry != nil {
			entries = append(entries, entry)
		}
	}
	for _, name := range m.Deleted {
		stands, err := m.lookUp(ctx, name)
		if err != nil {
			return "", err
		}
		if stands != nil { // an entry without a hash is removed
			entries = append(entries, &github.TreeEntry{Path: &name, Mode: stands.Mode, Type: stands.Type})
		}
	}
	if len(entries) == 0 {
		return m.Parent, nil
	}
	tree, _, err := m.f.gh.Git.CreateTree(ctx, m.f.head.Owner, m.f.head.Name, m.root, entries)
	if err != nil {
		return "", err
	}
	commit, _, err := m.f.gh.Git.CreateCommit(ctx, m.f.head.Owner, m.f.head.Name, &github.Commit{
		Message: &m.Message, Tree: tree, Parents: []*github.Commit{{SHA: &m.Parent}},
		Author: authorOf(m.Author), Committer: authorOf(m.Committer),
	}, nil)
	return commit.GetSHA(), err
}

// entry uploads a file and returns its entry. It returns nil if the base already has the file with that content.
func (m *committing) entry(ctx context.Context, name string, content []byte) (*github.TreeEntry, error) {
	stands, err := m.lookUp(ctx, name)
	if err != nil {
		return nil, err
	}
	mode := "100644"
	if stands != nil {
		mode = stands.GetMode()
	}
	switch {
	case mode != "100644" && mode != "100755":
		return nil, failure.New(failure.GitFailed, "%s: %s is no file in the base (mode %s)", m.op().doing, name, mode)
	case stands.GetSHA() == blobName(content):
		return nil, nil
	}
	blob, _, err := m.f.gh.Git.CreateBlob(ctx, m.f.head.Owner, m.f.head.Name, &github.Blob{
		Content:  github.String(base64.StdEncoding.EncodeToString(content)),
		Encoding: github.String("base64"),
	})
	if err != nil {
		return nil, err
	}
	return &github.TreeEntry{Path: &name, Mode: &mode, Type: github.String("blob"), SHA: blob.SHA}, nil
}

// lookUp finds the entry at a path, one tree at a time: the whole tree of a large catalog repository does not
// fit into one answer of GitHub.
func (m *committing) lookUp(ctx context.Context, at string) (*github.TreeEntry, error) {
	if !fs.ValidPath(at) || at == "." {
		return nil, failure.New(failure.GitFailed, "%s: %q is not a path within the repository", m.op().doing, at)
	}
	sha := m.root
	for {
		name, rest, more := strings.Cut(at, "/")
		entries, err := m.tree(ctx, sha)
		if err != nil {
			return nil, err
		}
		entry := entries[name]
		switch {
		case entry == nil || !more:
			return entry, nil
		case entry.GetType() != "tree":
			return nil, nil
		}
		sha, at = entry.GetSHA(), rest
	}
}

func (m *committing) tree(ctx context.Context, sha string) (map[string]*github.TreeEntry, error) {
	if known, ok := m.trees[sha]; ok {
		return known, nil
	}
	tree, _, err := m.f.gh.Git.GetTree(ctx, m.f.head.Owner, m.f.head.Name, sha, false)
	if err != nil {
		return nil, err
	}
	entries := make(map[string]*github.TreeEntry, len(tree.Entries))
	for _, entry := range tree.Entries {
		entries[entry.GetPath()] = entry
	}
	m.trees[sha] = entries
	return entries, nil
}

// move points the branch at the commit.
func (m *committing) move(ctx context.Context, sha string) error {
	tip, err := m.f.tip(ctx, m.f.head, m.Branch)
	switch {
	case err != nil:
		return err
	case tip == sha:
		return nil
	case tip != m.Tip:
		return m.raceLost(tip)
	}
	name := "refs/heads/" + m.Branch
	ref := &github.Reference{Ref: &name, Object: &github.GitObject{SHA: &sha}}
	if tip == "" {
		_, _, err = m.f.gh.Git.CreateRef(ctx, m.f.head.Owner, m.f.head.Name, ref)
	} else {
		_, _, err = m.f.gh.Git.UpdateRef(ctx, m.f.head.Owner, m.f.head.Name, ref, m.Tip != m.Parent)
	}
	if err == nil || !movedMeanwhile(err) {
		return err
	}
	// The answer to an earlier attempt may have been lost.
	tip, err = m.f.tip(ctx, m.f.head, m.Branch)
	if err != nil || tip == sha {
		return err
	}
	return m.raceLost(tip)
}

// movedMeanwhile distinguishes refusals because of a race from those of the repository's rules.
func movedMeanwhile(err error) bool {
	said, _ := unprocessable(err)
	return slices.ContainsFunc([]string{"already exists", "does not exist", "not a fast forward", "not a fast-forward"}, func(text string) bool {
		return strings.Contains(said, text)
	})
}

func (m *committing) raceLost(tip string) error {
	text := func(sha string) string {
		if sha == "" {
			return "absent"
		}
		return "at " + sha[:min(len(sha), 12)]
	}
	return failure.New(failure.GitRaceLost, "%s: it is %s, and was expected to be %s", m.op().doing, text(tip), text(m.Tip))
}

func authorOf(s *forge.Signature) *github.CommitAuthor {
	if s == nil {
		return nil
	}
	return &github.CommitAuthor{Name: &s.Name, Email: &s.Email}
}

// blobName returns git's name for the content. go-git could compute it, but the relay would then link go-git.
func blobName(content []byte) string {
	return fmt.Sprintf("%x", sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(content), content))) //nolint:gosec // see above
}
