package documents

import (
	"regexp"
	"slices"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/yamledit"
)

// find looks for the requested bundle, or the one that it takes the place of, among the bundles of the template.
// It refuses to guess if the template has an entry of that name and an unknown image may belong to it.
func (s *Set) find(bundles []Document, r kind.Request, pkg string) (kind.Found, error) {
	for _, d := range s.Of("") {
		if id, fail := r.Identify(kind.Standing{Image: d.Image, Name: d.Name}); id != kind.Another || fail != nil {
			return kind.Found{}, d.noSchema()
		}
	}
	standing := make([]kind.Standing, len(bundles))
	for i, d := range bundles {
		standing[i] = kind.Standing{Image: d.Image, Name: d.Name}
	}
	found, fail := r.Find(standing, func(name string) bool { return len(s.entriesOf(pkg, name)) > 0 })
	if fail != nil {
		return found, bundles[found.At].at(fail)
	}
	if found.Identity != kind.Another {
		return found, once(bundles, found.At)
	}
	for _, name := range []string{r.InsteadOf, r.Bundle.Name} {
		if places := s.entriesOf(pkg, name); len(places) > 0 && len(found.Unknown) > 0 {
			return found, places[0].at(found.Conflict(r, name))
		}
	}
	return found, nil
}

// once refuses the edit of a bundle that occurs twice.
func once(bundles []Document, at int) error {
	for i := range bundles {
		if d := &bundles[i]; i != at && d.Image == bundles[at].Image {
			return d.at(failure.New(failure.TemplateMalformed, "reading image %s, which occurs twice", d.Image)).Fix("Remove one of the two.")
		}
	}
	return nil
}

// A place is an entry of a channel.
type place struct {
	channel Document
	item    *yamledit.Node
}

func (p place) at(err *failure.Error) *failure.Error { return p.item.At(err) }

// entriesOf returns the entries with a name in all channels of the package.
func (s *Set) entriesOf(pkg, name string) []place {
	var all []place
	for _, c := range s.channels(pkg) {
		for _, item := range c.Node.FoldValue("entries").Items() {
			if name != "" && item.Resolve().FoldText("name") == name {
				all = append(all, place{c, item})
			}
		}
	}
	return all
}

// replace turns an existing bundle into the requested one.
func (s *Set) replace(d *Document, id kind.Identity, r kind.Request, adder Adder, o *kind.Outcome) error {
	o.Changes = append(o.Changes, r.Change(id, kind.Standing{Image: d.Image}))
	if d.Node == nil || d.rendered() {
		return adder.ReplaceBundle(d)
	}
	if err := d.editable(); err != nil {
		return err
	}
	if name, _ := d.Node.Fold("name"); name != nil && id == kind.Replaced {
		_, v := d.Node.Fold("name")
		if err := d.Edits.SetText(v, r.Bundle.Name); err != nil {
			return err
		}
	}
	image := d.Node.FoldValue("image")
	return d.Edits.SetText(image, r.Bundle.Image)
}

// RefuseRendered refuses to change the image of a rendered bundle in a template.
func RefuseRendered(d *Document) error {
	return d.at(failure.New(failure.EditRefused, "replacing %s: the template holds what its image does, too", d.Name)).
		Fix("Render the bundle again, and add it by hand.")
}

// rendered reports whether the document holds the contents of its image.
func (d *Document) rendered() bool {
	properties := d.Node.FoldValue("properties")
	return len(properties.Items()) > 0
}

// replaceEntries renames the entries of the bundle that the request takes the place of, and every reference to
// it. A range that names the old version literally then names the new one. It returns the channels that still
// lack the bundle.
func (s *Set) replaceEntries(r kind.Request, pkg string, channels []string, o *kind.Outcome) ([]string, error) {
	if places := s.entriesOf(pkg, r.Bundle.Name); len(places) > 0 {
		return nil, places[0].at(failure.New(failure.EdgeConflict, "inserting %s instead of %s: it has an entry in channel %s itself", r.Bundle.Name, r.InsteadOf, places[0].channel.Name)).
			Fix("Remove that entry, or leave out --instead-of.")
	}
	for i := range s.Docs {
		d := &s.Docs[i]
		if d.Node == nil || d.Package != pkg && d.Package != "" {
			continue
		}
		var err error
		switch d.Schema {
		case fbc.SchemaChannel:
			var stands bool
			if stands, err = s.replaceIn(d, r, o); stands {
				channels = slices.DeleteFunc(slices.Clone(channels), func(name string) bool { return name == d.Name })
			}
		case fbc.SchemaDeprecation:
			err = replaceDeprecated(d, r)
		}
		if err != nil {
			return nil, err
		}
	}
	return channels, nil
}

