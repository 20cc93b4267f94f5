package documents

import (
	"slices"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/yamledit"
)

// deprecations returns the package's documents of deprecations.
func (s *Set) deprecations(pkg string) []Document {
	return slices.DeleteFunc(s.Of(fbc.SchemaDeprecation), func(d Document) bool { return d.Package != pkg })
}

func referred(item *yamledit.Node) fbc.Reference {
	ref := item.FoldValue("reference")
	return fbc.Reference{Schema: ref.FoldText("schema"), Name: ref.FoldText("name")}
}

// Deprecate adds deprecations to the documents of the template with this name. It changes the message of an
// existing one. add inserts a document in its place.
func (s *Set) Deprecate(d kind.Deprecation, name string, add func(v yamledit.Value, siblings []Document) error, o *kind.Outcome) error {
	pkg, err := s.packageOf(d.Doing(), "", d.Package, "in "+name, o)
	if err != nil {
		return err
	}
	if err := s.checkReferences(d, pkg, name); err != nil {
		return err
	}
	docs := s.deprecations(pkg)
	var items []*yamledit.Node
	for _, doc := range docs {
		items = append(items, doc.Node.FoldValue("entries").Items()...)
	}
	var added []yamledit.Value
	for _, ref := range d.References() {
		i := slices.IndexFunc(items, func(item *yamledit.Node) bool { return referred(item.Resolve()) == ref })
		if i < 0 {
			added = append(added, deprecationValue(ref, d.Message))
			o.Changes = append(o.Changes, kind.DeprecationChange(kind.DeprecationAdded, ref, "", d.Message))
			continue
		}
		message := items[i].Resolve().FoldValue("message")
		if message.Text() == d.Message {
			continue
		}
		o.Changes = append(o.Changes, kind.DeprecationChange(kind.DeprecationAdded, ref, message.Text(), d.Message))
		if err := s.setMessage(docs[0].Edits, items[i].Resolve(), message, d.Message); err != nil {
			return err
		}
	}
	return addDeprecations(docs, added, pkg, func(v yamledit.Value) error { return add(v, s.ofPackage(pkg)) })
}

func (s *Set) setMessage(e *yamledit.Edits, item, message *yamledit.Node, text string) error {
	switch {
	case message == nil:
		return e.AddField(item, "reference", textField("message", text))
	case message.IsNull():
		return e.Fill(message, yamledit.Text(text))
	}
	return e.SetText(message, text)
}

func addDeprecations(docs []Document, added []yamledit.Value, pkg string, add func(yamledit.Value) error) error {
	if len(added) == 0 {
		return nil
	}
	if len(docs) == 0 {
		return add(yamledit.Map(
			textField("schema", fbc.SchemaDeprecation),
			textField("package", pkg),
			yamledit.Field{Key: "entries", Value: yamledit.List(added...)},
		))
	}
	if err := docs[0].editable(); err != nil {
		return err
	}
	list := docs[0].Node.FoldValue("entries")
	if list == nil {
		return docs[0].Edits.AddField(docs[0].Node, "", yamledit.Field{Key: "entries", Value: yamledit.List(added...)})
	}
	if list.IsNull() {
		return docs[0].Edits.Fill(list, yamledit.List(added...))
	}
	for _, v := range added {
		if err := docs[0].Edits.Insert(list, len(list.Items()), v); err != nil {
			return err
		}
	}
	return nil
}

func deprecationValue(ref fbc.Reference, message string) yamledit.Value {
	fields := []yamledit.Field{textField("schema", ref.Schema)}
	if ref.Name != "" {
		fields = append(fields, textField("name", ref.Name))
	}
	return yamledit.Map(yamledit.Field{Key: "reference", Value: yamledit.Map(fields...)}, textField("message", message))
}

// checkReferences refuses references to objects that the package does not have.
func (s *Set) checkReferences(d kind.Deprecation, pkg, name string) error {
	for _, ref := range d.References() {
		switch {
		case ref.Schema == fbc.SchemaChannel && s.channel(pkg, ref.Name) == nil:
			return failure.New(failure.ChannelUnknown, "deprecating channel %s, which package %s does not have", ref.Name, pkg).At(name, 0, 0)
		case ref.Schema == fbc.SchemaBundle && len(s.entriesOf(pkg, ref.Name)) == 0 && named(s.Of(fbc.SchemaBundle), ref.Name) == nil:
			return failure.New(failure.BundleNotFound, "deprecating bundle %s, which package %s does not have", ref.Name, pkg).At(name, 0, 0).
				Fix("Name a bundle that has an entry in one of the package's channels.")
		}
	}
	return nil
}

// ofPackage returns the documents of a package, including those that do not name one.
func (s *Set) ofPackage(pkg string) (docs []Document) {
	for _, d := range s.Docs {
		if d.Package == pkg || d.Package == "" && (d.Schema != fbc.SchemaPackage || d.Name == pkg) {
			docs = append(docs, d)
		}
	}
	return docs
}

// Deprecate adds deprecations to the documents.
func (f *File) Deprecate(d kind.Deprecation) (*kind.Outcome, error) {
	o := &kind.Outcome{}
	if err := f.Set.Deprecate(d, f.source.Name, f.AddChannel, o); err != nil {
		return nil, err
	}
	return o, f.Edited(o)
}
