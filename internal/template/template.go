// Package template detects the kind of a catalog template and inserts bundles into it. Each kind is a package
// below; this package only selects it.
package template

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/operand"
	"github.com/olmgraft/graft/internal/template/basic"
	"github.com/olmgraft/graft/internal/template/composite"
	"github.com/olmgraft/graft/internal/template/goodstuff"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/template/raw"
	"github.com/olmgraft/graft/internal/template/semver"
	"github.com/olmgraft/graft/internal/template/substitutes"
	"github.com/olmgraft/graft/internal/yamledit"
)

// kinds lists the kinds in the order of detection. raw accepts everything that looks like a catalog.
var kinds = []kind.Kind{
	semver.Kind{}, basic.Kind{}, goodstuff.Kind{}, composite.Kind{}, substitutes.Kind{}, raw.Kind{},
}

// Register adds a kind before the others until undo is called. Only tests use it. Passing the list as a value
// would add a parameter to every function from the command line down to here.
func Register(k kind.Kind) (undo func()) {
	before := kinds
	kinds = append([]kind.Kind{k}, before...)
	return func() { kinds = before }
}

// first returns the first kind that satisfies is, or nil.
func first(is func(kind.Traits) bool) kind.Kind {
	for _, k := range kinds {
		if is(k.Traits()) {
			return k
		}
	}
	return nil
}

// Named returns the kind with a name, or nil.
func Named(name string) kind.Kind {
	return first(func(t kind.Traits) bool { return t.Name == name })
}

// Traits returns the traits of the kind with a name, or zero.
func Traits(name string) kind.Traits {
	if k := Named(name); k != nil {
		return k.Traits()
	}
	return kind.Traits{}
}

// OfSchema returns the kind with a schema, or nil.
func OfSchema(schema string) kind.Kind {
	return first(func(t kind.Traits) bool { return schema != "" && t.Schema == schema })
}

const olmSchemas = "olm."

// SchemaStarts returns the prefixes of the schemas of templates and catalogs: OLM's, and the schemas of kinds
// that differ from it.
func SchemaStarts() []string {
	starts := []string{olmSchemas}
	for _, k := range kinds {
		if s := k.Traits().Schema; s != "" && !strings.HasPrefix(s, olmSchemas) {
			starts = append(starts, s)
		}
	}
	return starts
}

// IsSchema reports whether a schema is that of a template, even of a kind that Graft does not know.
func IsSchema(schema string) bool {
	return OfSchema(schema) != nil || strings.HasPrefix(schema, olmSchemas+"template.")
}

// Lists implements operand.Templates.
func Lists(root *yamledit.Node) (operand.Lists, bool) {
	schema := root.FoldText("schema")
	if k, ok := OfSchema(schema).(kind.HasLists); ok {
		return k.Lists(root), true
	}
	return operand.Lists{Unsupported: true}, IsSchema(schema)
}

// Unlisted returns the bundles that a file names without listing their images. It returns none for a file that is
// not a readable template.
func Unlisted(name string, src []byte) []string {
	k, ok := first(func(t kind.Traits) bool {
		_, names := Named(t.Name).(kind.HasUnlisted)
		return names && bytes.Contains(src, []byte(t.Schema))
	}).(kind.HasUnlisted)
	if !ok {
		return nil
	}
	t, err := Parse(name, src)
	if err != nil || t.Kind != k.(kind.Kind) {
		return nil
	}
	return k.Unlisted(&t.Source)
}

// Template is a file or directory with its kind.
type Template struct {
	Source kind.Source
	Kind   kind.Kind
}

// maxParts is the maximum depth of templates made of templates.
const maxParts = 8

// Open reads a template of the repository fsys and detects its kind. name is the name that the user gave.
func Open(fsys fs.FS, p, name string) (*Template, error) {
	info, err := fs.Stat(fsys, p)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, failure.New(failure.TemplateNotFound, "opening %s: there is no such file", name).At(name, 0, 0).
			Fix("Correct the path.")
	}
	if err != nil {
		return nil, failure.New(failure.EditRefused, "opening %s: %w", name, err).At(name, 0, 0).
			Fix("Name a template inside of the repository.")
	}
	t := &Template{Source: kind.Source{FS: fsys, Path: p, Name: name, Docs: func() ([]fbc.Doc, error) { return fbc.ReadFS(fsys, p) }}}
	if !info.IsDir() {
		if !info.Mode().IsRegular() {
			return nil, failure.New(failure.TemplateUnsupported, "opening %s: it is neither a file nor a directory", name).At(name, 0, 0)
		}
		if info.Size() > yamledit.MaxFile {
			return nil, failure.New(failure.TemplateMalformed, "opening %s: %d MiB is more than a catalog template may have (%d MiB)", name, info.Size()>>20, yamledit.MaxFile>>20).At(name, 1, 1)
		}
		text, err := textOf(fsys, p, name)
		if err != nil {
			return nil, failure.New(failure.EditRefused, "reading %s: %w", name, err).At(name, 0, 0).
				Fix("Make the file readable, and keep it inside of the repository.")
		}
		if t.Source.File, err = text.file(); err != nil {
			return nil, err
		}
		t.Source.Docs, t.Source.Entries = text.docs, text.entries
	}
	t.Source.Open = func(input string) (kind.Part, error) {
		part, err := Open(fsys, input, path.Join(strings.TrimSuffix(name, p), input))
		if err != nil {
			return nil, err
		}
		if part.Source.Depth = t.Source.Depth + 1; part.Source.Depth > maxParts {
			return nil, failure.New(failure.TemplateMalformed, "opening %s: it includes itself", name).At(name, 1, 1)
		}
		part.Source.SemverSkips = t.Source.SemverSkips
		return part, nil
	}
	return t, t.detect()
}

