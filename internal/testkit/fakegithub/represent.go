package fakegithub

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/olmgraft/graft/internal/testkit/gitobjects"
)

// api and server return the addresses of the API and of the pages, as the caller sees them.
func (c *call) api() string {
	if strings.HasPrefix(c.r.URL.Path, "/api/") {
		return c.server() + "/api/v3"
	}
	return c.server()
}

func (c *call) server() string { return "http://" + c.r.Host }

// at returns an address in the API below the repository; web returns the address of a page.
func (c *call) at(path string) string  { return c.api() + "/repos/" + c.repo.fullName() + path }
func (c *call) web(path string) string { return c.server() + "/" + c.repo.fullName() + path }

func nodeID(kind string, id int64) string {
	return kind + "_" + base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(id, 10)))
}

// page returns the requested part of a list, with links to the other parts.
func (c *call) page(list []any) reply {
	q := c.r.URL.Query()
	size, _ := strconv.Atoi(q.Get("per_page"))
	if size <= 0 {
		size = 30
	}
	size = min(size, 100)
	number, _ := strconv.Atoi(q.Get("page"))
	number = max(number, 1)
	from, to := min((number-1)*size, len(list)), min(number*size, len(list))
	r := ok(list[from:to])
	if to < len(list) {
		next := url.Values{}
		for k, v := range q {
			next[k] = v
		}
		next.Set("page", strconv.Itoa(number+1))
		r.header = http.Header{"Link": {fmt.Sprintf(`<%s%s?%s>; rel="next"`, c.api(), c.path, next.Encode())}}
	}
	return r
}

func (c *call) person(login string) fields {
	u := c.s.user(login)
	at := c.api() + "/users/" + url.PathEscape(u.login)
	return fields{
		"login": u.login, "id": u.id, "node_id": nodeID("U", u.id),
		"avatar_url": c.server() + "/avatars/" + strconv.FormatInt(u.id, 10), "gravatar_id": "",
		"url": at, "html_url": c.server() + "/" + url.PathEscape(u.login),
		"followers_url": at + "/followers", "following_url": at + "/following{/other_user}",
		"gists_url": at + "/gists{/gist_id}", "starred_url": at + "/starred{/owner}{/repo}",
		"subscriptions_url": at + "/subscriptions", "organizations_url": at + "/orgs", "repos_url": at + "/repos",
		"events_url": at + "/events{/privacy}", "received_events_url": at + "/received_events",
		"type": u.kind, "site_admin": false,
	}
}

func (c *call) personOrNull(login string) any {
	if login == "" {
		return nil
	}
	return c.person(login)
}

// repositoryPaths maps the addresses that a repository lists to their suffixes.
var repositoryPaths = map[string]string{
	"archive": "/{archive_format}{/ref}", "assignees": "/assignees{/user}", "blobs": "/git/blobs{/sha}",
	"branches": "/branches{/branch}", "collaborators": "/collaborators{/collaborator}", "comments": "/comments{/number}",
	"commits": "/commits{/sha}", "compare": "/compare/{base}...{head}", "contents": "/contents/{+path}",
	"contributors": "/contributors", "deployments": "/deployments", "downloads": "/downloads", "events": "/events",
	"forks": "/forks", "git_commits": "/git/commits{/sha}", "git_refs": "/git/refs{/sha}", "git_tags": "/git/tags{/sha}",
	"hooks": "/hooks", "issue_comment": "/issues/comments{/number}", "issue_events": "/issues/events{/number}",
	"issues": "/issues{/number}", "keys": "/keys{/key_id}", "labels": "/labels{/name}", "languages": "/languages",
	"merges": "/merges", "milestones": "/milestones{/number}", "notifications": "/notifications{?since,all,participating}",
	"pulls": "/pulls{/number}", "releases": "/releases{/id}", "stargazers": "/stargazers", "statuses": "/statuses/{sha}",
	"subscribers": "/subscribers", "subscription": "/subscription", "tags": "/tags", "teams": "/teams", "trees": "/git/trees{/sha}",
}

