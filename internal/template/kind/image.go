package kind

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/reference"
)

// ImageVersion returns the semantic version in an image's tag.
func ImageVersion(image string) (semver.Version, bool) {
	_, tag, _ := reference.Cut(image)
	if tag == "" {
		return semver.Version{}, false
	}
	return graph.VersionOf(tag)
}

// A Standing is an existing bundle of a template; its Name may be unknown.
type Standing struct {
	Image, Name string
}

// An Identity is the result of comparing the requested bundle with an existing one.
type Identity int

// The results of Identify.
const (
	Another  Identity = iota // another bundle
	Same                     // the requested bundle
	Promoted                 // the same content; the requested image becomes its name
	Rebuilt                  // the requested bundle with older content
	Replaced                 // the bundle that the requested one takes the place of
)

// Identify applies the rules of identity: a bundle is identified by its CSV's name, and by its digest if that is
// known. The same name (or, if no names are known, the same version in the tag) with another image is
// bundle-conflict, unless the request promotes, rebuilds or replaces. A bundle that users may already have is
// neither rebuilt nor replaced. The failure has no place yet.
func (r Request) Identify(s Standing) (Identity, *failure.Error) {
	b := r.Bundle
	s.Name = r.nameOf(s)
	if s.Image == b.Image && (r.InsteadOf == "" || s.Name != r.InsteadOf) {
		if s.Name != "" && b.Name != "" && s.Name != b.Name {
			return Another, failure.New(failure.BundleConflict, "inserting %s: the template has its image %s under the name %s", b.Name, b.Image, s.Name)
		}
		if catalog := r.moved(); catalog != "" {
			return Another, failure.New(failure.BundleConflict, "inserting %s with image %s: its tag is %s now, and %s has %s", b.Name, b.Image, b.Digest, catalog, r.Published.Image(b.Name)).
				Fix("Publish the content under a new version: clusters may have the old one.")
		}
		return Same, nil
	}
	sameName, replaced := s.Name != "" && s.Name == b.Name, s.Name != "" && s.Name == r.InsteadOf
	if v, tagged := ImageVersion(s.Image); s.Name == "" && tagged {
		sameName = v.String() == b.Version.String()
		old, ok := graph.VersionOf(r.InsteadOf)
		replaced = ok && old.String() == v.String()
	}
	if !sameName && !replaced {
		return Another, nil
	}
	oldRepo, _, _ := reference.Cut(s.Image)
	newRepo, _, _ := reference.Cut(b.Image)
	digest := r.digest(b.Image, b.Digest)
	moved := oldRepo != newRepo && digest != "" && digest == r.digest(s.Image, "")
	switch {
	case sameName && moved && r.Promote:
		return Promoted, nil
	case sameName && !r.Rebuild:
		err := failure.New(failure.BundleConflict, "inserting %s with image %s: the template has it with image %s", b.Name, b.Image, s.Image)
		if moved {
			return Another, err.Fix("The digest is the same. To use the new repository, run graft insert --promote, or set registries in graft.yaml.")
		}
		return Another, err.Fix("Give --rebuild replace to replace the old image, or publish the bundle under a new version.")
	case sameName:
		return r.unpublished(s, Rebuilt)
	}
	return r.unpublished(s, Replaced)
}

// unpublished refuses to remove a bundle that users may have.
func (r Request) unpublished(s Standing, id Identity) (Identity, *failure.Error) {
	catalog := r.published(s, id)
	if catalog == "" {
		return id, nil
	}
	err := failure.New(failure.BundleConflict, "inserting %s with image %s: it would take the place of %s, which is published in %s", r.Bundle.Name, r.Bundle.Image, s.Image, catalog)
	if id == Replaced {
		return Another, err.Fix("Leave out --instead-of: clusters may have %s. The new bundle can replace it.", cmp.Or(s.Name, r.InsteadOf))
	}
	return Another, err.Fix("Publish the content under a new version: clusters may have the old one.")
}

// Change returns the change of an existing bundle.
func (r Request) Change(id Identity, s Standing) Change {
	c := Change{Name: r.Bundle.Name, From: s.Image, To: r.Bundle.Image}
	switch id {
	case Promoted:
		c.What = BundlePromoted
	case Rebuilt:
		c.What = BundleRebuilt
	default:
		c.What = BundleReplaced
	}
	return c
}

// AddNames adds the names of the bundles of a rendered catalog, by image and by digest.
func AddNames(names map[string]string, docs []fbc.Doc) {
	for _, d := range docs {
		if d.Schema != fbc.SchemaBundle || d.Name == "" || d.Image == "" {
			continue
		}
		names[d.Image] = d.Name
		if _, _, digest := reference.Cut(d.Image); digest != "" {
			names[digest] = d.Name
		}
	}
}

// nameOf returns the name of an existing bundle, empty if it is unknown.
func (r Request) nameOf(s Standing) string {
	_, _, digest := reference.Cut(s.Image)
	return cmp.Or(s.Name, r.Names[s.Image], r.Names[digest])
}

// Found is the result of looking for the requested bundle in a template.
type Found struct {
	Identity
	At int // index among the existing bundles; -1 for Another
	// Unknown holds the images whose bundles are unknown, if one of them may be the requested one.
	Unknown []string
	// Names holds the names of the request and those learned while looking.
	Names map[string]string
	asked string
}

