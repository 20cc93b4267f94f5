package command_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/command"
	relay "github.com/olmgraft/graft/internal/relay/command"
)

// The page shows the output of check for the configuration on the page.
func TestPageShowsCheck(t *testing.T) {
	text, err := os.ReadFile("../../../docs/relay.md")
	if err != nil {
		t.Fatal(err)
	}
	between := func(s, begin, end string) string {
		_, rest, found := strings.Cut(s, begin)
		inside, _, ends := strings.Cut(rest, end)
		if !found || !ends {
			t.Fatalf("docs/relay.md has no %q", begin)
		}
		return inside
	}
	file := filepath.Join(t.TempDir(), "relay.yaml")
	if err := os.WriteFile(file, []byte(between(string(text), "```yaml\n", "```")), 0o600); err != nil {
		t.Fatal(err)
	}
	shown := between(between(string(text), "<!-- check -->", "<!-- /check -->"), "$ graft-relay ", "```")
	line, want, _ := strings.Cut(shown, "\n")
	args := strings.Fields(strings.Replace(line, "relay.yaml", file, 1))
	var out, errs bytes.Buffer
	code := relay.Main(context.Background(), args, command.IO{Out: &out, Err: &errs, Env: func(string) (string, bool) { return "", false }})
	if code != 0 || out.String() != want {
		t.Errorf("%d %s\n%s\nwant\n%s", code, errs.String(), out.String(), want)
	}
}
