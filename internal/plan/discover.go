package plan

import (
	"bytes"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/schema"
	"github.com/olmgraft/graft/internal/template"
)

// discover finds the only template and the only catalog of the package in the repository. If there are several,
// it fails and names them, so that a person can choose.
func (p *planner) discover() ([]candidate, error) {
	asked := p.in.Asked
	if asked.Template != "" && asked.Catalog != "" {
		return []candidate{{path: asked.Template}}, nil
	}
	found, err := p.search()
	if err != nil {
		return nil, err
	}
	c := candidate{path: asked.Template}
	switch {
	case c.path != "":
		if slices.Contains(found.catalogs, c.path) {
			return []candidate{c}, nil // a catalog without a template
		}
		if _, err := p.open(c); failure.Is(err, failure.TemplateNotFound) {
			return nil, failure.Of(err).Fix("%sCorrect the path, or name a kind of template to create.", schema.DidYouMean(c.path, found.templates))
		}
	case len(found.templates) > 1:
		return nil, p.ambiguous("template", found.templates)
	case len(found.templates) == 1:
		c.path = found.templates[0]
		p.reason(&c.reasons, "%s is the only template in the repository for package %s.", c.path, p.in.Bundle.Package)
	default:
		return p.withoutTemplate(found)
	}
	return p.withCatalog(c, found)
}

// withCatalog adds the only catalog to a template.
func (p *planner) withCatalog(c candidate, found *search) ([]candidate, error) {
	switch {
	case p.in.Asked.Catalog != "":
	case len(found.catalogs) > 1:
		return nil, p.ambiguous("catalog", found.catalogs)
	case len(found.catalogs) == 0:
		p.reason(&c.reasons, "The repository has no catalog of package %s, so none is rendered.", p.in.Bundle.Package)
	case found.catalogs[0] == ".":
		p.leaveOut(c.path, found.catalogs[0], "its files are at the top of the repository, among all others")
	default:
		c.Catalogs = []CatalogSetup{{Path: Pattern(found.catalogs[0])}}
		p.reason(&c.reasons, "%s is the only catalog in the repository with package %s.", found.catalogs[0], p.in.Bundle.Package)
	}
	return []candidate{c}, nil
}

// withoutTemplate uses the only catalog, which people edit by hand, in place of a template.
func (p *planner) withoutTemplate(found *search) ([]candidate, error) {
	pkg, asked := p.in.Bundle.Package, p.in.Asked.Catalog
	switch {
	case slices.Contains(found.catalogs, asked):
		p.matched = true
		return []candidate{{path: asked}}, nil
	case len(found.catalogs) > 1:
		return nil, p.ambiguous("catalog", found.catalogs)
	case len(found.catalogs) == 1:
		c := candidate{path: found.catalogs[0]}
		p.reason(&c.reasons, "The repository has no template; %s is its only catalog with package %s.", c.path, pkg)
		return []candidate{c}, nil
	}
	err := failure.New(failure.TemplateNotFound, "looking for a template of package %s: the repository has none that can be read", pkg)
	if len(found.broken) > 0 {
		return nil, err.Fix("Correct %s, or name the template.", strings.Join(firstFew(found.broken), ", "))
	}
	return nil, err.Fix("Name the template with --template or in .github/graft.yaml, or create one with graft insert --create.")
}

func (p *planner) ambiguous(what string, paths []string) error {
	return failure.New(failure.Usage, "looking for the %s of package %s: there are %d: %s", what, p.in.Bundle.Package, len(paths), strings.Join(firstFew(paths), ", ")).
		Fix("Name one with --%s, or all of them in .github/graft.yaml.", what)
}

func firstFew(paths []string) []string {
	const few = 10
	if len(paths) > few {
		return append(slices.Clone(paths[:few]), "...")
	}
	return paths
}

// maxSearched is the number of bytes that a search may read.
const maxSearched = 512 << 20

// search walks the repository's YAML and JSON files. It skips folders of tools, tests and other projects.
type search struct {
	files *template.Files
	pkg   string

	templates []string // contain the package, or do not name one
	catalogs  []string // contain the package: files, and directories of files
	broken    []string // resemble a template or catalog but cannot be read

	inputs map[string]bool // of composite templates
	whole  []string        // files with the package document
	parts  []string        // files with only other documents of the package
}

func (p *planner) search() (*search, error) {
	s := &search{files: p.files, pkg: p.in.Bundle.Package, inputs: map[string]bool{}}
	if err := WalkFiles(p.files.FS, s.look); err != nil {
		return nil, err
	}
	s.templates = slices.DeleteFunc(s.templates, func(t string) bool { return s.inputs[t] })
	s.sortCatalogs()
	return s, nil
}