// repository returns the fields that the short form and the full form share, and then those of the requested form.
func (c *call) repository(r *repository, full bool) fields {
	at, web := c.api()+"/repos/"+r.fullName(), c.server()+"/"+r.fullName()
	forks, open := 0, 0
	for _, other := range c.s.repos {
		if other.parent == r {
			forks++
		}
	}
	for _, p := range r.pulls {
		if p.open {
			open++
		}
	}
	push := c.who.App || r.writes(c.who.Login)
	body := fields{
		"id": r.id, "node_id": nodeID("R", r.id), "name": r.Name, "full_name": r.fullName(), "owner": c.person(r.Owner),
		"private": r.Private, "html_url": web, "description": nil, "fork": r.parent != nil, "url": at,
		"git_url": "git://" + c.r.Host + "/" + r.fullName() + ".git", "ssh_url": "git@" + c.r.Host + ":" + r.fullName() + ".git",
		"clone_url": web + ".git", "mirror_url": nil, "svn_url": web, "homepage": nil, "language": nil,
		"forks_count": forks, "forks": forks, "stargazers_count": 0, "watchers_count": 0, "watchers": 0, "size": 1,
		"default_branch": r.defaultBranch, "open_issues_count": open, "open_issues": open,
		"has_issues": true, "has_projects": false, "has_wiki": false, "has_pages": false, "has_discussions": false,
		"has_downloads": true, "archived": r.Archived, "disabled": false, "license": nil,
		"pushed_at": c.now, "created_at": c.now, "updated_at": c.now,
		"permissions":      fields{"admin": strings.EqualFold(c.who.Login, r.Owner), "push": push, "pull": true},
		"allow_auto_merge": r.AutoMerge,
	}
	for name, path := range repositoryPaths {
		body[name+"_url"] = at + path
	}
	if !full {
		return body
	}
	body["subscribers_count"], body["network_count"] = 0, forks
	if r.parent != nil {
		body["parent"], body["source"] = c.repository(r.parent, false), c.repository(r.root(), false)
	}
	return body
}

func (c *call) label(l *label) fields {
	return fields{
		"id": l.id, "node_id": nodeID("LA", l.id), "url": c.at("/labels/" + url.PathEscape(l.name)),
		"name": l.name, "description": "", "color": "ededed", "default": false,
	}
}

func (c *call) labelList(labels []*label) []any {
	return listOf(labels, c.label)
}

func listOf[T, F any](all []T, show func(T) F) []any {
	list := []any{}
	for _, one := range all {
		list = append(list, show(one))
	}
	return list
}

func (c *call) milestone(m *milestone) any {
	if m == nil {
		return nil
	}
	at := c.at("/milestones/" + strconv.Itoa(m.number))
	return fields{
		"id": m.id, "node_id": nodeID("MI", m.id), "number": m.number, "title": m.title, "state": "open",
		"url": at, "html_url": c.web("/milestone/" + strconv.Itoa(m.number)), "labels_url": at + "/labels",
		"description": nil, "creator": c.person(c.repo.Owner), "open_issues": 0, "closed_issues": 0,
		"created_at": c.now, "updated_at": c.now, "closed_at": nil, "due_on": nil,
	}
}

func (c *call) team(slug string) fields {
	at := c.api() + "/orgs/" + c.repo.Owner + "/teams/" + url.PathEscape(slug)
	return fields{
		"id": 1, "node_id": nodeID("T", 1), "name": slug, "slug": slug, "description": nil, "permission": "push",
		"url": at, "html_url": c.server() + "/orgs/" + c.repo.Owner + "/teams/" + url.PathEscape(slug),
		"members_url": at + "/members{/member}", "repositories_url": at + "/repos", "type": "organization", "parent": nil,
	}
}

// pullRequest adds, if full is set, the fields that only a single pull request has.
func (c *call) pullRequest(p *pull, full bool) fields {
	number := strconv.Itoa(p.number)
	at, issue, web := c.at("/pulls/"+number), c.at("/issues/"+number), c.web("/pull/"+number)
	body := fields{
		"id": p.id, "node_id": nodeID("PR", p.id), "number": p.number, "url": at, "html_url": web,
		"diff_url": web + ".diff", "patch_url": web + ".patch", "issue_url": issue, "commits_url": at + "/commits",
		"review_comments_url": at + "/comments", "review_comment_url": c.at("/pulls/comments{/number}"),
		"comments_url": issue + "/comments", "statuses_url": c.at("/statuses/" + p.headSHA.String()),
		"state": p.state(), "locked": false, "title": p.title, "user": c.person(p.login), "body": p.body, "draft": p.draft,
		"labels": c.labelList(p.labels), "milestone": c.milestone(p.milestone),
		"created_at": p.created, "updated_at": p.updated, "closed_at": timeOrNull(p.closed), "merged_at": nil, "merge_commit_sha": nil,
		"assignee": nil, "assignees": c.people(p.assignees), "requested_reviewers": c.people(p.reviewers),
		"head": c.end(p.head, p.headRef, p.headSHA.String()), "base": c.end(p.base, p.baseRef, p.base.tip(p.baseRef).String()),
		"author_association": "CONTRIBUTOR", "auto_merge": nil,
		"_links": fields{
			"self": link(at), "html": link(web), "issue": link(issue), "comments": link(issue + "/comments"),
			"review_comments": link(at + "/comments"), "review_comment": link(c.at("/pulls/comments{/number}")),
			"commits": link(at + "/commits"), "statuses": link(c.at("/statuses/" + p.headSHA.String())),
		},
	}
	teams := []any{}
	for _, slug := range p.teams {
		team := c.team(slug)
		if full {
			delete(team, "parent") // only lists have it
		}
		teams = append(teams, team)
	}
	body["requested_teams"] = teams
	if len(p.assignees) > 0 {
		body["assignee"] = c.person(p.assignees[0])
	}
	if p.merged {
		body["merged_at"], body["merge_commit_sha"] = p.closed, p.mergeSHA.String()
	}
	if p.autoMerge != "" {
		body["auto_merge"] = fields{
			"enabled_by": c.person(p.autoMergeBy), "merge_method": p.autoMerge, "commit_title": p.title, "commit_message": "",
		}
	}
	if full {
		c.addDetails(p, body)
	}
	return body
}

