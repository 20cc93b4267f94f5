// Package field sets one value in a file that other programs read: a value in YAML or JSON, or a variable in a
// file of KEY=VALUE lines. Every other byte stays.
//
// A place in YAML or JSON is a path as in Kustomize and yq: keys separated by dots, [0] or [key=value] for an
// item of a list, [a.key] for a key that contains dots. The path must lead to exactly one existing value.
package field

import (
	"path"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/yamledit"
)

// structured reports whether a file's name marks it as YAML or JSON.
func structured(name string) bool {
	switch path.Ext(name) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

// Set sets the value at a place of a file and returns the previous value. If the value is already there, it
// returns the text unchanged.
func Set(name string, src []byte, at, value string) (before string, after []byte, err error) {
	if structured(name) {
		return setNode(name, src, at, value)
	}
	return setLine(name, src, at, value)
}

func setNode(name string, src []byte, at, value string) (string, []byte, error) {
	steps, err := parse(at)
	if err != nil {
		return "", nil, failure.New(failure.EditRefused, "setting %s: %w", at, err).At(name, 0, 0).Fix("Write the path of one value.")
	}
	f, err := yamledit.Open(name, src)
	if err != nil {
		return "", nil, err
	}
	n, err := find(f, at, steps)
	if err != nil {
		return "", nil, err
	}
	before := n.Text()
	if before == value && !n.IsNull() {
		return before, src, nil
	}
	edits := f.Edit()
	if n.IsNull() && n.Start == n.End {
		err = edits.Fill(n, yamledit.Text(value))
	} else {
		err = edits.SetText(n, value)
	}
	if err != nil {
		return "", nil, err
	}
	after, err := edits.Apply()
	return before, after, err
}

// find returns the one value that a path leads to in the documents of a file.
func find(f *yamledit.File, at string, steps []step) (*yamledit.Node, error) {
	var found []*yamledit.Node
	missing := failure.New(failure.EditRefused, "setting %s: the file is empty", at).At(f.Name, 1, 1)
	for _, doc := range f.Docs {
		root, err := doc.Root()
		if err != nil {
			return nil, err
		}
		if root == nil {
			continue
		}
		nodes, lacks := walk(root, at, steps)
		if found = append(found, nodes...); len(found) == 0 {
			missing = lacks
		}
	}
	switch {
	case len(found) == 0:
		return nil, missing.Fix("Correct the path in files of graft.yaml, or add the value by hand.")
	case len(found) > 1:
		first, _ := found[0].Position()
		return nil, found[1].Failure(failure.EditRefused, "setting %s: it is here and at line %d", at, first).
			Fix("Let the path in files of graft.yaml name one value, by [key=value] or [0].")
	case found[0].Kind != yamledit.Scalar:
		return nil, found[0].Failure(failure.EditRefused, "setting %s: it is no text of its own", at).
			Fix("Let the path in files of graft.yaml lead to a plain text.")
	}
	return found[0], nil
}

// walk follows the steps through a document. If they lead nowhere, it reports the step that fails.
func walk(root *yamledit.Node, at string, steps []step) (nodes []*yamledit.Node, lacks *failure.Error) {
	nodes = []*yamledit.Node{root}
	for _, s := range steps {
		var next []*yamledit.Node
		for _, n := range nodes {
			next = append(next, s.from(n)...)
		}
		if len(next) == 0 {
			return nil, nodes[0].Failure(failure.EditRefused, "setting %s: %s is not here", at, strings.TrimPrefix(s.text, "."))
		}
		nodes = next
	}
	return nodes, nil
}
