package relay

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"time"

	"github.com/olmgraft/graft/internal/event"
)

// coversBody reports whether the proof covers the body, which must then be read first.
func (r *route) coversBody() bool { return r.Proof == event.BySignature }

// proven checks the proof in a request for the route. rest is the part of the path below the route.
func (r *route) proven(req *http.Request, rest string, body []byte, now time.Time) bool {
	switch r.Proof {
	case event.BySignature:
		return r.secrets.fits(now, func(secret string) bool {
			mac := hmac.New(sha256.New, []byte(secret))
			mac.Write(body)
			return same(req.Header.Get("X-Hub-Signature-256"), "sha256="+hex.EncodeToString(mac.Sum(nil)))
		})
	case event.ByGoogle:
		_, token, _ := strings.Cut(req.Header.Get("Authorization"), "Bearer ")
		return r.google.proven(req.Context(), token, now)
	case event.ByURL:
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
