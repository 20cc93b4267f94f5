package relay

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
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

var urlBase64 = base64.RawURLEncoding

// keyServer serves Google's keys and counts requests in asked. With down it answers with an error.
func keyServer(t *testing.T, key *rsa.PublicKey, asked *atomic.Int32, down *atomic.Bool) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		if down.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			key = &rsa.PublicKey{N: new(big.Int).Lsh(big.NewInt(1), 2047), E: 3}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": []map[string]string{
			{"kty": "EC", "kid": "other"},
			{"kty": "RSA", "alg": "RS256", "kid": "k1", "n": urlBase64.EncodeToString(key.N.Bytes()), "e": urlBase64.EncodeToString(big.NewInt(int64(key.E)).Bytes())},
		}})
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// signedBy returns a token as Google makes it, with its key named in the header.
func signedBy(t *testing.T, key *rsa.PrivateKey, id string, claims map[string]any) string {
	t.Helper()
	header, err := json.Marshal(map[string]string{"alg": "RS256", "typ": "JWT", "kid": id})
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	return signedAs(t, key, string(header), urlBase64.EncodeToString(body))
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
		keyServer(t, &key.PublicKey, &asked, new(atomic.Bool)) + "}"
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
		"another algorithm": signedAs(t, key, `{"alg":"RS512","kid":"k1"}`, body),
		"long over":         signedBy(t, key, "k1", claims(map[string]any{"exp": now.Add(-skew - time.Minute).Unix()})),
		"from afar":         signedBy(t, key, "k1", claims(map[string]any{"iat": now.Add(skew + time.Minute).Unix()})),
		"no signature":      header + "." + body + ".",
		"too long":          good + strings.Repeat("x", 9<<10),
	} {
		if status, _ := w.post("/google", testdata(t, "google.json"), "Authorization", "Bearer "+token); status != http.StatusUnauthorized {
			t.Errorf("%s: %d", name, status)
		}
	}
	for name, token := range map[string]string{
		"a good one": good, "a short issuer": signedBy(t, key, "k1", claims(map[string]any{"iss": "accounts.google.com"})),
		"a clock that is behind": signedBy(t, key, "k1", claims(map[string]any{"iat": now.Add(skew - time.Minute).Unix()})),
		"a clock that is ahead":  signedBy(t, key, "k1", claims(map[string]any{"exp": now.Add(time.Minute - skew).Unix()})),
	} {
		if status, said := w.post("/google", testdata(t, "google.json"), "Authorization", "Bearer "+token); status != http.StatusAccepted && status != http.StatusOK {
			t.Errorf("%s: %d %s", name, status, said)
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("the keys were asked for %d times", n)
	}
	w.settled()
}

// signedAs returns a token with a signature of its header and body.
func signedAs(t *testing.T, key *rsa.PrivateKey, header, body string) string {
	t.Helper()
	text := urlBase64.EncodeToString([]byte(header)) + "." + body
	digest := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + urlBase64.EncodeToString(signature)
}

// Google's keys are fetched once an hour, sooner for an unknown key, but at most once a minute. While Google
// does not answer, the known keys stay valid.
func TestGoogleKeys(t *testing.T) {
	t.Parallel()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int32
	var down atomic.Bool
	g := &google{keysURL: keyServer(t, &key.PublicKey, &asked, &down), http: http.DefaultClient}
	now := time.Now()
	for _, step := range []struct {
		after time.Duration
		down  bool
		id    string
		known bool
		asked int32
	}{
		{0, false, "k1", true, 1},
		{time.Second, false, "k2", false, 1},
		{time.Minute, false, "k2", false, 2},
		{59 * time.Minute, false, "k1", true, 2},
		{2 * time.Minute, false, "k1", true, 3},
		{keysFresh + time.Minute, true, "k1", true, 4},
		{time.Second, true, "k1", true, 4},
		{keysPause, true, "k2", false, 5},
		{keysPause + time.Second, false, "other", false, 6},
	} {
		down.Store(step.down)
		now = now.Add(step.after)
		if got := g.key(t.Context(), step.id, now); (got != nil) != step.known || got != nil && got.N.Cmp(key.N) != 0 || asked.Load() != step.asked {
			t.Errorf("%+v: %v, and the keys were asked for %d times", step, got, asked.Load())
		}
	}
}
