package oci

import (
	"archive/tar"
	"context"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/budget"
)

// A rootfs is the file tree that the layers of an image make. Rules:
//
// 1. An entry replaces an earlier one at its path. A directory over a directory keeps its content. 2. A
// whiteout (.wh.NAME) removes the NAME of lower layers, and an opaque one (.wh..wh..opq) all their content of
// its directory. Neither touches its own layer, whatever the order. 3. Symbolic links are followed inside the
// root. A followed link that leads outside, including an absolute one, makes the image invalid. Other links do
// not matter. 4. A hard link is another name for an existing file.
type rootfs struct {
	root  *node
	layer int
	meter *meter
}

type node struct {
	parent   *node            // the directory that holds it; nil for the root
	layer    int              // the last layer that made or touched it
	children map[string]*node // not nil for a directory
	link     string           // of a symbolic link
	file     *file            // of a file; shared by hard links
}

// file holds the content, or where to find it if it turns out to be wanted.
type file struct {
	layer, nth int
	size       int64
	data       []byte
	known      bool
}

const (
	whiteout = ".wh."
	opaque   = ".wh..wh..opq"
)

// unpack returns the files below the directories by path.
func unpack(ctx context.Context, layers [][]byte, dirs []string, l limits) (map[string][]byte, error) {
	fs := &rootfs{root: &node{children: map[string]*node{}}, meter: &meter{limits: l}}
	wanted := func(name string, _ int) bool { return below(name, dirs) }
	for i, blob := range layers {
		fs.layer = i
		if err := readLayer(ctx, blob, fs.meter, wanted, fs.add); err != nil {
			return nil, err
		}
	}
	fs.meter.kept = 0
	found := map[string]*file{}
	for _, dir := range dirs {
		if err := fs.collect(dir, found); err != nil {
			return nil, err
		}
	}
	if err := load(ctx, found, layers, l); err != nil {
		return nil, err
	}
	files := make(map[string][]byte, len(found))
	for name, f := range found {
		files[name] = f.data
	}
	return files, nil
}

func below(name string, dirs []string) bool {
	for _, dir := range dirs {
		if dir == "." || strings.HasPrefix(name, dir) && len(name) > len(dir) && name[len(dir)] == '/' {
			return true
		}
	}
	return false
}

// add applies one entry of the present layer.
func (fs *rootfs) add(e entry) error {
	if e.name == "." {
		return nil
	}
	dir, base := path.Split(e.name)
	if strings.HasPrefix(base, whiteout) {
		return fs.remove(dir, base)
	}
	w := walk{fs: fs, create: true}
	parent, err := w.dir(dir)
	if err != nil {
		return inLayer(e.name, err)
	}
	made := &node{parent: parent, layer: fs.layer}
	switch e.kind {
	case tar.TypeDir:
		if old := parent.children[base]; old != nil && old.children != nil {
			old.layer = fs.layer
			return nil
		}
		made.children = map[string]*node{}
	case tar.TypeReg:
		made.file = &file{layer: fs.layer, nth: e.nth, size: e.size, data: e.data, known: e.known}
	case tar.TypeSymlink:
		if len(e.link) > budget.ImagePath {
			return tooMuch("has a link of %d bytes", len(e.link))
		}
		made.link = e.link
	case tar.TypeLink:
		name, err := cleanName(e.link)
		if err != nil {
			return err
		}
		w := walk{fs: fs}
		target, err := w.to(fs.root, name, false)
		if err == nil && target.children != nil {
			err = errDirectory
		}
		if err != nil {
			return inLayer(e.name, err)
		}
		made.file, made.link = target.file, target.link
	}
	parent.children[base] = made
	return nil
}

// remove applies a whiteout.
func (fs *rootfs) remove(dir, base string) error {
	w := walk{fs: fs}
	at, err := w.to(fs.root, path.Clean(dir), true)
	if errors.Is(err, errMissing) || errors.Is(err, errNoDir) || err == nil && at.children == nil {
		return nil
	}
	if err != nil {
		return inLayer(path.Join(dir, base), err)
	}
	name := strings.TrimPrefix(base, whiteout)
	switch {
	case base == opaque:
		return fs.prune(at)
	case strings.HasPrefix(base, whiteout+whiteout):
		// Other names of this form are internal to union file systems.
	case at.children[name] != nil && at.children[name].layer < fs.layer:
		delete(at.children, name)
	case at.children[name] != nil:
		return fs.prune(at.children[name])
	}
	return nil
}

// prune removes the content of lower layers below a directory.
func (fs *rootfs) prune(at *node) error {
	if err := fs.meter.step(len(at.children)); err != nil {
		return err
	}
	for name, child := range at.children {
		if child.layer < fs.layer {
			delete(at.children, name)
			continue
		}
		if err := fs.prune(child); err != nil {
			return err
		}
	}
	return nil
}

// collect finds the files below one directory.
func (fs *rootfs) collect(dir string, found map[string]*file) error {
	w := walk{fs: fs}
	at, err := w.to(fs.root, dir, true)
	if errors.Is(err, errMissing) {
		return nil
	}
	if err != nil {
		return inLayer(dir, err)
	}
	if at.children == nil {
		return notABundle("%s is no directory in the image", dir)
	}
	return fs.collectBelow(at, dir, found)
}

func (fs *rootfs) collectBelow(at *node, dir string, found map[string]*file) error {
	for _, name := range slices.Sorted(maps.Keys(at.children)) {
		child, full := at.children[name], path.Join(dir, name)
		if child.children != nil {
			if err := fs.collectBelow(child, full, found); err != nil {
				return err
			}
			continue
		}
		if child.link != "" {
			w := walk{fs: fs}
			var err error
			if child, err = w.to(at, name, true); err != nil {
				return inLayer(full, err)
			}
			if child.children != nil {
				// A link to a directory is no file, and following it may not end.
				continue
			}
		}
		if child.file == nil {
			return notABundle("%s is neither a file nor a directory", full)
		}
		if err := fs.meter.keep(child.file.size); err != nil {
			return err
		}
		found[full] = child.file
	}
	return nil
}

// load reads the layers again for wanted files elsewhere in the image, which links lead to.
func load(ctx context.Context, found map[string]*file, layers [][]byte, l limits) error {
	missing := map[int]map[int]*file{}
	for _, f := range found {
		if f.known {
			continue
		}
		if missing[f.layer] == nil {
			missing[f.layer] = map[int]*file{}
		}
		missing[f.layer][f.nth] = f
	}
	for layer, files := range missing {
		wanted := func(_ string, nth int) bool { return files[nth] != nil }
		err := readLayer(ctx, layers[layer], &meter{limits: l}, wanted, func(e entry) error {
			if f := files[e.nth]; f != nil {
				f.data, f.known = e.data, true
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func inLayer(name string, err error) error {
	if errors.Is(err, errOutside) {
		return outside("%s goes by a link to a place", name)
	}
	var plain walkError
	if errors.As(err, &plain) {
		return notABundle("%s: %w", name, err)
	}
	return err
}
