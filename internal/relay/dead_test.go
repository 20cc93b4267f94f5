package relay

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/relay/queue"
)

// A dead letter contains everything known about its delivery.
func TestDeadLetter(t *testing.T) {
	l := delivery{To: "octo/catalog", Type: "bundle", ID: "a", Image: "quay.io/example/op:v1", Payload: []byte(`{"id":"a"}`)}
	accepted, begun := time.UnixMilli(1_763_650_000_123), time.Now().Truncate(time.Millisecond)
	c := defaults()
	text, err := c.letter(l, queue.Item{At: accepted}, outcome{refused: "Not Found"})
	var got deadLetter
	if err == nil {
		err = json.Unmarshal(text, &got)
	}
	if err != nil || !reflect.DeepEqual(got.delivery, l) || !got.Accepted.Equal(accepted) || got.Died.Before(begun) || got.Reason != "Not Found" || got.Replay != "graft-relay --config FILE --replay /var/lib/graft/dead.jsonl" {
		t.Errorf("%s, %v", text, err)
	}
}

// Replay reports unreadable letters and renewed refusals, and continues with the others.
func TestReplayOfSeveral(t *testing.T) {
	w := begin(t, setup{})
	long := `{"id":"2","more":"` + strings.Repeat("x", 65_500) + `"}`
	file := filepath.Join(t.TempDir(), "dead.jsonl")
	lines := []string{
		`{"to":"octo/catalog","type":"bundle","id":"1","image":"quay.io/example/op:v1","payload":{"id":"1"}}`, `{"to":"oc`,
		`{"to":"octo/gone","type":"bundle","id":"3","image":"quay.io/example/op:v3","payload":{"id":"3"}}`,
		`{"to":"octo/other","type":"second","id":"2","image":"quay.io/example/op:v2","payload":` + long + `}`,
	}
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	err := Replay(t.Context(), w.config, w.options(), file, &out)
	if all := failure.All(err); len(all) != 2 || all[0].Line != 2 || all[0].File != file || all[0].Code != failure.Usage || !strings.Contains(all[1].Message, "octo/gone") {
		t.Errorf("%v", err)
	}
	if want := "quay.io/example/op:v1: sent to octo/catalog, id 1\nquay.io/example/op:v2: sent to octo/other, id 2\n"; out.String() != want {
		t.Errorf("it says %q", out.String())
	}
	got := w.hub.Dispatches()
	if len(got) != 2 || got[0].Repo != "catalog" || got[0].EventType != "bundle" || string(got[0].Payload) != `{"id":"1"}` || got[1].Repo != "other" || got[1].EventType != "second" || string(got[1].Payload) != long {
		t.Errorf("%d events were sent", len(got))
	}
	if err := Replay(t.Context(), w.config, w.options(), "missing", &out); !failure.Is(err, failure.Usage) {
		t.Errorf("%v", err)
	}
}
