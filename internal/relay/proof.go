package relay

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"time"
)

// Proof is how a sender shows that it may send.
type Proof string

// The proofs.
const (
	byURL       Proof = "url"       // the secret in the path or in the query, or as password in the address
	byHeader    Proof = "header"    // the secret in Authorization: by itself, as Bearer, or as Basic password
	bySignature Proof = "signature" // GitHub's HMAC of the body
	byGoogle    Proof = "google"    // a token that Google signed
)

// needsBody reports whether the proof covers the body, which must then be read first.
func (p Proof) needsBody() bool { return p == bySignature }

// proven holds what a request shows against the route. rest is what the path has below that
// of the route.
func (r *route) proven(req *http.Request, rest string, body []byte, now time.Time) bool {
	switch r.Proof {
	case bySignature:
		return r.secrets.fits(now, func(secret string) bool {
			mac := hmac.New(sha256.New, []byte(secret))
			mac.Write(body)
			return same(req.Header.Get("X-Hub-Signature-256"), "sha256="+hex.EncodeToString(mac.Sum(nil)))
		})
	case byGoogle:
		_, token, _ := strings.Cut(req.Header.Get("Authorization"), "Bearer ")
		return r.google.proven(req.Context(), token, now)
	case byURL:
		shown := []string{rest, req.URL.Query().Get("token"), password(req)}
		return r.shows(shown, now)
	}
	header := req.Header.Get("Authorization")
	bearer := ""
	if scheme, token, _ := strings.Cut(header, " "); strings.EqualFold(scheme, "Bearer") {
		bearer = strings.TrimSpace(token)
	}
	return r.shows([]string{header, bearer, password(req)}, now)
}

func (r *route) shows(shown []string, now time.Time) bool {
	return r.secrets.fits(now, func(secret string) bool {
		found := false
		for _, one := range shown {
			if same(one, secret) {
				found = true
			}
		}
		return found
	})
}

func password(req *http.Request) string {
	_, p, _ := req.BasicAuth()
	return p
}
