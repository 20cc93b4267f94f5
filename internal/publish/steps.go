package publish

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/field"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/reference"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
)

// addRewritten adds the bundles of a template whose images a catalog names differently.
func (p *preparation) addRewritten(names map[string]string, from string, c plan.Catalog) {
	tmpl, err := template.Open(p.files, from, from)
	if err != nil {
		return // the editor reports the error
	}
	for _, b := range tmpl.Describe().Bundles {
		if name := names[c.Rewrite.Of(b.Image)]; name != "" {
			names[b.Image] = name
		}
	}
}

// setFields sets a bundle's values in files for other programs, and reports whether one changed.
func (p *preparation) setFields(fields []plan.Field) (changed bool, err error) {
	for _, f := range fields {
		src, err := p.files.ReadFile(f.Path)
		if err != nil {
			return changed, failure.New(failure.EditRefused, "setting %s in %s: %w", f.At, f.Path, err).At(f.Said, f.Line, f.Col).Fix("Name a file in the repository.")
		}
		before, after, err := field.Set(f.Path, src, f.At, f.Value)
		if err != nil {
			return changed, err
		}
		if before == f.Value {
			continue
		}
		changed = true
		p.change.Set(f.Path, src, after, false)
		p.target(f.Path).set(kind.Change{What: kind.FieldSet, Name: f.At, From: before, To: f.Value})
	}
	return changed, nil
}

// set records the result for a place. Of several bundles the last one counts.
func (t *Target) set(c kind.Change) {
	t.entries = true
	for i, o := range t.Changes {
		if o.What == c.What && o.Name == c.Name {
			t.Changes[i].To = c.To
			return
		}
	}
	t.Changes = append(t.Changes, c)
}

// runAfter runs the repository's commands on a change and adds their changes. If commands are not allowed, a
// dry run reports that; otherwise the change is not made without them.
func (p *preparation) runAfter(ctx context.Context) error {
	commands := p.after.Run
	refused := func(code failure.Code, format string, args ...any) *failure.Error {
		return failure.New(code, format, args...).At(p.after.File, p.after.Line, p.after.Col)
	}
	switch {
	case len(commands) == 0 || len(p.change.Names()) == 0:
		return nil
	case p.Commands == nil && p.DryRun:
		p.Warnings = append(p.Warnings, fmt.Sprintf("the commands of after in %s do not run, because allow-commands is not set", p.after.File))
		return nil
	case p.Commands == nil:
		return refused(failure.Usage, "running the commands of after: allow-commands is not set").Fix("Give --allow-commands, or remove after from graft.yaml.")
	}
	p.Line("running %s after the change", count(len(commands), "command"))
	written, err := p.Commands(ctx, p.base.FS, &p.change, commands)
	if err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(written))
	outside := slices.DeleteFunc(slices.Clone(names), p.mayChange)
	if len(outside) > 0 {
		return refused(failure.EditRefused, "running the commands of after: they changed %s, which changes does not name", strings.Join(outside[:min(len(outside), 10)], ", ")).
			Fix("Add the files to changes, or keep the commands from changing them.")
	}
	for _, name := range names {
		if err := p.put(name, written[name]); err != nil {
			return err
		}
	}
	p.ran = names
	return nil
}

// mayChange reports whether the repository's commands may change a file.
func (p *preparation) mayChange(name string) bool {
	return slices.ContainsFunc(p.after.Changes, func(pattern string) bool { return reference.Matches(pattern, name) })
}

// put adds a file that commands changed; nil text means deleted.
func (p *preparation) put(name string, text []byte) error {
	if text != nil {
		return p.write(name, text)
	}
	before, err := p.files.ReadFile(name)
	if err != nil {
		return failure.New(failure.EditRefused, "reading %s: %w", name, err).At(name, 0, 0)
	}
	p.change.Remove(name, before)
	return nil
}

// reusable returns the documents of a catalog except bundles to render again.
func (p *preparation) reusable(docs []fbc.Doc, c plan.Catalog) []fbc.Doc {
	anew := map[string]bool{}
	for image, moved := range p.anew {
		anew[image], anew[c.Rewrite.Of(image)] = moved, moved
	}
	return slices.DeleteFunc(slices.Clone(docs), func(d fbc.Doc) bool { return d.Schema == fbc.SchemaBundle && anew[d.Image] })
}
