package plan

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/reference"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
)

// Surveyed is a template that stands in a repository, or a catalog that has none.
type Surveyed struct {
	Path     string
	Kind     string
	Package  string   // empty where the template does not say it
	Channels []string // that have its newest bundle
	Catalogs []string // that are made of it, as far as their names tell
	// Repositories are those of its images.
	Repositories []string
}

// Survey finds the templates of a repository and tells, by the names of folders and
// files, which catalogs are made of which. Catalogs of packages without a template are
// templates themselves. What it cannot place is left out, with the reason.
func Survey(fsys fs.FS) ([]Surveyed, []LeftOut, error) {
	var templates []Surveyed
	var left []LeftOut
	catalogs := map[string]string{} // package by path
	inputs := map[string]bool{}
	err := WalkFiles(fsys, func(name string, _ []byte) error {
		t, err := template.Open(fsys, name, name)
		if err != nil {
			left = append(left, LeftOut{Template: name, Reason: failure.Of(err).Error()})
			return nil
		}
		if t.Kind.Traits().IsCatalog {
			if pkg := packageIn(t); pkg != "" {
				catalogs[name] = pkg
			}
			return nil
		}
		d := t.Describe()
		if d.Auxiliary {
			return nil
		}
		for _, input := range d.Inputs {
			inputs[path.Join(path.Dir(name), input)], inputs[path.Clean(input)] = true, true
		}
		templates = append(templates, surveyed(name, d))
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	templates = slices.DeleteFunc(templates, func(t Surveyed) bool { return inputs[t.Path] })
	alone, unclaimed := distribute(fsys, templates, catalogs)
	return append(templates, alone...), append(left, unclaimed...), nil
}

func surveyed(name string, d kind.Description) Surveyed {
	s := Surveyed{Path: name, Kind: d.Kind, Package: d.Package, Channels: newestIn(d)}
	for _, b := range d.Bundles {
		repository, _, _ := reference.Cut(b.Image)
		s.Repositories = append(s.Repositories, repository)
	}
	for _, ch := range d.Channels {
		for _, entry := range ch.Entries {
			if repository, _, _ := reference.Cut(entry); repository != entry && strings.Contains(repository, "/") {
				s.Repositories = append(s.Repositories, repository)
			}
		}
	}
	s.Repositories = kind.Unique(s.Repositories)
	return s
}

// newestIn are the channels that have the highest version.
func newestIn(d kind.Description) []string {
	var highest semver.Version
	var in []string
	for _, ch := range d.Channels {
		for _, entry := range ch.Entries {
			v, ok := graph.VersionOf(entry)
			if !ok {
				v, ok = kind.ImageVersion(entry)
			}
			switch {
			case !ok || len(in) > 0 && v.LT(highest):
			case len(in) == 0 || v.GT(highest):
				highest, in = v, []string{ch.Name}
			default:
				in = append(in, ch.Name)
			}
		}
	}
	return kind.Unique(in)
}

func packageIn(t *template.Template) string {
	docs, err := t.Source.Docs()
	if err != nil {
		return ""
	}
	for _, d := range docs {
		if d.Schema == fbc.SchemaPackage {
			return d.Name
		}
	}
	return ""
}

// distribute gives each catalog to its template: the only one, or the one whose name is
// that of the catalog or of one of its folders. It returns those that have none.
func distribute(fsys fs.FS, templates []Surveyed, catalogs map[string]string) (alone []Surveyed, left []LeftOut) {
	names := make([]string, 0, len(catalogs))
	for name := range catalogs {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		var of []int
		for i, t := range templates {
			if t.Package == "" || t.Package == catalogs[name] {
				of = append(of, i)
			}
		}
		if len(of) > 1 {
			of = slices.DeleteFunc(of, func(i int) bool { return !namedAfter(name, stem(templates[i].Path)) })
		}
		if len(of) == 1 {
			templates[of[0]].Catalogs = append(templates[of[0]].Catalogs, name)
			if templates[of[0]].Package == "" {
				templates[of[0]].Package = catalogs[name]
			}
			continue
		}
		if slices.ContainsFunc(templates, func(t Surveyed) bool { return t.Package == catalogs[name] }) {
			left = append(left, LeftOut{Template: name, Reason: "its name tells none of the templates of package " + catalogs[name]})
			continue
		}
		if t, err := template.Open(fsys, name, name); err == nil {
			own := surveyed(name, t.Describe())
			own.Package = catalogs[name]
			alone = append(alone, own)
		}
	}
	return alone, left
}

func namedAfter(catalog, template string) bool {
	return stem(catalog) == template || slices.Contains(strings.Split(path.Dir(catalog), "/"), template)
}
