package cli

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// alone restricts PATH to the programs of this repository.
func alone(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Setenv("PATH", filepath.SplitList(ts.Getenv("PATH"))[0])
}

// changing matches text that differs in each run.
var changing = regexp.MustCompile(`127\.0\.0\.1:\d+|127\\\.0\.0\.1:\d+|sha256:[0-9a-f]{64}`)

// plain OUT writes the output of the last command to a file, with such text replaced.
func plain(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: plain OUT")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(changing.ReplaceAllString(ts.ReadFile("stdout"), "PLAIN")), 0o644))
}

// servedemo OUT runs the demo with its page, writes the page to a file, and interrupts the demo.
func serveDemo(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: servedemo OUT")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(ts.Getenv("PATH"), "graft-demo"), "--serve")
	cmd.Env = append(os.Environ(), "PATH="+ts.Getenv("PATH"))
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	address, api := "", ""
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, at, ok := strings.Cut(lines.Text(), "Pull requests and failures: "); ok {
			address = at
		}
		if _, at, ok := strings.Cut(lines.Text(), "GITHUB_API_URL="); ok {
			api, _, _ = strings.Cut(at, " ")
		}
		if strings.Contains(lines.Text(), "Interrupt ends") {
			break
		}
	}
	var pages strings.Builder
	for _, path := range []string{"", "octo/catalog/pull/2", "octo/catalog/pull/2/graph.svg"} {
		pages.WriteString(ask(ctx, ts, http.MethodGet, address+path, http.StatusOK))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(pages.String()), 0o644))
	ask(ctx, ts, http.MethodGet, api+"/octo/catalog/pull/2", http.StatusOK) // links in the output lead here
	ask(ctx, ts, http.MethodGet, address+"octo/catalog/pull/9", http.StatusNotFound)
	ask(ctx, ts, http.MethodPost, address, http.StatusMethodNotAllowed)
	ask(ctx, ts, http.MethodGet, address+"other", http.StatusNotFound)
	ts.Check(cmd.Process.Signal(os.Interrupt))
	_, err = io.Copy(io.Discard, out)
	ts.Check(err)
	ts.Check(cmd.Wait()) // exit code 0
}

func ask(ctx context.Context, ts *testscript.TestScript, method, address string, want int) string {
	req, err := http.NewRequestWithContext(ctx, method, address, nil)
	ts.Check(err)
	resp, err := http.DefaultClient.Do(req)
	ts.Check(err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	ts.Check(err)
	if resp.StatusCode != want {
		ts.Fatalf("%s %s: %s", method, address, resp.Status)
	}
	return string(body)
}
