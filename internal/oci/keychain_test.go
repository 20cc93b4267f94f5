package oci

import (
	"context"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/testkit/registry"
)

func basic(user, password string) string {
	return base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
}

// authFileEnv returns an environment in which REGISTRY_AUTH_FILE names a file with the content.
func authFileEnv(t testing.TB, content string) map[string]string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "auth.json")
	write(t, path, content)
	return map[string]string{"REGISTRY_AUTH_FILE": path}
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestAuthKeys(t *testing.T) {
	cases := []struct{ name, file, repo, want string }{
		{"registry", `{"auths":{"quay.io":{"auth":"` + basic("r", "p") + `"}}}`, "quay.io/acme/op", "r:p"},
		{"longest prefix", `{"auths":{"quay.io":{"auth":"` + basic("r", "p") + `"},"quay.io/acme/op":{"auth":"` + basic("o", "p") + `"},"quay.io/acme":{"auth":"` + basic("n", "p") + `"}}}`, "quay.io/acme/op", "o:p"},
		{"namespace", `{"auths":{"quay.io":{"auth":"` + basic("r", "p") + `"},"quay.io/acme":{"auth":"` + basic("n", "p") + `"}}}`, "quay.io/acme/op", "n:p"},
		{"part of a name", `{"auths":{"quay.io/ac":{"auth":"` + basic("n", "p") + `"}}}`, "quay.io/acme/op", ":"},
		{"other port", `{"auths":{"quay.io":{"auth":"` + basic("r", "p") + `"}}}`, "quay.io:8443/acme/op", ":"},
		{"address", `{"auths":{"https://quay.io/v1/":{"auth":"` + basic("a", "p") + `"}}}`, "quay.io/acme/op", "a:p"},
		{"docker hub", `{"auths":{"https://index.docker.io/v1/":{"auth":"` + basic("d", "p") + `"}}}`, "docker.io/acme/op", "d:p"},
		{"docker.io", `{"auths":{"docker.io/acme":{"auth":"` + basic("d", "p") + `"}}}`, "docker.io/acme/op", "d:p"},
		{"colon in password", `{"auths":{"quay.io":{"auth":"` + basic("r", "p:q") + `"}}}`, "quay.io/acme/op", "r:p:q"},
		{"spelled out", `{"auths":{"quay.io":{"username":"u","password":"w"}}}`, "quay.io/acme/op", "u:w"},
		{"marker of a helper", `{"auths":{"quay.io":{}}}`, "quay.io/acme/op", ":"},
		{"nothing", `{}`, "quay.io/acme/op", ":"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			file, err := parseAuthFile("auth.json", []byte(tc.file))
			if err != nil {
				t.Fatal(err)
			}
			got, err := (&keychain{}).find(context.Background(), file, mustRepo(t, tc.repo))
			if err != nil || got.Username+":"+got.Password != tc.want {
				t.Errorf("got %s:%s, %v, want %s", got.Username, got.Password, err, tc.want)
			}
		})
	}
}

func TestAuthFileErrorsHideContent(t *testing.T) {
	for _, content := range []string{`{"auths":{"quay.io":{"auth":"hunter2hunter2!"}}}`, `{"auths":{"quay.io":{"auth":"` + base64.StdEncoding.EncodeToString([]byte("hunter2")) + `"}}}`, `{"auths":{"quay.io":"hunter2"}}`, `{"auths": hunter2`} {
		env := authFileEnv(t, content)
		s := startServer(t)
		c, _ := newClient(t, s, env)
		_, err := c.Pull(context.Background(), "quay.io/acme/op:v1")
		f := wantFailure(t, err, failure.RegistryAuth, "quay.io/acme/op:v1", "REGISTRY_AUTH_FILE")
		if got := f.Message + f.Remedy; strings.Contains(got, "hunter2") {
			t.Errorf("content is in %s", got)
		}
	}
}

