package documents

import (
	"errors"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/yamledit"
)

// documentKeys lists the keys that opm reads; it silently drops others.
var documentKeys = map[string][]string{
	fbc.SchemaPackage:     {"schema", "name", "defaultChannel", "icon", "description", "properties"},
	fbc.SchemaChannel:     {"schema", "name", "package", "entries", "properties"},
	fbc.SchemaBundle:      {"schema", "name", "package", "image", "properties", "relatedImages"},
	fbc.SchemaDeprecation: {"schema", "package", "entries"},
}

var entryKeys = []string{"name", "replaces", "skips", "skipRange"}

// Describe adds the documents and their problems to a description.
func (s *Set) Describe(d *kind.Description) {
	d.Package = s.Package()
	images, names, channels, packages := Seen{}, Seen{}, Seen{}, Seen{}
	for i := range s.Docs {
		doc := &s.Docs[i]
		doc.checkKeys(d)
		switch doc.Schema {
		case "":
			if doc.Image == "" {
				d.Problem(doc.noSchema())
			} else {
				d.Warn(doc.noSchema())
			}
		case fbc.SchemaPackage:
			if doc.Node != nil {
				d.DefaultChannel = doc.Node.FoldText("defaultChannel")
			}
			if packages.Again(doc.Name) {
				doc.problem(d, "reading package %s, which occurs twice", doc.Name)
			}
		case fbc.SchemaChannel:
			if channels.Again(doc.Package + "/" + doc.Name) {
				doc.problem(d, "reading channel %s, which occurs twice", doc.Name)
			}
			s.describeChannel(doc, d)
		case fbc.SchemaBundle:
			doc.describeBundle(d, images, names)
		}
	}
}

// noSchema returns the fault of a document that nothing reads. For a bundle it is only a warning, until the
// bundle is rendered or edited.
func (doc *Document) noSchema() *failure.Error {
	return doc.at(failure.New(failure.TemplateMalformed, "reading a document that has no schema")).Fix("Give it a schema: that of a bundle is %s.", fbc.SchemaBundle)
}

func (doc *Document) problem(d *kind.Description, format string, args ...any) {
	d.Problem(doc.at(failure.New(failure.TemplateMalformed, format, args...)))
}

func (doc *Document) describeBundle(d *kind.Description, images, names Seen) {
	d.Bundles = append(d.Bundles, kind.BundleRef{Image: doc.Image, Name: doc.Name, File: doc.File, Line: doc.Line})
	if doc.Image == "" && doc.Node != nil {
		doc.problem(d, "reading bundle %s: it has no image", doc.Name)
	}
	if doc.Image != "" && images.Again(doc.Image) {
		d.Warn(doc.at(failure.New(failure.TemplateMalformed, "reading image %s, which occurs twice", doc.Image)).Fix("Remove one of the two."))
	}
	if doc.Name != "" && names.Again(doc.Name) {
		doc.problem(d, "reading bundle %s, which occurs twice", doc.Name)
	}
	if doc.Name == "" || doc.Version != nil {
		return // a rendered bundle has its own version
	}
	// A tag may have a build number after the version, so only the core is compared.
	v, ok := graph.VersionOf(doc.Name)
	w, tagged := kind.ImageVersion(doc.Image)
	if ok && tagged && (v.Major != w.Major || v.Minor != w.Minor || v.Patch != w.Patch) {
		doc.problem(d, "reading bundle %s: its name does not match its image %s", doc.Name, doc.Image)
	}
}

func (s *Set) describeChannel(doc *Document, d *kind.Description) {
	c := kind.Channel{Name: doc.Name, Line: doc.Line}
	if v := doc.Node.FoldValue("name"); v != nil && v.Tag != "!!str" {
		d.Problem(v.Malformed("reading channel %s: its name is no string", doc.Name).Fix("Put the name in quotes."))
	}
	list := doc.Node.FoldValue("entries")
	if !list.IsNull() && list.Kind != yamledit.Sequence {
		d.Problem(list.Malformed("reading channel %s: entries is not a list", doc.Name))
	}
	seen := Seen{}
	for _, item := range list.Items() {
		item := item.Resolve()
		if item == nil || item.Kind != yamledit.Mapping {
			d.Problem(list.Malformed("reading channel %s: an entry is not a mapping", doc.Name))
			continue
		}
		checkDropped(d, item, entryKeys, "an entry of channel "+doc.Name)
		checkEntryTypes(d, item, doc.Name)
		if err := wrongRange(item, doc.Name); err != nil {
			d.Warn(err)
		}
		name := entry(item).Name
		c.Entries = append(c.Entries, name)
		if seen.Again(name) {
			d.Problem(item.Malformed("reading channel %s: entry %s occurs twice", doc.Name, name))
		}
	}
	d.Channels = append(d.Channels, c)
}

