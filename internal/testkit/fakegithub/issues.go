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

// label finds a label, or makes it: GitHub makes those that are put on an issue.
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

func (c *call) listLabels() reply { return c.page(c.labelList(c.repo.labels)) }

func (c *call) createLabel() reply {
	var ask struct{ Name string }
	if bad := c.decode(&ask); bad != nil {
		return *bad
	}
	if slices.ContainsFunc(c.repo.labels, func(l *label) bool { return strings.EqualFold(l.name, ask.Name) }) {
		return invalid(wrong("Label", "name", "already_exists"))
	}
	if refusal := refuseLabels(ask.Name); refusal != nil {
		return *refusal
	}
	return created(c.label(c.repo.label(c.s, ask.Name)))
}

func (c *call) listMilestones() reply {
	list := []any{}
	for _, m := range c.repo.milestones {
		list = append(list, c.milestone(m))
	}
	return c.page(list)
}

func (c *call) getIssue() reply {
	if p := c.pull(); p != nil {
		return ok(c.issue(p))
	}
	return notFound()
}

func (c *call) updateIssue() reply {
	p := c.pull()
	if p == nil {
		return notFound()
	}
	var ask map[string]json.RawMessage
	if bad := c.decode(&ask); bad != nil {
		return *bad
	}
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

func (c *call) issueLabels() reply {
	p := c.pull()
	if p == nil {
		return notFound()
	}
	return c.page(c.labelList(p.labels))
}

// names reads labels in the form that the API describes, and the bare list that
// GitHub takes too.
func (c *call) names() ([]string, *reply) {
	var ask struct{ Labels []json.RawMessage }
	if json.Unmarshal(c.body, &ask) != nil {
		if bad := c.decode(&ask.Labels); bad != nil {
			return nil, bad
		}
	}
	var names []string
	for _, raw := range ask.Labels {
		var named struct{ Name string }
		if json.Unmarshal(raw, &named.Name) != nil {
			_ = json.Unmarshal(raw, &named)
		}
		names = append(names, named.Name)
	}
	return names, refuseLabels(names...)
}

func refuseLabels(names ...string) *reply {
	for _, name := range names {
		if name == "" || len([]rune(name)) > 50 {
			r := invalid(wrong("Label", "name", "invalid"))
			return &r
		}
	}
	return nil
}

func (c *call) addLabels() reply { return c.changeLabels(false) }
func (c *call) setLabels() reply { return c.changeLabels(true) }

func (c *call) changeLabels(instead bool) reply {
	p := c.pull()
	if p == nil {
		return notFound()
	}
	names, bad := c.names()
	if bad != nil {
		return *bad
	}
	if instead {
		p.labels = nil
	}
	for _, name := range names {
		if l := c.repo.label(c.s, name); !slices.Contains(p.labels, l) {
			p.labels = append(p.labels, l)
		}
	}
	p.happened(c, "labeled", "", "")
	return ok(c.labelList(p.labels))
}

func (c *call) clearLabels() reply {
	p := c.pull()
	if p == nil {
		return notFound()
	}
	p.labels = nil
	p.happened(c, "unlabeled", "", "")
	return empty()
}

func (c *call) removeLabel() reply {
	p := c.pull()
	if p == nil {
		return notFound()
	}
	at := slices.IndexFunc(p.labels, func(l *label) bool { return strings.EqualFold(l.name, c.r.PathValue("name")) })
	if at < 0 {
		return failed(http.StatusNotFound, "Label does not exist")
	}
	p.labels = slices.Delete(p.labels, at, at+1)
	p.happened(c, "unlabeled", "", "")
	return ok(c.labelList(p.labels))
}

// addAssignees leaves out in silence whom nobody may assign, and everybody where the
// caller may assign nobody.
func (c *call) addAssignees() reply {
	p := c.pull()
	if p == nil {
		return notFound()
	}
	var ask struct{ Assignees []string }
	if bad := c.decode(&ask); bad != nil {
		return *bad
	}
	for _, login := range ask.Assignees {
		if c.canReview(login) && (c.who.App || c.repo.writes(c.who.Login)) && !containsFold(p.assignees, login) {
			p.assignees = append(p.assignees, c.s.user(login).login)
			p.happened(c, "assigned", "", "")
		}
	}
	return created(c.issue(p))
}

func (c *call) removeAssignees() reply {
	p := c.pull()
	if p == nil {
		return notFound()
	}
	var ask struct{ Assignees []string }
	if bad := c.decode(&ask); bad != nil {
		return *bad
	}
	p.assignees = slices.DeleteFunc(p.assignees, func(a string) bool { return containsFold(ask.Assignees, a) })
	return ok(c.issue(p))
}

func (c *call) listEvents() reply {
	p := c.pull()
	if p == nil {
		return notFound()
	}
	list := []any{}
	for _, e := range p.events {
		list = append(list, c.event(e))
	}
	return c.page(list)
}

func (c *call) listComments() reply {
	p := c.pull()
	if p == nil {
		return notFound()
	}
	list := []any{}
	for _, one := range p.comments {
		list = append(list, c.comment(p, one))
	}
	return c.page(list)
}

func (c *call) createComment() reply {
	p := c.pull()
	if p == nil {
		return notFound()
	}
	var ask struct{ Body string }
	if bad := c.decode(&ask); bad != nil {
		return *bad
	}
	if refusal := c.refuseText("x", ask.Body); refusal != nil {
		return *refusal
	}
	one := &comment{id: c.s.nextID(), login: c.who.Login, body: ask.Body, created: c.now, updated: c.now}
	p.comments = append(p.comments, one)
	return created(c.comment(p, one))
}

// aComment is the comment of the path, and where it stands.
func (c *call) aComment() (*pull, int) {
	id, _ := strconv.ParseInt(c.r.PathValue("id"), 10, 64)
	for _, p := range c.repo.pulls {
		if at := slices.IndexFunc(p.comments, func(one *comment) bool { return one.id == id }); at >= 0 {
			return p, at
		}
	}
	return nil, 0
}

func (c *call) getComment() reply {
	p, at := c.aComment()
	if p == nil {
		return notFound()
	}
	return ok(c.comment(p, p.comments[at]))
}

func (c *call) updateComment() reply {
	p, at := c.aComment()
	if p == nil {
		return notFound()
	}
	var ask struct{ Body string }
	if bad := c.decode(&ask); bad != nil {
		return *bad
	}
	p.comments[at].body, p.comments[at].updated = ask.Body, c.now
	return ok(c.comment(p, p.comments[at]))
}

func (c *call) deleteComment() reply {
	p, at := c.aComment()
	if p == nil {
		return notFound()
	}
	p.comments = slices.Delete(p.comments, at, at+1)
	return empty()
}

func containsFold(list []string, s string) bool {
	return slices.ContainsFunc(list, func(one string) bool { return strings.EqualFold(one, s) })
}
