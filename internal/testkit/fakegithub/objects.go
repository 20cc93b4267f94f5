package fakegithub

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

func (c *call) reference(name string, sha plumbing.Hash) fields {
	return fields{
		"ref": name, "node_id": nodeID("REF", c.repo.id), "url": c.at("/git/" + name),
		"object": fields{"type": "commit", "sha": sha.String(), "url": c.at("/git/commits/" + sha.String())},
	}
}

// gitCommit is the form of the Git data API; commit is that of all other answers.
func (c *call) gitCommit(commit *object.Commit) fields {
	sha := commit.Hash.String()
	return fields{
		"sha": sha, "node_id": nodeID("C", c.repo.id), "url": c.at("/git/commits/" + sha), "html_url": c.web("/commit/" + sha),
		"author": signature(commit.Author), "committer": signature(commit.Committer), "message": commit.Message,
		"tree":    fields{"sha": commit.TreeHash.String(), "url": c.at("/git/trees/" + commit.TreeHash.String())},
		"parents": c.parents(commit), "verification": c.verification(sha),
	}
}

func (c *call) commit(commit *object.Commit) fields {
	sha := commit.Hash.String()
	at := c.at("/commits/" + sha)
	return fields{
		"sha": sha, "node_id": nodeID("C", c.repo.id), "url": at, "html_url": c.web("/commit/" + sha), "comments_url": at + "/comments",
		"commit": fields{
			"url": c.at("/git/commits/" + sha), "author": signature(commit.Author), "committer": signature(commit.Committer),
			"message": commit.Message, "comment_count": 0,
			"tree":         fields{"sha": commit.TreeHash.String(), "url": c.at("/git/trees/" + commit.TreeHash.String())},
			"verification": c.verification(sha),
		},
		"author": c.account(commit.Author), "committer": c.account(commit.Committer), "parents": c.parents(commit),
	}
}

func (c *call) commits(list []*object.Commit) []any {
	all := []any{}
	for _, one := range list {
		all = append(all, c.commit(one))
	}
	return all
}

// account is whose address stands in a commit, where it is one of this server's.
func (c *call) account(who object.Signature) any {
	login, ours := strings.CutSuffix(who.Email, "@users.noreply.test")
	if !ours || c.s.users[strings.ToLower(login)] == nil {
		return nil
	}
	return c.person(login)
}

func (c *call) parents(commit *object.Commit) []any {
	list := []any{}
	for _, parent := range commit.ParentHashes {
		list = append(list, fields{
			"sha": parent.String(), "url": c.at("/git/commits/" + parent.String()), "html_url": c.web("/commit/" + parent.String()),
		})
	}
	return list
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
		list = append(list, c.treeEntry(g, e.Name, entry{e.Mode, e.Hash}))
	}
	return fields{"sha": tree.Hash.String(), "url": c.at("/git/trees/" + tree.Hash.String()), "truncated": false, "tree": list}
}

func (c *call) flatTree(sha plumbing.Hash, files map[string]entry) fields {
	g := c.repo.git()
	list := []any{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		list = append(list, c.treeEntry(g, name, files[name]))
	}
	return fields{"sha": sha.String(), "url": c.at("/git/trees/" + sha.String()), "truncated": false, "tree": list}
}

func (c *call) treeEntry(g *gitStore, name string, e entry) fields {
	body := fields{
		"path": name, "mode": fmt.Sprintf("%06o", uint32(e.mode)), "sha": e.hash.String(),
		"type": "blob", "url": c.at("/git/blobs/" + e.hash.String()),
	}
	switch e.mode {
	case filemode.Dir:
		body["type"], body["url"] = "tree", c.at("/git/trees/"+e.hash.String())
	case filemode.Submodule:
		body["type"], body["url"] = "commit", ""
	default:
		if size, err := g.EncodedObjectSize(e.hash); err == nil {
			body["size"] = size
		}
	}
	return body
}

func (c *call) branch(name string, commit *object.Commit) fields {
	at := c.at("/branches/" + name)
	return fields{
		"name": name, "commit": c.commit(commit), "protected": false, "protection_url": at + "/protection",
		"protection": fields{"enabled": false},
		"_links":     fields{"self": at, "html": c.web("/tree/" + name)},
	}
}

func (c *call) contents(g *gitStore, name string, e object.TreeEntry) fields {
	kind, store := "file", "blobs"
	switch e.Mode {
	case filemode.Dir:
		kind, store = "dir", "trees"
	case filemode.Symlink:
		kind = "symlink"
	case filemode.Submodule:
		kind = "submodule"
	}
	size, _ := g.EncodedObjectSize(e.Hash)
	if kind != "file" {
		size = 0
	}
	at, blob, web := c.at("/contents/"+name), c.at("/git/"+store+"/"+e.Hash.String()), c.web("/blob/HEAD/"+name)
	return fields{
		"type": kind, "size": size, "name": e.Name, "path": name, "sha": e.Hash.String(),
		"url": at, "git_url": blob, "html_url": web, "download_url": c.web("/raw/HEAD/" + name),
		"_links": fields{"self": at, "git": blob, "html": web},
	}
}

// changedFiles is what differs between two commits, by path; from zero everything does.
func (c *call) changedFiles(g *gitStore, from, to plumbing.Hash) ([]any, error) {
	before, after, err := g.pair(from, to)
	if err != nil {
		return nil, err
	}
	list := []any{}
	for _, name := range changed(before, after) {
		list = append(list, c.changedFile(g, name, before[name], after[name]))
	}
	return list, nil
}

// pair is the files of two commits.
func (g *gitStore) pair(from, to plumbing.Hash) (before, after map[string]entry, err error) {
	if before, err = g.filesAt(from); err == nil {
		after, err = g.filesAt(to)
	}
	return before, after, err
}

// filesAt has none for zero.
func (g *gitStore) filesAt(sha plumbing.Hash) (map[string]entry, error) {
	if sha == plumbing.ZeroHash {
		return nil, nil
	}
	commit, err := g.commit(sha)
	if err != nil {
		return nil, err
	}
	return g.files(commit.TreeHash)
}

// changed are the paths at which the files of two commits differ.
func changed(before, after map[string]entry) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(union(before, after))) {
		if before[name] != after[name] {
			names = append(names, name)
		}
	}
	return names
}

func (c *call) changedFile(g *gitStore, name string, before, after entry) fields {
	old, _ := g.readBlob(before.hash)
	content, _ := g.readBlob(after.hash)
	additions, deletions := 0, 0
	for _, one := range changes(string(old), string(content)) {
		additions += len(one.lines)
		deletions += one.to - one.from
	}
	status, sha := "modified", after.hash
	switch plumbing.ZeroHash {
	case before.hash:
		status = "added"
	case after.hash:
		status, sha = "removed", before.hash
	}
	return fields{
		"sha": sha.String(), "filename": name, "status": status,
		"additions": additions, "deletions": deletions, "changes": additions + deletions,
		"blob_url": c.web("/blob/" + sha.String() + "/" + name), "raw_url": c.web("/raw/" + sha.String() + "/" + name),
		"contents_url": c.at("/contents/" + name + "?ref=" + sha.String()),
	}
}
