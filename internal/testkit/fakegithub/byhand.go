package fakegithub

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/olmgraft/graft/internal/testkit/gitobjects"
)

// These methods do what people do in a browser or with git, and show tests and the demo the state.

// PullRequest holds the state of a pull request.
type PullRequest struct {
	Number          int
	Title, Body     string
	State           string
	Author          string
	Draft, Merged   bool
	HeadOwner, Head string
	HeadSHA         string
	Base            string
	Labels          []string
	Assignees       []string
	Reviewers       []string
	Teams           []string
	Milestone       string
	AutoMerge       string
	CanModify       bool
	Comments        []string
	Created         time.Time
}

// PullRequests returns the pull requests of a repository, open or not, ordered by number.
func (s *Server) PullRequests(owner, repo string) []PullRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.repos[key(owner, repo)]
	if r == nil {
		return nil
	}
	s.refreshPulls(s.options.Now())
	var all []PullRequest
	for _, p := range r.pulls {
		one := PullRequest{
			Number: p.number, Title: p.title, Body: p.body, State: p.state(), Author: p.login, Draft: p.draft, Merged: p.merged,
			HeadOwner: p.head.Owner, Head: p.headRef, HeadSHA: p.headSHA.String(), Base: p.baseRef,
			Assignees: slices.Clone(p.assignees), Reviewers: slices.Clone(p.reviewers), Teams: slices.Clone(p.teams),
			AutoMerge: p.autoMerge, CanModify: p.canModify, Created: p.created,
		}
		for _, l := range p.labels {
			one.Labels = append(one.Labels, l.name)
		}
		for _, text := range p.comments {
			one.Comments = append(one.Comments, text.body)
		}
		if p.milestone != nil {
			one.Milestone = p.milestone.title
		}
		all = append(all, one)
	}
	return all
}

// Change is a file that a pull request changes. A side is nil if the file is absent there.
type Change struct {
	Name          string
	Before, After []byte
}

// Changes returns the files that a pull request changes, or changed when it was merged.
func (s *Server) Changes(owner, repo string, number int) ([]Change, error) {
	var changes []Change
	err := s.changePull(owner, repo, number, func(_ *call, p *pull) error {
		base, head, err := p.ends()
		if err != nil {
			return err
		}
		g := p.base.git()
		before, after, err := g.changedSince(base, head)
		if err != nil {
			return err
		}
		for _, name := range gitobjects.Changed(before, after) {
			change := Change{Name: name}
			for e, content := range map[gitobjects.Entry]*[]byte{before[name]: &change.Before, after[name]: &change.After} {
				if e == (gitobjects.Entry{}) {
					continue
				}
				if *content, err = gitobjects.ReadBlob(g, e.Hash); err != nil {
					return err
				}
			}
			changes = append(changes, change)
		}
		return nil
	})
	return changes, err
}

// Merge merges a pull request as its owner would. The method is merge, squash or rebase.
func (s *Server) Merge(owner, repo string, number int, method string) error {
	return s.changePull(owner, repo, number, func(c *call, p *pull) error {
		if !p.open || p.draft {
			return fmt.Errorf("fakegithub: %s/%s#%d is not mergeable", owner, repo, number)
		}
		sha, err := p.merge(c.signature(), method)
		if err != nil {
			return err
		}
		p.merged, p.mergedBy, p.mergeSHA = true, c.who.Login, sha
		p.open, p.closed = false, c.now
		p.happened(c, "merged", "", "")
		return nil
	})
}

// SetState closes or reopens a pull request as a person does in a browser.
func (s *Server) SetState(owner, repo string, number int, state string) error {
	return s.changePull(owner, repo, number, func(c *call, p *pull) error {
		if refused := c.setState(p, state); refused != nil {
			return fmt.Errorf("fakegithub: %s/%s#%d cannot become %s", owner, repo, number, state)
		}
		return nil
	})
}

// Review removes a person from the requested reviewers, as a review does.
func (s *Server) Review(owner, repo string, number int, login string) error {
	return s.changePull(owner, repo, number, func(_ *call, p *pull) error {
		p.reviewers = slices.DeleteFunc(p.reviewers, func(r string) bool { return strings.EqualFold(r, login) })
		return nil
	})
}

// DisableAutoMerge turns off auto-merge, as a person does who wants to wait.
func (s *Server) DisableAutoMerge(owner, repo string, number int) error {
	return s.changePull(owner, repo, number, func(c *call, p *pull) error {
		p.autoMerge = ""
		p.happened(c, "auto_merge_disabled", "", "")
		return nil
	})
}

