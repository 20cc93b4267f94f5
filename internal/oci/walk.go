package oci

import (
	"slices"
	"strings"
)

// walkError is why a path leads nowhere.
type walkError string

func (e walkError) Error() string { return string(e) }

const (
	errMissing   = walkError("nothing stands at this path or where it links to")
	errNoDir     = walkError("a file stands where the path needs a directory")
	errDirectory = walkError("a hard link to a directory")
	errOutside   = walkError("a link leads outside of the image's root")
	errLinks     = walkError("too many links, or links in a circle")
)

// walk follows one path through the tree.
type walk struct {
	fs     *rootfs
	create bool // directories that are missing, as of the layer at hand
	links  int
}

// dir gives the directory at a path, as the layer at hand sees it.
func (w *walk) dir(name string) (*node, error) {
	at, err := w.from([]*node{w.fs.root}, name, true)
	if err == nil && at.children == nil {
		err = errNoDir
	}
	return at, err
}

func (w *walk) from(stack []*node, name string, last bool) (*node, error) {
	stack, err := w.stack(stack, name, last)
	if err != nil {
		return nil, err
	}
	return stack[len(stack)-1], nil
}

// stack walks name from the top of a stack of nodes, whose bottom is the root,
// and gives the stack that it ends with. Links are followed on the way, and at the
// last step if last is set.
func (w *walk) stack(stack []*node, name string, last bool) ([]*node, error) {
	steps := strings.FieldsFunc(name, func(r rune) bool { return r == '/' })
	stack = slices.Clone(stack)
	for i, step := range steps {
		top := stack[len(stack)-1]
		if top.children == nil {
			return nil, errNoDir
		}
		if w.create {
			top.layer = w.fs.layer
		}
		switch step {
		case ".":
			continue
		case "..":
			if len(stack) == 1 {
				return nil, errOutside
			}
			stack = stack[:len(stack)-1]
			continue
		}
		child, err := w.child(top, step)
		if err != nil {
			return nil, err
		}
		if child.link == "" || i == len(steps)-1 && !last {
			stack = append(stack, child)
			continue
		}
		if w.links++; w.links > maxLinks {
			return nil, errLinks
		}
		if strings.HasPrefix(child.link, "/") {
			return nil, errOutside
		}
		if stack, err = w.stack(stack, child.link, true); err != nil {
			return nil, err
		}
	}
	if w.create {
		stack[len(stack)-1].layer = w.fs.layer
	}
	return stack, nil
}

func (w *walk) child(top *node, name string) (*node, error) {
	child := top.children[name]
	if child == nil && w.create {
		if err := w.fs.meter.countDir(); err != nil {
			return nil, err
		}
		child = &node{layer: w.fs.layer, children: map[string]*node{}}
		top.children[name] = child
	}
	if child == nil {
		return nil, errMissing
	}
	return child, nil
}
