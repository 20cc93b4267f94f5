package fakegithub

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/utils/diff"

	"github.com/olmgraft/graft/internal/testkit/gitobjects"
)

// merge makes a merge commit of two commits, or returns errConflicts.
func (g *gitStore) merge(ours, theirs plumbing.Hash, who object.Signature, message string) (plumbing.Hash, error) {
	base, err := g.mergeBase(ours, theirs)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return g.commitMerged(base, ours, theirs, &object.Commit{
		Author: who, Committer: who, Message: message, ParentHashes: []plumbing.Hash{ours, theirs},
	})
}

// commitMerged applies the changes from base to theirs onto ours and commits the result.
func (g *gitStore) commitMerged(base, ours, theirs plumbing.Hash, c *object.Commit) (plumbing.Hash, error) {
	var trees [3]gitobjects.Files
	for i, sha := range []plumbing.Hash{base, ours, theirs} {
		var err error
		if trees[i], err = g.filesAt(sha); err != nil {
			return plumbing.ZeroHash, err
		}
	}
	merged, err := g.mergeFiles(trees[0], trees[1], trees[2])
	if err != nil {
		return plumbing.ZeroHash, err
	}
	if c.TreeHash, err = gitobjects.WriteFiles(g, merged); err != nil {
		return plumbing.ZeroHash, errConflicts
	}
	return gitobjects.Write(g, c)
}

// mergeBase returns the zero hash for histories without a common commit.
func (g *gitStore) mergeBase(a, b plumbing.Hash) (plumbing.Hash, error) {
	first, err := g.commit(a)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	second, err := g.commit(b)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	bases, err := first.MergeBase(second)
	if err != nil || len(bases) == 0 {
		return plumbing.ZeroHash, err
	}
	return bases[0].Hash, nil
}

func (g *gitStore) mergeFiles(base, ours, theirs gitobjects.Files) (gitobjects.Files, error) {
	merged := gitobjects.Files{}
	for path, e := range ours {
		merged[path] = e
	}
	for _, path := range gitobjects.Changed(base, theirs) {
		before, was := base[path]
		mine, have := ours[path]
		yours, given := theirs[path]
		switch {
		case have == given && mine == yours:
			// Both sides made the same change.
		case was == have && before == mine:
			delete(merged, path)
			if given {
				merged[path] = yours
			}
		case was && have && given && mine.Mode == yours.Mode:
			hash, err := g.mergeBlobs(before.Hash, mine.Hash, yours.Hash)
			if err != nil {
				return nil, err
			}
			merged[path] = gitobjects.Entry{Mode: mine.Mode, Hash: hash}
		default:
			return nil, errConflicts
		}
	}
	return merged, nil
}

func (g *gitStore) mergeBlobs(base, ours, theirs plumbing.Hash) (plumbing.Hash, error) {
	var texts [3]string
	for i, hash := range []plumbing.Hash{base, ours, theirs} {
		content, err := gitobjects.ReadBlob(g, hash)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		texts[i] = string(content)
	}
	merged, ok := mergeText(texts[0], texts[1], texts[2])
	if !ok {
		return plumbing.ZeroHash, errConflicts
	}
	return gitobjects.WriteBlob(g, []byte(merged))
}

// change replaces the lines of the base between from and to (exclusive).
type change struct {
	from, to int
	lines    []string
}

// mergeText applies the changes of both sides to the base. Changes that touch conflict, unless they are the same.
func mergeText(base, ours, theirs string) (string, bool) {
	all := append(changes(base, ours), changes(base, theirs)...)
	slices.SortStableFunc(all, func(a, b change) int {
		if a.from != b.from {
			return a.from - b.from
		}
		return a.to - b.to
	})
	lines := strings.SplitAfter(base, "\n")
	var out []string
	at := 0
	for i, c := range all {
		if i > 0 {
			last := all[i-1]
			if last.from == c.from && last.to == c.to && slices.Equal(last.lines, c.lines) {
				continue
			}
			if c.from <= last.to {
				return "", false
			}
		}
		out = append(append(out, lines[at:c.from]...), c.lines...)
		at = c.to
	}
	return strings.Join(append(out, lines[at:]...), ""), true
}

// Kinds of pieces of a diff, numbered as in diffmatchpatch.
const (
	stays = 0
	added = 1
)

// changes returns the line changes that turn the base into the other text.
func changes(base, other string) []change {
	var list []change
	line := 0
	open := false
	for _, d := range diff.Do(base, other) {
		lines := strings.SplitAfter(d.Text, "\n")
		if lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		if d.Type == stays {
			line += len(lines)
			open = false
			continue
		}
		if !open {
			list = append(list, change{from: line, to: line})
			open = true
		}
		last := &list[len(list)-1]
		if d.Type == added {
			last.lines = append(last.lines, lines...)
			continue
		}
		line += len(lines)
		last.to = line
	}
	return list
}

// merge moves the base branch with a merge commit, one squashed commit, or each commit on top of it.
func (p *pull) merge(who object.Signature, method string) (plumbing.Hash, error) {
	base, head, err := p.ends()
	if err != nil {
		return plumbing.ZeroHash, err
	}
	g := p.base.git()
	text := fmt.Sprintf("Merge pull request #%d from %s/%s\n\n%s\n", p.number, p.head.Owner, p.headRef, p.title)
	if method == "squash" {
		text = fmt.Sprintf("%s (#%d)\n", p.title, p.number)
	}
	shared, err := g.mergeBase(base, head)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	sha := base
	switch method {
	case "squash":
		sha, err = g.commitMerged(shared, base, head, &object.Commit{
			Author: who, Committer: who, Message: text, ParentHashes: []plumbing.Hash{base},
		})
	case "rebase":
		for _, one := range g.between(base, head) {
			if sha, err = g.pick(one, sha, who); err != nil {
				break
			}
		}
	default:
		sha, err = g.merge(base, head, who, text)
	}
	if err != nil {
		return plumbing.ZeroHash, err
	}
	p.mergedHistory = mergedHistory{base, head}
	return sha, g.setRef("refs/heads/"+p.baseRef, sha, base)
}

// pick applies the changes of one commit on top of another.
func (g *gitStore) pick(one *object.Commit, onto plumbing.Hash, who object.Signature) (plumbing.Hash, error) {
	before := plumbing.ZeroHash
	if len(one.ParentHashes) > 0 {
		before = one.ParentHashes[0]
	}
	if before == onto {
		return one.Hash, nil
	}
	return g.commitMerged(before, onto, one.Hash, &object.Commit{
		Author: one.Author, Committer: who, Message: one.Message, ParentHashes: []plumbing.Hash{onto},
	})
}
