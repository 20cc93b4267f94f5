package catalogs

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/oci"
	"github.com/olmgraft/graft/internal/operand"
)

// index holds the places of each package's documents, so that a catalog can be read package by package: even of
// a whole index image, memory holds only one package.
type index struct {
	name     string
	packages map[string]*pieces
	faults   []error // read errors
	whole    bool    // its packages belong together: entries of operands concern all of them

	looks looks
}

// pieces are the documents of a package, in order. Adjacent documents in a file are a run; documents that are
// not from a file are in memory.
type pieces struct {
	declared bool
	runs     []run
	docs     []fbc.Doc
}

type run struct {
	file string
	from fbc.Span
	end  int
}

// index reads a catalog once. It reads files in pieces, and keeps other sources and templates in memory.
func (c *Reader) index(ctx context.Context, name string) (*index, error) {
	x := &index{name: name, packages: map[string]*pieces{}}
	info, err := os.Stat(name)
	switch {
	case err == nil && oci.OnDisk(name), err != nil:
	case info.IsDir():
		files, err := fbc.Files(os.DirFS(name), ".")
		for _, file := range files {
			file = filepath.Join(name, file)
			if err := x.file(file); err != nil {
				x.faults = append(x.faults, err)
			}
		}
		return x, err
	case x.file(name) == nil && !x.looks.template():
		return x, nil
	}
	docs, err := c.Docs(ctx, name)
	if err != nil && !failure.Is(err, failure.TemplateMalformed) {
		return nil, err
	}
	x = held(name, docs)
	if err != nil {
		x.faults = append(x.faults, err)
	}
	return x, nil
}

// file records the places of the documents in a file. An unreadable file has none.
func (x *index) file(name string) error {
	var found []place
	note := func(docs []fbc.Doc) error {
		for i := range docs {
			found = append(found, x.placeOf(&docs[i]))
		}
		return nil
	}
	f, err := os.Open(name)
	if err == nil {
		err = errors.Join(fbc.Stream(name, f, note), f.Close())
	}
	if err != nil {
		docs, err := wholeFile(name) // its content may be odd and still valid
		if err != nil {
			return err
		}
		found = nil
		_ = note(docs) // it never fails
	}
	var last *pieces
	for _, d := range found {
		p := x.add(d)
		if n := len(p.runs); p == last && p.runs[n-1].from.SameFormat(d.from) {
			p.runs[n-1].end = d.end
		} else {
			p.runs = append(p.runs, run{name, d.from, d.end})
		}
		last = p
	}
	return nil
}

// place is an index's entry for a document.
type place struct {
	schema, pkg string
	from        fbc.Span
	end         int
}

func (x *index) placeOf(d *fbc.Doc) place {
	x.looks.add(d)
	pkg := d.Package
	if d.Schema == fbc.SchemaPackage {
		pkg = d.Name
	}
	return place{d.Schema, pkg, d.Span(), d.End}
}

// add returns the package of a document.
func (x *index) add(d place) *pieces {
	x.whole = x.whole || d.schema == operand.SchemaOperand || d.schema == operand.SchemaRelatedImages
	p := x.packages[d.pkg]
	if p == nil {
		p = &pieces{}
		x.packages[d.pkg] = p
	}
	p.declared = p.declared || d.schema == fbc.SchemaPackage
	return p
}

// held returns an index of documents in memory.
func held(name string, docs []fbc.Doc) *index {
	x := &index{name: name, packages: map[string]*pieces{}}
	for i := range docs {
		p := x.add(x.placeOf(&docs[i]))
		p.docs = append(p.docs, docs[i])
	}
	return x
}

// declared returns the packages that the catalog declares, rather than only mentions.
func (x *index) declared() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(x.packages)), func(name string) bool { return !x.packages[name].declared })
}

// read returns the documents of packages.
func (x *index) read(names []string) (docs []fbc.Doc, err error) {
	files := opened{}
	defer files.close()
	for _, name := range names {
		p := x.packages[name]
		if p == nil {
			continue
		}
		docs = append(docs, p.docs...)
		for _, r := range p.runs {
			text, err := files.read(r)
			if err != nil {
				return nil, failure.New(failure.TemplateMalformed, "reading a catalog: %w", err).At(r.file, 0, 0).Fix("Do not change the catalog while Graft reads it.")
			}
			more, err := r.from.Read(r.file, text)
			if err != nil {
				return nil, err
			}
			docs = append(docs, more...)
		}
	}
	return docs, nil
}

// graph returns the upgrade view of packages.
func (x *index) graph(b graph.Builder, names []string) (*graph.Catalog, error) {
	docs, err := x.read(names)
	if err != nil {
		return nil, err
	}
	b.Add(docs)
	return b.Catalog(), nil
}

// opened is the last read file.
type opened struct {
	name string
	file *os.File
}

func (o *opened) read(r run) (text []byte, err error) {
	if o.name != r.file {
		o.close()
		if o.file, err = os.Open(r.file); err != nil {
			return nil, err
		}
		o.name = r.file
	}
	text = make([]byte, r.end-r.from.Start)
	if _, err = o.file.ReadAt(text, int64(r.from.Start)); errors.Is(err, io.EOF) {
		err = nil
	}
	return text, err
}

func (o *opened) close() {
	if o.file != nil {
		_ = o.file.Close() // it was only read
	}
	*o = opened{}
}

// wholeFile reads a file at once.
func wholeFile(name string) ([]fbc.Doc, error) {
	dir, base := filepath.Split(name)
	docs, err := fbc.ReadFS(os.DirFS(filepath.Clean(dir)), base)
	for i := range docs {
		docs[i].File = name
	}
	for _, fault := range failure.All(err) {
		fault.File = name
	}
	return docs, err
}
