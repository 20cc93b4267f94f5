package fakegithub

import (
	"encoding/base64"
	"errors"
	"net/http"
	"path"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

func (c *call) getBranch() reply {
	name := c.r.PathValue("branch")
	commit, err := c.repo.git().commit(c.repo.tip(name))
	if err != nil {
		return failed(http.StatusNotFound, "Branch not found")
	}
	return ok(c.branch(name, commit))
}

// revision reads a branch, a tag or a SHA.
func (c *call) revision(text string) (*object.Commit, error) {
	g := c.repo.git()
	for _, prefix := range []string{"refs/heads/", "refs/tags/", ""} {
		if sha := g.ref(prefix + text); sha != plumbing.ZeroHash {
			return g.commit(sha)
		}
	}
	if owner, branch, ok := strings.Cut(text, ":"); ok {
		head := c.inNetwork(owner, "", branch)
		if head == nil {
			return nil, plumbing.ErrReferenceNotFound
		}
		if err := copyHistory(c.repo, head, head.tip(branch)); err != nil {
			return nil, err
		}
		return g.commit(head.tip(branch))
	}
	return g.commit(plumbing.NewHash(text))
}

func (c *call) compare() reply {
	from, to, whole := strings.Cut(c.r.PathValue("basehead"), "...")
	base, err := c.revision(from)
	if err != nil || !whole {
		return notFound()
	}
	head, err := c.revision(to)
	if err != nil {
		return notFound()
	}
	g := c.repo.git()
	shared, err := g.mergeBase(base.Hash, head.Hash)
	if err != nil || shared == plumbing.ZeroHash {
		return failed(http.StatusNotFound, "No common ancestor between "+from+" and "+to+".")
	}
	merged, err := g.commit(shared)
	if err != nil {
		return notFound()
	}
	files, err := c.changedFiles(g, shared, head.Hash)
	if err != nil {
		return failed(http.StatusInternalServerError, err.Error())
	}
	ahead, behind := g.between(base.Hash, head.Hash), g.between(head.Hash, base.Hash)
	status := "diverged"
	switch {
	case len(ahead)+len(behind) == 0:
		status = "identical"
	case len(behind) == 0:
		status = "ahead"
	case len(ahead) == 0:
		status = "behind"
	}
	web := c.web("/compare/" + from + "..." + to)
	return ok(fields{
		"url": c.at("/compare/" + from + "..." + to), "html_url": web, "permalink_url": web,
		"diff_url": web + ".diff", "patch_url": web + ".patch",
		"base_commit": c.commit(base), "merge_base_commit": c.commit(merged),
		"status": status, "ahead_by": len(ahead), "behind_by": len(behind), "total_commits": len(ahead),
		"commits": c.commits(ahead), "files": files,
	})
}

func (c *call) getContents() reply {
	at := c.r.URL.Query().Get("ref")
	if at == "" {
		at = c.repo.defaultBranch
	}
	commit, err := c.revision(at)
	if err != nil {
		return failed(http.StatusNotFound, "No commit found for the ref "+at)
	}
	g, name := c.repo.git(), strings.Trim(c.r.PathValue("path"), "/")
	root, err := object.GetTree(g, commit.TreeHash)
	if err != nil {
		return notFound()
	}
	e, err := root.FindEntry(name)
	if err != nil {
		return notFound()
	}
	if e.Mode == filemode.Dir {
		tree, err := object.GetTree(g, e.Hash)
		if err != nil {
			return notFound()
		}
		list := []any{}
		for _, one := range tree.Entries {
			list = append(list, c.contents(g, path.Join(name, one.Name), one))
		}
		return ok(list)
	}
	body := c.contents(g, name, *e)
	content, err := g.readBlob(e.Hash)
	if err != nil {
		return failed(http.StatusInternalServerError, err.Error())
	}
	if e.Mode == filemode.Symlink {
		body["target"] = string(content)
		return ok(body)
	}
	body["encoding"], body["content"] = "base64", base64.StdEncoding.EncodeToString(content)
	return ok(body)
}

type contentChange struct {
	Message, Content, SHA, Branch string
	Committer, Author             *author
}

func (c *call) putContents() reply {
	var ask contentChange
	if bad := c.decode(&ask); bad != nil {
		return *bad
	}
	content, err := base64.StdEncoding.DecodeString(ask.Content)
	if err != nil {
		return failed(http.StatusUnprocessableEntity, "content is not valid Base64")
	}
	return c.changeContents(ask, func(g *gitStore, files map[string]entry, name string) error {
		hash, err := g.writeBlob(content)
		mode := regular
		if before, there := files[name]; there {
			mode = before.mode
		}
		files[name] = entry{mode, hash}
		return err
	})
}

func (c *call) deleteContents() reply {
	var ask contentChange
	if bad := c.decode(&ask); bad != nil {
		return *bad
	}
	return c.changeContents(ask, func(_ *gitStore, files map[string]entry, name string) error {
		delete(files, name)
		return nil
	})
}

// changeContents is one commit on a branch; a file that is there needs its SHA, which
// is how GitHub knows of a race.
func (c *call) changeContents(ask contentChange, change func(*gitStore, map[string]entry, string) error) reply {
	if ask.Branch == "" {
		ask.Branch = c.repo.defaultBranch
	}
	g, name := c.repo.git(), strings.Trim(c.r.PathValue("path"), "/")
	tip := c.repo.tip(ask.Branch)
	parent, err := g.commit(tip)
	if err != nil {
		return failed(http.StatusNotFound, "Branch "+ask.Branch+" not found")
	}
	files, err := g.files(parent.TreeHash)
	if err != nil {
		return failed(http.StatusInternalServerError, err.Error())
	}
	before, there := files[name]
	switch {
	case there && ask.SHA == "":
		return failed(http.StatusUnprocessableEntity, `Invalid request. "sha" wasn't supplied.`)
	case there && ask.SHA != before.hash.String(), !there && ask.SHA != "":
		return failed(http.StatusConflict, name+" does not match "+ask.SHA)
	}
	commit := &object.Commit{Message: ask.Message, ParentHashes: []plumbing.Hash{tip}}
	commit.Author = ask.Author.or(c.signature())
	commit.Committer = ask.Committer.or(commit.Author)
	err = change(g, files, name)
	if err == nil {
		commit.TreeHash, err = g.writeTree(files)
	}
	if err == nil {
		commit.Hash, err = g.writeCommit(commit)
	}
	if err == nil {
		err = g.setRef("refs/heads/"+ask.Branch, commit.Hash, tip)
	}
	if errors.Is(err, errMoved) {
		return failed(http.StatusConflict, "is at another commit than expected")
	}
	if err != nil {
		return failed(http.StatusUnprocessableEntity, err.Error())
	}
	body := fields{"commit": c.gitCommit(commit), "content": nil}
	after, stays := files[name]
	if stays {
		body["content"] = c.contents(g, name, object.TreeEntry{Name: path.Base(name), Mode: after.mode, Hash: after.hash})
	}
	if stays && !there {
		return created(body)
	}
	return ok(body)
}
