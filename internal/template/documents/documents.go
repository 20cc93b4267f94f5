// Package documents edits the documents of a file-based catalog in a template: as items of a list (basic,
// substitutes) or as documents of files (raw).
package documents

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/yamledit"
)

// Document is one document. Node is nil for a rendered bundle, which is too large to parse as a tree.
type Document struct {
	Node    *yamledit.Node
	Schema  string
	Package string
	Name    string
	Image   string
	File    string
	Line    int
	Col     int
	Index   int             // in its list, or among the documents of its file
	list    *yamledit.Node  // the list that contains it; nil for a document of the file itself
	Edits   *yamledit.Edits // edits of its file
	Version *semver.Version // of a rendered bundle
}

// FromNode reads a document from its node. Like opm, it ignores the case of keys.
func FromNode(n *yamledit.Node, file string, index int, e *yamledit.Edits) Document {
	d := Document{Node: n, File: file, Index: index, Edits: e}
	d.Line, d.Col = n.Position()
	for key, into := range map[string]*string{"schema": &d.Schema, "package": &d.Package, "name": &d.Name, "image": &d.Image} {
		*into = n.FoldText(key)
	}
	return d
}

// Seen is a set of keys.
type Seen map[string]bool

// Again adds a key and reports whether the set already had it.
func (s Seen) Again(key string) bool {
	again := s[key]
	s[key] = true
	return again
}

// Set holds the documents of one template.
type Set struct{ Docs []Document }

// Of returns the documents of a schema.
func (s *Set) Of(schema string) []Document {
	var out []Document
	for _, d := range s.Docs {
		if d.Schema == schema {
			out = append(out, d)
		}
	}
	return out
}

// Package returns the package of the documents, or "" if there is none or several.
func (s *Set) Package() string {
	name := ""
	for _, d := range s.Docs {
		p := d.Package
		if d.Schema == fbc.SchemaPackage {
			p = d.Name
		}
		if p == "" || p == name {
			continue
		}
		if name != "" {
			return ""
		}
		name = p
	}
	return name
}

// channels returns the channels of a package.
func (s *Set) channels(pkg string) []Document {
	return slices.DeleteFunc(s.Of(fbc.SchemaChannel), func(d Document) bool { return d.Package != pkg && d.Package != "" })
}

// named returns the document with a name, or nil.
func named(docs []Document, name string) *Document {
	if i := slices.IndexFunc(docs, func(d Document) bool { return d.Name == name }); i >= 0 {
		return &docs[i]
	}
	return nil
}

func (s *Set) packageDoc(name string) *Document { return named(s.Of(fbc.SchemaPackage), name) }

func (s *Set) channel(pkg, name string) *Document { return named(s.channels(pkg), name) }

// entries reads a channel's entries.
func entries(channel *yamledit.Node) []fbc.Entry {
	var out []fbc.Entry
	for _, item := range channel.FoldValue("entries").Items() {
		out = append(out, entry(item))
	}
	return out
}

func entry(item *yamledit.Node) fbc.Entry {
	return fbc.Entry{
		Name: item.FoldText("name"), Replaces: item.FoldText("replaces"), SkipRange: item.FoldText("skipRange"),
		Skips: item.FoldValue("skips").Strings(),
	}
}

// versions returns the versions of bundles by name: the own version of a rendered bundle, or else the one at the
// end of the name.
func (s *Set) versions() graph.Versions {
	known := map[string]semver.Version{}
	for _, d := range s.Of(fbc.SchemaBundle) {
		if d.Version != nil {
			known[d.Name] = *d.Version
		}
	}
	return func(name string) (semver.Version, bool) {
		if v, ok := known[name]; ok {
			return v, true
		}
		return graph.VersionOf(name)
	}
}

// at sets the place of a failure to the document's.
func (d *Document) at(err *failure.Error) *failure.Error { return err.At(d.File, d.Line, d.Col) }

// PackageFor checks that the bundle belongs to the template and returns the template's package. It accepts
// another package name, with a note, if the template's channels list releases of the same operator, because some
// repositories name a package after its folder.
func (s *Set) PackageFor(r kind.Request, name string, o *kind.Outcome) (string, error) {
	return s.packageOf("inserting "+r.Bundle.Name, stem(r.Bundle.Name), r.Bundle.Package, "into "+name, o)
}

func (s *Set) packageOf(doing, operator, want, where string, o *kind.Outcome) (string, error) {
	pkg := s.Package()
	switch {
	case want == "" && pkg == "":
		return "", failure.New(failure.Usage, "%s %s: which package is it of?", doing, where).Fix("Give --package.")
	case want == "" || want == pkg:
		return pkg, nil
	case s.packageDoc(want) != nil || pkg == "" && len(s.Of(fbc.SchemaPackage)) == 0:
		return want, nil
	case pkg == "":
		return "", failure.New(failure.Usage, "%s of package %s %s, which holds other packages", doing, want, where).
			Fix("Name the template of package %s.", want)
	case s.hasReleasesOf(operator):
		o.Notes = append(o.Notes, fmt.Sprintf("the template's package is %s, not %s; the bundle is a release of what its channels list", pkg, want))
		return pkg, nil
	}
	return "", failure.New(failure.Usage, "%s of package %s %s, which holds package %s", doing, want, where, pkg).
		Fix("Name the template of package %s.", want)
}

func (s *Set) hasReleasesOf(operator string) bool {
	return operator != "" && slices.ContainsFunc(s.Of(fbc.SchemaChannel), func(c Document) bool {
		return slices.ContainsFunc(entries(c.Node), func(e fbc.Entry) bool { return stem(e.Name) == operator })
	})
}

var versionStart = regexp.MustCompile(`[._-]v?\d+\.\d`)

// stem returns a bundle's name without the version at its end, or "" if it has none.
func stem(name string) string {
	if at := versionStart.FindStringIndex(name); at != nil {
		return name[:at[0]]
	}
	return ""
}
