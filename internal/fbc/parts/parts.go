// Package parts maintains a catalog in a directory of files. It puts each document into the file that holds
// documents like it, and touches no others.
package parts

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
)

// File is a changed file of the directory.
type File struct {
	Path          string
	Before, After []byte
	New, Gone     bool
}

// Write returns the files that must change so that the directory contains the documents.
//
//  1. A document keeps its bytes, however it is laid out, if its content equals that of the
//     given document with its schema, package and name. A file without changes keeps its bytes.
//  2. A document with other content is changed in place: key by key and item by item if a
//     person or another tool laid it out, otherwise as a whole.
//  3. A new document gets its own file, named like those of its schema, if each of them has
//     its own file. Otherwise it is added to their file.
//  4. A document that is no longer given leaves its file. A file without documents is removed.
//
// standing holds the documents of the directory as fbc.ReadFS reads them.
func Write(fsys fs.FS, dir string, standing []fbc.Doc, documents []fbc.Blob) ([]File, error) {
	if len(standing) == 0 {
		return first(fsys, dir, documents)
	}
	w := &writer{fsys: fsys, dir: path.Clean(dir), standing: standing, files: map[string]*file{}, gone: map[int]bool{}}
	for i, d := range standing {
		f := w.file(d.File)
		f.docs = append(f.docs, i)
	}
	added := w.match(documents)
	if err := w.add(added); err != nil {
		return nil, err
	}
	var out []File
	for _, f := range w.inOrder() {
		one, err := w.written(f)
		if err != nil {
			return nil, err
		}
		if one.New || one.Gone || !bytes.Equal(one.Before, one.After) {
			out = append(out, one)
		}
	}
	return out, nil
}

// first begins an empty directory with the file that opm writes.
func first(fsys fs.FS, dir string, documents []fbc.Blob) ([]File, error) {
	if len(documents) == 0 {
		return nil, nil
	}
	format, name := documents[0].Format, "catalog.yaml"
	if format == fbc.JSON {
		name = "catalog.json"
	}
	w := &writer{fsys: fsys, dir: path.Clean(dir), files: map[string]*file{}}
	out := File{Path: path.Join(dir, name), New: true}
	if err := w.free(out.Path, documents[0]); err != nil {
		return nil, err
	}
	var text bytes.Buffer
	err := fbc.Write(&text, format, documents)
	out.After = text.Bytes()
	return []File{out}, err
}

type writer struct {
	fsys     fs.FS
	dir      string
	standing []fbc.Doc
	files    map[string]*file
	gone     map[int]bool // standing documents that match no given document
}

// file is a file of the directory with the changes of its documents.
type file struct {
	path    string
	docs    []int // indexes of its standing documents
	changed map[int]fbc.Blob
	// behind holds new documents by the standing document that they follow.
	behind map[int][]fbc.Blob
	begun  *File // a new file
}

func (w *writer) file(name string) *file {
	f := w.files[name]
	if f == nil {
		f = &file{path: name, changed: map[int]fbc.Blob{}, behind: map[int][]fbc.Blob{}}
		w.files[name] = f
	}
	return f
}

func (w *writer) inOrder() []*file {
	var all []*file
	for _, f := range w.files {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b *file) int { return strings.Compare(a.path, b.path) })
	return all
}

// identity holds the fields that two versions of a document share.
type identity struct{ schema, pkg, name string }

func identityOf(schema, pkg, name string) identity {
	if schema == fbc.SchemaPackage {
		pkg = name
	}
	return identity{schema, pkg, name}
}

// match finds the standing document for each given one. If several have the same identity, it pairs equal
// contents first, and the rest in order. It returns the new documents.
func (w *writer) match(documents []fbc.Blob) (added []fbc.Blob) {
	alike := map[identity][]int{}
	for i, d := range w.standing {
		id := identityOf(d.Schema, d.Package, d.Name)
		alike[id] = append(alike[id], i)
	}
	var other []fbc.Blob
	for _, b := range documents {
		id := identityOf(b.Schema, b.Package, b.Name)
		i := slices.IndexFunc(alike[id], func(i int) bool { return same(&w.standing[i], b) })
		if i < 0 {
			other = append(other, b)
			continue
		}
		alike[id] = slices.Delete(alike[id], i, i+1)
	}
	for _, b := range other {
		id := identityOf(b.Schema, b.Package, b.Name)
		if len(alike[id]) == 0 {
			added = append(added, b)
			continue
		}
		i := alike[id][0]
		alike[id] = alike[id][1:]
		w.file(w.standing[i].File).changed[i] = b
	}
	for _, left := range alike {
		for _, i := range left {
			w.gone[i] = true
		}
	}
	slices.SortStableFunc(added, func(a, b fbc.Blob) int { return strings.Compare(a.Name, b.Name) })
	return added
}

// same reports whether a document has the given content. An unreadable document does not.
func same(d *fbc.Doc, b fbc.Blob) bool {
	if d.Format == b.Format && bytes.Equal(bytes.TrimRight(d.Raw(), "\n"), bytes.TrimRight(b.Body, "\n")) {
		return true
	}
	own, err := d.Blob(b.Format)
	return err == nil && bytes.Equal(own.Body, b.Body)
}