// Parse does the same as Open for a text outside a repository, such as standard input.
func Parse(name string, src []byte) (*Template, error) {
	text := newText(name, src)
	file, err := text.file()
	if err != nil {
		return nil, err
	}
	t := &Template{Source: kind.Source{Path: name, Name: name, File: file, Docs: text.docs, Entries: text.entries}}
	return t, t.detect()
}

func (t *Template) detect() error {
	if f := t.Source.File; f != nil {
		if len(f.Docs) == 0 {
			return failure.New(failure.TemplateMalformed, "reading %s: the file is empty", t.Source.Name).At(t.Source.Name, 1, 1)
		}
		// The first document decides, so its faults are reported first.
		if root, err := f.Docs[0].Root(); err != nil {
			return err
		} else if root != nil && root.Kind != yamledit.Mapping {
			return root.Malformed("reading the template: it is not a mapping")
		}
	}
	schema := t.Source.Schema()
	for _, k := range kinds {
		if m, ok := k.(kind.Matcher); ok && m.Match(&t.Source) || !ok && schema != "" && schema == k.Traits().Schema {
			t.Kind = k
			return nil
		}
	}
	err := failure.New(failure.TemplateUnsupported, "reading %s: it is no catalog template", t.Source.Name)
	if schema != "" {
		err = failure.New(failure.TemplateUnsupported, "reading %s: its schema is %s, of which Graft knows nothing", t.Source.Name, schema)
	}
	return err.At(t.Source.Name, 1, 1)
}

