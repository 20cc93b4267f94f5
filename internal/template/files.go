package template

import (
	"bytes"
	"io/fs"
	"sync"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/template/documents"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/yamledit"
)

// Files are the files of a repository. Each file is parsed at most once as a template and once as a catalog,
// until its text changes.
type Files struct {
	fs.FS
	base    *Files                           // nil: no base
	changed func(name string) ([]byte, bool) // returns texts that replace those of the base
	texts   map[string]*text
}

// NewFiles returns the files of fsys, which must not change. It returns fsys itself if that is a *Files.
func NewFiles(fsys fs.FS) *Files {
	if f, ok := fsys.(*Files); ok {
		return f
	}
	return &Files{FS: fsys, texts: map[string]*text{}}
}

// Over returns the files of fsys. changed returns the texts that differ from those of f.
func (f *Files) Over(fsys fs.FS, changed func(name string) ([]byte, bool)) *Files {
	return &Files{FS: fsys, base: f, changed: changed, texts: map[string]*text{}}
}

// Put sets the text of a file that was already read. Forget drops it.
func (f *Files) Put(name string, src []byte) {
	f = f.owner(name)
	if old := f.texts[name]; old == nil || !bytes.Equal(old.src, src) {
		f.texts[name] = newText(name, src)
	}
}

// Forget frees a file that is no longer needed.
func (f *Files) Forget(name string) { delete(f.owner(name).texts, name) }

// owner returns the Files that hold the current text of a file.
func (f *Files) owner(name string) *Files {
	if f.base != nil {
		if _, ok := f.changed(name); !ok {
			return f.base
		}
	}
	return f
}

// Catalog reads a file or directory as the documents of a catalog.
func (f *Files) Catalog(name string) ([]fbc.Doc, error) {
	if info, err := fs.Stat(f, name); err != nil || !info.IsDir() {
		return f.documents(name)
	}
	parts, err := fbc.Files(f, name)
	if err != nil {
		return nil, err
	}
	var all []fbc.Doc
	for _, part := range parts {
		docs, err := f.documents(part)
		if err != nil {
			return nil, err
		}
		all = append(all, docs...)
	}
	return all, nil
}

func (f *Files) documents(name string) ([]fbc.Doc, error) {
	t, err := f.text(name)
	if err != nil {
		return nil, err
	}
	return t.docs()
}

// ReadFile implements fs.ReadFileFS. Callers must not modify the result.
func (f *Files) ReadFile(name string) ([]byte, error) {
	t, err := f.text(name)
	if err != nil {
		return nil, err
	}
	return t.src, nil
}

// Stat implements fs.StatFS.
func (f *Files) Stat(name string) (fs.FileInfo, error) { return fs.Stat(f.FS, name) }

// ReadDir implements fs.ReadDirFS.
func (f *Files) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(f.FS, name) }

func (f *Files) text(name string) (*text, error) {
	owner := f.owner(name)
	if owner != f {
		return owner.text(name)
	}
	if f.base != nil {
		src, _ := f.changed(name)
		if src == nil { // the text is empty, or the file is gone
			var err error
			if src, err = fs.ReadFile(f.FS, name); err != nil {
				return nil, err
			}
		}
		f.Put(name, src)
	} else if f.texts[name] == nil {
		src, err := fs.ReadFile(f.FS, name)
		if err != nil {
			return nil, err
		}
		f.Put(name, src)
	}
	return f.texts[name], nil
}

// textOf returns the text of a file under the name that its user gave.
func textOf(fsys fs.FS, p, name string) (*text, error) {
	if f, ok := fsys.(*Files); ok && name == p {
		return f.text(p)
	}
	src, err := fs.ReadFile(fsys, p)
	if err != nil {
		return nil, err
	}
	return newText(name, src), nil
}

// text is a file with the results of parsing it on demand.
type text struct {
	src     []byte
	file    func() (*yamledit.File, error)
	docs    func() ([]fbc.Doc, error)
	entries func() ([]fbc.Doc, error)
}

func newText(name string, src []byte) *text {
	t := &text{
		src:  src,
		file: sync.OnceValues(func() (*yamledit.File, error) { return yamledit.Open(name, src) }),
		docs: sync.OnceValues(func() ([]fbc.Doc, error) { return fbc.Read(name, src) }),
	}
	t.entries = sync.OnceValues(func() ([]fbc.Doc, error) {
		file, err := t.file()
		if err != nil {
			return nil, err
		}
		return documents.Entries(&kind.Source{Name: name, File: file, Docs: t.docs})
	})
	return t
}
