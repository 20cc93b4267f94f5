package fakegithub

import (
	"encoding/json"
	"net/http"
	"strings"
)

type reviewers struct {
	Reviewers     []string
	TeamReviewers []string `json:"team_reviewers"`
}

// canReview reports whether an account can be asked for reviews and assigned.
func (c *call) canReview(login string) bool {
	u := c.s.users[strings.ToLower(login)]
	return u != nil && u.kind == "User" && c.repo.writes(login)
}

// addReviewers adds all reviewers or none.
func (c *call) addReviewers(p *pull, ask reviewers) reply {
	for _, login := range ask.Reviewers {
		if strings.EqualFold(login, p.login) {
			return failed(http.StatusUnprocessableEntity, "Review cannot be requested from pull request author.")
		}
		if !c.canReview(login) {
			return c.noCollaborator()
		}
	}
	for _, slug := range ask.TeamReviewers {
		if !containsFold(c.repo.Teams, slug) {
			return c.noCollaborator()
		}
	}
	for _, login := range ask.Reviewers {
		if !containsFold(p.reviewers, login) {
			p.reviewers = append(p.reviewers, c.s.user(login).login)
			p.happened(c, "review_requested", login, "")
		}
	}
	for _, slug := range ask.TeamReviewers {
		if !containsFold(p.teams, slug) {
			p.teams = append(p.teams, slug)
			p.happened(c, "review_requested", "", slug)
		}
	}
	return created(c.pullRequest(p, false))
}

func (c *call) noCollaborator() reply {
	return failed(http.StatusUnprocessableEntity, "Reviews may only be requested from collaborators. "+
		"One or more of the users or teams you specified is not a collaborator of the "+c.repo.fullName()+" repository.")
}

type graphqlBody struct {
	Query     string
	Variables map[string]any
}

// graphql understands one mutation, however it is formatted.
func (c *call) graphql(ask graphqlBody) reply {
	refuse := func(kind, message string) reply {
		return ok(fields{"data": nil, "errors": []any{fields{"type": kind, "message": message, "path": []string{"enablePullRequestAutoMerge"}}}})
	}
	if !strings.Contains(ask.Query, "enablePullRequestAutoMerge") {
		return refuse("NOT_IMPLEMENTED", "only enablePullRequestAutoMerge is known here")
	}
	values, _ := json.Marshal(ask.Variables) //nolint:errchkjson // it was just decoded
	all := ask.Query + string(values)
	for _, r := range c.s.sorted() {
		for _, p := range r.pulls {
			if strings.Contains(all, `"`+nodeID("PR", p.id)+`"`) {
				return c.enableAutoMerge(r, p, all, refuse)
			}
		}
	}
	return refuse("NOT_FOUND", "Could not resolve to a node with the global id given")
}

func (c *call) enableAutoMerge(r *repository, p *pull, all string, refuse func(kind, message string) reply) reply {
	allowed := Identity{Permissions: c.who.Permissions}
	switch {
	case c.who.Permissions != nil && !allowed.has("pull_requests=write,contents=write"):
		return refuse("FORBIDDEN", "Resource not accessible by integration")
	case !r.AutoMerge:
		return refuse("UNPROCESSABLE", "Auto merge is not allowed for this repository")
	case !p.open:
		return refuse("UNPROCESSABLE", "Pull request is closed")
	}
	p.autoMerge, p.autoMergeBy = "merge", c.who.Login
	for _, method := range []string{"SQUASH", "REBASE"} {
		if strings.Contains(all, method) {
			p.autoMerge = strings.ToLower(method)
		}
	}
	p.happened(c, "auto_merge_enabled", "", "")
	return ok(fields{"data": fields{"enablePullRequestAutoMerge": fields{"clientMutationId": nil}}})
}