// The files in order of precedence. Each hides those after it.
func TestAuthPlaces(t *testing.T) {
	root := t.TempDir()
	env := map[string]string{
		"REGISTRY_AUTH_FILE": filepath.Join(root, "explicit.json"),
		"DOCKER_CONFIG":      filepath.Join(root, "docker"),
		"XDG_RUNTIME_DIR":    filepath.Join(root, "run"),
		"XDG_CONFIG_HOME":    filepath.Join(root, "config"),
	}
	home := filepath.Join(root, "home")
	places := []string{"explicit.json", "docker/config.json", "run/containers/auth.json", "config/containers/auth.json"}
	for _, place := range places {
		write(t, filepath.Join(root, place), `{"auths":{"quay.io":{"auth":"`+basic(place, "p")+`"}}}`)
	}
	for _, place := range places {
		k := &keychain{getenv: func(n string) string { return env[n] }, home: home, uid: -1}
		got, err := k.resolve(context.Background(), mustRepo(t, "quay.io/acme/op"))
		if err != nil || got.config.Username != place || got.from != filepath.Join(root, place) {
			t.Fatalf("got %q from %s, %v, want %q", got.config.Username, got.from, err, place)
		}
		// A missing file, or one with other registries only, hides nothing.
		write(t, filepath.Join(root, place), `{"auths":{"other.io":{"auth":"`+basic("x", "p")+`"}}}`)
	}

	env = map[string]string{}
	for _, place := range []string{".config/containers/auth.json", ".docker/config.json"} {
		write(t, filepath.Join(home, place), `{"auths":{"quay.io":{"auth":"`+basic(place, "p")+`"}}}`)
	}
	for _, place := range []string{".config/containers/auth.json", ".docker/config.json"} {
		k := &keychain{getenv: func(n string) string { return env[n] }, home: home, uid: -1}
		got, err := k.resolve(context.Background(), mustRepo(t, "quay.io/acme/op"))
		if err != nil || got.config.Username != place {
			t.Fatalf("got %q, %v, want %q", got.config.Username, err, place)
		}
		// A broken file in a default place is skipped.
		write(t, filepath.Join(home, place), `{`)
	}
}

// Given credentials override all files, and the given token overrides the environment's.
func TestGivenCredentials(t *testing.T) {
	env := authFileEnv(t, `{"auths":{"quay.io":{"auth":"`+basic("file", "p")+`"}}}`)
	env["GITHUB_TOKEN"] = "of-environment"
	k := &keychain{auth: `{"auths":{"quay.io":{"auth":"` + basic("given", "p") + `"}}}`, token: "given", getenv: func(n string) string { return env[n] }, home: "/nonexistent", uid: -1}
	if got, err := k.resolve(context.Background(), mustRepo(t, "quay.io/acme/op")); err != nil || got.config.Username != "given" {
		t.Errorf("%+v %v", got.config, err)
	}
	if got, err := k.resolve(context.Background(), mustRepo(t, "ghcr.io/acme/op")); err != nil || got.config.Password != "given" {
		t.Errorf("%+v %v", got.config, err)
	}
	k = &keychain{auth: "hunter2", getenv: func(string) string { return "" }, home: "/nonexistent", uid: -1}
	_, err := k.resolve(context.Background(), mustRepo(t, "quay.io/acme/op"))
	if f := wantFailure(t, err, failure.RegistryAuth, "", "credentials given"); strings.Contains(f.Message+f.Remedy, "hunter2") {
		t.Errorf("the secret is in %s", f.Message)
	}
}

