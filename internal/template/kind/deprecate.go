package kind

import (
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/fbc"
)

// A Deprecator is a kind whose templates hold olm.deprecations.
type Deprecator interface {
	Deprecate(s *Source, d Deprecation) (*Outcome, error)
}

// A Deprecation says what is deprecated: bundles and channels, or the package if both are empty.
type Deprecation struct {
	Package  string
	Bundles  []string
	Channels []string
	Message  string
}

// Doing returns the words for the operation in a failure.
func (d Deprecation) Doing() string {
	if names := slices.Concat(d.Channels, d.Bundles); len(names) > 0 {
		return "deprecating " + strings.Join(names, ", ")
	}
	return "deprecating all"
}

// References returns the references to everything that the deprecation covers.
func (d Deprecation) References() (refs []fbc.Reference) {
	for _, name := range d.Channels {
		refs = append(refs, fbc.Reference{Schema: fbc.SchemaChannel, Name: name})
	}
	for _, name := range d.Bundles {
		refs = append(refs, fbc.Reference{Schema: fbc.SchemaBundle, Name: name})
	}
	if len(refs) == 0 {
		refs = []fbc.Reference{{Schema: fbc.SchemaPackage}}
	}
	return refs
}

// DeprecationChange returns the change of the deprecation of a reference.
func DeprecationChange(what string, ref fbc.Reference, from, to string) Change {
	c := Change{What: what, From: from, To: to}
	switch ref.Schema {
	case fbc.SchemaChannel:
		c.Channel = ref.Name
	case fbc.SchemaBundle:
		c.Name = ref.Name
	}
	return c
}
