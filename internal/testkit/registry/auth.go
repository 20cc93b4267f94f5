package registry

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/olmgraft/graft/internal/testkit/wire"
)

const tokenPath = "/token"

// Auth configures the credentials that the server requires. The zero Auth lets everybody in.
type Auth struct {
	// Scheme is "", "basic" or "bearer".
	Scheme string
	// Username and Password open everything. With bearer and no Username, the server gives a token to anybody.
	Username, Password string
	// Public repositories accept a token that was issued without credentials.
	Public []string
	// TokenUses is the number of requests that a token is good for. 0 means no limit.
	TokenUses int
}

type grant struct {
	scopes []string
	uses   int
}

// SetAuth makes the server require credentials from now on.
func (s *Server) SetAuth(auth Auth) {
	s.set(func() { s.auth, s.tokens = auth, map[string]*grant{} })
}

func (s *Server) authorized(r *http.Request, req Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.auth.Scheme {
	case "basic":
		user, password, ok := r.BasicAuth()
		return ok && user == s.auth.Username && password == s.auth.Password
	case "bearer":
		held, ok := s.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
		if !ok {
			return false
		}
		if held.uses++; s.auth.TokenUses > 0 && held.uses > s.auth.TokenUses {
			return false
		}
		return req.Repository == "" || held.opens(req)
	}
	return true
}

func pullScope(repository string) string { return "repository:" + repository + ":pull" }

func (s *Server) challenge(r *http.Request, req Request) *wire.Reply {
	reply := errorReply(http.StatusUnauthorized, "UNAUTHORIZED", "authentication required")
	s.mu.Lock()
	scheme := s.auth.Scheme
	s.mu.Unlock()
	if scheme == "basic" {
		reply.Head.Set("WWW-Authenticate", `Basic realm="registry"`)
		return reply
	}
	proto := r.Header.Get("X-Forwarded-Proto")
	if proto == "" {
		proto = "http"
	}
	challenge := fmt.Sprintf(`Bearer realm="%s://%s%s",service="registry"`, proto, r.Host, tokenPath)
	if req.Repository != "" {
		challenge += fmt.Sprintf(`,scope="%s"`, pullScope(req.Repository))
	}
	reply.Head.Set("WWW-Authenticate", challenge)
	return reply
}

func (s *Server) grantToken(r *http.Request) *wire.Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	user, password, given := r.BasicAuth()
	scope := r.URL.Query().Get("scope")
	open := s.auth.Username == ""
	for _, repository := range s.auth.Public {
		open = open || scope == pullScope(repository)
	}
	signedIn := given && user == s.auth.Username && password == s.auth.Password
	if given && !signedIn || !given && !open {
		return errorReply(http.StatusUnauthorized, "UNAUTHORIZED", "incorrect username or password")
	}
	token := "token-" + strconv.Itoa(len(s.tokens)+1)
	s.tokens[token] = &grant{scopes: r.URL.Query()["scope"]}
	return jsonReply(map[string]any{"token": token, "expires_in": 300})
}

// listTags pages through the tags as the distribution specification describes.
func (s *Server) listTags(r *http.Request, req Request) *wire.Reply {
	all := r.Clone(r.Context())
	all.URL.RawQuery = ""
	full := s.direct(all)
	var list struct {
		Name string   `json:"name"`
		Tags []string `json:"tags"`
	}
	if full.Status != http.StatusOK || json.Unmarshal(full.Body.Bytes(), &list) != nil {
		return full
	}
	query := r.URL.Query()
	for len(list.Tags) > 0 && query.Get("last") >= list.Tags[0] {
		list.Tags = list.Tags[1:]
	}
	n, _ := strconv.Atoi(query.Get("n"))
	s.mu.Lock()
	if s.pageSize > 0 && (n == 0 || n > s.pageSize) {
		n = s.pageSize
	}
	s.mu.Unlock()

	link := ""
	if n > 0 && n < len(list.Tags) {
		list.Tags = list.Tags[:n]
		link = fmt.Sprintf(`</v2/%s/tags/list?n=%d&last=%s>; rel="next"`, req.Repository, n, list.Tags[n-1])
	}
	page := jsonReply(list)
	if link != "" {
		page.Head.Set("Link", link)
	}
	return page
}
