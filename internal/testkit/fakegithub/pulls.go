package fakegithub

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

type pull struct {
	id            int64
	number        int
	base          *repository
	baseRef       string
	head          *repository
	headRef       string
	headSHA       plumbing.Hash
	title, body   string
	open, draft   bool
	canModify     bool
	login         string
	labels        []*label
	assignees     []string
	reviewers     []string
	teams         []string
	milestone     *milestone
	autoMerge     string
	autoMergeBy   string
	merged        bool
	mergedBy      string
	mergeSHA      plumbing.Hash
	created       time.Time
	updated       time.Time
	closed        time.Time
	comments      []*comment
	events        []event
	mergedHistory mergedHistory
}

// mergedHistory keeps the commits that a pull request had before its branches moved on.
type mergedHistory struct{ base, head plumbing.Hash }

// event is an event of a pull request, as far as any client asks for it.
type event struct {
	id             int64
	kind, actor    string
	reviewer, team string
	at             time.Time
}

func (p *pull) happened(c *call, kind, reviewer, team string) {
	p.updated = c.now
	p.events = append(p.events, event{id: c.s.nextID(), kind: kind, actor: c.who.Login, reviewer: reviewer, team: team, at: c.now})
}

// refreshPulls follows the branches, because git pushes to them without this server. It closes a pull request
// whose branch is gone.
func (s *Server) refreshPulls(now time.Time) {
	for _, r := range s.repos {
		for _, p := range r.pulls {
			if !p.open {
				continue
			}
			if tip := p.head.tip(p.headRef); tip != plumbing.ZeroHash {
				p.headSHA = tip
				continue
			}
			p.open, p.closed = false, now
		}
	}
}

// pull finds the pull request of the path. Its number is also an issue's number.
func (c *call) pull() *pull {
	c.s.refreshPulls(c.now)
	number, _ := strconv.Atoi(c.r.PathValue("number"))
	for _, p := range c.repo.pulls {
		if p.number == number {
			return p
		}
	}
	return nil
}

func (c *call) listPulls() reply {
	c.s.refreshPulls(c.now)
	q := c.r.URL.Query()
	state := q.Get("state")
	list := []any{}
	for _, p := range c.repo.pulls {
		switch {
		case state != "all" && p.open == (state == "closed"):
		case q.Get("base") != "" && q.Get("base") != p.baseRef:
		// GitHub ignores a head without an owner.
		case strings.Contains(q.Get("head"), ":") && !strings.EqualFold(q.Get("head"), p.head.Owner+":"+p.headRef):
		default:
			list = append(list, c.pullRequest(p, false))
		}
	}
	if q.Get("direction") != "asc" {
		slices.Reverse(list)
	}
	return c.page(list)
}

// inNetwork finds the repository of an owner among a repository and its forks.
func (c *call) inNetwork(owner, branch string) *repository {
	for _, r := range c.s.sorted() {
		if r.root() == c.repo.root() && strings.EqualFold(r.Owner, owner) && r.tip(branch) != plumbing.ZeroHash {
			return r
		}
	}
	return nil
}

type createPullBody struct {
	Title, Head, Base, Body string
	Draft                   bool
	CanModify               *bool `json:"maintainer_can_modify"`
}

