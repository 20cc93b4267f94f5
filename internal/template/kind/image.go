package kind

import (
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/reference"
)

// ImageVersion is the semantic version that an image's tag carries.
func ImageVersion(image string) (semver.Version, bool) {
	_, tag, _ := reference.Cut(image)
	if tag == "" {
		return semver.Version{}, false
	}
	return graph.VersionOf(tag)
}

// Standing is a bundle that stands in a template: Name may be unknown.
type Standing struct {
	Image, Name string
}

// Identity compares the requested bundle with one that stands in the template.
type Identity int

// The outcomes of Identify.
const (
	Another  Identity = iota // another bundle
	Same                     // the requested bundle
	Promoted                 // the same content, to be named by the requested image
)

// Identify applies the rules of identity: a bundle is its CSV's name, and its digest
// where known. The same name (or, where the template holds no names, the same version
// in the tag) under another image is bundle-conflict, unless the digest is the same,
// the repository differs, and the request promotes. The failure has no place yet.
func (r Request) Identify(s Standing) (Identity, *failure.Error) {
	b := r.Bundle
	if s.Image == b.Image {
		if s.Name != "" && b.Name != "" && s.Name != b.Name {
			return Another, failure.New(failure.BundleConflict, "inserting %s: its image %s stands there under the name %s", b.Name, b.Image, s.Name)
		}
		return Same, nil
	}
	sameName := s.Name != "" && s.Name == b.Name
	if s.Name == "" {
		v, ok := ImageVersion(s.Image)
		sameName = ok && v.String() == b.Version.String()
	}
	if !sameName {
		return Another, nil
	}
	oldRepo, _, _ := reference.Cut(s.Image)
	newRepo, _, _ := reference.Cut(b.Image)
	digest := r.digest(b.Image, b.Digest)
	if r.Promote && oldRepo != newRepo && digest != "" && digest == r.digest(s.Image, "") {
		return Promoted, nil
	}
	err := failure.New(failure.BundleConflict, "inserting %s with image %s: it stands there with image %s", b.Name, b.Image, s.Image)
	if oldRepo != newRepo && digest != "" && digest == r.digest(s.Image, "") {
		err.Fix("The digest is the same: give --promote to name it by the new repository.")
	}
	return Another, err
}

// Crowded refuses a bundle whose entry stands in a template already, though its image does
// not: where as many images tell neither name nor version, named by digest, as entries have no
// other image, one of those is the bundle's. The failure has no place yet.
func (r Request) Crowded(entries []string, standing []Standing) *failure.Error {
	if !slices.Contains(entries, r.Bundle.Name) {
		return nil
	}
	without := Unique(entries)
	nameless := 0
	for _, s := range standing {
		v, tagged := ImageVersion(s.Image)
		if s.Name == "" && !tagged {
			nameless++
		}
		without = slices.DeleteFunc(without, func(name string) bool {
			w, ok := graph.VersionOf(name)
			return name == s.Name || s.Name == "" && tagged && ok && v.EQ(w)
		})
	}
	if nameless == 0 || nameless < len(without) {
		return nil
	}
	return failure.New(failure.BundleConflict, "inserting %s with image %s: its entry stands there, and so does an image for each entry, named by digest", r.Bundle.Name, r.Bundle.Image)
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

// UnknownChannel is the failure for a request that names no channel.
func UnknownChannel(r Request, known []string) *failure.Error {
	err := failure.New(failure.Usage, "inserting %s: no channel is given", r.Bundle.Name)
	if len(known) > 0 {
		return err.Fix("Give --channel; the template has %s.", strings.Join(known, ", "))
	}
	return err.Fix("Give --channel.")
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
