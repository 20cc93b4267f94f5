package relay

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// Each proof works only in its own way and only with the whole secret.
func TestProofs(t *testing.T) {
	t.Parallel()
	w := begin(t, setup{config: map[string]string{
		"routes": "[{path: /url, from: client_payload, proof: url, secretEnv: SECRET}, {path: /header, from: client_payload, secretEnv: SECRET}," +
			"{path: /signature, from: github, secretEnv: SECRET}]",
		"targets": everything,
	}})
	const body = `{"image": "quay.io/example/op:latest"}` // a skipped tag
	show := func(route, way, secret string) int {
		path, head := "/"+route, []string{"X-GitHub-Event", "star"}
		switch way {
		case "path":
			path += "/" + secret
		case "query":
			path += "?token=" + secret
		case "password":
			head = append(head, "Authorization", basic(secret))
		case "user":
			head = append(head, "Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(secret+":graft")))
		case "signature":
			head = append(head, "X-Hub-Signature-256", signature(body, secret))
		case "signature of nothing":
			head = append(head, "X-Hub-Signature-256", signature("", secret))
		case "cookie":
			head = append(head, "Cookie", "token="+secret)
		default:
			head = append(head, "Authorization", way+secret)
		}
		status, _ := w.post(path, body, head...)
		return status
	}
	for route, ways := range map[string][]string{
		"url": {"path", "query", "password"}, "header": {"", "Bearer ", "bearer ", "BEARER  ", "password"}, "signature": {"signature"},
	} {
		for _, way := range ways {
			if status := show(route, way, secret); status != http.StatusOK {
				t.Errorf("%s by %q: %d", route, way, status)
			}
			for _, wrong := range []string{"", "x", secret[1:], secret[:len(secret)-1], secret + "x", strings.ToUpper(secret), strings.Repeat("x", len(secret))} {
				if status := show(route, way, wrong); status != http.StatusUnauthorized {
					t.Errorf("%s by %q with %q: %d", route, way, wrong, status)
				}
			}
		}
		for _, way := range []string{"path", "query", "password", "", "Bearer ", "bearer ", "BEARER  ", "Token ", "user", "cookie", "signature", "signature of nothing"} {
			if status := show(route, way, secret); !slices.Contains(ways, way) && status != http.StatusUnauthorized && status != http.StatusNotFound {
				t.Errorf("%s by %q: %d", route, way, status)
			}
		}
	}
	if log := w.log.String(); strings.Contains(strings.ToLower(log), secret) {
		t.Errorf("the secret is in the log:\n%s", log)
	}
}

func TestSecretsThatAreNone(t *testing.T) {
	const blank = " \n"
	for text, want := range map[string]string{
		"": "it is empty", blank: "it is empty", "short": "a secret has 5 characters", "fifteen-letters": "fewer than 16", secret + "\nshort": "a secret has 5 characters",
	} {
		err := Check(&Config{GitHub: GitHub{APIURL: "https://api.github.com"}, Routes: []Route{{Path: "/a", SecretEnv: "S"}, {Path: "/b", SecretFile: "missing"}}},
			Options{Env: func(key string) (string, bool) {
				return map[string]string{"S": text, "GITHUB_TOKEN": ghToken}[key], true
			}})
		if err == nil || !strings.Contains(err.Error(), "the variable S: ") || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "the secret of /b: ") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
