package kind

import (
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
)

// An EdgeSetter is a kind in whose templates the edges of an entry can be changed.
type EdgeSetter interface {
	SetEdges(s *Source, e Edges) (*Outcome, error)
}

// Edges holds new edges for the entries of a bundle. A nil value leaves an edge as it is, an empty value removes
// it.
type Edges struct {
	Package   string
	Bundle    string
	Channels  []string // empty: all channels that list the bundle
	Replaces  *string
	Skips     *[]string
	SkipRange *string
	// AllowMissingPredecessor allows it to replace a bundle that the channel does not know.
	AllowMissingPredecessor bool
	// AllowStranded allows installed versions to lose their way to the head.
	AllowStranded bool
}

// Doing returns the words for the operation in a failure.
func (e Edges) Doing() string { return "changing the edges of " + e.Bundle }

// Of returns an entry with the requested edges. Skips in another order count as equal.
func (e Edges) Of(was fbc.Entry) fbc.Entry {
	is := was
	if e.Replaces != nil {
		is.Replaces = *e.Replaces
	}
	if e.Skips != nil && !SameSet(was.Skips, *e.Skips) {
		is.Skips = Unique(*e.Skips)
	}
	if e.SkipRange != nil {
		is.SkipRange = *e.SkipRange
	}
	return is
}

// Change returns the change of an entry.
func (e Edges) Change(channel string, was, is fbc.Entry) Change {
	return Change{What: EdgesSet, Channel: channel, Name: e.Bundle, From: was.InWords(), To: is.InWords()}
}

// NoEntry returns the failure for a bundle that has no entry in a channel, or in any.
func (e Edges) NoEntry(where string) *failure.Error {
	return failure.New(failure.BundleNotFound, "%s: %s does not list it", e.Doing(), where).
		Fix("Name a bundle and channels that list it, or add it with graft insert.")
}
