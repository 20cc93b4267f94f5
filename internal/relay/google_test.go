package relay

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// keyServer has Google's keys; asked counts who wanted them.
func keyServer(t *testing.T, key *rsa.PublicKey, asked *atomic.Int32) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": []map[string]string{
			{"kty": "EC", "kid": "other"},
			{"kty": "RSA", "alg": "RS256", "kid": "k1", "n": urlBase64.EncodeToString(key.N.Bytes()), "e": urlBase64.EncodeToString(big.NewInt(int64(key.E)).Bytes())},
		}})
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// signedBy is a token as Google makes it, with its key named in the header.
func signedBy(t *testing.T, key *rsa.PrivateKey, id string, claims map[string]any) string {
	t.Helper()
	token, err := signJWT(key, id, claims)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestGoogleTokens(t *testing.T) {
	t.Parallel()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int32
	route := "{path: /google, from: google, audience: https://relay.example.com/google, account: push@kiosk-prod.iam.gserviceaccount.com, keysURL: " +
		keyServer(t, &key.PublicKey, &asked) + "}"
	w := begin(t, setup{config: map[string]string{"routes": "[" + route + "]", "targets": everything}})
	now := time.Now()
	claims := func(change map[string]any) map[string]any {
		all := map[string]any{
			"iss": "https://accounts.google.com", "aud": "https://relay.example.com/google", "sub": "1",
			"email": "push@kiosk-prod.iam.gserviceaccount.com", "email_verified": true,
			"iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
		}
		maps.Copy(all, change)
		return all
	}
	good := signedBy(t, key, "k1", claims(nil))
	header, rest, _ := strings.Cut(good, ".")
	body, signature, _ := strings.Cut(rest, ".")
	none := urlBase64.EncodeToString([]byte(`{"alg":"none"}`))
	for name, token := range map[string]string{
		"nothing":           "",
		"no token":          "abc",
		"another audience":  signedBy(t, key, "k1", claims(map[string]any{"aud": "https://else.example.com"})),
		"another account":   signedBy(t, key, "k1", claims(map[string]any{"email": "else@kiosk-prod.iam.gserviceaccount.com"})),
		"not verified":      signedBy(t, key, "k1", claims(map[string]any{"email_verified": false})),
		"another issuer":    signedBy(t, key, "k1", claims(map[string]any{"iss": "https://accounts.example.com"})),
		"over":              signedBy(t, key, "k1", claims(map[string]any{"exp": now.Add(-time.Hour).Unix()})),
		"without an end":    signedBy(t, key, "k1", claims(map[string]any{"exp": nil})),
		"not yet":           signedBy(t, key, "k1", claims(map[string]any{"iat": now.Add(time.Hour).Unix()})),
		"another key":       signedBy(t, other, "k1", claims(nil)),
		"an unknown key":    signedBy(t, other, "k2", claims(nil)),
		"no key":            signedBy(t, other, "", claims(nil)),
		"no algorithm":      none + "." + body + ".",
		"no algorithm, and": none + "." + body + "." + signature,
		"other claims":      header + "." + urlBase64.EncodeToString([]byte(`{"aud":"x"}`)) + "." + signature,
		"no signature":      header + "." + body + ".",
		"too long":          good + strings.Repeat("x", 9<<10),
	} {
		if status, _ := w.post("/google", testdata(t, "google.json"), "Authorization", "Bearer "+token); status != http.StatusUnauthorized {
			t.Errorf("%s: %d", name, status)
		}
	}
	if status, said := w.post("/google", testdata(t, "google.json"), "Authorization", "Bearer "+good); status != http.StatusAccepted {
		t.Errorf("a good one: %d %s", status, said)
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("the keys were asked for %d times", n)
	}
	w.settled()
}
