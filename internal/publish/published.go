package publish

import (
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/event"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/oci"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/template/kind"
)

// publishedJobs limits the concurrently read catalogs, because each is large.
const publishedJobs = 4

// users holds the catalogs that users have installed from, for the packages of a change.
type users struct {
	// of maps templates to the catalogs of their users.
	of map[string][]installed
	// has holds the documents of these catalogs.
	has map[publishedPackage][]fbc.Doc
	// missing are absent catalogs, of platforms that may not have one yet. found reports that another
	// platform's exists.
	missing []plan.Published
	found   bool
}

// installed is a published catalog with the package that a change concerns.
type installed struct {
	plan.Published
	pkg string
}

type publishedPackage struct{ catalog, pkg string }

func (i installed) key() publishedPackage { return publishedPackage{i.Catalog, i.pkg} }

func newUsers() users {
	return users{of: map[string][]installed{}, has: map[publishedPackage][]fbc.Doc{}}
}

// add adds the catalogs of a template's users from a plan.
func (u *users) add(t plan.Target, pkg string) {
	for _, one := range t.Published {
		own := installed{one, pkg}
		if !slices.ContainsFunc(u.of[t.Template], func(o installed) bool { return o.key() == own.key() }) {
			u.of[t.Template] = append(u.of[t.Template], own)
		}
	}
}

// published reads published catalogs: files and directories of the repository, or else images.
func (p *preparation) published(ctx context.Context, pkg string) func([]plan.Published) (map[string][]fbc.Doc, error) {
	return func(all []plan.Published) (map[string][]fbc.Doc, error) {
		var names []string
		for _, one := range all {
			if _, known := p.users.has[publishedPackage{one.Catalog, pkg}]; !known {
				names = append(names, one.Catalog)
			}
		}
		read, err := oci.ForEach(publishedJobs, names, func(name string) (*[]fbc.Doc, error) { return p.readPublished(ctx, name, pkg) })
		if err != nil {
			return nil, err
		}
		docs := map[string][]fbc.Doc{}
		for _, one := range all {
			key := publishedPackage{one.Catalog, pkg}
			if got, now := read[one.Catalog]; now {
				if err := p.tell(one, got != nil); err != nil {
					return nil, err
				}
				if p.users.has[key] = nil; got != nil {
					p.users.has[key] = *got
				}
			}
			docs[one.Catalog] = p.users.has[key]
		}
		return docs, nil
	}
}

// tell records whether a catalog exists. A catalog whose name was derived from a platform may not exist yet.
func (p *preparation) tell(one plan.Published, there bool) error {
	switch {
	case there:
		p.users.found = p.users.found || one.Derived
	case !one.Derived:
		return failure.New(failure.Config, "reading the published catalog %s: there is none", one.Catalog).
			Fix("Correct published, or leave the catalog out until it exists.")
	case !slices.ContainsFunc(p.users.missing, func(o plan.Published) bool { return o.Catalog == one.Catalog }):
		p.users.missing = append(p.users.missing, one)
	}
	return nil
}

// readPublished returns nil if there is no such catalog.
func (p *preparation) readPublished(ctx context.Context, name, pkg string) (*[]fbc.Doc, error) {
	if clean := path.Clean(name); fs.ValidPath(clean) {
		if _, err := fs.Stat(p.base.Files, clean); err == nil {
			docs, err := documents(p.base.Files, clean)
			docs = fbc.OfPackage(docs, pkg)
			return &docs, err
		}
	}
	if image, err := event.ParseReference(name); err != nil || image.Tag == "" && image.Digest == "" {
		return nil, nil //nolint:nilerr // it is a path, and nothing is there
	}
	docs, err := p.Catalogs(ctx, name, pkg)
	if failure.Is(err, failure.BundleNotFound) {
		return nil, nil
	}
	return &docs, err
}

// someArePublished reports platforms without a catalog. If no platform has one, the pattern is wrong.
func (p *preparation) someArePublished() error {
	var platforms, catalogs []string
	for _, one := range p.users.missing {
		if !p.users.found {
			return failure.New(failure.Config, "reading the published catalogs: %s is not there, nor any other that published comes to", one.Catalog).
				Fix("Correct published, or list the platforms that have a catalog.")
		}
		platforms, catalogs = append(platforms, one.Platform.String()), append(catalogs, one.Catalog)
	}
	if len(catalogs) > 0 {
		are := " is not there."
		if len(catalogs) > 1 {
			are = " are not there."
		}
		p.Warnings = append(p.Warnings, "Nothing is published for "+strings.Join(platforms, ", ")+": "+few(catalogs)+are)
	}
	return nil
}

// namesOfUsers returns the bundles of the images in a target's catalogs and in its users' catalogs.
func (p *preparation) namesOfUsers(t plan.Target) map[string]string {
	names := p.names(t)
	for _, one := range p.users.of[t.Template] {
		kind.AddNames(names, p.users.has[one.key()])
	}
	return names
}

// verifyForUsers compares a catalog with those that its users have, and leaves out findings that the comparison
// with the present catalog gave.
func (p *preparation) verifyForUsers(template string, platform *plan.Platform, after *graph.Catalog, told []graph.Finding) {
	for _, one := range p.users.of[template] {
		if !one.Concerns(platform) {
			continue
		}
		b := graph.Builder{Light: true}
		b.Add(p.users.has[one.key()])
		for _, f := range graph.ComparePublished(one.Catalog, b.Catalog(), after, told, p.Levels) {
			p.Findings = append(p.Findings, p.asMeant(f))
		}
	}
}
