package relay

import (
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/testkit/fakegithub"
)

// GitHub is asked about each repository and receives no event.
func TestOnline(t *testing.T) {
	t.Parallel()
	w := begin(t, setup{
		config: map[string]string{"targets": `[{images: ["quay.io/example/*"], repositories: [octo/catalog, octo/gone, octo/old]}, {images: ["quay.io/example/other"], repositories: [other/catalog]}]`},
		hub: func(h *fakegithub.Server) {
			for _, r := range []fakegithub.Repository{{Owner: "octo", Name: "old", Archived: true}, {Owner: "other", Name: "catalog", Writers: []string{"someone"}}} {
				if err := h.AddRepository(r); err != nil {
					t.Fatal(err)
				}
			}
		},
	})
	ask, err := Online(t.Context(), w.config, w.options())
	if err != nil {
		t.Fatal(err)
	}
	e, err := Explain(w.config, "quay.io/example/other:v1")
	if err != nil {
		t.Fatal(err)
	}
	err = ask(&e)
	if all := failure.All(err); len(all) != 3 || !failure.Is(err, failure.ForgeAuth) {
		t.Errorf("%v", err)
	}
	for i, want := range []string{"would accept it", "HTTP 404 Not Found", "it is archived", "may not push to it"} {
		if s := e.Sends[i]; !strings.Contains(s.GitHub, want) || s.Takes == nil || *s.Takes != (i == 0) {
			t.Errorf("%s: %q, want %q", s.Repository, s.GitHub, want)
		}
	}
	if got := w.hub.Dispatches(); len(got) != 0 {
		t.Errorf("sent %+v", got)
	}
}

// The first part that differs is the reason why a pattern does not match an image.
func TestApart(t *testing.T) {
	for _, tt := range []struct {
		pattern, repository string
		near                int
		reason              string
	}{
		{"quay.io/a/*", "docker.io/a/b", 0, "the image is in docker.io"},
		{"quay.io/a/*", "quay.io/b/c", 1, "b is not a"},
		{"quay.io/a/*-bundle", "quay.io/a/op", 2, "op is not *-bundle"},
		{"quay.io/a/*", "quay.io/a/b/c", 3, "the image continues with c, and only ** matches slashes"},
		{"quay.io/a/b/c", "quay.io/a/b", 3, "the image has fewer parts"},
		{"quay.io/**/x", "quay.io/a/y", 1, "a/y is not **/x"},
		{"quay.io/Org/*", "quay.io/org/x", 1, "names of images are in lower case"},
	} {
		if near, reason := apart(tt.pattern, tt.repository); near != tt.near || reason != tt.reason {
			t.Errorf("%s and %s: %d %q", tt.pattern, tt.repository, near, reason)
		}
	}
}

// The credential is the one that openTokens uses.
func TestCredential(t *testing.T) {
	for want, g := range map[string]GitHub{
		"the App 77, installation 4711":         {App: &App{ID: "77", Installation: "4711"}, TokenFile: "x"},
		"the App 77, its installation for octo": {App: &App{ID: "77"}},
		"the token in /t":                       {TokenFile: "/t"},
		"the token in GITHUB_TOKEN":             {},
	} {
		if got := g.credential("octo/catalog"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// An App may lack the permission or the installation.
func TestOnlineApp(t *testing.T) {
	t.Parallel()
	file, key := appKey(t)
	w := begin(t, setup{
		config: map[string]string{"targets": `[{images: ["quay.io/{org}/*"], repositories: ["{org}/catalog"]}]`},
		github: map[string]string{"app": `{id: "77", keyFile: ` + file + `}`},
		hub: func(h *fakegithub.Server) {
			for i, owner := range []string{"reader", "writer"} {
				h.AddApp(fakegithub.GitHubApp{ID: "77", Installation: int64(i), Account: owner, Key: key, Permissions: map[string]string{"metadata": "read", "contents": []string{"read", "write"}[i]}})
				if err := h.AddRepository(fakegithub.Repository{Owner: owner, Name: "catalog"}); err != nil {
					t.Fatal(err)
				}
			}
		},
	})
	ask, err := Online(t.Context(), w.config, w.options())
	if err != nil {
		t.Fatal(err)
	}
	for owner, want := range map[string]string{
		"writer": "would accept it", "reader": "has read access to contents, and events need contents: write", "nobody": "the App 77 is not installed for nobody",
	} {
		e, err := Explain(w.config, "quay.io/"+owner+"/op:v1")
		if err != nil {
			t.Fatal(err)
		}
		err = ask(&e)
		if s := e.Sends[0]; !strings.Contains(s.GitHub, want) || *s.Takes != (owner == "writer") || (err == nil) != (owner == "writer") {
			t.Errorf("%s: %q, %v", owner, s.GitHub, err)
		}
	}
	if got := w.hub.Dispatches(); len(got) != 0 {
		t.Errorf("sent %+v", got)
	}
}
