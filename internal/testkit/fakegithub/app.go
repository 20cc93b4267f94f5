package fakegithub

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// GitHubApp is an App with one installation. Entries with the same ID belong to one App.
type GitHubApp struct {
	ID           string
	Installation int64
	// Account installed the App on all of its repositories. Empty: the App's tokens work for all repositories.
	Account     string
	Key         *rsa.PublicKey
	Permissions map[string]string
	// TokenLife is the lifetime of an installation's token. 0 means one hour, as on GitHub.
	TokenLife time.Duration
}

// AddApp lets an App ask for tokens of its installation. After it, as after AddToken, the server refuses
// requests without a token.
func (s *Server) AddApp(app GitHubApp) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if app.TokenLife == 0 {
		app.TokenLife = time.Hour
	}
	s.apps = append(s.apps, app)
}

// Suspend suspends an installation or ends its suspension.
func (s *Server) Suspend(installation int64, suspended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.suspended, installation)
	if suspended {
		s.suspended[installation] = s.options.Now().UTC().Truncate(time.Second)
	}
}

// Uninstall removes an installation and its tokens.
func (s *Server) Uninstall(installation int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.apps = slices.DeleteFunc(s.apps, func(a GitHubApp) bool { return a.Installation == installation })
	maps.DeleteFunc(s.tokens, func(_ string, who Identity) bool { return who.Installation == installation })
}

// claimant returns the App that issued a JSON web token, if the token's times and signature are valid.
func (s *Server) claimant(token string, now time.Time) (GitHubApp, bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return GitHubApp{}, false
	}
	var header struct {
		Algorithm string `json:"alg"`
	}
	var claims struct {
		Issuer string `json:"iss"`
		Issued int64  `json:"iat"`
		Ends   int64  `json:"exp"`
	}
	part := func(i int) []byte {
		b, _ := base64.RawURLEncoding.DecodeString(parts[i])
		return b
	}
	if json.Unmarshal(part(0), &header) != nil || json.Unmarshal(part(1), &claims) != nil || header.Algorithm != "RS256" {
		return GitHubApp{}, false
	}
	if claims.Issued > now.Unix() || claims.Ends <= now.Unix() || claims.Ends > now.Add(10*time.Minute).Unix() {
		return GitHubApp{}, false
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	for _, app := range s.apps {
		if app.ID == claims.Issuer && rsa.VerifyPKCS1v15(app.Key, crypto.SHA256, sum[:], part(2)) == nil {
			return app, true
		}
	}
	return GitHubApp{}, false
}

// createInstallationToken creates a token that expires.
func (c *call) createInstallationToken() reply {
	app, ok := c.app()
	if !ok {
		return failed(http.StatusUnauthorized, "A JSON web token could not be decoded")
	}
	i := slices.IndexFunc(c.s.apps, func(a GitHubApp) bool {
		return a.ID == app.ID && strconv.FormatInt(a.Installation, 10) == c.r.PathValue("id")
	})
	if i < 0 {
		return notFound()
	}
	app = c.s.apps[i]
	if _, is := c.s.suspended[app.Installation]; is {
		return failed(http.StatusForbidden, "This installation has been suspended")
	}
	token := "ghs_" + strconv.FormatInt(c.s.nextID(), 10)
	ends := c.now.Add(app.TokenLife)
	c.s.tokens[token] = Identity{Login: "app-" + app.ID + "[bot]", App: true, Permissions: app.Permissions, Ends: ends, Installation: app.Installation, Account: app.Account}
	return created(fields{
		"token": token, "expires_at": ends.Format(time.RFC3339), "permissions": app.Permissions, "repository_selection": "all",
	})
}

// app returns the App whose JSON web token the request carries.
func (c *call) app() (GitHubApp, bool) {
	_, shown, _ := strings.Cut(c.r.Header.Get("Authorization"), " ")
	return c.s.claimant(shown, c.now)
}

// listInstallations lists the installations of the App.
func (c *call) listInstallations() reply {
	app, ok := c.app()
	if !ok {
		return failed(http.StatusUnauthorized, "A JSON web token could not be decoded")
	}
	all := []any{}
	for _, one := range c.s.apps {
		if one.ID == app.ID && one.Account != "" {
			all = append(all, c.installation(one))
		}
	}
	return c.page(all)
}

func (c *call) installation(app GitHubApp) fields {
	at := "https://" + c.r.Host + "/app/installations/" + strconv.FormatInt(app.Installation, 10)
	number, _ := strconv.Atoi(app.ID) // 0 for a client ID
	body := fields{
		"id": app.Installation, "account": c.person(app.Account), "repository_selection": "all", "permissions": app.Permissions,
		"access_tokens_url": at + "/access_tokens", "repositories_url": "https://" + c.r.Host + "/installation/repositories", "html_url": at,
		"app_id": number, "app_slug": "app-" + app.ID, "target_id": c.s.user(app.Account).id, "target_type": "Organization",
		"events": []string{}, "created_at": c.now, "updated_at": c.now, "single_file_name": nil, "suspended_at": nil, "suspended_by": nil,
	}
	if at, is := c.s.suspended[app.Installation]; is {
		body["suspended_at"], body["suspended_by"] = at, c.person(app.Account)
	}
	return body
}