// Find looks among the existing bundles of a template for the requested bundle, or the one that it takes the
// place of. If no bundle is known to be it, but doubtful says that there should be one with that name, Find asks
// for the names that are still unknown. A failure is about the bundle at Found.At.
func (r Request) Find(standing []Standing, doubtful func(name string) bool) (Found, *failure.Error) {
	f, err := r.match(standing)
	if err == nil && r.InsteadOf != "" && f.At >= 0 && standing[f.At].Image == r.Bundle.Image {
		return r.sameImage(f, standing, doubtful)
	}
	if err != nil || f.Identity != Another || !doubtful(r.Bundle.Name) && (r.InsteadOf == "" || !doubtful(r.InsteadOf)) {
		return f, err
	}
	var asked string
	if unknown := r.unknown(standing); len(unknown) > 0 && r.NamesOf != nil {
		known := maps.Clone(r.Names)
		if known == nil {
			known = map[string]string{}
		}
		var names map[string]string
		names, asked = r.NamesOf(unknown)
		maps.Copy(known, names)
		r.Names = known
		f, err = r.match(standing)
	}
	f.Unknown, f.asked = r.unknown(standing), asked
	return f, err
}

// sameImage handles a tag that moved: the template already holds the requested image, and the request takes the
// place of the bundle that it was before. The entries show whether that is already done.
func (r Request) sameImage(f Found, standing []Standing, listed func(name string) bool) (Found, *failure.Error) {
	s := standing[f.At]
	switch {
	case listed(r.InsteadOf) && !listed(r.Bundle.Name):
		others := slices.Delete(slices.Clone(standing), f.At, f.At+1)
		if f.Unknown = r.unknown(others); len(f.Unknown) > 0 && r.nameOf(s) != r.InsteadOf {
			f.Identity, f.At = Another, -1
			return f, nil
		}
		var err *failure.Error
		s.Name, f.Unknown = r.InsteadOf, nil
		f.Identity, err = r.unpublished(s, Replaced)
		return f, err
	case f.Identity == Replaced && listed(r.Bundle.Name):
		f.Identity = Same
	}
	return f, nil
}

// match looks at all bundles: at most one of them may match the request.
func (r Request) match(standing []Standing) (Found, *failure.Error) {
	found := Found{At: -1, Names: r.Names}
	for i, s := range standing {
		id, err := r.Identify(s)
		switch {
		case err != nil:
			return Found{At: i, Names: r.Names}, err
		case id == Another:
		case found.Identity == Another:
			found.Identity, found.At = id, i
		case s.Image != standing[found.At].Image:
			return Found{At: i, Names: r.Names}, failure.New(failure.BundleConflict, "inserting %s with image %s: the template has both %s and %s", r.Bundle.Name, r.Bundle.Image, standing[found.At].Image, s.Image).
				Fix("Remove one of them.")
		}
	}
	return found, nil
}

func (r Request) unknown(standing []Standing) []string {
	var images []string
	for _, s := range standing {
		if _, tagged := ImageVersion(s.Image); !tagged && s.Image != "" && r.nameOf(s) == "" {
			images = append(images, s.Image)
		}
	}
	return Unique(images)
}

// Conflict refuses to guess which of the unknown images belongs to an entry.
func (f Found) Conflict(r Request, name string) *failure.Error {
	return failure.New(failure.BundleConflict, "inserting %s with image %s: the template has an entry %s, and %s", r.Bundle.Name, r.Bundle.Image, name, f.Untold()).
		Fix("Give a rendered catalog: with graft insert --base or graft remove --base, or in catalogs of graft.yaml.")
}

// Untold names the images whose bundles are unknown, and the sources that were asked.
func (f Found) Untold() string {
	what := "it is unknown which bundle " + f.Unknown[0] + " is"
	if n := len(f.Unknown); n > 1 {
		what = fmt.Sprintf("it is unknown which bundles %d images are, %s among them", n, f.Unknown[0])
	}
	if f.asked != "" {
		what += " (asked: " + f.asked + ")"
	}
	return what
}

// NothingInstead returns the failure for a request that takes the place of a bundle which the template does not
// have.
func (r Request) NothingInstead() *failure.Error {
	return failure.New(failure.PredecessorMissing, "inserting %s instead of %s, which the template does not have", r.Bundle.Name, r.InsteadOf).
		Fix("Name a bundle of the template, or leave out --instead-of.")
}

func (r Request) digest(image, known string) string {
	if known != "" {
		return known
	}
	if _, _, d := reference.Cut(image); d != "" {
		return d
	}
	if r.DigestOf != nil {
		return r.DigestOf(image)
	}
	return ""
}

// UnknownChannel returns the failure for a request without a channel if the template has several channels, or
// none.
func UnknownChannel(r Request, known []string) *failure.Error {
	if len(known) == 0 {
		return failure.New(failure.Usage, "inserting %s: no channel is given", r.Bundle.Name).Fix("Name a channel.")
	}
	names := strings.Join(known, ", ")
	return failure.New(failure.Usage, "inserting %s: no channel is given, and neither the only nor the default one is known among %s", r.Bundle.Name, names).
		Fix("Name one of %s.", names)
}

// Unique returns the list without repetitions, in its order.
func Unique(list []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, s := range list {
		if s = strings.TrimSpace(s); s != "" && !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// SameSet reports whether two lists hold the same names in any order.
func SameSet(a, b []string) bool {
	a, b = Unique(a), Unique(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}
