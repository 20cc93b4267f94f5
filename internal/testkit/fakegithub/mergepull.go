package fakegithub

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

func (c *call) mergePull() reply {
	p := c.pull()
	if p == nil {
		return notFound()
	}
	var ask struct {
		Title   string `json:"commit_title"`
		Message string `json:"commit_message"`
		SHA     string
		Method  string `json:"merge_method"`
	}
	if len(c.body) > 0 {
		if bad := c.decode(&ask); bad != nil {
			return *bad
		}
	}
	if !p.open || p.draft {
		return failed(http.StatusMethodNotAllowed, "Pull Request is not mergeable")
	}
	if ask.SHA != "" && ask.SHA != p.headSHA.String() {
		return failed(http.StatusConflict, "Head branch was modified. Review and try the merge again.")
	}
	sha, err := p.merge(c.signature(), ask.Method, ask.Title, ask.Message)
	if err != nil {
		return failed(http.StatusMethodNotAllowed, "Pull Request is not mergeable")
	}
	p.merged, p.mergedBy, p.mergeSHA = true, c.who.Login, sha
	p.open, p.closed = false, c.now
	p.happened(c, "merged", "", "")
	return ok(fields{"sha": sha.String(), "merged": true, "message": "Pull Request successfully merged"})
}

// merge moves the base branch: by a merge commit, one squashed commit, or each commit
// put on top.
func (p *pull) merge(who object.Signature, method, title, message string) (plumbing.Hash, error) {
	base, head, err := p.ends()
	if err != nil {
		return plumbing.ZeroHash, err
	}
	g := p.base.git()
	number := strconv.Itoa(p.number)
	if title == "" {
		title = "Merge pull request #" + number + " from " + p.head.Owner + "/" + p.headRef
		if method == "squash" {
			title = p.title + " (#" + number + ")"
		}
	}
	if message == "" && method != "squash" {
		message = p.title
	}
	text := strings.TrimSpace(title+"\n\n"+message) + "\n"
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

// pick puts what one commit changed on top of another.
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
