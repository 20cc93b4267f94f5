package oci

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/olmgraft/graft/internal/atomicfile"
)

func openCache(t testing.TB) *Cache {
	t.Helper()
	c, err := OpenCache(filepath.Join(t.TempDir(), "new", "cache"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func digestNumber(n int) string { return fmt.Sprintf("sha256:%064x", n) }

func filesOf(t testing.TB, c *Cache) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(c.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestCache(t *testing.T) {
	c := openCache(t)
	for _, content := range []string{"", "one", strings.Repeat("long ", 100_000)} {
		if err := c.Put("yaml", digestNumber(1), []byte(content)); err != nil {
			t.Fatal(err)
		}
		if got, ok := c.Get("yaml", digestNumber(1)); !ok || string(got) != content {
			t.Errorf("got %.20q %v, want %.20q", got, ok, content)
		}
	}
	for kind, digest := range map[string]string{"json": digestNumber(1), "yaml": digestNumber(2)} {
		if got, ok := c.Get(kind, digest); ok {
			t.Errorf("%s %s: got %q", kind, digest, got)
		}
	}
	if files := filesOf(t, c); len(files) != 1 {
		t.Errorf("there are %v, want one entry", files)
	}
	again, err := OpenCache(c.dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := again.Get("yaml", digestNumber(1)); !ok {
		t.Error("the next run does not find the entry")
	}
}

// Graft notices any damage to an entry and removes the entry.
func TestCacheDamage(t *testing.T) {
	content := []byte("some document\n")
	whole := func() (*Cache, string, []byte) {
		c := openCache(t)
		if err := c.Put("yaml", digestNumber(1), content); err != nil {
			t.Fatal(err)
		}
		path := filesOf(t, c)[0]
		entry, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return c, path, entry
	}
	_, _, entry := whole()
	var damaged [][]byte
	for i := range entry {
		damaged = append(damaged, entry[:i])
		flipped := bytes.Clone(entry)
		flipped[i] ^= 0x20
		damaged = append(damaged, flipped)
	}
	damaged = append(damaged, append(bytes.Clone(entry), 'x'), nil)
	c, path, _ := whole()
	for _, d := range damaged {
		if err := os.WriteFile(path, d, 0o644); err != nil {
			t.Fatal(err)
		}
		if got, ok := c.Get("yaml", digestNumber(1)); ok {
			t.Fatalf("took %q from %q", got, d)
		}
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Fatalf("the damaged entry %q is still there", d)
		}
	}
	if err := c.Put("yaml", digestNumber(1), content); err != nil {
		t.Fatal(err)
	}
	if got, ok := c.Get("yaml", digestNumber(1)); !ok || !bytes.Equal(got, content) {
		t.Errorf("after the damage: %q %v", got, ok)
	}
}

func TestCacheNames(t *testing.T) {
	c := openCache(t)
	for _, name := range [][2]string{
		{"", digestNumber(1)}, {"..", digestNumber(1)}, {"a/b", digestNumber(1)}, {"../a", digestNumber(1)}, {`a\b`, digestNumber(1)},
		{"yaml", ""}, {"yaml", "sha256:"}, {"yaml", "sha256:../../x"}, {"yaml", "v1"}, {"yaml", digestNumber(1) + "/.."},
	} {
		if err := c.Put(name[0], name[1], nil); err == nil {
			t.Errorf("%q was taken", name)
		}
		if _, ok := c.Get(name[0], name[1]); ok {
			t.Errorf("%q was given", name)
		}
	}
	if files := filesOf(t, c); len(files) != 0 {
		t.Errorf("there are %v", files)
	}
	var none *Cache
	if err := none.Put("yaml", digestNumber(1), []byte("x")); err != nil {
		t.Error(err)
	}
	if _, ok := none.Get("yaml", digestNumber(1)); ok {
		t.Error("no cache gave an entry")
	}
}

func TestCacheCannotWrite(t *testing.T) {
	c := openCache(t)
	write(t, filepath.Join(c.dir, "yaml"), "a file in the way")
	if err := c.Put("yaml", digestNumber(1), []byte("x")); err == nil {
		t.Error("no error")
	}
	if _, err := OpenCache(filepath.Join(c.dir, "yaml")); err == nil {
		t.Error("a file was opened as a cache")
	}
}

// Concurrent readers and writers of an entry see whole entries or none.
func TestCacheConcurrent(t *testing.T) {
	c := openCache(t)
	other := &Cache{c.dir}
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			mine := c
			if worker%2 == 1 {
				mine = other
			}
			for i := range 50 {
				digest := digestNumber(i % 5)
				content := bytes.Repeat(fmt.Appendf(nil, "%d-%d ", worker, i), 500)
				if err := mine.Put("yaml", digest, content); err != nil {
					t.Error(err)
				}
				if got, ok := mine.Get("yaml", digest); ok && len(got)%500 != 0 {
					t.Errorf("got half an entry of %d bytes", len(got))
				}
			}
		})
	}
	group.Wait()
	for _, path := range filesOf(t, c) {
		if strings.Contains(path, cacheTemp) {
			t.Errorf("left behind: %s", path)
		}
	}
}

// The next Put removes unfinished files of a killed process, but not those of a live one.
func TestCacheSweeps(t *testing.T) {
	c := openCache(t)
	if err := c.Put("yaml", digestNumber(1), []byte("x")); err != nil {
		t.Fatal(err)
	}
	held, remove, err := atomicfile.TempDir(c.dir, cacheTemp)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(held, "entry"), "half")
	killed := filepath.Join(c.dir, cacheTemp+"-"+strings.Repeat("A", 26))
	if err := os.Mkdir(killed, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(killed, "entry"), "half of one that was killed")
	write(t, killed+".lock", "")
	if err := c.Put("yaml", digestNumber(2), []byte("y")); err != nil {
		t.Fatal(err)
	}
	for _, file := range filesOf(t, c) {
		if strings.HasPrefix(file, killed) {
			t.Errorf("left behind: %s", file)
		}
	}
	if _, err := os.Stat(filepath.Join(held, "entry")); err != nil {
		t.Errorf("the folder of a live process: %v", err)
	}
	if err := remove(); err != nil {
		t.Error(err)
	}
	if files := filesOf(t, c); len(files) != 2 {
		t.Errorf("there are %q", files)
	}
}
