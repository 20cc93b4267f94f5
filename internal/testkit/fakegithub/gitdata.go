package fakegithub

import (
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/olmgraft/graft/internal/testkit/gitobjects"
)

func (c *call) getRef() reply {
	name := "refs/" + c.r.PathValue("ref")
	sha := c.repo.git().ref(name)
	if sha == plumbing.ZeroHash {
		return notFound()
	}
	return ok(c.reference(name, sha))
}

func (c *call) createRef(ask struct{ Ref, SHA string }) reply {
	sha := plumbing.NewHash(ask.SHA)
	if !strings.HasPrefix(ask.Ref, "refs/") || strings.Count(ask.Ref, "/") < 2 || plumbing.ReferenceName(ask.Ref).Validate() != nil {
		return failed(http.StatusUnprocessableEntity, "Reference name must start with 'refs/' and have at least two slashes.")
	}
	if _, err := c.repo.git().commit(sha); err != nil {
		return failed(http.StatusUnprocessableEntity, "Object does not exist")
	}
	switch err := c.repo.git().setRef(ask.Ref, sha, plumbing.ZeroHash); {
	case errors.Is(err, errMoved):
		return failed(http.StatusUnprocessableEntity, "Reference already exists")
	case err != nil:
		return failed(http.StatusUnprocessableEntity, "Reference update failed")
	}
	return created(c.reference(ask.Ref, sha))
}

type updateRefBody struct {
	SHA   string
	Force bool
}

func (c *call) updateRef(ask updateRefBody) reply {
	g, name, sha := c.repo.git(), "refs/"+c.r.PathValue("ref"), plumbing.NewHash(ask.SHA)
	old := g.ref(name)
	if old == plumbing.ZeroHash {
		return failed(http.StatusUnprocessableEntity, "Reference does not exist")
	}
	if _, err := g.commit(sha); err != nil {
		return failed(http.StatusUnprocessableEntity, "Object does not exist")
	}
	if !ask.Force && !g.isAncestor(old, sha) {
		return failed(http.StatusUnprocessableEntity, "Update is not a fast forward")
	}
	if err := g.setRef(name, sha, old); err != nil {
		return failed(http.StatusUnprocessableEntity, "Reference cannot be updated")
	}
	return ok(c.reference(name, sha))
}

func (c *call) getCommit() reply {
	commit, err := c.repo.git().commit(plumbing.NewHash(c.r.PathValue("sha")))
	if err != nil {
		return notFound()
	}
	return ok(c.gitCommit(commit))
}

type author struct {
	Name, Email string
	Date        time.Time
}

func (a *author) or(other object.Signature) object.Signature {
	if a == nil || a.Name == "" && a.Email == "" {
		return other
	}
	if a.Date.IsZero() {
		a.Date = other.When
	}
	return object.Signature{Name: a.Name, Email: a.Email, When: a.Date}
}

type createCommitBody struct {
	Message, Tree     string
	Parents           []string
	Author, Committer *author
}

// createCommit marks a commit that an app makes in its own name as signed by GitHub.
func (c *call) createCommit(ask createCommitBody) reply {
	g := c.repo.git()
	commit := &object.Commit{Message: ask.Message, TreeHash: plumbing.NewHash(ask.Tree)}
	if _, err := object.GetTree(g, commit.TreeHash); err != nil {
		return failed(http.StatusUnprocessableEntity, "Tree SHA does not exist")
	}
	for _, parent := range ask.Parents {
		sha := plumbing.NewHash(parent)
		if _, err := g.commit(sha); err != nil {
			return failed(http.StatusUnprocessableEntity, "Parent SHA does not exist or is not a commit object")
		}
		commit.ParentHashes = append(commit.ParentHashes, sha)
	}
	commit.Author = ask.Author.or(c.signature())
	commit.Committer = ask.Committer.or(commit.Author)
	sha, err := gitobjects.Write(g, commit)
	if err != nil {
		return failed(http.StatusUnprocessableEntity, err.Error())
	}
	if c.who.App && ask.Author == nil && ask.Committer == nil {
		c.s.signed[sha.String()] = true
	}
	commit.Hash = sha
	return created(c.gitCommit(commit))
}

// signature returns the caller's own identity for a commit.
func (c *call) signature() object.Signature {
	return object.Signature{Name: c.who.Login, Email: c.who.Login + "@users.noreply.test", When: c.now}
}

func (c *call) getTree() reply {
	g := c.repo.git()
	sha := plumbing.NewHash(c.r.PathValue("sha"))
	if commit, err := g.commit(sha); err == nil {
		sha = commit.TreeHash
	}
	tree, err := object.GetTree(g, sha)
	if err != nil {
		return notFound()
	}
	return ok(c.tree(g, tree))
}

type createTreeBody struct {
	BaseTree string `json:"base_tree"`
	Tree     []struct {
		Path, Mode string
		SHA        *string // null removes the entry
	}
}

// createTree adds the entries to the base tree.
func (c *call) createTree(ask createTreeBody) reply {
	g := c.repo.git()
	files := gitobjects.Files{}
	if ask.BaseTree != "" {
		base := plumbing.NewHash(ask.BaseTree)
		if commit, err := g.commit(base); err == nil {
			base = commit.TreeHash
		}
		var err error
		if files, err = gitobjects.ReadFiles(g, base); err != nil {
			return failed(http.StatusUnprocessableEntity, "base_tree is not a valid tree oid")
		}
	}
	for _, e := range ask.Tree {
		mode, err := filemode.New(e.Mode)
		if err != nil || e.Path == "" || strings.HasPrefix(e.Path, "/") {
			return failed(http.StatusUnprocessableEntity, "tree.path contains a malformed path component")
		}
		if e.SHA == nil {
			if _, stands := files[e.Path]; !stands {
				return failed(http.StatusUnprocessableEntity, "GitRPC::BadObjectState")
			}
			delete(files, e.Path)
			continue
		}
		hash := plumbing.NewHash(*e.SHA)
		if mode == filemode.Dir || g.HasEncodedObject(hash) != nil {
			return failed(http.StatusUnprocessableEntity, "tree.sha "+*e.SHA+" is not a valid blob")
		}
		files[e.Path] = gitobjects.Entry{Mode: mode, Hash: hash}
	}
	sha, err := gitobjects.WriteFiles(g, files)
	if err != nil {
		return failed(http.StatusUnprocessableEntity, "GitRPC::BadObjectState")
	}
	tree, err := object.GetTree(g, sha)
	if err != nil {
		return failed(http.StatusInternalServerError, err.Error())
	}
	return created(c.tree(g, tree))
}

func (c *call) createBlob(ask struct{ Content, Encoding string }) reply {
	content := []byte(ask.Content)
	if ask.Encoding == "base64" {
		var err error
		if content, err = base64.StdEncoding.DecodeString(ask.Content); err != nil {
			return failed(http.StatusUnprocessableEntity, "content is not valid Base64")
		}
	}
	sha, err := gitobjects.WriteBlob(c.repo.git(), content)
	if err != nil {
		return failed(http.StatusInternalServerError, err.Error())
	}
	return created(fields{"sha": sha.String(), "url": c.at("/git/blobs/" + sha.String())})
}