// replaceIn edits the entries of one channel.
func (s *Set) replaceIn(c *Document, r kind.Request, o *kind.Outcome) (stands bool, err error) {
	list := c.Node.FoldValue("entries")
	for _, item := range list.Items() {
		item = item.Resolve()
		was := entry(item)
		references := append([]*yamledit.Node{item.FoldValue("replaces")}, item.FoldValue("skips").Items()...)
		if was.Name == r.InsteadOf { // its own edges refer to other bundles
			references = []*yamledit.Node{item.FoldValue("name")}
		}
		for _, v := range references {
			if v.Text() == r.InsteadOf {
				if err := editableEntry(item, c.Name, was.Name != r.InsteadOf || r.SkipRange == ""); err != nil {
					return stands, err
				}
				if err := c.Edits.SetText(v, r.Bundle.Name); err != nil {
					return stands, err
				}
			}
		}
		if was.Name != r.InsteadOf {
			continue
		}
		stands = true
		now, err := s.moveRange(c, item, was, r)
		if err == nil {
			now, err = askedEdges(c, item, now, r)
		}
		if err != nil {
			return stands, err
		}
		o.Changes = append(o.Changes, kind.Change{What: kind.EntryReplaced, Channel: c.Name, Name: r.Bundle.Name, From: was.Name, To: now.InWords()})
	}
	return stands, nil
}

// moveRange makes the range of the entry end at the new version if it ended at the old one.
func (s *Set) moveRange(c *Document, item *yamledit.Node, e fbc.Entry, r kind.Request) (fbc.Entry, error) {
	old, ok := s.versions()(r.InsteadOf)
	v := item.FoldValue("skipRange")
	if !ok || v.Text() == "" || r.SkipRange != "" {
		return e, nil
	}
	end := regexp.MustCompile(`(<=?\s*)` + regexp.QuoteMeta(old.String()) + `($|[^0-9A-Za-z.+-])`)
	now := end.ReplaceAllString(e.SkipRange, "${1}"+r.Bundle.Version.String()+"${2}")
	if now == e.SkipRange {
		return e, nil
	}
	e.SkipRange = now
	return e, c.Edits.SetText(v, now)
}

// askedEdges sets the requested edges in place of those that the entry has.
func askedEdges(c *Document, item *yamledit.Node, e fbc.Entry, r kind.Request) (fbc.Entry, error) {
	if len(r.Skips) > 0 {
		return e, item.At(failure.New(failure.Usage, "inserting %s instead of %s, with skips of its own", r.Bundle.Name, r.InsteadOf)).
			Fix("Leave out --skips: the existing skips stay.")
	}
	for _, edge := range []struct {
		key, asked string
		is         *string
	}{{"replaces", r.Replaces, &e.Replaces}, {"skipRange", r.SkipRange, &e.SkipRange}} {
		v := item.FoldValue(edge.key)
		if edge.asked == "" || edge.asked == v.Text() {
			continue
		}
		*edge.is = edge.asked
		var err error
		if v.IsNull() {
			err = c.Edits.AddField(item, "name", yamledit.Field{Key: edge.key, Value: yamledit.Text(edge.asked)}, item.Parent.Children...)
		} else {
			err = c.Edits.SetText(v, edge.asked)
		}
		if err != nil {
			return e, err
		}
	}
	return e, nil
}

// replaceDeprecated moves the deprecation of the old bundle to the new one, and renames the bundle in messages.
func replaceDeprecated(d *Document, r kind.Request) error {
	for _, item := range d.Node.FoldValue("entries").Items() {
		item = item.Resolve()
		if name := item.FoldValue("reference").FoldValue("name"); name.Text() == r.InsteadOf && item.FoldValue("reference").FoldText("schema") == fbc.SchemaBundle {
			if err := d.Edits.SetText(name, r.Bundle.Name); err != nil {
				return err
			}
		}
		message := item.FoldValue("message")
		if now := whole(r.InsteadOf).ReplaceAllString(message.Text(), "${1}"+r.Bundle.Name+"${2}"); now != message.Text() {
			if err := d.Edits.SetText(message, now); err != nil {
				return err
			}
		}
	}
	return nil
}

// whole matches a name or version that is not part of a longer one. A full stop may follow it if it ends a
// sentence.
func whole(name string) *regexp.Regexp {
	return regexp.MustCompile(`(^|[^0-9A-Za-z.+-])` + regexp.QuoteMeta(name) + `($|[^0-9A-Za-z.+-]|\.(?:\s|$))`)
}
