package publish

import (
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
)

// The cost of a run must not grow with other operators, so these limits apply to loading whole catalogs.
const (
	maxWhole      = 64 << 20 // bytes
	mostOperators = 400
)

// wholeCatalogs loads all operators of each changed catalog, as the pipeline's opm validate catalogs/NAME does.
// Faults of a single operator are already reported; the remaining ones are a package in two folders or an
// unreadable file. Catalogs beyond the limits are left to the pipeline, and a line says so.
func (p *preparation) wholeCatalogs() error {
	left, operators := int64(maxWhole), mostOperators
	var known *graph.Catalog
	var dirs []string
	for _, name := range p.change.Names() {
		if parts := strings.SplitN(name, "/", 3); parts[0] == "catalogs" && len(parts) == 3 {
			dirs = append(dirs, parts[0]+"/"+parts[1])
		}
	}
	dirs = slices.Compact(dirs)
	for i, dir := range dirs {
		p.Part("loading "+dir+" as a whole", i+1, len(dirs))
		folders, err := fs.ReadDir(p.base.FS, dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		var files []string
		if operators -= len(folders); operators >= 0 {
			var size int64
			if files, size, err = p.filesOf(dir); err != nil {
				return err
			}
			left -= size
		}
		if operators < 0 || left < 0 {
			p.Line("%s and what follows are not loaded as a whole: they have more than %d operators or %d MiB; their pipeline validates them", dir, mostOperators, maxWhole>>20)
			return nil
		}
		// Operators that another platform's catalog has too are read once.
		if known, err = p.loadWhole(files, known); err != nil {
			return err
		}
		p.toldOfWhole(dir, known)
	}
	return nil
}

// filesOf returns the files of a catalog after the change, and the bytes of the existing ones.
func (p *preparation) filesOf(dir string) (files []string, size int64, err error) {
	files, err = fbc.Files(p.base.FS, dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	for _, name := range files {
		info, err := fs.Stat(p.base.FS, name)
		if err != nil {
			return nil, 0, err
		}
		size += info.Size()
	}
	for _, name := range p.change.Names() {
		if strings.HasPrefix(name, dir+"/") && !slices.Contains(files, name) {
			files = append(files, name)
		}
	}
	slices.Sort(files)
	return files, size, err
}

func (p *preparation) loadWhole(files []string, known *graph.Catalog) (*graph.Catalog, error) {
	b := graph.Builder{Light: true, Known: known}
	for _, name := range files {
		pending, changed := p.change.Get(name)
		if changed && pending.Gone {
			continue
		}
		src := pending.After
		if !changed {
			var err error
			if src, err = fs.ReadFile(p.base.FS, name); err != nil {
				return nil, err
			}
		}
		docs, err := fbc.Read(name, src)
		if err != nil {
			b.Fail(err)
			continue
		}
		b.Add(docs)
	}
	return b.Catalog(), nil
}

// toldOfWhole keeps findings that opm rejects and that are not reported yet.
func (p *preparation) toldOfWhole(dir string, c *graph.Catalog) {
	for _, f := range graph.Verify(c, nil, graph.Levels{}) {
		told := func(o graph.Finding) bool {
			return o.ID == f.ID && o.Package == f.Package && o.Channel == f.Channel && o.Bundle == f.Bundle
		}
		if rule, ok := graph.RuleOf(f.ID); !ok || !rule.Opm || slices.ContainsFunc(p.Findings, told) {
			continue
		}
		p.Findings = append(p.Findings, p.Levels.Found("community-catalog-invalid", f.File, f.Line, "%s as a whole: %s: %s", dir, f.ID, f.Message)...)
	}
}
