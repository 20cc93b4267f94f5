package atomicfile

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Stream replaces one file with the output of write, without holding it in memory. It does not touch a file
// that already has that content; changed reports that.
func Stream(at Place, write func(io.Writer) error) (changed bool, err error) {
	root, err := os.OpenRoot(at.Root)
	if err != nil {
		return false, err
	}
	defer root.Close()
	name, mode, exists, err := target(root, at)
	if err != nil {
		return false, err
	}
	temp := beside(name)
	j, err := begin(at.Root, []entry{{Path: name, Temp: temp}})
	if err != nil {
		return false, err
	}
	defer func() {
		err = errors.Join(err, j.end(!removed(root, temp)))
	}()
	err = fill(root, temp, mode, func(f *os.File) error {
		buffered := bufio.NewWriterSize(f, 1<<20)
		return errors.Join(write(buffered), buffered.Flush())
	})
	if err != nil {
		return false, err
	}
	if exists && sameContent(root, name, temp) {
		return false, nil
	}
	return true, root.Rename(temp, name)
}

// MkdirAll makes a folder and those above it.
func MkdirAll(at Place) error {
	root, err := os.OpenRoot(at.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	real, err := Real(at.String())
	if err != nil {
		return err
	}
	name, err := filepath.Rel(at.Root, real)
	if err != nil {
		return err
	}
	return root.MkdirAll(name, 0o755)
}

// sameContent compares two files. A file that cannot be read differs.
func sameContent(root *os.Root, a, b string) bool {
	f, err := root.Open(a)
	if err != nil {
		return false
	}
	defer f.Close()
	g, err := root.Open(b)
	if err != nil {
		return false
	}
	defer g.Close()
	left, right := make([]byte, 1<<16), make([]byte, 1<<16)
	for {
		n, err := io.ReadFull(f, left)
		m, _ := io.ReadFull(g, right)
		if n != m || !bytes.Equal(left[:n], right[:m]) {
			return false
		}
		if err != nil {
			return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		}
	}
}

// beside returns an unused name in a file's folder.
func beside(name string) string {
	return filepath.Join(filepath.Dir(name), ".graft-"+rand.Text()+".tmp")
}

// create creates a file that does not exist yet, and flushes it to disk.
func create(root *os.Root, name string, data []byte, mode os.FileMode) error {
	return fill(root, name, mode, func(f *os.File) error {
		_, err := f.Write(data)
		return errors.Join(err, f.Sync())
	})
}

func fill(root *os.Root, name string, mode os.FileMode, write func(*os.File) error) error {
	step()
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("writing beside the file: %w", err)
	}
	step()
	err = write(f)
	if err == nil {
		err = f.Chmod(mode)
	}
	return errors.Join(err, f.Close())
}
