package fakegithub

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Identity is the account or App behind a token.
type Identity struct {
	Login string
	// App marks the token of a GitHub App or a workflow. Such a token has no account; only its Permissions count.
	App bool
	// Permissions, such as contents: write, limit the token. nil means no limit. A workflow's permissions are
	// spelt with underscores: pull_requests.
	Permissions map[string]string
	// Installation and Account belong to the token of an App that works for one account.
	Installation int64
	Account      string
	// Ends is the time when the token expires. Zero means never.
	Ends time.Time
}

type user struct {
	id    int64
	login string
	kind  string
}

// AddToken accepts a token. After the first, the server refuses requests with other tokens or with none.
func (s *Server) AddToken(token string, who Identity) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens[token] = who
	s.user(who.Login)
}

// AddUsers creates accounts. Accounts that own, read or write a repository exist anyway.
func (s *Server) AddUsers(logins ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, login := range logins {
		s.user(login)
	}
}

func (s *Server) user(login string) *user {
	u := s.users[strings.ToLower(login)]
	if u == nil {
		u = &user{id: s.nextID(), login: login, kind: "User"}
		if strings.HasSuffix(login, "[bot]") {
			u.kind = "Bot"
		}
		s.users[strings.ToLower(login)] = u
	}
	return u
}

func (c *call) identify() {
	if len(c.s.tokens)+len(c.s.apps) == 0 {
		c.who, c.known = Identity{Login: c.s.options.Login}, true
		c.s.user(c.who.Login)
		return
	}
	_, token, _ := strings.Cut(c.r.Header.Get("Authorization"), " ")
	c.who, c.known = c.s.tokens[token]
	if !c.known {
		// With its own JSON web token, an App can only ask for installation tokens.
		app, isApp := c.s.claimant(token, c.now)
		c.who, c.known = Identity{Login: "app-" + app.ID, App: true, Permissions: map[string]string{}}, isApp
	}
	if !c.who.Ends.IsZero() && !c.now.Before(c.who.Ends) {
		c.known = false
	}
}

// mayRead hides private repositories from everyone except collaborators and apps.
func (c *call) mayRead() bool {
	if c.who.Account != "" && !strings.EqualFold(c.who.Account, c.repo.Owner) {
		return false
	}
	return !c.repo.Private || c.who.App || c.repo.writes(c.who.Login)
}

// mayUse checks the permissions of the token and of the account for the route.
func (c *call) mayUse(r *route) *reply {
	if r.needs == "" {
		return nil
	}
	refuse := func(status int, message string) *reply {
		refusal := failed(status, message)
		refusal.header = http.Header{"X-Accepted-Github-Permissions": {r.needs}}
		return &refusal
	}
	writing := strings.Contains(r.needs, "write")
	if writing && c.repo != nil && c.repo.Archived {
		return refuse(http.StatusForbidden, "Repository was archived so is read-only.")
	}
	if c.who.Permissions != nil && !slices.ContainsFunc(strings.Split(r.needs, "; "), c.who.has) {
		if c.who.App {
			return refuse(http.StatusForbidden, "Resource not accessible by integration")
		}
		return refuse(http.StatusForbidden, "Resource not accessible by personal access token")
	}
	if writing && r.push && !c.who.App && !c.repo.writes(c.who.Login) {
		return refuse(http.StatusNotFound, "Not Found")
	}
	return nil
}

// has parses pull_requests=write,contents=read.
func (i Identity) has(all string) bool {
	for one := range strings.SplitSeq(all, ",") {
		name, level, _ := strings.Cut(one, "=")
		if held := i.Permissions[name]; held != "write" && (held == "" || level == "write") {
			return false
		}
	}
	return true
}

func (c *call) getUser() reply {
	if c.who.App {
		return failed(http.StatusForbidden, "Resource not accessible by integration")
	}
	body := c.person(c.who.Login)
	maps.Copy(body, fields{
		"name": nil, "company": nil, "blog": nil, "location": nil, "email": nil, "hireable": nil, "bio": nil,
		"public_repos": 0, "public_gists": 0, "followers": 0, "following": 0,
		"created_at": c.now, "updated_at": c.now, "user_view_type": "public",
	})
	return ok(body)
}