func (c *call) createPull(ask createPullBody) reply {
	if c.repo.WorkflowsMayNotOpen && c.who.Login == "github-actions[bot]" {
		return failed(http.StatusForbidden, "GitHub Actions is not permitted to create or approve pull requests.")
	}
	owner, branch, cross := strings.Cut(ask.Head, ":")
	if !cross {
		owner, branch = c.repo.Owner, ask.Head
	}
	head := c.repo
	if !strings.EqualFold(owner, c.repo.Owner) {
		head = c.inNetwork(owner, branch)
	}
	if refusal := c.refuseText(ask.Title, ask.Body); refusal != nil {
		return *refusal
	}
	switch {
	case head == nil || head.tip(branch) == plumbing.ZeroHash:
		return invalid(wrong("PullRequest", "head", "invalid"))
	case c.repo.tip(ask.Base) == plumbing.ZeroHash:
		return invalid(wrong("PullRequest", "base", "invalid"))
	case ask.Draft && c.repo.NoDrafts:
		return failed(http.StatusUnprocessableEntity, "Draft pull requests are not supported in this repository.")
	case head != c.repo && ask.CanModify != nil && *ask.CanModify && !head.writes(c.who.Login):
		e := custom("PullRequest", "fork_collab Fork collab can't be granted by someone without permission")
		e["field"] = "fork_collab"
		return invalid(e)
	}
	c.s.refreshPulls(c.now)
	for _, p := range c.repo.pulls {
		if p.open && p.head == head && p.headRef == branch && p.baseRef == ask.Base {
			return invalid(custom("PullRequest", "A pull request already exists for "+head.Owner+":"+branch+"."))
		}
	}
	tip := head.tip(branch)
	if err := copyHistory(c.repo, head, tip); err != nil {
		return failed(http.StatusInternalServerError, err.Error())
	}
	if len(c.repo.git().between(c.repo.tip(ask.Base), tip)) == 0 {
		return invalid(custom("PullRequest", "No commits between "+ask.Base+" and "+ask.Head))
	}
	p := &pull{
		id: c.s.nextID(), number: len(c.repo.pulls) + 1, base: c.repo, baseRef: ask.Base,
		head: head, headRef: branch, headSHA: tip, title: ask.Title, body: ask.Body, open: true, draft: ask.Draft,
		canModify: head != c.repo && (ask.CanModify == nil || *ask.CanModify),
		login:     c.who.Login, created: c.now, updated: c.now,
	}
	c.repo.pulls = append(c.repo.pulls, p)
	r := created(c.pullRequest(p, true))
	r.header = http.Header{"Location": {c.at("/pulls/" + strconv.Itoa(p.number))}}
	return r
}

// refuseText enforces GitHub's limits for a title and a body.
func (c *call) refuseText(title, body string) *reply {
	var r reply
	switch {
	case strings.TrimSpace(title) == "":
		r = invalid(wrong("Issue", "title", "missing_field"))
	case len([]rune(title)) > 256:
		r = invalid(custom("Issue", "title is too long (maximum is 256 characters)"))
	case len([]rune(body)) > 65536:
		r = invalid(custom("Issue", "body is too long (maximum is 65536 characters)"))
	default:
		return nil
	}
	return &r
}

func (c *call) getPull() reply {
	if p := c.pull(); p != nil {
		return ok(c.pullRequest(p, true))
	}
	return notFound()
}

type updatePullBody struct {
	Title, Body, State, Base *string
	CanModify                *bool `json:"maintainer_can_modify"`
}

func (c *call) updatePull(p *pull, ask updatePullBody) reply {
	title, body := p.title, p.body
	if ask.Title != nil {
		title = *ask.Title
	}
	if ask.Body != nil {
		body = *ask.Body
	}
	if refusal := c.refuseText(title, body); refusal != nil {
		return *refusal
	}
	if ask.Base != nil && *ask.Base != p.baseRef {
		switch {
		case !p.open:
			return invalid(custom("PullRequest", "Cannot change base branch of closed pull request."))
		case c.repo.tip(*ask.Base) == plumbing.ZeroHash:
			return invalid(wrong("PullRequest", "base", "invalid"))
		}
		p.baseRef = *ask.Base
	}
	if ask.State != nil {
		if refusal := c.setState(p, *ask.State); refusal != nil {
			return *refusal
		}
	}
	if ask.CanModify != nil {
		p.canModify = *ask.CanModify && p.head != p.base
	}
	p.title, p.body, p.updated = title, body, c.now
	return ok(c.pullRequest(p, true))
}

func (c *call) setState(p *pull, state string) *reply {
	var r reply
	switch {
	case state == "closed" && p.open:
		p.open, p.closed = false, c.now
		p.happened(c, "closed", "", "")
		return nil
	case state != "open" || p.open:
		return nil
	case p.merged || p.head.tip(p.headRef) == plumbing.ZeroHash:
		r = invalid(custom("PullRequest", "state cannot be changed. The pull request cannot be reopened."))
		return &r
	}
	p.open, p.closed = true, time.Time{}
	p.happened(c, "reopened", "", "")
	return nil
}

// ends returns the first and last commit of the pull request. The base repository has both.
func (p *pull) ends() (base, head plumbing.Hash, err error) {
	if p.merged {
		return p.mergedHistory.base, p.mergedHistory.head, nil
	}
	return p.base.tip(p.baseRef), p.headSHA, copyHistory(p.base, p.head, p.headSHA)
}
