package fakegithub

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// GitHubApp is an App with one installation.
type GitHubApp struct {
	ID           string
	Installation int64
	Key          *rsa.PublicKey
	Permissions  map[string]string
	// TokenLife is how long an installation's token lives; 0 is GitHub's hour.
	TokenLife time.Duration
}

// AddApp lets an App ask for tokens of its installation. As AddToken does, it has requests
// without a token refused.
func (s *Server) AddApp(app GitHubApp) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if app.TokenLife == 0 {
		app.TokenLife = time.Hour
	}
	s.apps = append(s.apps, app)
}

// claimant is the App that a token of three parts is from, whose times and signature fit.
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

// createInstallationToken gives a token that ends.
func (c *call) createInstallationToken() reply {
	_, shown, _ := strings.Cut(c.r.Header.Get("Authorization"), " ")
	app, ok := c.s.claimant(shown, c.now)
	switch {
	case !ok:
		return failed(http.StatusUnauthorized, "A JSON web token could not be decoded")
	case c.r.PathValue("id") != strconv.FormatInt(app.Installation, 10):
		return notFound()
	}
	token := "ghs_" + strconv.FormatInt(c.s.nextID(), 10)
	ends := c.now.Add(app.TokenLife)
	c.s.tokens[token] = Identity{Login: "app-" + app.ID + "[bot]", App: true, Permissions: app.Permissions, Ends: ends}
	return created(fields{
		"token": token, "expires_at": ends.Format(time.RFC3339), "permissions": app.Permissions, "repository_selection": "all",
	})
}
