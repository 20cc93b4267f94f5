package atomicfile

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

const locked = ".lock" // the suffix of the file that is locked while its folder is in use

var lockName = regexp.MustCompile(`-[A-Z2-7]{26}\.lock$`)

// TempDir makes a temporary folder for the name, in the system's folder if parent is "". It first removes
// folders of that name whose process has ended. Where locks do not end with their process, it leaves them.
func TempDir(parent, name string) (dir string, remove func() error, err error) {
	if parent == "" {
		parent = os.TempDir()
	}
	if !canLock {
		dir, err := os.MkdirTemp(parent, name+"-")
		return dir, func() error { return os.RemoveAll(dir) }, err
	}
	sweep(parent, name)
	for range 10 {
		dir = filepath.Join(parent, name+"-"+rand.Text())
		f, err := os.OpenFile(dir+locked, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return "", nil, err
		}
		step()
		if !lock(f) || !same(f) {
			_ = f.Close() // another run removed it before it was locked
			continue
		}
		remove = func() error {
			if err := os.RemoveAll(dir); err != nil {
				return errors.Join(err, f.Close()) // without its lock, the next run removes it
			}
			return errors.Join(os.Remove(f.Name()), f.Close())
		}
		if err := os.Mkdir(dir, 0o700); err != nil {
			return "", nil, errors.Join(err, remove())
		}
		step()
		return dir, remove, nil
	}
	return "", nil, errors.New("making a temporary folder in " + parent + ": others take it away")
}

// sweep removes folders of this user that no process has locked. A folder that cannot be removed stays.
func sweep(parent, name string) {
	found, _ := filepath.Glob(filepath.Join(globbed(parent), name+"-*"+locked)) // the pattern is valid
	for _, file := range found {
		info, err := os.Lstat(file)
		if err != nil || !info.Mode().IsRegular() || !mine(info) || !lockName.MatchString(file) || lockName.ReplaceAllString(filepath.Base(file), "") != name {
			continue
		}
		f, err := os.OpenFile(file, os.O_RDWR, 0)
		if err != nil {
			continue
		}
		if lock(f) && same(f) && os.RemoveAll(strings.TrimSuffix(file, locked)) == nil {
			_ = os.Remove(file)
		}
		_ = f.Close()
	}
}
