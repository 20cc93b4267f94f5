package cli

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// verbRun is a verb in its own repository, below a folder.
type verbRun struct {
	base string
	args []string
}

// newVerbRun creates the repository.
func newVerbRun(base string, w writer) (*verbRun, error) {
	v := &verbRun{base: base}
	for i, arg := range w.args {
		if v.args = append(v.args, arg); arg == "OUT" {
			v.args[i] = filepath.Join("files", w.out)
		}
	}
	return v, errors.Join(
		os.CopyFS(v.repo(), os.DirFS("testdata/outside/repo")), os.CopyFS(filepath.Join(v.repo(), "files"), os.DirFS("testdata/outside/outside")),
		os.Mkdir(filepath.Join(v.repo(), ".git"), 0o755), os.Mkdir(filepath.Join(base, "tmp"), 0o755),
	)
}

func (v *verbRun) repo() string { return filepath.Join(v.base, "repo") }

func (v *verbRun) command() (*exec.Cmd, *bytes.Buffer) {
	graft, err := exec.LookPath("graft") // this program under that name
	cmd := exec.Command(graft, v.args...)
	cmd.Err = errors.Join(cmd.Err, err)
	cmd.Dir = v.repo()
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + v.base, "TMPDIR=" + filepath.Join(v.base, "tmp")}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	return cmd, &out
}

var besides = regexp.MustCompile(`/\.graft-[A-Z2-7]{26}\.tmp$|/\.git/graft/`)

// files returns all files. beside are the left-over ones.
func (v *verbRun) files() (files map[string]string, beside []string, err error) {
	files = map[string]string{}
	err = filepath.WalkDir(v.base, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		if besides.MatchString(name) || strings.HasPrefix(name, filepath.Join(v.base, "tmp")) {
			beside = append(beside, name)
		} else {
			files[strings.TrimPrefix(name, v.base)] = string(text)
		}
		return err
	})
	return files, beside, err
}

// Each system call of a verb that changes a file fails once. All files have their old or their new content, as
// the run reports, and the next run leaves no other file.
func TestVerbsWhereEachWriteFails(t *testing.T) {
	t.Parallel()
	type place struct {
		writer
		verb          string
		before, after map[string]string
		broken
	}
	var all []place
	calls := 0
	for _, verb := range slices.Sorted(maps.Keys(writers)) {
		for _, w := range writers[verb] {
			v, err := newVerbRun(t.TempDir(), w)
			if err != nil {
				t.Fatal(err)
			}
			before, _, err := v.files()
			if err != nil {
				t.Fatal(err)
			}
			cmd, out := v.command()
			r := &recorder{dir: v.base}
			if err := r.observe(cmd); err != nil || !cmd.ProcessState.Success() {
				t.Fatalf("%q: %v\n%s", v.args, err, out)
			}
			after, beside, err := v.files()
			if err != nil || len(beside) > 0 {
				t.Fatalf("%q: %v, %v", v.args, beside, err)
			}
			for _, b := range r.order {
				all = append(all, place{w, verb, before, after, b})
			}
			for _, n := range r.seen {
				calls += n
			}
		}
	}
	t.Logf("%d calls of %d verbs change files, and fail in %d ways", calls, len(writers), len(all))
	tries(t, 8, 40, all, func(dir string, at place) error {
		v, err := newVerbRun(dir, at.writer)
		if err != nil {
			return err
		}
		cmd, out := v.command()
		r := &recorder{dir: v.base, fails: at.broken}
		if err := r.observe(cmd); err != nil {
			return err
		}
		code, err := sound(cmd, out.String())
		if err != nil {
			return err
		}
		want := at.before
		if code == 0 {
			want = at.after
		}
		got, beside, err := v.files()
		if code != 0 && at.out == "empty" {
			// A folder without its index is not an image.
			maps.DeleteFunc(got, func(name, _ string) bool {
				return strings.HasPrefix(name, "/repo/files/empty/") && !strings.HasSuffix(name, "/index.json")
			})
		}
		if err != nil || !maps.Equal(got, want) {
			return fmt.Errorf("%q ends with %d, and files are others: %w\n%s\n%v", v.args, code, err, out, got)
		}
		if code == 0 && len(beside) == 0 {
			return nil
		}
		again, said := v.command()
		if err := again.Run(); err != nil && code != 0 {
			return fmt.Errorf("after\n%s\nthe next run: %w\n%s", out, err, said)
		}
		if got, beside, err = v.files(); err != nil || len(beside) > 0 || !maps.Equal(got, at.after) {
			return fmt.Errorf("after\n%s\nand the next run\n%s\nare left %v, %w\n%v", out, said, beside, err, got)
		}
		return nil
	})
}