// Edit changes the body of a pull request.
func (s *Server) Edit(owner, repo string, number int, edit func(body string) string) error {
	return s.changePull(owner, repo, number, func(_ *call, p *pull) error { p.body = edit(p.body); return nil })
}

// RenameBranch renames a branch and updates its pull requests.
func (s *Server) RenameBranch(owner, repo, from, to string) error {
	return s.change(owner, repo, func(c *call) error {
		g, tip := c.repo.git(), c.repo.tip(from)
		if tip == plumbing.ZeroHash {
			return fmt.Errorf("fakegithub: %s/%s has no branch %s", owner, repo, from)
		}
		err := g.setRef("refs/heads/"+to, tip, plumbing.ZeroHash)
		if err == nil {
			err = g.RemoveReference(plumbing.NewBranchReferenceName(from))
		}
		for _, other := range c.s.repos {
			for _, p := range other.pulls {
				if p.head == c.repo && p.headRef == from {
					p.headRef = to
				}
			}
		}
		return err
	})
}

// Commit commits files to a branch as the login and returns the commit's SHA. Nil content deletes a file. A new
// branch starts at the default branch.
func (s *Server) Commit(owner, repo, branch, login, message string, files map[string][]byte) (string, error) {
	sha := plumbing.ZeroHash
	err := s.change(owner, repo, func(c *call) (err error) {
		c.who.Login = login
		sha, err = c.repo.commitFiles(branch, c.signature(), message, files)
		return err
	})
	return sha.String(), err
}

func (r *repository) commitFiles(branch string, who object.Signature, message string, files map[string][]byte) (plumbing.Hash, error) {
	g, tip := r.git(), r.tip(branch)
	from := tip
	if from == plumbing.ZeroHash {
		from = r.tip(r.defaultBranch)
	}
	commit := &object.Commit{Author: who, Committer: who, Message: message}
	if from != plumbing.ZeroHash {
		commit.ParentHashes = []plumbing.Hash{from}
	}
	all, err := g.filesAt(from)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	for name, content := range files {
		if content == nil {
			delete(all, name)
			continue
		}
		mode := filemode.Regular
		if before, there := all[name]; there {
			mode = before.Mode
		}
		hash, err := gitobjects.WriteBlob(g, content)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		all[name] = gitobjects.Entry{Mode: mode, Hash: hash}
	}
	if commit.TreeHash, err = gitobjects.WriteFiles(g, all); err != nil {
		return plumbing.ZeroHash, err
	}
	sha, err := gitobjects.Write(g, commit)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return sha, g.setRef("refs/heads/"+branch, sha, tip)
}

// File returns the content of a file at the tip of a branch, or nil if the file is absent.
func (s *Server) File(owner, repo, branch, name string) ([]byte, error) {
	var content []byte
	err := s.change(owner, repo, func(c *call) error {
		g := c.repo.git()
		files, err := g.filesAt(c.repo.tip(branch))
		if err != nil {
			return err
		}
		if e, there := files[name]; there {
			content, err = gitobjects.ReadBlob(g, e.Hash)
		}
		return err
	})
	return content, err
}

// Branch returns the commit at the tip of a branch, or "" if the branch is absent.
func (s *Server) Branch(owner, repo, branch string) string {
	sha := plumbing.ZeroHash
	_ = s.change(owner, repo, func(c *call) error { sha = c.repo.tip(branch); return nil })
	if sha == plumbing.ZeroHash {
		return ""
	}
	return sha.String()
}

func (s *Server) changePull(owner, repo string, number int, change func(*call, *pull) error) error {
	return s.change(owner, repo, func(c *call) error {
		c.r.SetPathValue("number", fmt.Sprint(number))
		p := c.pull()
		if p == nil {
			return fmt.Errorf("fakegithub: there is no %s/%s#%d", owner, repo, number)
		}
		return change(c, p)
	})
}

// change acts as the owner of a repository.
func (s *Server) change(owner, repo string, act func(*call) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.repos[key(owner, repo)]
	if r == nil {
		return errors.New("fakegithub: there is no " + owner + "/" + repo)
	}
	return act(&call{
		s: s, r: &http.Request{Host: "forge", URL: &url.URL{}}, now: s.options.Now().UTC().Truncate(time.Second),
		who: Identity{Login: owner}, known: true, repo: r,
	})
}
