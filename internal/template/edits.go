package template

import (
	"io/fs"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/template/kind"
)

// Remove removes bundles or channels from a template of the repository fsys.
func Remove(fsys fs.FS, p, name string, catalogs []string, r kind.Removal) (*kind.Outcome, error) {
	t, err := Open(fsys, p, name)
	if err != nil {
		return nil, err
	}
	t.Source.Catalogs = catalogs
	return t.Remove(r)
}

// Remove returns the result of removing bundles or channels.
func (t *Template) Remove(r kind.Removal) (*kind.Outcome, error) {
	k, ok := t.Kind.(kind.Remover)
	if !ok {
		return nil, t.unsupported(r.Doing(), "takes bundles in alone").Fix("Remove them by hand.")
	}
	d := t.Describe()
	if err := asErrors(d.Problems); err != nil {
		return nil, err
	}
	if has := t.Kind.Traits(); r.Tombstone && !has.Tombstones && !has.OfTemplates {
		return nil, t.unsupported(r.Doing(), "has none").Fix("Leave out --tombstone, and let the next version skip the bundle with graft edges --skips.")
	}
	o, err := k.Remove(&t.Source, r)
	if err != nil {
		return nil, err
	}
	for _, f := range o.Files {
		if f.Path != t.Source.Path || f.Gone {
			continue
		}
		if err := removable(f, r); err != nil {
			return nil, failure.New(failure.EditRefused, "%s: what would remain is not a template: %s", r.Doing(), failure.Of(err).Message).
				At(t.Source.Name, 1, 1).Fix("Correct the other documents of the template first, or remove the file.")
		}
	}
	return t.noted(d, o, nil)
}

// noted adds to an edit's notes the warnings of the description that the edit leaves, at their new places.
func (t *Template) noted(d kind.Description, o *kind.Outcome, err error) (*kind.Outcome, error) {
	if err != nil || len(d.Warnings) == 0 {
		return o, err
	}
	notes := d.Notes()
	for _, f := range o.Files {
		if f.Path != t.Source.Path || f.Gone {
			continue
		}
		if after, err := Parse(t.Source.Name, f.After); err == nil {
			notes = after.Notes()
		}
	}
	o.Notes = append(o.Notes, notes...)
	return o, nil
}

// removable reports why the same removal would fail on its own result, as when only broken documents remain.
func removable(f kind.Written, r kind.Removal) error {
	left, err := Parse(f.Path, f.After)
	if err != nil {
		return err
	}
	k, ok := left.Kind.(kind.Remover)
	if !ok {
		return left.unsupported(r.Doing(), "takes bundles in alone")
	}
	if err := left.problems(); err != nil {
		return err
	}
	_, err = k.Remove(&left.Source, r)
	return err
}

// Deprecate adds deprecations to a template of the repository fsys.
func Deprecate(fsys fs.FS, p, name string, catalogs []string, d kind.Deprecation) (*kind.Outcome, error) {
	t, err := Open(fsys, p, name)
	if err != nil {
		return nil, err
	}
	t.Source.Catalogs = catalogs
	return t.Deprecate(d)
}

// Deprecate returns the result of adding deprecations.
func (t *Template) Deprecate(d kind.Deprecation) (*kind.Outcome, error) {
	k, ok := t.Kind.(kind.Deprecator)
	if !ok {
		return nil, t.unsupported("deprecating", "holds no olm.deprecations").
			Fix("Deprecate in the rendered catalog, or use a basic template: graft convert --to basic writes one.")
	}
	described := t.Describe()
	if err := asErrors(described.Problems); err != nil {
		return nil, err
	}
	o, err := k.Deprecate(&t.Source, d)
	return t.noted(described, o, err)
}

// SetEdges sets the requested edges of a bundle's entries in a template of the repository fsys.
func SetEdges(fsys fs.FS, p, name string, catalogs []string, e kind.Edges) (*kind.Outcome, error) {
	t, err := Open(fsys, p, name)
	if err != nil {
		return nil, err
	}
	t.Source.Catalogs = catalogs
	return t.SetEdges(e)
}

// SetEdges returns the result of setting edges.
func (t *Template) SetEdges(e kind.Edges) (*kind.Outcome, error) {
	k, ok := t.Kind.(kind.EdgeSetter)
	if !ok {
		return nil, t.unsupported(e.Doing(), "has none of its own").Fix("Use a basic template: graft convert --to basic writes one.")
	}
	described := t.Describe()
	if err := asErrors(described.Problems); err != nil {
		return nil, err
	}
	o, err := k.SetEdges(&t.Source, e)
	return t.noted(described, o, err)
}

func (t *Template) unsupported(doing, why string) *failure.Error {
	return failure.New(failure.TemplateUnsupported, "%s: a %s template %s", doing, t.Kind.Traits().Name, why).At(t.Source.Name, 1, 1)
}
