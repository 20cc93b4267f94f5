package fakegithub

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

type label struct {
	id   int64
	name string
}

type milestone struct {
	id     int64
	number int
	title  string
}

type comment struct {
	id      int64
	login   string
	body    string
	created time.Time
	updated time.Time
}

// label finds a label or creates it. GitHub creates unknown labels that are put on an issue.
func (r *repository) label(s *Server, name string) *label {
	for _, l := range r.labels {
		if strings.EqualFold(l.name, name) {
			return l
		}
	}
	l := &label{id: s.nextID(), name: name}
	r.labels = append(r.labels, l)
	return l
}

func (c *call) listMilestones() reply {
	return c.page(listOf(c.repo.milestones, c.milestone))
}

func (c *call) updateIssue(p *pull, ask map[string]json.RawMessage) reply {
	if raw, given := ask["milestone"]; given {
		number, _ := strconv.Atoi(strings.Trim(string(raw), `"`))
		at := slices.IndexFunc(c.repo.milestones, func(m *milestone) bool { return m.number == number })
		switch {
		case string(raw) == "null":
			p.milestone = nil
		case at < 0:
			return invalid(wrong("Issue", "milestone", "invalid"))
		default:
			p.milestone = c.repo.milestones[at]
		}
	}
	p.updated = c.now
	return ok(c.issue(p))
}

func (c *call) issueLabels(p *pull) reply {
	return c.page(c.labelList(p.labels))
}

type labelsBody struct{ Labels []string }

func (c *call) addLabels(p *pull, ask labelsBody) reply {
	if slices.ContainsFunc(ask.Labels, func(name string) bool { return name == "" || len([]rune(name)) > 50 }) {
		return invalid(wrong("Label", "name", "invalid"))
	}
	for _, name := range ask.Labels {
		if l := c.repo.label(c.s, name); !slices.Contains(p.labels, l) {
			p.labels = append(p.labels, l)
		}
	}
	p.happened(c, "labeled", "", "")
	return ok(c.labelList(p.labels))
}

func (c *call) setLabels(p *pull, ask labelsBody) reply {
	before := p.labels
	p.labels = nil
	answer := c.addLabels(p, ask)
	if answer.status != http.StatusOK {
		p.labels = before
	}
	return answer
}

func (c *call) clearLabels(p *pull) reply {
	p.labels = nil
	p.happened(c, "unlabeled", "", "")
	return empty()
}

// addAssignees silently ignores accounts that cannot be assigned. It ignores all accounts if the caller may not
// assign.
func (c *call) addAssignees(p *pull, ask struct{ Assignees []string }) reply {
	for _, login := range ask.Assignees {
		if c.canReview(login) && (c.who.App || c.repo.writes(c.who.Login)) && !containsFold(p.assignees, login) {
			p.assignees = append(p.assignees, c.s.user(login).login)
			p.happened(c, "assigned", "", "")
		}
	}
	return created(c.issue(p))
}

func (c *call) listEvents(p *pull) reply {
	return c.page(listOf(p.events, c.event))
}

func (c *call) listComments(p *pull) reply {
	return c.page(listOf(p.comments, func(one *comment) fields { return c.comment(p, one) }))
}

func (c *call) createComment(p *pull, ask struct{ Body string }) reply {
	if refusal := c.refuseText("x", ask.Body); refusal != nil {
		return *refusal
	}
	one := &comment{id: c.s.nextID(), login: c.who.Login, body: ask.Body, created: c.now, updated: c.now}
	p.comments = append(p.comments, one)
	return created(c.comment(p, one))
}

func containsFold(list []string, s string) bool {
	return slices.ContainsFunc(list, func(one string) bool { return strings.EqualFold(one, s) })
}
