package scratch_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/olmgraft/graft/internal/atomicfile"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/scratch"
)

func repo() (fstest.MapFS, *atomicfile.Change) {
	base := fstest.MapFS{
		".git/config":      {Data: []byte("secret")},
		"README.md":        {Data: []byte("read me\n")},
		"bin/tool.sh":      {Data: []byte("#!/bin/sh\necho made > made.txt\n"), Mode: 0o755},
		"real/catalog.txt": {Data: []byte("old\n")},
		"linked":           {Data: []byte("real"), Mode: fs.ModeSymlink},
		"file":             {Data: []byte("real/catalog.txt"), Mode: fs.ModeSymlink},
		"out":              {Data: []byte("../../etc"), Mode: fs.ModeSymlink},
		"absolute":         {Data: []byte("/etc/passwd"), Mode: fs.ModeSymlink},
	}
	c := &atomicfile.Change{Base: base}
	c.Set("linked/catalog.txt", []byte("old\n"), []byte("new\n"), false)
	c.Set("deep/er/x.txt", nil, []byte("x\n"), true)
	return base, c
}

func run(ctx context.Context, commands ...string) (got map[string][]byte, lines []string, err error) {
	base, change := repo()
	got, err = scratch.Run(ctx, base, change, commands, func(line string) { lines = append(lines, line) })
	return got, lines, err
}

func TestRun(t *testing.T) {
	t.Setenv("GITHUB_TOKEN", "t0ken")
	t.Setenv("ACTIONS_RUNTIME_TOKEN", "t0ken")
	for command, want := range map[string]string{
		"true":          "",
		"./bin/tool.sh": "made.txt=made",
		"cat linked/catalog.txt file deep/er/x.txt > got": "got=new new x",
		"ls -A > got":                               "got=README.md bin deep file got linked real",
		"echo more >> file":                         "real/catalog.txt=new more",
		"echo 'read me' > README.md":                "",
		"cp README.md a && mv a README.md":          "",
		"rm README.md; : > deep/er/x.txt":           "README.md is gone=; deep/er/x.txt=",
		"chmod -R a-w bin":                          "",
		"export -p | grep -c t0ken > got; true":     "got=0",
		"ls -A \"$HOME\" > got":                     "got=",
		"(sleep 60; echo late > late) & echo > now": "now=",
	} {
		got, _, err := run(t.Context(), command)
		var texts []string
		for name, text := range got {
			if text == nil {
				name += " is gone"
			}
			texts = append(texts, name+"="+strings.Join(strings.Fields(string(text)), " "))
		}
		slices.Sort(texts)
		if err != nil || strings.Join(texts, "; ") != want {
			t.Errorf("%s: %v (%v), want %s", command, texts, err, want)
		}
	}
}

func TestRefused(t *testing.T) {
	for command, want := range map[string]string{
		"rm linked":                              "linked is a symbolic link, and gone",
		"ln -s README.md new":                    "new is a symbolic link that was not there",
		"rm linked; ln -s /etc linked":           "linked is a symbolic link that was not there",
		"rm file; echo x > file":                 "file is no file any more",
		"echo first; echo why >&2; exit 3":       "running echo first; echo why >&2; exit 3: exit status 3: why",
		"no-such-program-here":                   "exit status 127",
		"printf 'a\\033[1m::error::b\\n'; false": "exit status 1: a [1m::error::b",
	} {
		_, _, err := run(t.Context(), command)
		if !failure.Is(err, failure.EditRefused) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", command, err, want)
		}
	}
}

// The output of a command is bounded.
func TestOutput(t *testing.T) {
	_, lines, err := run(t.Context(), `i=0; while [ $i -lt 3000 ]; do echo "##[error] $i ......................................................."; i=$((i+1)); done; echo last`)
	if err != nil || len(lines) > 1200 || lines[0] != "##[error] 0 ......................................................." || !strings.Contains(lines[len(lines)-1], "beyond 64 KiB") {
		t.Errorf("%d lines, the last %q (%v)", len(lines), lines[len(lines)-1], err)
	}
}

// When the context ends, the command and all processes that it started end too, and no file remains.
func TestTimeLimit(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, _, err := run(ctx, "sleep 60 | cat")
	if !failure.Is(err, failure.Interrupted) || time.Since(began) > 10*time.Second {
		t.Errorf("after %s: %v", time.Since(began), err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Error(fmt.Sprint(left), err)
	}
}