// add finds a place for new documents.
func (w *writer) add(added []fbc.Blob) error {
	for _, b := range added {
		siblings := w.siblings(b)
		if len(siblings) == 0 {
			if err := w.addFirst(b); err != nil {
				return err
			}
			continue
		}
		name, like, err := w.named(b, siblings)
		if err != nil {
			return err
		}
		if name == "" {
			w.addBeside(b, siblings)
		} else if err := w.begin(name, like, b); err != nil {
			return err
		}
	}
	return nil
}

// siblings returns the standing documents of the same schema: those of the same package, or else of any package.
func (w *writer) siblings(b fbc.Blob) (all []int) {
	for _, pkg := range []bool{true, false} {
		for i, d := range w.standing {
			if d.Schema == b.Schema && (!pkg || d.Package == b.Package) {
				all = append(all, i)
			}
		}
		if len(all) > 0 {
			return all
		}
	}
	return nil
}

// addBeside adds a document to the file of its siblings: in the place of a removed one, after the sibling with
// the next lower name if the siblings are sorted by name, or after the last.
func (w *writer) addBeside(b fbc.Blob, siblings []int) {
	last := siblings[len(siblings)-1]
	f := w.file(w.standing[last].File)
	siblings = slices.DeleteFunc(slices.Clone(siblings), func(i int) bool { return w.standing[i].File != f.path })
	for _, i := range siblings {
		if _, taken := f.changed[i]; w.gone[i] && !taken {
			f.changed[i] = b
			delete(w.gone, i)
			return
		}
	}
	after := last
	if slices.IsSortedFunc(siblings, func(x, y int) int { return strings.Compare(w.standing[x].Name, w.standing[y].Name) }) {
		for _, i := range siblings {
			if w.standing[i].Name < b.Name {
				after = i
			}
		}
	}
	f.behind[after] = append(f.behind[after], b)
}

// addFirst adds the first document of its schema. It uses the only file, if there is only one. Otherwise it
// creates a file named after the schema beside the package's file.
func (w *writer) addFirst(b fbc.Blob) error {
	files := 0
	for _, f := range w.files {
		if len(f.docs) > 0 {
			files++
		}
	}
	home := max(0, slices.IndexFunc(w.standing, func(d fbc.Doc) bool { return d.Schema == fbc.SchemaPackage }))
	if f := w.file(w.standing[home].File); files == 1 || len(f.docs) > 1 {
		last := f.docs[len(f.docs)-1]
		f.behind[last] = append(f.behind[last], b)
		return nil
	}
	noun := strings.TrimPrefix(b.Schema, "olm.")
	return w.begin(path.Join(path.Dir(w.standing[home].File), noun+path.Ext(w.standing[home].File)), home, b)
}

// begin creates a new file in the layout of a sibling's, or adds to a file that it created before.
func (w *writer) begin(name string, like int, b fbc.Blob) error {
	f := w.file(name)
	if f.begun == nil {
		if err := w.free(name, b); err != nil {
			return err
		}
		f.begun = &File{Path: name, New: true}
	}
	sibling := &w.standing[like]
	src, err := fs.ReadFile(w.fsys, sibling.File)
	if err != nil {
		return failure.New(failure.RenderFailed, "reading the catalog: %w", err).At(sibling.File, 0, 0)
	}
	body, err := encoded(b, sibling.Format)
	if err != nil {
		return err
	}
	if sibling.Format == fbc.YAML && (bytes.HasPrefix(src, []byte("---")) || len(f.begun.After) > 0) {
		f.begun.After = append(f.begun.After, "---\n"...)
	}
	f.begun.After = append(append(f.begun.After, bytes.TrimRight(body, "\n")...), '\n')
	return nil
}

// free refuses a path that exists already, or that .indexignore excludes.
func (w *writer) free(name string, b fbc.Blob) error {
	doing := "writing the " + b.Schema + " " + b.Name
	if _, err := fs.Stat(w.fsys, name); err == nil {
		return failure.New(failure.EditRefused, "%s: its file %s exists and holds something else", doing, name).At(name, 0, 0).
			Fix("Rename that file, or put the document into it by hand.")
	}
	if _, err := fs.Stat(w.fsys, w.dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	ignored, err := fbc.Ignored(w.fsys, w.dir, name)
	if err == nil && ignored {
		err = failure.New(failure.EditRefused, "%s: an .indexignore of %s excludes %s", doing, w.dir, name).At(w.dir, 0, 0).
			Fix("Let the file in with a line such as !%s.", path.Base(name))
	}
	return err
}

func encoded(b fbc.Blob, format fbc.Format) ([]byte, error) {
	if b.Format == format {
		return b.Body, nil
	}
	docs, err := fbc.Read(b.Name, b.Body)
	if err != nil {
		return nil, err
	}
	other, err := docs[0].Blob(format)
	return other.Body, err
}
