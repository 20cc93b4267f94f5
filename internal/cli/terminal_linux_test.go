package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/olmgraft/graft/internal/cli/output"
	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/testkit/registry"
)

// terminal opens a pseudo-terminal of a width. The other end reads what is written to it.
func terminal(t *testing.T, columns uint16) (end, it *os.File) {
	t.Helper()
	end, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = end.Close() })
	fd := int(end.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if it, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(int(it.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}); err != nil {
		t.Fatal(err)
	}
	return end, it
}

// onTerminal runs a verb whose standard error is a terminal, and returns the terminal's input.
func onTerminal(t *testing.T, columns uint16, env map[string]string, args ...string) string {
	t.Helper()
	end, it := terminal(t, columns)
	got := make(chan string)
	go func() {
		text, _ := io.ReadAll(end) // ends with an error once the writer has closed it
		got <- string(text)
	}()
	var out bytes.Buffer
	code := Main(context.Background(), args, command.IO{In: strings.NewReader(""), Out: &out, Err: it, Env: func(key string) (string, bool) {
		v, ok := env[key]
		return v, ok
	}})
	if err := it.Close(); err != nil {
		t.Fatal(err)
	}
	text := <-got
	if code != 0 || strings.Contains(out.String(), "\x1b") {
		t.Fatalf("graft %v exits with %d:\n%s\n%s", args, code, text, out.String())
	}
	return text
}

// status matches one text of the rewritten line.
var status = regexp.MustCompile(`(?:^|\x1b\[K)( *[0-9.]+m?s  [^\x1b\r\n]+)`)

func TestProgressOnATerminal(t *testing.T) {
	s, err := registry.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for _, version := range []string{"1.0.0", "1.1.0"} {
		if _, err := s.Push("op:v"+version, registry.Small("op", "op.v"+version, version), registry.Form{}); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return name
	}
	template := write("template.yaml", "schema: olm.template.basic\nentries:\n- {schema: olm.package, name: op, defaultChannel: stable}\n"+
		"- schema: olm.channel\n  package: op\n  name: stable\n  entries:\n  - name: op.v1.0.0\n- schema: olm.bundle\n  image: "+s.Addr+"/op:v1.0.0\n")
	publish := []string{"publish", "--dry-run", s.Addr + "/op:v1.1.0", "--use-http"}
	env := func(pairs ...string) map[string]string {
		all := map[string]string{"GITHUB_WORKSPACE": dir, "TERM": "xterm"}
		for i := 0; i < len(pairs); i += 2 {
			all[pairs[i]] = pairs[i+1]
		}
		return all
	}
	catalog := filepath.Join(dir, "catalogs", "v4.19", "op", "catalog.yaml")
	write("catalogs/v4.19/op/catalog.yaml", "")
	text := onTerminal(t, 200, env(), "render", "--use-http", "--allow-outside", "--write", catalog, template)
	for _, want := range []string{"rendering " + template, ", 1 of 1 bundles, " + s.Addr + "/op:v1.0.0"} {
		if !strings.Contains(text, want) {
			t.Errorf("render shows %q, without %s", text, want)
		}
	}
	if text := onTerminal(t, 200, env(), "verify", catalog); !strings.Contains(text, "reading "+catalog) || !strings.Contains(text, "verifying op") {
		t.Errorf("verify shows %q", text)
	}
	if text := onTerminal(t, 200, env(), "image", "push", "--use-http", "--to", s.Addr+"/catalog", "--tag", "a,b", filepath.Dir(filepath.Dir(catalog))); !strings.Contains(text, "pushing "+s.Addr+"/catalog:b (2 of 2)") {
		t.Errorf("image push shows %q", text)
	}
	if text := onTerminal(t, 200, env(), "init", "--dry-run", "--allow-outside", dir); !strings.Contains(text, "looking for templates") || !strings.Contains(text, "comparing the catalogs of template.yaml") {
		t.Errorf("init shows %q", text)
	}
	write(".github/graft.yaml", "targets:\n- template: template.yaml\n  channels: [stable]\n  catalogs:\n"+
		"  - {path: catalogs/v4.19/op/catalog.yaml}\n  - {path: catalogs/v4.20/op/catalog.yaml, create: true}\n")

	const columns = 50
	for name, with := range map[string]map[string]string{"as it is": env(), "without colours": env("NO_COLOR", "1")} {
		text := onTerminal(t, columns, with, publish...)
		for _, want := range []string{"rendering catalogs/v4.19/op", "rendering catalogs/v4.20/op", "verifying catalogs/v4.20/op"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: publish shows %q, without %s", name, text, want)
			}
		}
		all := status.FindAllStringSubmatch(text, -1)
		for _, m := range all {
			if len([]rune(m[1])) >= columns {
				t.Errorf("%s: %q does not fit into %d columns", name, m[1], columns)
			}
		}
		if at := strings.LastIndex(text, "\x1b[K"); len(all) < 5 || status.MatchString(text[max(at, 0):]) {
			t.Errorf("%s: a status stays: %q", name, text)
		}
	}
	if text := onTerminal(t, columns, env("TERM", "dumb"), publish...); strings.Contains(text, "\x1b") || strings.Contains(text, "verifying") {
		t.Errorf("a dumb terminal gets %q", text)
	}
	if text := onTerminal(t, columns, env(), append([]string{"-q"}, publish...)...); text != "" {
		t.Errorf("with -q it gets %q", text)
	}
}

// Names from a template cannot control the terminal, neither in output nor in failures.
func TestHostileNamesOnATerminal(t *testing.T) {
	dir := t.TempDir()
	template := filepath.Join(dir, "template.yaml")
	const name = `op\e]0;title\a\e[2J\u202e\u200b`
	if err := os.WriteFile(template, []byte("schema: olm.template.basic\nentries:\n- {schema: olm.package, name: \""+name+"\", defaultChannel: stable}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"detect", template}, {"remove", "--bundle", "a\x1b[2J", template}, {"convert", "--write", dir + "/\x1b[2J/a", template}} {
		end, it := terminal(t, 200)
		Main(context.Background(), args, command.IO{In: strings.NewReader(""), Out: it, Err: it, Env: func(string) (string, bool) { return "", false }})
		if err := it.Close(); err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(end) // ends with an error once the writer has closed it
		shown := strings.ReplaceAll(string(text), "\r\x1b[K", "")
		if strings.ContainsAny(shown, "\x1b\a\u202e\u200b") || !strings.Contains(shown, `\u001b[2J`) {
			t.Errorf("graft %q shows %q", args, text)
		}
	}
}

// A line that is shown for more than a second updates the elapsed time.
func TestProgressOfALongStep(t *testing.T) {
	end, it := terminal(t, 80)
	a := command.New(command.IO{Out: io.Discard, Err: it, Env: func(string) (string, bool) { return "", false }})
	p := output.NewProgress(a)
	p.Begin("waiting for a")
	buf := make([]byte, 4096)
	var text string
	for deadline := time.Now().Add(10 * time.Second); !strings.Contains(text, "  1s  waiting for a") && time.Now().Before(deadline); {
		n, err := end.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		text += string(buf[:n])
	}
	p.End()
	_ = it.Close()
	if !strings.Contains(text, "  0s  waiting for a") || !strings.Contains(text, "  1s  waiting for a") {
		t.Errorf("shown is %q", text)
	}
}