// WalkFiles visits the files of a repository that can be a template or catalog: their name has a suitable
// extension, and they contain a known schema. It skips unreadable files.
func WalkFiles(fsys fs.FS, visit func(name string, src []byte) error) error {
	return Walk(fsys, passedOver, visit)
}

// Walk is WalkFiles with another choice of skipped folders.
func Walk(fsys fs.FS, skip func(folder string) bool, visit func(name string, src []byte) error) error {
	read, starts := int64(0), template.SchemaStarts()
	return fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return failure.New(failure.EditRefused, "looking for templates: %w", err).At(name, 0, 0).Fix("Make the repository readable, or name the template.")
		case d.IsDir() && name != "." && skip(d.Name()):
			return fs.SkipDir
		case !d.Type().IsRegular() || !isFileName(name):
			return nil
		}
		src, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil //nolint:nilerr // skip an unreadable file
		}
		if read += int64(len(src)); read > maxSearched {
			return failure.New(failure.Usage, "looking for templates: the repository has more than %d MiB of YAML and JSON", maxSearched>>20).
				Fix("Name the template with --template or in .github/graft.yaml.")
		}
		for _, start := range starts {
			if namesSchema(src, start) {
				return visit(name, src)
			}
		}
		return nil
	})
}

func passedOver(folder string) bool {
	return strings.HasPrefix(folder, ".") || slices.Contains([]string{"node_modules", "vendor", "testdata"}, folder)
}

// look records a file that concerns the package. It keeps the content of such files only, because they are opened
// again.
func (s *search) look(name string, src []byte) error {
	s.files.Put(name, src)
	t, err := template.Open(s.files, name, name)
	hit := false
	switch {
	case failure.Is(err, failure.TemplateUnsupported):
	case err != nil:
		s.broken = append(s.broken, name)
	case t.Kind.Traits().IsCatalog:
		hit = s.lookRaw(t, name)
	default:
		hit = s.lookTemplate(t, name)
	}
	if !hit {
		s.files.Forget(name)
	}
	return nil
}

func (s *search) lookTemplate(t *template.Template, name string) bool {
	d := t.Describe()
	if d.Auxiliary || d.Package != "" && d.Package != s.pkg {
		return false
	}
	for _, input := range d.Inputs {
		s.inputs[path.Join(path.Dir(name), input)] = true
		s.inputs[path.Clean(input)] = true
	}
	s.templates = append(s.templates, name)
	return true
}

func (s *search) lookRaw(t *template.Template, name string) bool {
	docs, err := t.Source.Docs()
	switch {
	case err != nil:
		s.broken = append(s.broken, name)
	case slices.ContainsFunc(docs, func(d fbc.Doc) bool { return d.Schema == fbc.SchemaPackage && d.Name == s.pkg }):
		s.whole = append(s.whole, name)
		return true
	case slices.ContainsFunc(docs, func(d fbc.Doc) bool { return d.Package == s.pkg }):
		s.parts = append(s.parts, name)
	}
	return false
}

// sortCatalogs separates catalogs in one file from those in a directory. For documents of the package without a
// package document, the nearest directory above them that has one is a catalog.
func (s *search) sortCatalogs() {
	wholeIn := map[string]bool{}
	for _, name := range s.whole {
		wholeIn[path.Dir(name)] = true
	}
	spread := map[string]bool{}
	for _, name := range s.parts {
		for dir := path.Dir(name); ; dir = path.Dir(dir) {
			if wholeIn[dir] {
				spread[dir] = true
				break
			}
			if dir == "." {
				break
			}
		}
	}
	for _, name := range append(slices.Clone(s.whole), s.parts...) {
		dir := path.Dir(name)
		for dir != "." && !spread[dir] {
			dir = path.Dir(dir)
		}
		switch {
		case spread[dir]:
			s.catalogs = append(s.catalogs, dir)
		case !slices.Contains(s.parts, name):
			s.catalogs = append(s.catalogs, name)
		}
	}
	slices.Sort(s.catalogs)
	s.catalogs = slices.Compact(slices.DeleteFunc(s.catalogs, func(name string) bool { return s.inputs[name] }))
}

// namesSchema reports whether a text contains a schema with this start. It does not parse the text.
func namesSchema(src []byte, start string) bool {
	const schema, quotes = "schema", " \t\r\n\"'"
	for at := 0; ; {
		i := bytes.Index(src[at:], []byte(start))
		if i < 0 {
			return false
		}
		at += i
		before, colon := bytes.CutSuffix(bytes.TrimRight(src[:at], quotes), []byte(":"))
		key := bytes.TrimRight(before, quotes)
		if n := len(key) - len(schema); colon && n >= 0 && bytes.EqualFold(key[n:], []byte(schema)) {
			return true
		}
		at += len(start)
	}
}