func (c *call) addDetails(p *pull, body fields) {
	commits, files, additions, deletions := 0, 0, 0, 0
	if base, head, err := p.ends(); err == nil {
		g := p.base.git()
		commits = len(g.between(base, head))
		if before, after, err := g.changedSince(base, head); err == nil {
			for _, name := range gitobjects.Changed(before, after) {
				old, _ := gitobjects.ReadBlob(g, before[name].Hash)
				content, _ := gitobjects.ReadBlob(g, after[name].Hash)
				for _, one := range changes(string(old), string(content)) {
					additions += len(one.lines)
					deletions += one.to - one.from
				}
				files++
			}
		}
	}
	body["merged"], body["merged_by"] = p.merged, c.personOrNull(p.mergedBy)
	// GitHub computes this later, and returns null until then.
	body["mergeable"], body["mergeable_state"] = nil, "unknown"
	body["comments"], body["review_comments"] = len(p.comments), 0
	body["maintainer_can_modify"] = p.canModify
	body["commits"], body["changed_files"] = commits, files
	body["additions"], body["deletions"] = additions, deletions
}

func (p *pull) state() string {
	if p.open {
		return "open"
	}
	return "closed"
}

func (c *call) people(logins []string) []any {
	return listOf(logins, c.person)
}

func (c *call) end(r *repository, ref, sha string) fields {
	return fields{
		"label": r.Owner + ":" + ref, "ref": ref, "sha": sha,
		"repo": c.repository(r, false), "user": c.person(r.Owner),
	}
}

func (c *call) issue(p *pull) fields {
	number := strconv.Itoa(p.number)
	at := c.at("/issues/" + number)
	body := fields{
		"id": p.id, "node_id": nodeID("PR", p.id), "number": p.number, "url": at, "repository_url": c.at(""),
		"labels_url": at + "/labels{/name}", "comments_url": at + "/comments", "events_url": at + "/events",
		"html_url": c.web("/pull/" + number), "state": p.state(), "title": p.title, "body": p.body, "user": c.person(p.login),
		"labels": c.labelList(p.labels), "assignee": nil, "assignees": c.people(p.assignees),
		"milestone": c.milestone(p.milestone), "locked": false, "comments": len(p.comments),
		"closed_at": timeOrNull(p.closed), "created_at": p.created, "updated_at": p.updated, "author_association": "CONTRIBUTOR",
	}
	if len(p.assignees) > 0 {
		body["assignee"] = c.person(p.assignees[0])
	}
	return body
}

func (c *call) comment(p *pull, one *comment) fields {
	at := c.at("/issues/comments/" + strconv.FormatInt(one.id, 10))
	return fields{
		"id": one.id, "node_id": nodeID("IC", one.id), "url": at,
		"html_url":  c.web("/pull/" + strconv.Itoa(p.number) + "#issuecomment-" + strconv.FormatInt(one.id, 10)),
		"issue_url": c.at("/issues/" + strconv.Itoa(p.number)), "user": c.person(one.login), "body": one.body,
		"created_at": one.created, "updated_at": one.updated, "author_association": "CONTRIBUTOR",
	}
}

func (c *call) event(e event) fields {
	body := fields{
		"id": e.id, "node_id": nodeID("EV", e.id), "url": c.at("/issues/events/" + strconv.FormatInt(e.id, 10)),
		"event": e.kind, "actor": c.person(e.actor), "commit_id": nil, "commit_url": nil, "created_at": e.at,
		"performed_via_github_app": nil,
	}
	if e.reviewer != "" || e.team != "" {
		body["review_requester"] = c.person(e.actor)
	}
	if e.reviewer != "" {
		body["requested_reviewer"] = c.person(e.reviewer)
	}
	if e.team != "" {
		body["requested_team"] = c.team(e.team)
	}
	return body
}

func link(href string) fields { return fields{"href": href} }

func timeOrNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t
}
