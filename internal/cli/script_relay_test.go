package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// freeaddress NAME sets a variable to an unused address.
func freeAddress(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: freeaddress NAME")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Setenv(args[0], l.Addr().String())
	ts.Check(l.Close())
}

// announce STATUS REPOSITORY:TAG URL sends the distribution project's announcements for a pushed image to an
// address, and checks the status for its manifest; those for its blobs are ignored. Like a registry, it retries
// until it gets an answer.
func announce(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: announce STATUS REPOSITORY:TAG URL")
	}
	bodies, err := serversOf(ts).Registry.Announcements(args[1])
	ts.Check(err)
	for i, body := range bodies {
		want := "200"
		if i == len(bodies)-1 {
			want = args[0]
		}
		if got := itoa(send(ts, args[2], body)); got != want {
			ts.Fatalf("the answer is %s, want %s, to %s", got, want, body)
		}
	}
}

func send(ts *testscript.TestScript, url string, body []byte) int {
	var last error
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		req, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
		ts.Check(err)
		req.Header.Set("Authorization", "Bearer "+ts.Getenv("SECRET"))
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			last = err
			continue
		}
		ts.Check(resp.Body.Close())
		return resp.StatusCode
	}
	ts.Fatalf("there is no answer: %v", last)
	return 0
}

// dispatched N waits for events to GitHub, checks their number, and writes each as a workflow receives it, to
// event.1.json and so on.
func dispatched(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: dispatched N")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	hub := serversOf(ts).Forge
	all := hub.Dispatches()
	for end := time.Now().Add(time.Minute); len(all) < want && time.Now().Before(end); all = hub.Dispatches() {
		time.Sleep(5 * time.Millisecond)
	}
	if len(all) != want {
		ts.Fatalf("%d events were sent: %v", len(all), all)
	}
	for i, d := range all {
		event, err := json.Marshal(map[string]any{
			"action": d.EventType, "branch": "main", "client_payload": d.Payload,
			"repository": map[string]any{"full_name": d.Owner + "/" + d.Repo}, "sender": map[string]any{"login": d.Sender},
		})
		ts.Check(err)
		ts.Check(os.WriteFile(filepath.Join(ts.Getenv("WORK"), fmt.Sprintf("event.%d.json", i+1)), event, 0o644))
	}
}
