package fakegithub

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
)

type route struct {
	pattern string
	// needs is the token permission that the route requires. push restricts the route to accounts that may push.
	needs string
	push  bool
	act   func(*call) reply
}

const (
	readContents = "contents=read"
	putContents  = "contents=write"
	readPulls    = "pull_requests=read"
	putPulls     = "pull_requests=write"
	readIssues   = "issues=read; pull_requests=read"
	putIssues    = "issues=write; pull_requests=write"
)

const repo = " /repos/{owner}/{repo}"

// routes are matched in this order.
var routes = []route{
	{"GET /user", "", false, (*call).getUser},
	{"POST /graphql", "", false, asked((*call).graphql)},
	{"GET /app/installations", "", false, (*call).listInstallations},
	{"POST /app/installations/{id}/access_tokens", "", false, (*call).createInstallationToken},

	{"GET" + repo, "metadata=read", false, (*call).getRepository},
	{"POST" + repo + "/forks", "administration=write,contents=read", false, asked((*call).fork)},
	{"POST" + repo + "/merge-upstream", putContents, true, asked((*call).mergeUpstream)},
	{"POST" + repo + "/dispatches", putContents, true, asked((*call).dispatch)},

	{"GET" + repo + "/git/ref/{ref...}", readContents, false, (*call).getRef},
	{"POST" + repo + "/git/refs", putContents, true, asked((*call).createRef)},
	{"PATCH" + repo + "/git/refs/{ref...}", putContents, true, asked((*call).updateRef)},
	{"GET" + repo + "/git/commits/{sha}", readContents, false, (*call).getCommit},
	{"POST" + repo + "/git/commits", putContents, true, asked((*call).createCommit)},
	{"GET" + repo + "/git/trees/{sha}", readContents, false, (*call).getTree},
	{"POST" + repo + "/git/trees", putContents, true, asked((*call).createTree)},
	{"POST" + repo + "/git/blobs", putContents, true, asked((*call).createBlob)},

	{"GET" + repo + "/pulls", readPulls, false, (*call).listPulls},
	{"POST" + repo + "/pulls", putPulls, false, asked((*call).createPull)},
	{"GET" + repo + "/pulls/{number}", readPulls, false, (*call).getPull},
	{"PATCH" + repo + "/pulls/{number}", putPulls, false, askedOf((*call).updatePull)},
	{"POST" + repo + "/pulls/{number}/requested_reviewers", putPulls, true, askedOf((*call).addReviewers)},

	{"GET" + repo + "/milestones", readIssues, false, (*call).listMilestones},
	{"PATCH" + repo + "/issues/{number}", putIssues, true, askedOf((*call).updateIssue)},
	{"GET" + repo + "/issues/{number}/events", readIssues, false, of((*call).listEvents)},
	{"GET" + repo + "/issues/{number}/labels", readIssues, false, of((*call).issueLabels)},
	{"POST" + repo + "/issues/{number}/labels", putIssues, true, askedOf((*call).addLabels)},
	{"PUT" + repo + "/issues/{number}/labels", putIssues, true, askedOf((*call).setLabels)},
	{"DELETE" + repo + "/issues/{number}/labels", putIssues, true, of((*call).clearLabels)},
	{"POST" + repo + "/issues/{number}/assignees", putIssues, false, askedOf((*call).addAssignees)},
	{"GET" + repo + "/issues/{number}/comments", readIssues, false, of((*call).listComments)},
	{"POST" + repo + "/issues/{number}/comments", putIssues, false, askedOf((*call).createComment)},
}

// of wraps an action on the pull request of the path. Its number is also an issue's number.
func of(act func(*call, *pull) reply) func(*call) reply {
	return func(c *call) reply {
		if p := c.pull(); p != nil {
			return act(c, p)
		}
		return notFound()
	}
}

// asked wraps an action that reads its request from the body.
func asked[T any](act func(*call, T) reply) func(*call) reply {
	return func(c *call) reply {
		var ask T
		if len(c.body) > 0 && json.Unmarshal(c.body, &ask) != nil {
			return failed(http.StatusBadRequest, "Problems parsing JSON")
		}
		return act(c, ask)
	}
}

func askedOf[T any](act func(*call, *pull, T) reply) func(*call) reply {
	return of(func(c *call, p *pull) reply {
		return asked(func(c *call, ask T) reply { return act(c, p, ask) })(c)
	})
}

// match finds the route of a path and stores the path's parameters in the request.
func match(req *http.Request, path string) *route {
	segments := strings.Split(strings.Trim(path, "/"), "/")
	for i := range routes {
		method, pattern, _ := strings.Cut(routes[i].pattern, " ")
		if method == req.Method && matchSegments(req, strings.Split(strings.Trim(pattern, "/"), "/"), segments) {
			return &routes[i]
		}
	}
	return nil
}

func matchSegments(req *http.Request, pattern, segments []string) bool {
	values := map[string]string{}
	for i, want := range pattern {
		if i >= len(segments) {
			return false
		}
		name, isValue := strings.CutPrefix(want, "{")
		name = strings.TrimSuffix(name, "}")
		rest := strings.TrimSuffix(name, "...")
		switch {
		case !isValue && want != segments[i]:
			return false
		case rest != name:
			values[rest] = strings.Join(segments[i:], "/")
			segments = segments[:len(pattern)]
		case isValue:
			values[name] = segments[i]
		}
	}
	if len(segments) != len(pattern) {
		return false
	}
	for name, value := range values {
		plain, err := url.PathUnescape(value)
		if err != nil || plain == "" {
			return false
		}
		req.SetPathValue(name, plain)
	}
	return true
}