func checkEntryTypes(d *kind.Description, item *yamledit.Node, channel string) {
	for _, key := range []string{"name", "replaces", "skipRange"} {
		if v := item.FoldValue(key); !v.IsNull() && (v.Kind != yamledit.Scalar || v.Tag != "!!str") {
			d.Problem(v.Malformed("reading an entry of channel %s: %s is no string", channel, key).Fix("Put the value in quotes."))
		}
	}
	if item.FoldText("name") == "" {
		d.Problem(item.Malformed("reading channel %s: an entry has no name", channel))
	}
	skips := item.FoldValue("skips")
	if !skips.IsNull() && skips.Kind != yamledit.Sequence {
		d.Problem(skips.Malformed("reading an entry of channel %s: skips is not a list", channel))
	}
	for _, s := range skips.Items() {
		if s = s.Resolve(); s == nil || s.Kind != yamledit.Scalar || s.Tag != "!!str" {
			d.Problem(skips.Malformed("reading an entry of channel %s: an item of skips is no string", channel))
		}
	}
}

// wrongRange returns the fault of a skipRange that is not a range. opm renders it, and opm validate refuses it.
func wrongRange(item *yamledit.Node, channel string) *failure.Error {
	v := item.FoldValue("skipRange")
	if v.Text() == "" {
		return nil
	}
	_, err := semver.ParseRange(v.Text())
	if err == nil {
		return nil
	}
	return v.Malformed("reading an entry of channel %s: skipRange is no range: %w", channel, err).Fix("Write a range such as %q.", ">=1.0.0 <1.2.3")
}

func (doc *Document) checkKeys(d *kind.Description) {
	checkDropped(d, doc.Node, documentKeys[doc.Schema], doc.called())
}

func (doc *Document) called() string { return strings.TrimSpace(doc.Schema + " " + doc.Name) }

// CheckKeys reports keys that occur twice, also in different case. If known keys are given, it reports those that
// opm does not read.
func CheckKeys(d *kind.Description, n *yamledit.Node, known []string, what string) {
	checkKeys(d, n, known, what, "", func(err *failure.Error, _ bool) { d.Problem(err) })
}

// CheckTop does the same as CheckKeys for the top of a template that opm reads leniently: it accepts unknown
// keys, but not those that resemble a known one.
func CheckTop(d *kind.Description, n *yamledit.Node, known []string) {
	checkKeys(d, n, known, "the template", dropped, func(err *failure.Error, misspelt bool) {
		if misspelt {
			d.Problem(err)
		}
	})
}

// checkDropped does the same as CheckKeys, with warnings for keys that opm does not read. Only the edit of their
// mapping is refused, if they resemble a known key.
func checkDropped(d *kind.Description, n *yamledit.Node, known []string, what string) {
	checkKeys(d, n, known, what, dropped, func(err *failure.Error, _ bool) { d.Warn(err) })
}

// misspelt returns the faults of keys that resemble a known one.
func misspelt(n *yamledit.Node, known []string, what string) error {
	var found []error
	checkKeys(&kind.Description{}, n, known, what, dropped, func(err *failure.Error, misspelt bool) {
		if misspelt {
			found = append(found, err)
		}
	})
	return errors.Join(found...)
}

// editable refuses the edit of a document with a misspelt key.
func (doc *Document) editable() error {
	return misspelt(doc.Node, documentKeys[doc.Schema], doc.called())
}

// editableEntry refuses the edit of an entry with a misspelt key, or with a wrong skipRange that would stay.
func editableEntry(item *yamledit.Node, channel string, rangeStays bool) error {
	if err := misspelt(item, entryKeys, "an entry of channel "+channel); err != nil {
		return err
	}
	if err := wrongRange(item.Resolve(), channel); err != nil && rangeStays {
		return err
	}
	return nil
}

// dropped says what opm does with unknown keys in documents. It refuses a semver template with one.
const dropped = " and drops it"

func checkKeys(d *kind.Description, n *yamledit.Node, known []string, what, fate string, unknown func(err *failure.Error, misspelt bool)) {
	n = n.Resolve()
	if n == nil || n.Kind != yamledit.Mapping {
		return
	}
	seen := make(map[string]string, len(n.Children)/2)
	for i := 0; i+1 < len(n.Children) && len(d.Problems) < maxProblems; i += 2 {
		key := n.Children[i]
		folded := strings.ToLower(key.Value)
		if other, twice := seen[folded]; twice {
			why := "occurs twice"
			if other != key.Value {
				why = "exists as " + other + " as well, and opm reads one of them"
			}
			d.Problem(key.Malformed("reading %s: the key %s %s", what, key.Value, why))
		}
		seen[folded] = key.Value
		if known == nil || key.Value == "<<" || slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, key.Value) }) {
			continue
		}
		err := key.Malformed("reading %s: opm knows no key %s%s", what, key.Value, fate)
		near := nearKey(key.Value, known)
		if near != "" {
			err.Fix("Write %s, or remove the key.", near)
		}
		unknown(err, near != "")
	}
}

// maxProblems is the number of problems that a person may still read.
const maxProblems = 200

// nearKey returns the known key that differs from a misspelt one in at most two letters, or "".
func nearKey(key string, known []string) string {
	best, distance := "", 3
	if len(key) > 64 {
		return ""
	}
	for _, k := range known {
		if n := failure.Distance(strings.ToLower(key), strings.ToLower(k)); n < distance {
			best, distance = k, n
		}
	}
	return best
}
