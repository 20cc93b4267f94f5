// Package scratch runs commands in a copy of a repository's files and reports which files they changed. It keeps
// secrets out of their environment. It is no sandbox: the commands run as the user who runs Graft.
package scratch

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/olmgraft/graft/internal/atomicfile"
	"github.com/olmgraft/graft/internal/failure"
)

// mostFile is the largest file, in bytes, that commands may write.
const mostFile = 48 << 20

// copied is a copy of the repository in a temporary directory.
type copied struct {
	root  *os.Root
	files map[string][sha256.Size]byte
	links map[string]string
}

// Run applies a change to a copy of the files, runs the commands there one after another, and returns the files
// that differ afterwards; a nil content means a removed file. It stops at the first command that fails and when
// the context ends. It passes each line that the commands print to log.
func Run(ctx context.Context, base fs.FS, change *atomicfile.Change, commands []string, log func(line string)) (map[string][]byte, error) {
	dir, remove, err := atomicfile.TempDir("", "graft-run")
	if err != nil {
		return nil, failure.New(failure.EditRefused, "making a copy for commands: %w", err).Fix("Make the directory for temporary files writable.")
	}
	defer func() { _ = remove() }() // files that the commands made undeletable remain
	tree, home := filepath.Join(dir, "tree"), filepath.Join(dir, "home")
	c := &copied{files: map[string][sha256.Size]byte{}, links: map[string]string{}}
	for _, folder := range []string{tree, home} {
		if err == nil {
			err = os.Mkdir(folder, 0o700)
		}
	}
	if err == nil {
		c.root, err = os.OpenRoot(tree)
	}
	if err == nil {
		defer c.root.Close()
		err = c.fill(ctx, base, change)
	}
	if err != nil {
		return nil, failure.New(failure.EditRefused, "making a copy for commands: %w", err).Fix("Make the directory for temporary files large enough and writable.")
	}
	for _, command := range commands {
		if err := run(ctx, command, tree, home, log); err != nil {
			return nil, err
		}
	}
	return c.changed(ctx)
}

// fill writes the files of the base, and then those of the change. It skips links that lead out of the tree.
func (c *copied) fill(ctx context.Context, base fs.FS, change *atomicfile.Change) error {
	err := fs.WalkDir(base, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err == nil:
			err = ctx.Err()
		case name != ".":
			err = fmt.Errorf("reading %s: %w", name, err)
		}
		switch {
		case err != nil:
			return err
		case name == ".git" && d.IsDir():
			return fs.SkipDir
		case name == ".git" || name == ".":
			return nil
		case d.IsDir():
			return c.root.Mkdir(name, 0o700)
		case d.Type()&fs.ModeSymlink != 0:
			return c.link(base, name)
		case !d.Type().IsRegular():
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text, err := fs.ReadFile(base, name)
		if err != nil {
			return err
		}
		return c.write(name, text, 0o600|info.Mode().Perm()&0o100)
	})
	for _, name := range change.Names() {
		if err != nil {
			return err
		}
		p, _ := change.Get(name)
		if p.Gone {
			delete(c.files, name)
			err = c.root.Remove(name)
			continue
		}
		err = c.over(name, p.After)
	}
	return err
}

func (c *copied) write(name string, text []byte, mode fs.FileMode) error {
	c.files[name] = sha256.Sum256(text)
	return c.root.WriteFile(name, text, mode)
}

// over writes a file of the change to the place that its path leads to through links.
func (c *copied) over(name string, text []byte) error {
	real, err := c.real(name)
	if err == nil {
		err = c.root.MkdirAll(path.Dir(real), 0o700)
	}
	if err != nil {
		return err
	}
	return c.write(real, text, 0o600)
}

// real resolves the links in a path.
func (c *copied) real(name string) (string, error) {
	for range 40 {
		followed := name
		for i := range len(name) + 1 {
			if to, ok := c.links[name[:i]]; ok && (i == len(name) || name[i] == '/') {
				followed = path.Join(path.Dir(name[:i]), to) + name[i:]
				break
			}
		}
		if followed == name {
			return name, nil
		}
		name = followed
	}
	return "", errors.New(name + " is a link to itself")
}

func (c *copied) link(base fs.FS, name string) error {
	to, err := fs.ReadLink(base, name)
	if err != nil || path.IsAbs(to) || !filepath.IsLocal(path.Join(path.Dir(name), to)) {
		return err
	}
	c.links[name] = to
	return c.root.Symlink(to, name)
}

// changed returns the files that differ from those written before; removed files have a nil content. It refuses
// changed links.
func (c *copied) changed(ctx context.Context) (map[string][]byte, error) {
	out := map[string][]byte{}
	refused := func(name, why string) error {
		return failure.New(failure.EditRefused, "reading what commands changed: %s %s", name, why).At(name, 0, 0).Fix("Let the commands write only files, not links.")
	}
	seen := map[string]bool{}
	err := fs.WalkDir(c.root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil || d.IsDir() {
			return err
		}
		_, stood := c.files[name]
		link, linked := c.links[name]
		seen[name] = true
		if d.Type()&fs.ModeSymlink != 0 {
			if to, err := c.root.Readlink(name); err != nil || !linked || to != link {
				return refused(name, "is a symbolic link that was not there")
			}
			return nil
		}
		info, err := d.Info()
		switch {
		case err != nil:
			return err
		case !info.Mode().IsRegular() || linked:
			return refused(name, "is no file any more")
		case info.Size() > mostFile:
			return refused(name, fmt.Sprintf("has more than %d MiB", mostFile>>20))
		}
		text, err := c.root.ReadFile(name)
		if err == nil && (!stood || sha256.Sum256(text) != c.files[name]) {
			out[name] = append([]byte{}, text...)
		}
		return err
	})
	if err != nil {
		if failure.Is(err, failure.EditRefused) {
			return nil, err
		}
		return nil, failure.New(failure.EditRefused, "reading what commands changed: %w", err)
	}
	for name := range c.files {
		if !seen[name] {
			out[name] = nil
		}
	}
	for name := range c.links {
		if !seen[name] {
			return nil, refused(name, "is a symbolic link, and gone")
		}
	}
	return out, nil
}
