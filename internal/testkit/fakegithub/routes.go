package fakegithub

import (
	"net/http"
	"net/url"
	"strings"
)

type route struct {
	pattern string
	// needs is the permission of a token, and push that only those who may push to the
	// repository may use it.
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

// routes are tried in this order.
var routes = []route{
	{"GET /user", "", false, (*call).getUser},
	{"GET /rate_limit", "", false, (*call).getRateLimit},
	{"POST /graphql", "", false, (*call).graphql},
	{"POST /app/installations/{id}/access_tokens", "", false, (*call).createInstallationToken},

	{"GET" + repo, "metadata=read", false, (*call).getRepository},
	{"GET" + repo + "/forks", "metadata=read", false, (*call).listForks},
	{"POST" + repo + "/forks", "administration=write,contents=read", false, (*call).fork},
	{"POST" + repo + "/merge-upstream", putContents, true, (*call).mergeUpstream},
	{"POST" + repo + "/dispatches", putContents, true, (*call).dispatch},
	{"GET" + repo + "/branches/{branch...}", readContents, false, (*call).getBranch},
	{"GET" + repo + "/compare/{basehead...}", readContents, false, (*call).compare},
	{"GET" + repo + "/contents/{path...}", readContents, false, (*call).getContents},
	{"PUT" + repo + "/contents/{path...}", putContents, true, (*call).putContents},
	{"DELETE" + repo + "/contents/{path...}", putContents, true, (*call).deleteContents},

	{"GET" + repo + "/git/ref/{ref...}", readContents, false, (*call).getRef},
	{"GET" + repo + "/git/matching-refs/{ref...}", readContents, false, (*call).matchingRefs},
	{"POST" + repo + "/git/refs", putContents, true, (*call).createRef},
	{"PATCH" + repo + "/git/refs/{ref...}", putContents, true, (*call).updateRef},
	{"DELETE" + repo + "/git/refs/{ref...}", putContents, true, (*call).deleteRef},
	{"GET" + repo + "/git/commits/{sha}", readContents, false, (*call).getCommit},
	{"POST" + repo + "/git/commits", putContents, true, (*call).createCommit},
	{"GET" + repo + "/git/trees/{sha}", readContents, false, (*call).getTree},
	{"POST" + repo + "/git/trees", putContents, true, (*call).createTree},
	{"POST" + repo + "/git/blobs", putContents, true, (*call).createBlob},

	{"GET" + repo + "/pulls", readPulls, false, (*call).listPulls},
	{"POST" + repo + "/pulls", putPulls, false, (*call).createPull},
	{"GET" + repo + "/pulls/{number}", readPulls, false, (*call).getPull},
	{"PATCH" + repo + "/pulls/{number}", putPulls, false, (*call).updatePull},
	{"GET" + repo + "/pulls/{number}/commits", readPulls, false, (*call).pullCommits},
	{"GET" + repo + "/pulls/{number}/files", readPulls, false, (*call).pullFiles},
	{"PUT" + repo + "/pulls/{number}/merge", putContents, true, (*call).mergePull},
	{"GET" + repo + "/pulls/{number}/requested_reviewers", readPulls, false, (*call).getReviewers},
	{"POST" + repo + "/pulls/{number}/requested_reviewers", putPulls, true, (*call).addReviewers},
	{"DELETE" + repo + "/pulls/{number}/requested_reviewers", putPulls, true, (*call).removeReviewers},

	{"GET" + repo + "/labels", readIssues, false, (*call).listLabels},
	{"POST" + repo + "/labels", putIssues, true, (*call).createLabel},
	{"GET" + repo + "/milestones", readIssues, false, (*call).listMilestones},
	{"GET" + repo + "/issues/comments/{id}", readIssues, false, (*call).getComment},
	{"PATCH" + repo + "/issues/comments/{id}", putIssues, false, (*call).updateComment},
	{"DELETE" + repo + "/issues/comments/{id}", putIssues, true, (*call).deleteComment},
	{"GET" + repo + "/issues/{number}", readIssues, false, (*call).getIssue},
	{"PATCH" + repo + "/issues/{number}", putIssues, true, (*call).updateIssue},
	{"GET" + repo + "/issues/{number}/events", readIssues, false, (*call).listEvents},
	{"GET" + repo + "/issues/{number}/labels", readIssues, false, (*call).issueLabels},
	{"POST" + repo + "/issues/{number}/labels", putIssues, true, (*call).addLabels},
	{"PUT" + repo + "/issues/{number}/labels", putIssues, true, (*call).setLabels},
	{"DELETE" + repo + "/issues/{number}/labels", putIssues, true, (*call).clearLabels},
	{"DELETE" + repo + "/issues/{number}/labels/{name}", putIssues, true, (*call).removeLabel},
	{"POST" + repo + "/issues/{number}/assignees", putIssues, false, (*call).addAssignees},
	{"DELETE" + repo + "/issues/{number}/assignees", putIssues, true, (*call).removeAssignees},
	{"GET" + repo + "/issues/{number}/comments", readIssues, false, (*call).listComments},
	{"POST" + repo + "/issues/{number}/comments", putIssues, false, (*call).createComment},
}

// match finds the route of a path, and puts what stands in its braces into the request.
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
