package plan

import (
	"errors"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/reference"
	"github.com/olmgraft/graft/internal/template/kind"
)

// FileSetup is a value in another file that changes with the bundle. Line and Col are the place of the setting.
type FileSetup struct {
	Line, Col       int
	Path, At, Value Pattern
}

// Field is the wanted value at a place in a file. Said is the file that configures it.
type Field struct {
	Path, At, Value string
	Said            string
	Line, Col       int
}

// fields adds the values in other files that change with the bundle. If several bundles have a value for the same
// place, that of the highest version counts, so that the order in which bundles arrive does not matter.
func (p *planner) fields(c candidate, o *opened, t *Target) error {
	if len(c.Files) == 0 {
		return nil
	}
	others := p.higherOnes(o, t)
	for _, f := range c.Files {
		place, err := f.place(p.plan.Bundle)
		if higher := f.taken(place, others); err == nil && higher != "" {
			p.reason(&t.Reasons, "%s of %s stays: %s is a higher version.", place.At, place.Path, higher)
			continue
		}
		if err == nil {
			place.Value, err = f.Value.with(p.plan.Bundle, p.imageFacts())
		}
		if err != nil {
			return p.misconfigured(TargetSetup{Line: f.Line, Col: f.Col}, "filling in a value of files: %w", err)
		}
		place.Said = p.setup.File
		t.Fields = append(t.Fields, place)
	}
	return nil
}

// place returns the place of a bundle's value.
func (f FileSetup) place(b kind.Bundle) (Field, error) {
	path, err := f.Path.For(b)
	if err != nil {
		return Field{}, err
	}
	if err := CheckPath(path); err != nil {
		return Field{}, err
	}
	path, _ = localPath(path)
	at, err := f.At.For(b)
	if err == nil && at == "" {
		err = errors.New("the place is empty")
	}
	return Field{Path: path, At: at, Line: f.Line, Col: f.Col}, err
}

// taken returns a bundle whose value goes to the same place, or "".
func (f FileSetup) taken(place Field, bundles []kind.Bundle) string {
	for _, b := range bundles {
		if other, err := f.place(b); err == nil && other == place {
			return b.Name
		}
	}
	return ""
}

// imageFacts returns the values for an image's placeholders. The tag is the announced one.
func (p *planner) imageFacts() map[string]string {
	b := p.plan.Bundle
	repository, _, digest := reference.Cut(b.Image)
	facts := map[string]string{"image": b.Image, "repository": repository, "digest": digest}
	if b.Digest != "" {
		facts["digest"] = b.Digest
	}
	if _, tag, _ := reference.Cut(p.in.Bundle.Image); tag != "" {
		facts["tag"] = tag
	}
	return facts
}

// higherOnes returns the bundles of the template and its catalogs with a higher version.
func (p *planner) higherOnes(o *opened, t *Target) (all []kind.Bundle) {
	add := func(name string) {
		if v, ok := graph.VersionOf(name); ok && v.GT(p.plan.Bundle.Version) {
			all = append(all, kind.Bundle{Name: name, Version: v, Package: p.plan.Bundle.Package})
		}
	}
	for _, ch := range o.description().Channels {
		for _, name := range ch.Entries {
			add(name)
		}
	}
	for _, c := range t.Catalogs {
		docs, _ := p.files.Catalog(c.Path) // an unreadable catalog is rendered as a whole, with a warning elsewhere
		for _, d := range docs {
			if d.Schema == fbc.SchemaBundle && d.Package == p.plan.Bundle.Package {
				add(d.Name)
			}
		}
	}
	return all
}
