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
	if err := t.problems(); err != nil {
		return nil, err
	}
	if has := t.Kind.Traits(); r.Tombstone && !has.Tombstones && !has.OfTemplates {
		return nil, t.unsupported(r.Doing(), "has none").Fix("Leave out --tombstone, and let the next version skip the bundle with graft edges --skips.")
	}
	return k.Remove(&t.Source, r)
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
	if err := t.problems(); err != nil {
		return nil, err
	}
	return k.Deprecate(&t.Source, d)
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
	if err := t.problems(); err != nil {
		return nil, err
	}
	return k.SetEdges(&t.Source, e)
}

func (t *Template) unsupported(doing, why string) *failure.Error {
	return failure.New(failure.TemplateUnsupported, "%s: a %s template %s", doing, t.Kind.Traits().Name, why).At(t.Source.Name, 1, 1)
}
