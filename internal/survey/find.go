package survey

import (
	"bytes"
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/template"
)

// finder collects the templates and catalogs of a repository.
type finder struct {
	fsys      fs.FS
	templates []*source
	catalogs  []*source
	files     []rawFile
	left      []plan.LeftOut
}

// rawFile is a file of catalog documents of one package.
type rawFile struct {
	path, pkg string
	whole     bool // it contains the package document
	facts     facts
}

func find(fsys fs.FS) (*finder, error) {
	f := &finder{fsys: fsys}
	if err := plan.Walk(fsys, skipped, f.look); err != nil {
		return nil, err
	}
	f.assemble()
	f.dropInputs()
	return f, nil
}

// skipped reports folders of tools and of other projects, which may be very large.
func skipped(folder string) bool {
	return slices.Contains([]string{".git", "node_modules", "vendor", ".cache", ".venv"}, folder)
}

func (f *finder) look(name string, src []byte) error {
	t, err := template.Open(f.fsys, name, name)
	if err != nil {
		if aside(name) == "" {
			f.left = append(f.left, plan.LeftOut{Template: name, Reason: failure.Of(err).Error()})
		}
		return nil
	}
	if t.Kind.Traits().IsCatalog {
		return f.lookRaw(t, name)
	}
	d := t.Describe()
	switch {
	case d.Auxiliary:
		return nil
	case t.Source.Schema() == fbc.SchemaBundle && len(d.Channels) == 0:
		return f.lookRaw(t, name) // bundles without channels are a part of a catalog
	}
	one := newSource(name, d.Kind, d.Package)
	one.facts, err = templateFacts(t, d)
	if by := generatedBy(src); by != "" {
		one.unusable = "it is generated (" + by + "): edit its source instead"
	} else if len(d.Problems) > 0 {
		one.unusable = d.Problems[0].Error()
	} else if err != nil {
		one.unusable = failure.Of(err).Error()
	}
	for _, input := range d.Inputs {
		one.inputs = append(one.inputs, path.Join(path.Dir(name), input), path.Clean(input))
	}
	f.templates = append(f.templates, one)
	return nil
}

func newSource(name, kind, pkg string) *source {
	s := &source{path: name, kind: kind, pkg: pkg, aside: aside(name)}
	if p, ok := plan.PlatformOf(name); ok {
		s.platform = &p
	}
	return s
}

// lookRaw groups the documents of a file by package.
func (f *finder) lookRaw(t *template.Template, name string) error {
	docs, err := t.Source.Docs()
	if err != nil {
		f.left = append(f.left, plan.LeftOut{Template: name, Reason: failure.Of(err).Error()})
		return nil
	}
	packages := map[string][]fbc.Doc{}
	for _, d := range docs {
		pkg := d.Package
		if d.Schema == fbc.SchemaPackage {
			pkg = d.Name
		}
		if pkg != "" {
			packages[pkg] = append(packages[pkg], d)
		}
	}
	if len(packages) > 1 {
		f.left = append(f.left, plan.LeftOut{Template: name, Reason: "it has several packages"})
		return nil
	}
	for pkg, docs := range packages {
		whole := slices.ContainsFunc(docs, func(d fbc.Doc) bool { return d.Schema == fbc.SchemaPackage })
		f.files = append(f.files, rawFile{name, pkg, whole, docFacts(docs)})
	}
	return nil
}

// assemble builds catalogs from the files. A file with its package document is a catalog. If other documents of
// the package are next to it or below it, its folder is the catalog. assemble leaves other fragments alone.
func (f *finder) assemble() {
	heads := map[string][]int{} // files with a package document, by folder and package
	at := func(dir, pkg string) string { return dir + "\x00" + pkg }
	for i, file := range f.files {
		if file.whole {
			key := at(path.Dir(file.path), file.pkg)
			heads[key] = append(heads[key], i)
		}
	}
	parts := map[int][]rawFile{}
	for _, file := range f.files {
		if file.whole {
			continue
		}
		head := -1
		for dir := path.Dir(file.path); dir != "." && head < 0; dir = path.Dir(dir) {
			if of := heads[at(dir, file.pkg)]; len(of) == 1 {
				head = of[0]
			}
		}
		if head < 0 {
			f.left = append(f.left, plan.LeftOut{Template: file.path, Reason: "it is a part of a catalog, and no file beside or above it has the olm.package of " + file.pkg})
			continue
		}
		parts[head] = append(parts[head], file)
	}
	for i, file := range f.files {
		if !file.whole {
			continue
		}
		one := newSource(file.path, "raw", file.pkg)
		if len(parts[i]) > 0 {
			one = newSource(path.Dir(file.path), "raw", file.pkg)
			one.directory = true
		}
		one.catalog, one.facts = true, file.facts
		for _, part := range parts[i] {
			one.facts.add(part.facts)
		}
		f.catalogs = append(f.catalogs, one)
	}
}

// dropInputs removes templates that are inputs of other templates, and adds their facts to those.
func (f *finder) dropInputs() {
	of := map[string]*source{}
	for _, t := range f.templates {
		for _, input := range t.inputs {
			of[input] = t
		}
	}
	f.templates = only(f.templates, func(t *source) bool {
		if owner := of[t.path]; owner != nil && owner != t {
			owner.facts.add(t.facts)
			owner.pkg = cmp.Or(owner.pkg, t.pkg)
			return false
		}
		return true
	})
}

const hiddenFolder = "is a hidden folder"

// aside returns why a path may not belong to the repository itself, or "".
func aside(name string) string {
	for folder := range strings.SplitSeq(path.Dir(name), "/") {
		switch {
		case folder == ".":
		case strings.HasPrefix(folder, "."):
			return folder + " " + hiddenFolder
		case ofTests(folder):
			return folder + " is a folder of tests or examples"
		}
	}
	return ""
}

// ofTests reports whether a name indicates a test or an example.
func ofTests(name string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("-_.", r) }), func(word string) bool {
		return slices.Contains([]string{"test", "tests", "testdata", "testing", "e2e", "fixture", "fixtures", "example", "examples", "mock", "mocks"}, word)
	})
}

// generatedBy returns the comment at the top of a text that marks it as generated, or "".
func generatedBy(src []byte) string {
	for line := range bytes.Lines(src) {
		comment, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("#"))
		switch {
		case ok && bytes.Contains(bytes.ToUpper(comment), []byte("DO NOT EDIT")):
			return string(bytes.TrimSpace(comment))
		case !ok && len(bytes.TrimSpace(line)) > 0 && !bytes.HasPrefix(line, []byte("---")):
			return ""
		}
	}
	return ""
}
