package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"
)

func place(path string) Place { return Place{Root: filepath.Dir(path), Path: filepath.Base(path)} }

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
	if err := Write(File{Place: place(link), Data: []byte("new")}, File{Place: place(filepath.Join(dir, "second.yaml")), Data: []byte("second")}); err != nil {
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
	leaves := filepath.Join(dir, "leaves")
	write(t, leaves, "leaves", 0o600)
	fresh := filepath.Join(dir, "new", "dir", "fresh")
	for _, second := range []string{b, filepath.Join(a, "c")} {
		if err := Write(File{Place: place(a), Data: []byte("new")}, File{Place: place(leaves), Gone: true}, File{Place: place(fresh), Data: []byte("new")}, File{Place: place(second), Data: []byte("new")}); err == nil {
			t.Fatal("no error")
		}
		if got := read(t, a); got != "old" {
			t.Errorf("a holds %q", got)
		}
		if got := read(t, leaves); got != "leaves" {
			t.Errorf("the removed file holds %q", got)
		}
		leftOver(t, dir, 3)
	}
}

// Removing a file leaves no other file behind, and removes folders that held only that file.
func TestWriteGone(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "sub", "b")
	write(t, a, "old", 0o644)
	if err := errors.Join(os.Mkdir(filepath.Dir(b), 0o755), os.WriteFile(b, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := Write(File{Place: place(a), Data: []byte("new")}, File{Place: Place{dir, "sub/b"}, Gone: true}); err != nil {
		t.Fatal(err)
	}
	if got := read(t, a); got != "new" {
		t.Errorf("a holds %q", got)
	}
	leftOver(t, dir, 1)
	if err := Write(File{Place: Place{dir, "sub/b"}, Gone: true}); err == nil {
		t.Error("removing a missing file succeeds")
	}
}

// In a change, a removed file is absent, and a new file that is removed was never there.
func TestChangeRemove(t *testing.T) {
	c := Change{Base: fstest.MapFS{"dir/a": {Data: []byte("a")}, "dir/b": {Data: []byte("b")}}}
	c.Remove("dir/a", []byte("a"))
	c.Set("dir/new", nil, []byte("new"), true)
	c.Remove("dir/new", nil)
	if _, err := fs.ReadFile(&c, "dir/a"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("reading it: %v", err)
	}
	entries, err := fs.ReadDir(&c, "dir")
	if err != nil || len(entries) != 1 || entries[0].Name() != "b" {
		t.Errorf("%v %v", entries, err)
	}
	if got := c.Names(); !slices.Equal(got, []string{"dir/a"}) {
		t.Errorf("%v", got)
	}
	c.Set("dir/a", nil, []byte("again"), true)
	if p, _ := c.Get("dir/a"); p.Gone || p.New || string(p.Before) != "a" {
		t.Errorf("%+v", p)
	}
}

// A new folder appears in the listing of its parent, beside existing entries.
func TestChangeFolders(t *testing.T) {
	c := Change{Base: fstest.MapFS{"dir/old/a": {Data: []byte("a")}}}
	c.Set("dir/new/deep/b", nil, []byte("b"), true)
	c.Set("dir/new/c", nil, []byte("c"), true)
	c.Set("dir/old/d", nil, []byte("d"), true)
	c.Set("e/f", nil, []byte("f"), true)
	var got []string
	err := fs.WalkDir(&c, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			got = append(got, name)
		}
		return err
	})
	if want := []string{"dir/new/c", "dir/new/deep/b", "dir/old/a", "dir/old/d", "e/f"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v %v", got, err)
	}
	if info, err := fs.Stat(&c, "dir/new"); err != nil || !info.IsDir() {
		t.Errorf("%v %v", info, err)
	}
	if _, err := fs.Stat(&c, "dir/ne"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func leftOver(t *testing.T, dir string, want int) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != want {
		t.Errorf("there are %d files, want %d: %v", len(entries), want, entries)
	}
}
