package documents

import (
	"errors"
	"slices"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/yamledit"
)

// Remove removes bundles or channels from the documents of the template with this name; remove removes one
// document. If one of the channels may not be removed, nothing is removed.
func (s *Set) Remove(r kind.Removal, name string, remove func(*Document) error, o *kind.Outcome) error {
	pkg := r.Package
	if len(s.Of(fbc.SchemaPackage))+len(s.Of(fbc.SchemaChannel))+len(s.Of(fbc.SchemaBundle)) > 0 { // else nothing is there to remove
		var err error
		if pkg, err = s.packageOf(r.Doing(), "", r.Package, "in "+name, o); err != nil {
			return err
		}
	}
	e := removal{Set: s, Removal: r, pkg: pkg, remove: remove, o: o, stands: map[string]bool{}}
	if err := e.planChannels(); err != nil {
		return err
	}
	if err := s.setDefaultChannel(kind.Request{DefaultChannel: r.DefaultChannel}, pkg, nil, o); err != nil {
		return err
	}
	if err := e.cutChannels(); err != nil {
		return err
	}
	if err := e.cutBundles(); err != nil {
		return err
	}
	if err := e.cutDeprecations(); err != nil {
		return err
	}
	for _, what := range e.missing {
		o.Notes = append(o.Notes, r.Nothing(what[0], what[1]))
	}
	if e.removed == len(s.Docs) && e.removed > 0 {
		return failure.New(failure.EditRefused, "%s: nothing would be left in the template", r.Doing()).At(name, 1, 1).Fix("Remove the template.")
	}
	return nil
}

// A removal is one edit of a set of documents.
type removal struct {
	kind.Removal
	*Set
	pkg     string
	remove  func(*Document) error
	o       *kind.Outcome
	plans   []channelPlan
	stands  map[string]bool // bundles that still have an entry afterwards
	names   []string        // of all entries before the edit
	missing [][2]string
	gone    []fbc.Reference
	removed int
}

// A channelPlan holds the entries of a channel before and after the edit.
type channelPlan struct {
	doc           Document
	before, after []fbc.Entry
}

// planChannels works out the entries of each channel after the edit, and refuses a removal that is not allowed.
func (e *removal) planChannels() error {
	var errs []error
	found := map[string]bool{}
	def := e.DefaultChannel
	if d := e.packageDoc(e.pkg); d != nil && def == "" {
		def = d.Node.FoldText("defaultChannel")
	}
	for _, c := range e.channels(e.pkg) {
		found[c.Name] = true
		before := entries(c.Node)
		p := channelPlan{doc: c, before: before, after: e.Rest(c.Name, before)}
		for _, entry := range p.before {
			e.names = append(e.names, entry.Name)
		}
		for _, entry := range p.after {
			e.stands[entry.Name] = true
		}
		if !e.Whole(c.Name) && len(p.after) == len(p.before) {
			continue
		}
		e.plans = append(e.plans, p)
		if len(p.after) == 0 && def == c.Name {
			errs = append(errs, p.doc.at(e.Default(c.Name)))
			continue
		}
		if err := e.Strands(c.Name, p.before, p.after, e.versions()); err != nil {
			errs = append(errs, p.doc.at(err))
		}
		if heads := manyHeads(c.Name, p.before, p.after); heads != "" {
			e.o.Notes = append(e.o.Notes, heads)
		}
	}
	for _, name := range e.Channels {
		if !found[name] {
			e.missing = append(e.missing, [2]string{"channel", name})
			if len(e.Bundles) == 0 {
				e.gone = append(e.gone, fbc.Reference{Schema: fbc.SchemaChannel, Name: name})
			}
		}
	}
	return errors.Join(errs...)
}

func (e *removal) cutChannels() error {
	for _, p := range e.plans {
		if len(p.after) == 0 {
			if err := e.document(&p.doc); err != nil {
				return err
			}
			e.o.Changes = append(e.o.Changes, kind.Change{What: kind.ChannelRemoved, Channel: p.doc.Name})
			e.gone = append(e.gone, fbc.Reference{Schema: fbc.SchemaChannel, Name: p.doc.Name})
			continue
		}
		if err := e.cutEntries(p); err != nil {
			return err
		}
	}
	return nil
}

