package atomicfile

import (
	"os"
	"path/filepath"
	"testing"
)

func write(t *testing.T, path, data string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(data), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestWriteKeepsModeAndLink(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real.yaml"), filepath.Join(dir, "link.yaml")
	write(t, real, "old", 0o640)
	if err := os.Symlink("real.yaml", link); err != nil {
		t.Fatal(err)
	}
	if err := Write(File{link, []byte("new")}, File{filepath.Join(dir, "second.yaml"), []byte("second")}); err != nil {
		t.Fatal(err)
	}
	if got := read(t, real); got != "new" {
		t.Errorf("the link's target holds %q", got)
	}
	if info, _ := os.Lstat(link); info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is gone")
	}
	if info, _ := os.Stat(real); info.Mode().Perm() != 0o640 {
		t.Errorf("mode is %v", info.Mode())
	}
	leftOver(t, dir, 3)
}

func TestWriteAllOrNone(t *testing.T) {
	dir := t.TempDir()
	a := filepath.Join(dir, "a")
	write(t, a, "old", 0o644)
	// A directory that is not empty cannot be replaced by a file: the second rename
	// fails after the first was done.
	b := filepath.Join(dir, "b")
	if err := os.MkdirAll(filepath.Join(b, "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	fresh := filepath.Join(dir, "new", "dir", "fresh")
	for _, second := range []string{b, filepath.Join(a, "c")} {
		if err := Write(File{a, []byte("new")}, File{fresh, []byte("new")}, File{second, []byte("new")}); err == nil {
			t.Fatal("no error")
		}
		if got := read(t, a); got != "old" {
			t.Errorf("a holds %q", got)
		}
		leftOver(t, dir, 2)
	}
}

func leftOver(t *testing.T, dir string, want int) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != want {
		t.Errorf("%d files stand there, want %d: %v", len(entries), want, entries)
	}
}