func TestHelpers(t *testing.T) {
	bin := t.TempDir()
	script := func(name, body string) {
		write(t, filepath.Join(bin, "docker-credential-"+name), "#!/bin/sh\nread server\n"+body+"\n")
		if err := os.Chmod(filepath.Join(bin, "docker-credential-"+name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	script("good", `echo '{"ServerURL":"'$server'","Username":"'$server'","Secret":"pw"}'`)
	script("token", `echo '{"Username":"<token>","Secret":"identity"}'`)
	script("none", `echo 'credentials not found in native keychain'; exit 1`)
	script("bad", `echo 'hunter2 is the secret'; exit 1`)
	script("odd", `echo 'hunter2'`)
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))

	find := func(content, repo string) (credentials, error) {
		env := authFileEnv(t, content)
		k := &keychain{getenv: func(n string) string { return env[n] }, home: "/nonexistent", uid: -1}
		return k.resolve(context.Background(), mustRepo(t, repo))
	}
	ok := []struct{ content, repo, user, password, identity string }{
		{`{"credHelpers":{"quay.io":"good"}}`, "quay.io/acme/op", "quay.io", "pw", ""},
		{`{"credHelpers":{"quay.io":"good"}}`, "other.io/acme/op", "", "", ""},
		{`{"credHelpers":{"quay.io":"token"}}`, "quay.io/acme/op", "", "", "identity"},
		{`{"credsStore":"good","auths":{"quay.io":{}}}`, "quay.io/acme/op", "quay.io", "pw", ""},
		{`{"credsStore":"good"}`, "docker.io/acme/op", "https://index.docker.io/v1/", "pw", ""},
		{`{"credsStore":"good","auths":{"quay.io/acme":{"auth":"` + basic("a", "b") + `"}}}`, "quay.io/acme/op", "a", "b", ""},
		{`{"credsStore":"none"}`, "quay.io/acme/op", "", "", ""},
	}
	for _, tc := range ok {
		got, err := find(tc.content, tc.repo)
		if err != nil || got.config.Username != tc.user || got.config.Password != tc.password || got.config.IdentityToken != tc.identity {
			t.Errorf("%s, %s: got %+v, %v", tc.content, tc.repo, got.config, err)
		}
	}
	for _, helper := range []string{"bad", "odd", "missing", "../bad"} {
		_, err := find(`{"credHelpers":{"quay.io":"`+helper+`"}}`, "quay.io/acme/op")
		f := wantFailure(t, err, failure.RegistryAuth, "", "docker-credential-"+helper, "quay.io")
		if strings.Contains(f.Message+f.Remedy, "hunter2") {
			t.Errorf("the secret is in %s", f.Message)
		}
	}
}

func TestSignIn(t *testing.T) {
	good := `{"auths":{"` + testHost + `":{"auth":"` + basic("user", "right") + `"}}}`
	bad := `{"auths":{"` + testHost + `":{"auth":"` + basic("user", "wrong") + `"}}}`
	for _, scheme := range []string{"basic", "bearer"} {
		t.Run(scheme, func(t *testing.T) {
			s := startServer(t)
			bundle := sampleBundle()
			push(t, s, "acme/operator:v1", bundle, registry.Form{})
			s.SetAuth(registry.Auth{Scheme: scheme, Username: "user", Password: "right"})
			c, _ := newClient(t, s, authFileEnv(t, good))
			got, err := c.Pull(context.Background(), testRepo+":v1")
			if err != nil {
				t.Fatal(err)
			}
			wantFiles(t, got.Files, bundle.Files)

			c, _ = newClient(t, s, authFileEnv(t, bad))
			_, err = c.Pull(context.Background(), testRepo+":v1")
			wantFailure(t, err, failure.RegistryAuth, testRepo+":v1", "credentials from", "auth.json")

			c, _ = newClient(t, s, nil)
			_, err = c.Pull(context.Background(), testRepo+":v1")
			wantFailure(t, err, failure.RegistryAuth, testRepo+":v1", "log in")
			_, err = c.Tags(context.Background(), testRepo)
			wantFailure(t, err, failure.RegistryAuth, testRepo, "log in")
		})
	}
}

// Errors of a token server concern credentials, never the image.
func TestTokenServerFaults(t *testing.T) {
	for status, code := range map[int]failure.Code{401: failure.RegistryAuth, 403: failure.RegistryAuth, 404: failure.RegistryAuth, 500: failure.RegistryUnavailable, 429: failure.RegistryUnavailable} {
		s := startServer(t)
		s.SetAuth(registry.Auth{Scheme: "bearer"})
		push(t, s, "acme/operator:v1", sampleBundle(), registry.Form{})
		s.SetScript(on(func(r registry.Request) bool { return r.Kind == registry.Token }, 0, registry.Fault{Status: status}))
		c, _ := newClient(t, s, nil)
		_, err := c.Pull(context.Background(), testRepo+":v1")
		wantFailure(t, err, code, testRepo+":v1", "asking for a token")
	}
	s := startServer(t)
	s.SetAuth(registry.Auth{Scheme: "bearer"})
	s.SetScript(on(func(r registry.Request) bool { return r.Kind == registry.Token }, 0,
		registry.Fault{Alter: func([]byte) []byte { return []byte(`{"refresh_token":"hunter2"}`) }}))
	c, _ := newClient(t, s, nil)
	_, err := c.Pull(context.Background(), testRepo+":v1")
	f := wantFailure(t, err, failure.RegistryUnavailable, testRepo+":v1", "no token")
	if strings.Contains(f.Message, "hunter2") {
		t.Errorf("the secret is in %s", f.Message)
	}
}

func TestGitHubToken(t *testing.T) {
	const ref = "ghcr.io/acme/operator:v1"
	s := startServer(t)
	bundle := sampleBundle()
	push(t, s, "acme/operator:v1", bundle, registry.Form{})
	push(t, s, "acme/public:v1", bundle, registry.Form{})
	s.SetAuth(registry.Auth{Scheme: "bearer", Username: "octo", Password: "ghs_right", Public: []string{"acme/public"}})
	pull := func(env map[string]string, ref string) error {
		c, _ := newClient(t, s, env)
		_, err := c.Pull(context.Background(), ref)
		return err
	}
	right := map[string]string{"GITHUB_TOKEN": "ghs_right", "GITHUB_ACTOR": "octo"}
	wrong := map[string]string{"GITHUB_TOKEN": "ghs_wrong", "GITHUB_ACTOR": "octo"}
	if err := pull(right, ref); err != nil {
		t.Error(err)
	}
	// A public image can be read even if the registry refuses the workflow's token.
	if err := pull(wrong, "ghcr.io/acme/public:v1"); err != nil {
		t.Error(err)
	}
	wantFailure(t, pull(wrong, ref), failure.RegistryAuth, ref)
	// The workflow's token goes to no other registry, and is not used where credentials are configured.
	wantFailure(t, pull(right, testRepo+":v1"), failure.RegistryAuth, testRepo+":v1")
	configured := authFileEnv(t, `{"auths":{"ghcr.io":{"auth":"`+basic("octo", "other")+`"}}}`)
	configured["GITHUB_TOKEN"], configured["GITHUB_ACTOR"] = "ghs_right", "octo"
	wantFailure(t, pull(configured, ref), failure.RegistryAuth, ref, "auth.json")
}

// The token of an Enterprise Server goes to that server's registry, and not to github.com's.
func TestGitHubTokenOfAnotherServer(t *testing.T) {
	for _, tt := range []struct {
		server, registry string
		want             bool
	}{
		{"", "ghcr.io", true},
		{"https://github.com", "ghcr.io", true},
		{"https://github.com", "containers.github.com", false},
		{"https://git.example.com", "ghcr.io", false},
		{"https://git.example.com/", "containers.git.example.com", true},
		{"https://octo.ghe.com", "containers.octo.ghe.com", true},
		{"https://git.example.com", "quay.io", false},
		{"git.example.com", "ghcr.io", false},
		{"://", "ghcr.io", false},
	} {
		env := map[string]string{"GITHUB_TOKEN": "ghs_right", "GITHUB_SERVER_URL": tt.server}
		k := &keychain{getenv: func(n string) string { return env[n] }, home: "/nonexistent", uid: -1}
		got, err := k.resolve(context.Background(), mustRepo(t, tt.registry+"/acme/op"))
		if err != nil || (got.config.Password == "ghs_right") != tt.want {
			t.Errorf("%s, %s: %+v, %v", tt.server, tt.registry, got.config, err)
		}
	}
}