// Describe describes the content of the template.
func (t *Template) Describe() kind.Description {
	d := t.Kind.Describe(&t.Source)
	d.Kind = t.Kind.Traits().Name
	// Programs that read the report expect lists, even empty ones.
	d.Channels = append([]kind.Channel{}, d.Channels...)
	d.Bundles = append([]kind.BundleRef{}, d.Bundles...)
	d.Problems = append([]*failure.Error{}, d.Problems...)
	slices.SortStableFunc(d.Problems, func(a, b *failure.Error) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	return d
}

// Insert returns the result of inserting the bundle. It refuses a template that opm would read differently than
// written, and reports everything that is wrong.
func (t *Template) Insert(r kind.Request) (*kind.Outcome, error) {
	d := t.Describe()
	if err := asErrors(d.Problems); err != nil {
		return nil, err
	}
	if err := checkRequest(t, r); err != nil {
		return nil, err
	}
	r, choice, err := t.chosen(r)
	if err != nil {
		return nil, err
	}
	r, pinned := r.Pinned(d.Bundles)
	o, err := t.Kind.Insert(&t.Source, r)
	if err != nil {
		return nil, err
	}
	if _, ok := t.Kind.(kind.HasLists); pinned != "" && t.Source.FS != nil && (ok || t.Kind.Traits().IsCatalog) {
		pinned += "; resolve it with graft pin " + t.Source.Name
	}
	for _, note := range []string{choice, pinned} {
		if note != "" {
			o.Notes = append(o.Notes, note)
		}
	}
	return t.noted(d, o, nil)
}

// checkRequest refuses edges that are invalid in every template.
func checkRequest(t *Template, r kind.Request) error {
	name := r.Bundle.Name
	if r.Replaces == name || slices.Contains(r.Skips, name) {
		return failure.New(failure.Usage, "inserting %s: it is to replace or skip itself", name).Fix("Name another bundle.")
	}
	if has := t.Kind.Traits(); r.SubstitutesFor != "" && !has.Substitutes && !has.OfTemplates {
		return failure.New(failure.Usage, "inserting %s: a %s template has no substitutions", name, has.Name).Fix("Leave out --substitutes-for, or use a substitutes template.")
	}
	if _, ok := t.Kind.(kind.HasEdges); r.LikePrevious && !ok && !t.Kind.Traits().OfTemplates {
		return failure.New(failure.Usage, "inserting %s: the channels of a %s template have no entries with edges that a new one could begin with", name, t.Kind.Traits().Name).
			Fix("Leave out newChannel in graft.yaml, or --new-channel of graft insert.")
	}
	return nil
}

// Insert inserts a bundle into a template of the repository fsys. If there is no template and create names a
// kind, it creates one. catalogs selects catalogs of a composite template; empty means all.
func Insert(fsys fs.FS, p, name, create string, catalogs []string, r kind.Request) (*kind.Outcome, error) {
	t, err := Open(fsys, p, name)
	if failure.Is(err, failure.TemplateNotFound) && create != "" {
		return created(p, create, r)
	}
	var missing *failure.Error
	if errors.As(err, &missing) && missing.Code == failure.TemplateNotFound {
		return nil, missing.Fix("Correct the path, or give --create with a kind of template.")
	}
	if err != nil {
		return nil, err
	}
	t.Source.Catalogs = catalogs
	return t.Insert(r)
}

func created(p, kindName string, r kind.Request) (*kind.Outcome, error) {
	r, note := r.Pinned(nil)
	text, err := Create(kindName, r)
	if err != nil {
		return nil, err
	}
	o := &kind.Outcome{
		Files:   []kind.Written{{Path: p, After: text, New: true}},
		Changes: []kind.Change{{What: kind.TemplateCreated, Name: r.Bundle.Name, To: kindName}},
	}
	if note != "" {
		o.Notes = []string{note}
	}
	return o, nil
}

// Images returns the bundle images that rendering the template needs.
func (t *Template) Images(tags kind.Tags) ([]string, error) {
	e, err := t.expander()
	if err != nil {
		return nil, err
	}
	return e.Images(&t.Source, tags)
}

// Expand returns the documents of the catalog.
func (t *Template) Expand(b kind.Bundles, tags kind.Tags) (*fbc.Catalog, error) {
	e, err := t.expander()
	if err != nil {
		return nil, err
	}
	return e.Expand(&t.Source, b, tags)
}

// expander returns the kind's Expander. Like Insert, it refuses a template that opm would read differently than
// written.
func (t *Template) expander() (kind.Expander, error) {
	if err := t.problems(); err != nil {
		return nil, err
	}
	e, ok := t.Kind.(kind.Expander)
	if !ok {
		return nil, failure.New(failure.TemplateUnsupported, "rendering %s: a %s template cannot be rendered", t.Source.Name, t.Kind.Traits().Name).At(t.Source.Name, 1, 1)
	}
	return e, nil
}

// Notes returns what a person should know of the template: faults that neither edits nor rendering refuse.
func (t *Template) Notes() []string {
	d := t.Describe()
	return d.Notes()
}

func (t *Template) problems() error { return asErrors(t.Describe().Problems) }

func asErrors(problems []*failure.Error) error {
	errs := make([]error, len(problems))
	for i, p := range problems {
		errs[i] = p
	}
	return errors.Join(errs...)
}

// Creatable returns the kinds for which Graft can create templates.
func Creatable() []string { return names[kind.Creator]() }

// names returns the names of the kinds that implement an interface.
func names[Able any]() []string {
	var all []string
	for _, k := range kinds {
		if _, ok := k.(Able); ok {
			all = append(all, k.Traits().Name)
		}
	}
	return all
}

// Create returns a new template of a kind that contains only the bundle.
func Create(kindName string, r kind.Request) ([]byte, error) {
	if r.DefaultChannel != "" && len(Traits(kindName).Archetypes) == 0 && !slices.Contains(kind.Unique(r.Channels), r.DefaultChannel) {
		return nil, failure.New(failure.ChannelUnknown, "creating a template whose default channel is %s, into which nothing is inserted", r.DefaultChannel).
			Fix("Also insert into %s.", r.DefaultChannel)
	}
	if r.Replaces == r.Bundle.Name || slices.Contains(r.Skips, r.Bundle.Name) {
		return nil, failure.New(failure.Usage, "inserting %s: it is to replace or skip itself", r.Bundle.Name).Fix("Name another bundle.")
	}
	if c, ok := Named(kindName).(kind.Creator); ok {
		return c.Create(r)
	}
	return nil, failure.New(failure.Usage, "creating a template of kind %q", kindName).
		Fix("Give --create with one of %s.", strings.Join(Creatable(), ", "))
}

// Convertible returns the kinds to which a catalog can be converted.
func Convertible() []string { return names[kind.Converter]() }

// Convert converts a catalog's documents to a template of a kind. skips is the setting for rendering a semver
// template.
func Convert(kindName string, docs []fbc.Doc, format fbc.Format, skips kind.SemverSkips) ([]byte, error) {
	if c, ok := Named(kindName).(kind.Converter); ok {
		text, err := c.Convert(docs, format, skips)
		if err == nil && format == fbc.JSON && !json.Valid(text) {
			return jsonOf(text)
		}
		return text, err
	}
	return nil, failure.New(failure.Usage, "converting to a template of kind %q", kindName).
		Fix("Run graft convert --to with one of %s.", strings.Join(Convertible(), ", "))
}

// jsonOf writes the only document of a template as opm writes documents.
func jsonOf(text []byte) ([]byte, error) {
	docs, err := fbc.Read("the converted template", text)
	if err != nil {
		return nil, err
	}
	body, err := docs[0].JSON()
	if err != nil {
		return nil, err
	}
	out, err := fbc.Encode(fbc.JSON, body)
	return append(bytes.TrimRight(out, "\n"), '\n'), err
}
