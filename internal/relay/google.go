package relay

import (
	"context"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

const (
	googleKeys = "https://www.googleapis.com/oauth2/v3/certs"
	// skew is the tolerated difference between two clocks.
	skew = 5 * time.Minute
	// The keys are fetched once an hour, and sooner for an unknown key. Strangers cannot raise that rate.
	keysFresh = time.Hour
	keysPause = time.Minute
)

// google verifies the tokens that Pub/Sub sends with a push: signed by Google, for an audience, in the name of
// a service account.
type google struct {
	audience, account, keysURL string
	http                       *http.Client

	mu    sync.Mutex
	keys  map[string]*rsa.PublicKey
	asked time.Time
}

func (g *google) proven(ctx context.Context, token string, now time.Time) bool {
	if token == "" || len(token) > 8<<10 {
		return false
	}
	var claims struct {
		jwt.RegisteredClaims
		Email    string `json:"email"`
		Verified bool   `json:"email_verified"`
	}
	// No other algorithm is accepted, so that a sender cannot choose a weaker one.
	parser := jwt.NewParser(jwt.WithValidMethods([]string{jwt.SigningMethodRS256.Alg()}), jwt.WithAudience(g.audience),
		jwt.WithIssuedAt(), jwt.WithExpirationRequired(), jwt.WithLeeway(skew), jwt.WithTimeFunc(func() time.Time { return now }))
	_, err := parser.ParseWithClaims(token, &claims, func(t *jwt.Token) (any, error) {
		id, _ := t.Header["kid"].(string)
		if key := g.key(ctx, id, now); key != nil {
			return key, nil
		}
		return nil, errors.New("there is no such key")
	})
	return err == nil && (claims.Issuer == "https://accounts.google.com" || claims.Issuer == "accounts.google.com") &&
		claims.Verified && same(claims.Email, g.account)
}

// key returns Google's key of that name, or nil. It holds the lock during the fetch, because concurrent callers
// need the keys too.
func (g *google) key(ctx context.Context, id string, now time.Time) *rsa.PublicKey {
	g.mu.Lock()
	defer g.mu.Unlock()
	age := now.Sub(g.asked)
	if age < 0 || age > keysFresh || g.keys[id] == nil && age > keysPause {
		g.asked = now
		if keys, err := g.fetch(context.WithoutCancel(ctx)); err == nil {
			g.keys = keys
		}
	}
	return g.keys[id]
}

func (g *google) fetch(ctx context.Context) (map[string]*rsa.PublicKey, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, g.keysURL, http.NoBody)
	if err != nil {
		return nil, err
	}
	var set struct {
		Keys []struct {
			ID       string `json:"kid"`
			Type     string `json:"kty"`
			Modulus  string `json:"n"`
			Exponent string `json:"e"`
		} `json:"keys"`
	}
	status, _, err := askJSON(g.http, req, &set)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("HTTP %d", status)
	}
	if err != nil {
		return nil, err
	}
	keys := map[string]*rsa.PublicKey{}
	for _, k := range set.Keys {
		n, nErr := base64.RawURLEncoding.DecodeString(k.Modulus)
		e, eErr := base64.RawURLEncoding.DecodeString(k.Exponent)
		exponent := new(big.Int).SetBytes(e)
		if k.Type != "RSA" || nErr != nil || eErr != nil || len(n) < 256 || !exponent.IsInt64() || exponent.Int64() > 1<<31-1 {
			continue
		}
		keys[k.ID] = &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(exponent.Int64())}
	}
	if len(keys) == 0 {
		return nil, errors.New("there is no key")
	}
	return keys, nil
}