func (e *removal) cutEntries(p channelPlan) error {
	after := p.after
	for i, item := range p.doc.Node.FoldValue("entries").Items() {
		was := p.before[i]
		if slices.Contains(e.Bundles, was.Name) {
			e.o.Changes = append(e.o.Changes, kind.Change{What: kind.EntryRemoved, Channel: p.doc.Name, Name: was.Name})
			if err := p.doc.Edits.Remove(item); err != nil {
				return err
			}
			continue
		}
		is := after[0]
		after = after[1:]
		if is.Replaces == was.Replaces {
			continue
		}
		if err := replaceOnly(&p.doc, item.Resolve(), was, is.Replaces, e.o); err != nil {
			return err
		}
	}
	return nil
}

// replaceOnly makes an entry replace another one, or nothing.
func replaceOnly(c *Document, item *yamledit.Node, was fbc.Entry, to string, o *kind.Outcome) error {
	if to != "" {
		return rewire(c, item, was, to, o)
	}
	if err := editableEntry(item, c.Name, true); err != nil {
		return err
	}
	o.Changes = append(o.Changes, kind.Change{What: kind.EntryRewired, Channel: c.Name, Name: was.Name, From: was.Replaces})
	key, _ := item.Fold("replaces")
	return c.Edits.RemoveField(item, key.Value)
}

// cutBundles removes the bundles that no channel lists any more.
func (e *removal) cutBundles() error {
	bundles := slices.DeleteFunc(e.Of(fbc.SchemaBundle), func(d Document) bool { return d.Package != "" && d.Package != e.pkg })
	standing := make([]kind.Standing, len(bundles))
	for i, d := range bundles {
		standing[i] = kind.Standing{Image: d.Image, Name: d.Name}
	}
	for _, name := range e.leaving() {
		if d := named(e.Of(""), name); d != nil {
			return d.noSchema()
		}
		listed := slices.Contains(e.names, name)
		at, untold, fail := e.Find(standing, name, e.names, listed)
		if fail != nil {
			return bundles[e.firstOr(standing, name)].at(fail)
		}
		if untold != "" && listed {
			return e.entriesOf(e.pkg, name)[0].at(e.Conflict(name, untold))
		}
		for _, i := range at {
			e.o.Changes = append(e.o.Changes, kind.Change{What: kind.BundleRemoved, Name: name, From: bundles[i].Image})
			if err := e.document(&bundles[i]); err != nil {
				return err
			}
		}
		if len(at) == 0 && !listed {
			e.missing = append(e.missing, [2]string{"bundle", name})
		}
		e.gone = append(e.gone, fbc.Reference{Schema: fbc.SchemaBundle, Name: name})
	}
	return nil
}

// firstOr returns the index of the bundle with this name, otherwise 0.
func (e *removal) firstOr(standing []kind.Standing, name string) int {
	return max(0, slices.IndexFunc(standing, func(s kind.Standing) bool { return e.NameOf(s.Image) == name || s.Name == name }))
}

// leaving returns the bundles that have no entry and no image after the edit.
func (e *removal) leaving() (names []string) {
	all := e.Bundles
	for _, p := range e.plans {
		for _, entry := range p.before {
			if e.Whole(p.doc.Name) {
				all = append(slices.Clone(all), entry.Name)
			}
		}
	}
	return slices.DeleteFunc(kind.Unique(all), func(name string) bool { return e.stands[name] })
}

// cutDeprecations removes the deprecations of bundles and channels that are removed.
func (e *removal) cutDeprecations() error {
	docs := e.deprecations(e.pkg)
	for i := range docs {
		items := docs[i].Node.FoldValue("entries").Items()
		var cut []*yamledit.Node
		for _, item := range items {
			ref := referred(item.Resolve())
			if !slices.Contains(e.gone, ref) {
				continue
			}
			cut = append(cut, item)
			e.o.Changes = append(e.o.Changes, kind.DeprecationChange(kind.DeprecationGone, ref, item.Resolve().FoldText("message"), ""))
		}
		if len(cut) > 0 && len(cut) == len(items) {
			if err := e.document(&docs[i]); err != nil {
				return err
			}
			continue
		}
		for _, item := range cut {
			if err := docs[i].Edits.Remove(item); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *removal) document(d *Document) error {
	e.removed++
	return e.remove(d)
}

// RemoveDocument removes one document from the file.
func (f *File) RemoveDocument(d *Document) error {
	if d.list != nil {
		return f.edits.Remove(d.Node)
	}
	return f.edits.RemoveDoc(d.Index)
}

// Remove removes bundles or channels from the documents.
func (f *File) Remove(r kind.Removal) (*kind.Outcome, error) {
	o := &kind.Outcome{}
	if err := f.Set.Remove(r, f.source.Name, f.RemoveDocument, o); err != nil {
		return nil, err
	}
	return o, f.Edited(o)
}
