package fakegithub

import (
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/olmgraft/graft/internal/testkit/gitobjects"
)

func (c *call) reference(name string, sha plumbing.Hash) fields {
	return fields{
		"ref": name, "node_id": nodeID("REF", c.repo.id), "url": c.at("/git/" + name),
		"object": fields{"type": "commit", "sha": sha.String(), "url": c.at("/git/commits/" + sha.String())},
	}
}

// gitCommit returns a commit in the form of the Git data API.
func (c *call) gitCommit(commit *object.Commit) fields {
	sha := commit.Hash.String()
	return fields{
		"sha": sha, "node_id": nodeID("C", c.repo.id), "url": c.at("/git/commits/" + sha), "html_url": c.web("/commit/" + sha),
		"author": signature(commit.Author), "committer": signature(commit.Committer), "message": commit.Message,
		"tree":    fields{"sha": commit.TreeHash.String(), "url": c.at("/git/trees/" + commit.TreeHash.String())},
		"parents": c.parents(commit), "verification": c.verification(sha),
	}
}

func (c *call) parents(commit *object.Commit) []any {
	return listOf(commit.ParentHashes, func(parent plumbing.Hash) fields {
		return fields{"sha": parent.String(), "url": c.at("/git/commits/" + parent.String()), "html_url": c.web("/commit/" + parent.String())}
	})
}

func (c *call) verification(sha string) fields {
	v := fields{"verified": false, "reason": "unsigned", "signature": nil, "payload": nil, "verified_at": nil}
	if c.s.signed[sha] {
		v["verified"], v["reason"] = true, "valid"
	}
	return v
}

func signature(who object.Signature) fields {
	return fields{"name": who.Name, "email": who.Email, "date": who.When.UTC()}
}

func (c *call) tree(g *gitStore, tree *object.Tree) fields {
	list := []any{}
	for _, e := range tree.Entries {
		list = append(list, c.treeEntry(g, e.Name, gitobjects.Entry{Mode: e.Mode, Hash: e.Hash}))
	}
	return fields{"sha": tree.Hash.String(), "url": c.at("/git/trees/" + tree.Hash.String()), "truncated": false, "tree": list}
}

func (c *call) treeEntry(g *gitStore, name string, e gitobjects.Entry) fields {
	body := fields{
		"path": name, "mode": fmt.Sprintf("%06o", uint32(e.Mode)), "sha": e.Hash.String(),
		"type": "blob", "url": c.at("/git/blobs/" + e.Hash.String()),
	}
	switch e.Mode {
	case filemode.Dir:
		body["type"], body["url"] = "tree", c.at("/git/trees/"+e.Hash.String())
	case filemode.Submodule:
		body["type"], body["url"] = "commit", ""
	default:
		if size, err := g.EncodedObjectSize(e.Hash); err == nil {
			body["size"] = size
		}
	}
	return body
}

// changedSince returns the files of a commit and those of its merge base with another.
func (g *gitStore) changedSince(base, head plumbing.Hash) (before, after gitobjects.Files, err error) {
	shared, err := g.mergeBase(base, head)
	if err == nil {
		before, err = g.filesAt(shared)
	}
	if err == nil {
		after, err = g.filesAt(head)
	}
	return before, after, err
}

// filesAt returns no files for the zero hash.
func (g *gitStore) filesAt(sha plumbing.Hash) (gitobjects.Files, error) {
	if sha == plumbing.ZeroHash {
		return gitobjects.Files{}, nil
	}
	commit, err := g.commit(sha)
	if err != nil {
		return nil, err
	}
	return gitobjects.ReadFiles(g, commit.TreeHash)
}
