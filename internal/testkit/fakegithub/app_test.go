package fakegithub_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/testkit/fakegithub"
)

// proof returns a JSON web token of an App: header, claims, and a signature of both.
func proof(t *testing.T, key *rsa.PrivateKey, id string, from, until time.Duration) string {
	t.Helper()
	now := time.Now()
	claims := fmt.Sprintf(`{"iss":%q,"iat":%d,"exp":%d}`, id, now.Add(from).Unix(), now.Add(until).Unix())
	text := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"RS256","typ":"JWT"}`)) + "." + base64.RawURLEncoding.EncodeToString([]byte(claims))
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func TestInstallationTokens(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	h := start(t, fakegithub.Options{}, fakegithub.Repository{})
	h.AddApp(fakegithub.GitHubApp{ID: "77", Installation: 4711, Key: &key.PublicKey, Permissions: map[string]string{"contents": "write", "metadata": "read"}})
	const at = "/app/installations/4711/access_tokens"
	for name, token := range map[string]string{
		"none":           "",
		"another key":    proof(t, other, "77", -time.Minute, 5*time.Minute),
		"another App":    proof(t, key, "78", -time.Minute, 5*time.Minute),
		"over":           proof(t, key, "77", -10*time.Minute, -time.Minute),
		"not yet":        proof(t, key, "77", time.Minute, 5*time.Minute),
		"for too long":   proof(t, key, "77", -time.Minute, time.Hour),
		"no three parts": "a.b",
	} {
		h.token = token
		if status, _ := h.raw("POST", at, nil); status != 401 {
			t.Errorf("%s: %d", name, status)
		}
	}
	h.token = proof(t, key, "77", -time.Minute, 5*time.Minute)
	h.ask("POST", "/app/installations/4712/access_tokens", nil, 404)
	h.ask("POST", "dispatches", m{"event_type": "bundle"}, 403)
	h.token = h.ask("POST", at, nil, 201)["token"].(string)
	h.ask("POST", "dispatches", m{"event_type": "bundle"}, 204)
	h.ask("POST", "issues/1/comments", m{"body": "x"}, 403)
	if d := h.Dispatches(); len(d) != 1 || d[0].Sender != "app-77[bot]" {
		t.Errorf("%+v", d)
	}
}

// An App lists its installations. Their tokens work for the repositories of their accounts, until the account
// suspends or removes the installation.
func TestInstallations(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	h := start(t, fakegithub.Options{}, fakegithub.Repository{})
	if err := h.AddRepository(fakegithub.Repository{Owner: "other", Name: "catalog"}); err != nil {
		t.Fatal(err)
	}
	for id, account := range map[int64]string{4711: "acme", 4712: "other"} {
		h.AddApp(fakegithub.GitHubApp{ID: "77", Installation: id, Account: account, Key: &key.PublicKey, Permissions: map[string]string{"contents": "write"}})
	}
	own := proof(t, key, "77", -time.Minute, 5*time.Minute)
	h.token = own
	list := func() string {
		h.token = own
		var found []map[string]any
		status, body := h.raw("GET", "/app/installations?per_page=100", nil)
		if err := json.Unmarshal(body, &found); err != nil || status != 200 {
			t.Fatalf("%d %s", status, body)
		}
		all := []string{}
		for _, one := range found {
			all = append(all, fmt.Sprint(one["id"], " ", one["account"].(map[string]any)["login"], " ", one["suspended_at"] != nil))
		}
		slices.Sort(all)
		return fmt.Sprint(all)
	}
	if got := list(); got != "[4711 acme false 4712 other false]" {
		t.Error(got)
	}
	const at = "/app/installations/4711/access_tokens"
	token := h.ask("POST", at, nil, 201)["token"].(string)
	dispatch := func(repo string, status int) {
		t.Helper()
		h.token = token
		h.ask("POST", "/repos/"+repo+"/dispatches", m{"event_type": "bundle"}, status)
		h.token = own
	}
	dispatch("acme/catalog", 204)
	dispatch("other/catalog", 404)
	h.Suspend(4711, true)
	dispatch("acme/catalog", 403)
	h.ask("POST", at, nil, 403)
	if got := list(); got != "[4711 acme true 4712 other false]" {
		t.Error(got)
	}
	h.Suspend(4711, false)
	dispatch("acme/catalog", 204)
	h.Uninstall(4711)
	dispatch("acme/catalog", 401)
	h.ask("POST", at, nil, 404)
	if got := list(); got != "[4712 other false]" {
		t.Error(got)
	}
	h.token = token
	if status, _ := h.raw("GET", "/app/installations", nil); status != 401 {
		t.Errorf("a token of an installation lists them: %d", status)
	}
}
