package relay

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/olmgraft/graft/internal/failure"
)

// The log has GitHub's error messages to an App. An incomplete answer is not a token. The key may be replaced
// meanwhile.
func TestAppIsRefused(t *testing.T) {
	t.Parallel()
	file, now := filepath.Join(t.TempDir(), "key.pem"), time.Now()
	n := 0 // a changed length marks a changed file, whatever the disk's clock
	exchange := func() *rsa.PublicKey {
		n++
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err == nil {
			err = os.WriteFile(file, append(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}), make([]byte, n)...), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return &key.PublicKey
	}
	key, status, body := exchange(), http.StatusCreated, ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var claims jwt.RegisteredClaims
		proof := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if _, err := jwt.NewParser(jwt.WithoutClaimsValidation()).ParseWithClaims(proof, &claims, func(*jwt.Token) (any, error) { return key, nil }); err != nil {
			t.Error(err)
		} else if claims.Issuer != "77" || claims.IssuedAt.Unix() > now.Unix()-60 || claims.ExpiresAt.Unix() > now.Unix()+600-60 || r.URL.Path != "/app/installations/4711/access_tokens" {
			t.Errorf("asked %s with %+v", r.URL, claims)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	defer server.Close()
	source, err := openTokens(GitHub{APIURL: server.URL + "/", App: &App{ID: "77", Installation: "4711", KeyFile: file}}, Options{}, http.DefaultClient, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	for i, tt := range []struct {
		status     int
		body, says string
	}{
		{403, `{"message": "This installation has been suspended"}`, "the installation 4711: HTTP 403 This installation has been suspended"},
		{200, `{"token": "ghs_x"}`, "HTTP 200"}, {201, `{"expires_at": "2030-01-01T00:00:00Z"}`, "has no token"}, {201, "<html>", "invalid character"}, {502, "<html>", "HTTP 502"},
		{201, `{"token": "ghs_x", "expires_at": "2030-01-01T00:00:00Z"}`, ""},
	} {
		status, body = tt.status, tt.body
		now = now.Add(time.Minute)
		if i == 3 {
			key = exchange()
		}
		if got, err := source.grant(t.Context(), "octo"); tt.says == "" && (err != nil || got != grant{"ghs_x", "no"}) || tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)) {
			t.Errorf("%d %s: %q, %v", tt.status, tt.body, got, err)
		}
	}
}

// A changed token file is read again.
func TestTokenFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("first\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	source, err := openTokens(GitHub{TokenFile: file}, Options{}, http.DefaultClient, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	is := func(want string) {
		t.Helper()
		if got, err := source.grant(t.Context(), "octo"); err != nil || got.token != want {
			t.Errorf("%q %v, want %q", got, err, want)
		}
	}
	is("first")
	if err := os.WriteFile(file, []byte("the second"), 0o600); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Minute)
	is("first")
	if err := os.WriteFile(file, []byte("second"), 0o600); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Minute)
	is("second")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Minute)
	is("second")
	for _, g := range []GitHub{{TokenFile: file}, {App: &App{KeyFile: file}}, {}} {
		if _, err := openTokens(g, Options{Env: func(string) (string, bool) { return "", false }}, nil, time.Now); !failure.Is(err, failure.Usage) {
			t.Errorf("%+v: %v", g, err)
		}
	}
}
