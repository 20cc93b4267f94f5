package relay

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/event"
)

// GitHub sends no digest for a package that is announced by its tag alone. The body then distinguishes
// announcements: a repeated delivery has the same body.
func TestGitHubByTag(t *testing.T) {
	t.Parallel()
	w := begin(t, setup{config: map[string]string{"routes": "[{path: /github, from: github, secretEnv: SECRET}]", "targets": everything}})
	body := regexp.MustCompile(`sha256:[0-9a-f]{64}`).ReplaceAllString(testdata(t, "package.json"), "")
	for i, tt := range []struct {
		body string
		want int
	}{{body, http.StatusAccepted}, {body, http.StatusOK}, {body + "\n", http.StatusAccepted}} {
		if status, said := w.post("/github", tt.body, "X-GitHub-Event", "package", "X-Hub-Signature-256", signature(tt.body, secret)); status != tt.want {
			t.Errorf("%d: %d %s, want %d", i, status, said, tt.want)
		}
	}
	w.settled()
	ids := map[string]bool{}
	for _, d := range w.hub.Dispatches() {
		var p event.Payload
		if err := json.Unmarshal(d.Payload, &p); err != nil {
			t.Fatal(err)
		}
		ids[p.ID] = true
	}
	if len(ids) != 2 {
		t.Errorf("two announcements were sent under the ids %v", ids)
	}
}

// The configuration decides which tags are skipped, and only Azure gets a handshake.
func TestRoutesOfTheirOwn(t *testing.T) {
	t.Parallel()
	w := begin(t, setup{config: map[string]string{"skipTags": "[nightly-*]"}})
	for image, want := range map[string]string{"quay.io/example/op:nightly-7": "announces no image", "quay.io/example/op:v7": `"accepted":1`} {
		if _, said := w.hook(image); !strings.Contains(said, want) {
			t.Errorf("%s: %s, want %s", image, said, want)
		}
	}
	grid := `[{"eventType": "Microsoft.EventGrid.SubscriptionValidationEvent", "data": {"validationCode": "512d38b6"}}]`
	if status, said := w.post("/hook", grid, "Authorization", secret); strings.Contains(said, "512d38b6") {
		t.Errorf("a sender that is not Azure: %d %s", status, said)
	}
	if log := w.log.String(); strings.Contains(log, "SubscriptionValidationEvent") || strings.Contains(log, secret) {
		t.Errorf("the log has what was sent: %s", log)
	}
}
