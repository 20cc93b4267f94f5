//go:build linux || darwin

package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
)

// observed runs this program again below an observer of system calls.
var observed func()

// TestMain also runs as the process that is killed at a step.
func TestMain(m *testing.M) {
	if observed != nil && os.Getenv("ATOMICFILE_OBSERVED") != "" {
		observed()
	}
	if root := os.Getenv("ATOMICFILE_ROOT"); root != "" {
		var at int
		_, err := fmt.Sscan(os.Getenv("ATOMICFILE_STEP"), &at)
		step = func() {
			if at--; at < 0 {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
		}
		switch os.Getenv("ATOMICFILE_DOES") {
		case "change":
			err = errors.Join(err, Write(changed(root)...))
		case "stream":
			_, failed := Stream(Place{root, "a"}, func(w io.Writer) error { _, err := io.WriteString(w, "new a"); return err })
			err = errors.Join(err, failed)
		case "temp":
			dir, remove, failed := TempDir(root, "graft-test")
			if err = errors.Join(err, failed); err == nil {
				err = os.WriteFile(filepath.Join(dir, "x"), nil, 0o600)
				step()
				err = errors.Join(err, remove())
			}
		case "resume":
			err = errors.Join(err, resume(root))
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func changed(root string) []File {
	return []File{
		{Place: Place{root, "a"}, Data: []byte("new a")}, {Place: Place{root, "sub/b"}, Data: []byte("new b")},
		{Place: Place{root, "gone"}, Gone: true}, {Place: Place{root, "fresh/dir/c"}, Data: []byte("new c")},
	}
}

var (
	asItWas = map[string]string{"a": "old a", "sub/b": "old b", "gone": "old"}
	asAsked = map[string]string{"a": "new a", "sub/b": "new b", "fresh/dir/c": "new c"}
)

// repo returns a repository with the files to change.
func repo(t *testing.T) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	err = errors.Join(err, os.MkdirAll(filepath.Join(root, ".git"), 0o755), os.Mkdir(filepath.Join(root, "sub"), 0o755))
	for name, text := range asItWas {
		err = errors.Join(err, os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// standing returns all files of a folder, including git's and left-over ones.
func standing(t *testing.T, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if all[rel] = ""; err == nil && d.Type().IsRegular() {
			var text []byte
			text, err = os.ReadFile(name)
			all[rel] = string(text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// killedAt runs this program and reports whether it was killed.
func killedAt(t *testing.T, root, does string, at int) bool {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "ATOMICFILE_ROOT="+root, "ATOMICFILE_DOES="+does, fmt.Sprint("ATOMICFILE_STEP=", at))
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState.Exited() {
		t.Fatalf("step %d: %v\n%s", at, err, out)
	}
	return err != nil
}

// A run is killed at each step, and so is the run that recovers from it. The next run leaves all files with
// their old or their new content, and no other file.
func TestKilledAtEveryStep(t *testing.T) {
	before, after := 0, 0
	for at := 0; ; at++ {
		root := repo(t)
		if !killedAt(t, root, "change", at) {
			if got := standing(t, root); !maps.Equal(got, asAsked) {
				t.Errorf("without a kill: %v", got)
			}
			break
		}
		half := filepath.Join(t.TempDir(), "half")
		for again := 0; ; again++ {
			if err := errors.Join(os.RemoveAll(half), os.CopyFS(half, os.DirFS(root))); err != nil {
				t.Fatal(err)
			}
			killed := killedAt(t, half, "resume", again)
			if _, err := Locate(filepath.Join(half, "a"), false); err != nil {
				t.Errorf("step %d and %d: %v", at, again, err)
			}
			switch got := standing(t, half); {
			case maps.Equal(got, asItWas):
				before++
			case maps.Equal(got, asAsked):
				after++
			default:
				t.Errorf("step %d and %d: %v", at, again, got)
			}
			if !killed {
				break
			}
		}
	}
	t.Logf("%d kills were taken back, %d completed", before, after)
	if before < 10 || after < 10 {
		t.Error("too few results of one kind")
	}
}

func TestKilledStream(t *testing.T) {
	for at := 0; ; at++ {
		root := repo(t)
		killed := killedAt(t, root, "stream", at)
		if _, err := Locate(filepath.Join(root, "a"), false); err != nil {
			t.Error(err)
		}
		got := standing(t, root)
		if text := got["a"]; len(got) != len(asItWas) || text != "old a" && text != "new a" {
			t.Errorf("step %d: %v", at, got)
		}
		if !killed {
			return
		}
	}
}

// A temporary folder is removed once its process has ended, and not before.
func TestTempDirs(t *testing.T) {
	root, held := t.TempDir(), 0
	for at := range 4 {
		if killed := killedAt(t, root, "temp", at); killed != (at < 3) {
			t.Errorf("step %d: killed %v", at, killed)
		}
	}
	var removes []func() error
	for range 2 {
		_, remove, err := TempDir(root, "graft-test")
		if err != nil {
			t.Fatal(err)
		}
		removes = append(removes, remove)
	}
	others := []string{"graft-test-mine", "graft-test-mine.lock", "graft-test-more-AAAAAAAAAAAAAAAAAAAAAAAAAA.lock", "graft-test-AAAAAAAAAAAAAAAAAAAAAAAAAA"}
	for _, name := range others {
		if err := os.WriteFile(filepath.Join(root, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sweep(root, "graft-test")
	entries, err := os.ReadDir(root)
	for _, e := range entries {
		if e.IsDir() {
			held++
		}
	}
	if err != nil || held != 2 || len(entries) != 2*held+len(others) {
		t.Errorf("%d folders in use, %v (%v)", held, entries, err)
	}
	for _, remove := range removes {
		if err := remove(); err != nil {
			t.Error(err)
		}
	}
	if entries, err := os.ReadDir(root); err != nil || len(entries) != len(others) {
		t.Errorf("%v (%v)", entries, err)
	}
}

const temp = ".graft-AAAAAAAAAAAAAAAAAAAAAAAAAA.tmp"

// A forged journal makes Graft move, write and remove nothing.
func TestHostileJournal(t *testing.T) {
	old, evil := digest([]byte("old a")), digest([]byte("evil"))
	for name, text := range map[string]string{
		"no JSON":             "nonsense\n" + moving,
		"out by ..":           `[{"path":"../a","temp":"../` + temp + `","after":"` + evil + `"}]` + "\n" + moving,
		"absolute":            `[{"path":"/a","temp":"/` + temp + `","after":"` + evil + `"}]` + "\n" + moving,
		"unclean":             `[{"path":"sub/../a","temp":"` + temp + `","before":"` + old + `","after":"` + evil + `"}]` + "\n" + moving,
		"a hook":              `[{"path":".git/hooks/a","temp":".git/hooks/` + temp + `","after":"` + evil + `"}]` + "\n" + moving,
		"a hook on a Mac":     `[{"path":".Git/hooks/a","temp":".Git/hooks/` + temp + `","after":"` + evil + `"}]` + "\n" + moving,
		"behind a link":       `[{"path":"link/a","temp":"link/` + temp + `","before":"` + old + `","after":"` + evil + `"}]` + "\n" + moving,
		"no temporary file":   `[{"path":"a","temp":"sub/b","before":"` + old + `","after":"` + digest([]byte("old b")) + `"}]` + "\n" + moving,
		"sweeps another file": `[{"path":"a","temp":"gone"}]` + "\n",
		"other content":       `[{"path":"a","temp":"` + temp + `","before":"` + old + `","after":"` + old[1:] + "0" + `"}]` + "\n" + moving,
		"changed since":       `[{"path":"a","temp":"` + temp + `","before":"` + evil + `","after":"` + evil + `"}]` + "\n" + moving,
	} {
		root := repo(t)
		outside := t.TempDir()
		err := errors.Join(
			os.MkdirAll(filepath.Join(root, ".git", journals), 0o755), os.WriteFile(filepath.Join(root, temp), []byte("evil"), 0o644),
			os.WriteFile(filepath.Join(outside, temp), []byte("evil"), 0o644), os.WriteFile(filepath.Join(outside, "a"), []byte("old a"), 0o644),
			os.Symlink(outside, filepath.Join(root, "link")), os.WriteFile(filepath.Join(root, ".git", journals, "x"+noted), []byte(text), 0o644),
		)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Locate(filepath.Join(root, "a"), false)
		if !failure.Is(err, failure.EditRefused) || !strings.Contains(err.Error(), "completing what a killed run began") {
			t.Errorf("%s: %v", name, err)
		}
		got := standing(t, root)
		for file, text := range asItWas {
			if got[file] != text {
				t.Errorf("%s: %s holds %q", name, file, got[file])
			}
		}
		if got := standing(t, outside); got["a"] != "old a" || len(got) != 2 {
			t.Errorf("%s: files outside %v", name, got)
		}
	}
}

// Graft ignores a journal in the tree, which anyone could commit, and one in a git folder that is a link or
// belongs to another repository. It leaves the journal of a live run alone.
func TestForeignJournal(t *testing.T) {
	text := []byte(`[{"path":"a","temp":"` + temp + `","before":"` + digest([]byte("old a")) + `","after":"` + digest([]byte("evil")) + `"}]` + "\n" + moving)
	for name, put := range map[string]func(root, other string) error{
		"in the tree": func(root, _ string) error {
			return errors.Join(os.MkdirAll(filepath.Join(root, journals), 0o755), os.WriteFile(filepath.Join(root, journals, "x"+noted), text, 0o644))
		},
		"by a link": func(root, other string) error {
			return errors.Join(os.Remove(filepath.Join(root, ".git")), os.Symlink(other, filepath.Join(root, ".git")))
		},
		"by a file": func(root, other string) error {
			return errors.Join(os.Remove(filepath.Join(root, ".git")), os.WriteFile(filepath.Join(root, ".git"), []byte("gitdir: "+other+"\n"), 0o644))
		},
		"of a run that lives": func(root, other string) error {
			if err := os.CopyFS(filepath.Join(root, ".git"), os.DirFS(other)); err != nil {
				return err
			}
			f, err := os.Open(filepath.Join(root, ".git", journals, "x"+noted))
			if err == nil && !lock(f) {
				err = errors.New("it is locked")
			}
			t.Cleanup(func() { _ = f.Close() })
			return err
		},
	} {
		root, other := repo(t), t.TempDir()
		err := errors.Join(
			os.WriteFile(filepath.Join(root, temp), []byte("evil"), 0o644), os.Mkdir(filepath.Join(other, journals), 0o755),
			os.WriteFile(filepath.Join(other, journals, "x"+noted), text, 0o644), put(root, other),
		)
		if err != nil {
			t.Fatal(name, err)
		}
		before := standing(t, root)
		if _, err := Locate(filepath.Join(root, "a"), false); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := standing(t, root); !maps.Equal(got, before) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// In an added work tree, the journal is in the folder where git keeps that tree's own files.
func TestGitDirOfWorkTree(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	main, added := filepath.Join(base, "main"), filepath.Join(base, "added")
	for _, args := range [][]string{
		{"init", "-q", main}, {"-C", main, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "First"},
		{"-C", main, "worktree", "add", "-q", added},
	} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	for root, want := range map[string]string{main: filepath.Join(main, ".git"), added: filepath.Join(main, ".git", "worktrees", "added"), base: ""} {
		if got := gitDir(root); got != want {
			t.Errorf("%s: %q, want %q", root, got, want)
		}
	}
}
