package file

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An incomplete line spoils no other, and only the owner can read the file.
func TestDeadLetterUponATornLine(t *testing.T) {
	d := &deadLetters{dir: t.TempDir()}
	path := filepath.Join(d.dir, DeadName)
	if err := os.WriteFile(path, []byte(`{"to":"a/b","ty`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, letter := range []string{`"c"`, `"d"`} {
		if err := d.add([]byte(letter)); err != nil {
			t.Fatal(err)
		}
	}
	if got := string(read(t, path)); got != `{"to":"a/b","ty`+"\n\"c\"\n\"d\"\n" {
		t.Errorf("the file has %q", got)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestDeadLettersAreBounded(t *testing.T) {
	t.Parallel()
	d := &deadLetters{dir: t.TempDir()}
	path := filepath.Join(d.dir, DeadName)
	if err := os.WriteFile(path, make([]byte, deadLongest+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := d.add([]byte(`"a"`)); err != nil {
		t.Fatal(err)
	}
	before, _ := os.Stat(filepath.Join(d.dir, deadBefore))
	if now := read(t, path); !bytes.Equal(now, []byte("\"a\"\n")) || before == nil || before.Size() != deadLongest+1 {
		t.Errorf("%s", now)
	}
	d.dir = filepath.Join(d.dir, "missing")
	if err := d.add([]byte("{}")); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), DeadName) {
		t.Errorf("%v", err)
	}
}
