package oci

import (
	"strings"

	"github.com/olmgraft/graft/internal/budget"
)

// walkError is the reason why a path leads nowhere.
type walkError string

func (e walkError) Error() string { return string(e) }

const (
	errMissing   = walkError("this path, or the target of its link, does not exist")
	errNoDir     = walkError("a part of this path is a file, not a directory")
	errDirectory = walkError("a hard link to a directory")
	errOutside   = walkError("a link leads outside of the image's root")
	errLinks     = walkError("too many links, or links in a circle")
)

// walk follows one path through the tree.
type walk struct {
	fs     *rootfs
	create bool // creates missing directories in the present layer
	links  int
}

// dir returns the directory at a path, as the present layer sees it.
func (w *walk) dir(name string) (*node, error) {
	at, err := w.to(w.fs.root, name, true)
	if err == nil && at.children == nil {
		err = errNoDir
	}
	return at, err
}

// to returns the node at a path from another node. It follows links on the way, and at the last step if last is
// set.
func (w *walk) to(at *node, name string, last bool) (*node, error) {
	if err := w.fs.meter.step(1 + strings.Count(name, "/")); err != nil {
		return nil, err
	}
	steps := strings.FieldsFunc(name, func(r rune) bool { return r == '/' })
	for i, step := range steps {
		if at.children == nil {
			return nil, errNoDir
		}
		if w.create {
			at.layer = w.fs.layer
		}
		switch {
		case step == ".":
			continue
		case step == ".." && at.parent == nil:
			return nil, errOutside
		case step == "..":
			at = at.parent
			continue
		}
		child, err := w.child(at, step)
		if err != nil {
			return nil, err
		}
		if child.link != "" && (last || i < len(steps)-1) {
			if w.links++; w.links > budget.ImageLinks {
				return nil, errLinks
			}
			if strings.HasPrefix(child.link, "/") {
				return nil, errOutside
			}
			if child, err = w.to(at, child.link, true); err != nil {
				return nil, err
			}
		}
		at = child
	}
	if w.create {
		at.layer = w.fs.layer
	}
	return at, nil
}

func (w *walk) child(top *node, name string) (*node, error) {
	child := top.children[name]
	if child == nil && w.create {
		if err := w.fs.meter.countDir(); err != nil {
			return nil, err
		}
		child = &node{parent: top, layer: w.fs.layer, children: map[string]*node{}}
		top.children[name] = child
	}
	if child == nil {
		return nil, errMissing
	}
	return child, nil
}
