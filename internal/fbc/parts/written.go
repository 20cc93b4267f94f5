package parts

import (
	"io/fs"
	"slices"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/yamledit"
)

// written returns the changed file.
func (w *writer) written(f *file) (File, error) {
	if f.begun != nil {
		return *f.begun, nil
	}
	var gone []int
	for _, i := range f.docs {
		if w.gone[i] {
			gone = append(gone, i)
		}
	}
	out := File{Path: f.path}
	if len(f.changed)+len(f.behind)+len(gone) == 0 {
		return out, nil
	}
	src, err := fs.ReadFile(w.fsys, f.path)
	if err != nil {
		return out, failure.New(failure.RenderFailed, "reading the catalog: %w", err).At(f.path, 0, 0)
	}
	out.Before = src
	if len(gone) == len(f.docs) && len(f.behind) == 0 {
		out.Gone = true
		return out, nil
	}
	// If an edit inside a document is impossible, the whole document is replaced.
	for _, within := range []bool{true, false} {
		if out.After, err = w.edited(f, src, gone, within); err == nil {
			break
		}
	}
	return out, err
}

func (w *writer) edited(f *file, src []byte, gone []int, within bool) ([]byte, error) {
	text, err := yamledit.Open(f.path, src)
	if err != nil {
		return nil, err
	}
	edits := text.Edit()
	for _, i := range f.docs {
		index, err := w.index(text, i)
		if err != nil {
			return nil, err
		}
		format := w.standing[i].Format
		if b, ok := f.changed[i]; ok {
			if err := w.change(edits, text.Docs[index], i, b, within); err != nil {
				return nil, err
			}
		}
		for _, b := range f.behind[i] {
			body, err := encoded(b, format)
			if err != nil {
				return nil, err
			}
			if err := edits.InsertRaw(index, body); err != nil {
				return nil, err
			}
		}
		if slices.Contains(gone, i) {
			if err := edits.RemoveDoc(index); err != nil {
				return nil, err
			}
		}
	}
	after, err := edits.Apply()
	if err != nil {
		return nil, err
	}
	return after, w.holds(f, after)
}

// index returns the position of a standing document in its file.
func (w *writer) index(text *yamledit.File, i int) (int, error) {
	d := &w.standing[i]
	// A byte order mark comes before the first document.
	index := slices.IndexFunc(text.Docs, func(y *yamledit.Doc) bool { return d.Start < y.End })
	if index < 0 {
		return 0, failure.New(failure.TemplateMalformed, "locating a document").At(d.File, d.Line, 1)
	}
	return index, nil
}

// change gives a standing document new content. It replaces bundles and documents written by opm as a whole.
func (w *writer) change(edits *yamledit.Edits, at *yamledit.Doc, i int, b fbc.Blob, within bool) error {
	d := &w.standing[i]
	body, err := encoded(b, d.Format)
	if err != nil {
		return err
	}
	if !within || d.Schema == fbc.SchemaBundle || d.Exact() {
		return edits.ReplaceRaw(at.Index, body)
	}
	root, err := at.Root()
	if err != nil {
		return err
	}
	return mend(edits, root, d, body)
}

// holds proves that a file has the requested content.
func (w *writer) holds(f *file, after []byte) error {
	docs, err := fbc.Read(f.path, after)
	if err != nil {
		return err
	}
	wrong := func() error {
		return failure.New(failure.EditRefused, "writing a part of the catalog: %s would differ from the rendered catalog", f.path).At(f.path, 0, 0).
			Fix("Write the file again with opm, and retry.")
	}
	next := 0
	for _, i := range f.docs {
		var wanted []fbc.Blob
		if b, ok := f.changed[i]; ok {
			wanted = append(wanted, b)
		} else if !w.gone[i] {
			wanted = append(wanted, fbc.Blob{Schema: w.standing[i].Schema, Body: w.standing[i].Raw(), Format: w.standing[i].Format})
		}
		for _, b := range append(wanted, f.behind[i]...) {
			if next == len(docs) || !same(&docs[next], b) {
				return wrong()
			}
			next++
		}
	}
	if next != len(docs) {
		return wrong()
	}
	return nil
}
