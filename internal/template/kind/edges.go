package kind

import (
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
)

// EdgeSetter is a kind in whose templates the edges of an entry can be said anew.
type EdgeSetter interface {
	SetEdges(s *Source, e Edges) (*Outcome, error)
}

// Edges says anew what the entries of a bundle replace and skip. What is nil stays as it is,
// what is empty goes.
type Edges struct {
	Package   string
	Bundle    string
	Channels  []string // empty: all that list it
	Replaces  *string
	Skips     *[]string
	SkipRange *string
	// AllowMissingPredecessor has it replace what the channel does not know.
	AllowMissingPredecessor bool
	// AllowStranded has installed versions lose their way to the head.
	AllowStranded bool
}

// Doing says it in a failure.
func (e Edges) Doing() string { return "changing the edges of " + e.Bundle }

// Of is an entry with the edges that are asked for. Skips in another order are the same.
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

// Change is what becomes of an entry.
func (e Edges) Change(channel string, was, is fbc.Entry) Change {
	return Change{What: EdgesSet, Channel: channel, Name: e.Bundle, From: was.InWords(), To: is.InWords()}
}

// NoEntry is that a bundle has no entry in a channel, or in any.
func (e Edges) NoEntry(where string) *failure.Error {
	return failure.New(failure.BundleNotFound, "%s: %s does not list it", e.Doing(), where).
		Fix("Name a bundle and channels that list it, or put it there with graft insert.")
}
