package graph

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
)

// Finding is an actual or possible fault of a catalog.
type Finding struct {
	ID      string `json:"id"`
	Level   Level  `json:"level"`
	Package string `json:"package,omitempty"`
	Channel string `json:"channel,omitempty"`
	Bundle  string `json:"bundle,omitempty"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Message string `json:"message"`
	Remedy  string `json:"remedy"`
	// Against is the part of Message that names the published catalog, or "".
	Against string `json:"-"`
	// Earlier reports that the catalog had the finding before the change.
	Earlier bool `json:"-"`
	// Path is the path that an installed bundle had, from itself to the head.
	Path []string `json:"path,omitempty"`
	// Bundles are the concerned bundles, if there are several.
	Bundles []string `json:"bundles,omitempty"`
}

// Code returns the failure code of a run that fails because of this finding.
func (f Finding) Code() failure.Code {
	if r, ok := RuleOf(f.ID); ok {
		return r.Code
	}
	return failure.GraphInvalid
}

// Levels changes the levels of findings.
type Levels struct {
	// Of maps ids of findings to levels that replace those of their rules.
	Of map[string]Level
	// Strict turns every remaining warning into an error.
	Strict bool
}

// Check reports the first unknown id or level.
func (l Levels) Check() error {
	for _, id := range slices.Sorted(maps.Keys(l.Of)) {
		if _, ok := RuleOf(id); !ok {
			return failure.New(failure.Config, "setting the levels of findings: there is no finding %q", id)
		}
		if v := l.Of[id]; v != Error && v != Warning && v != Off {
			return failure.New(failure.Config, "setting the level of %s: %q is not error, warning or off", id, string(v))
		}
	}
	return nil
}

// ParseLevels parses arguments of the form ID=LEVEL.
func ParseLevels(flag string, pairs []string, strict bool) (Levels, error) {
	l := Levels{Of: map[string]Level{}, Strict: strict}
	for _, pair := range pairs {
		id, level, ok := strings.Cut(pair, "=")
		if !ok {
			return l, failure.New(failure.Usage, "reading the command line: --%s: invalid value %q", flag, pair).Fix("Give --%s with ID=error, ID=warning or ID=off.", flag)
		}
		l.Of[id] = Level(level)
	}
	if err := l.Check(); err != nil {
		return l, failure.New(failure.Usage, "reading the command line: --%s: %w", flag, err).Fix("Give the id of a finding: docs/findings.md lists them.")
	}
	return l, nil
}

// Found returns a finding of a rule that another package checks, or none if it is off.
func (l Levels) Found(id, file string, line int, format string, args ...any) []Finding {
	return l.apply([]Finding{newFinding(id, Pos{File: file, Line: line}, format, args...)})
}

// apply sets the levels, drops findings that are off, and sorts.
func (l Levels) apply(found []Finding) []Finding {
	kept := found[:0]
	for _, f := range found {
		if v, ok := l.Of[f.ID]; ok {
			f.Level = v
		}
		if f.Level == Warning && l.Strict {
			f.Level = Error
		}
		if f.Level != Off {
			kept = append(kept, f)
		}
	}
	Sort(kept)
	return kept
}

// Sort sorts findings by package, channel, file and line, and errors before warnings at the same place.
func Sort(found []Finding) {
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(a.Package, b.Package),
			cmp.Compare(a.Channel, b.Channel),
			cmp.Compare(a.File, b.File),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Level, b.Level),
			cmp.Compare(a.ID, b.ID),
			cmp.Compare(a.Message, b.Message),
		)
	})
}

// Failures returns a failure for each finding that is an error, in order.
func Failures(found []Finding) []*failure.Error {
	var all []*failure.Error
	for _, f := range found {
		if f.Level == Error {
			e := failure.New(f.Code(), "%s: %s", f.ID, f.Message).At(f.File, f.Line, 0).Fix("%s", f.Remedy)
			e.Against = f.Against
			all = append(all, e)
		}
	}
	return all
}

// Unreadable converts the failures of a reader of catalogs to findings.
func Unreadable(err error) []Finding {
	var found []Finding
	for _, e := range failure.All(err) {
		found = append(found, newFinding("document-unreadable", Pos{e.File, e.Line}, "%s", e.Message))
	}
	if err != nil && len(found) == 0 {
		found = append(found, newFinding("document-unreadable", Pos{}, "%s", err))
	}
	return found
}

// newFinding returns a finding with the level and remedy of its rule. An id without a rule is a bug, which a test
// looks for; it counts as an error.
func newFinding(id string, at Pos, format string, args ...any) Finding {
	r, ok := RuleOf(id)
	if !ok {
		r.Level = Error
	}
	return Finding{ID: id, Level: r.Level, File: at.File, Line: at.Line,
		Message: strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " "), Remedy: r.Remedy}
}

// in sets the package, channel and bundle of a finding.
func (f Finding) in(pkg, channel, bundle string) Finding {
	f.Package, f.Channel, f.Bundle = pkg, channel, bundle
	return f
}

// at returns the place of an entry, or of its channel.
func (ch *Channel) at(e *Entry) Pos {
	if e.Line == 0 {
		return ch.Pos
	}
	return Pos{ch.File, e.Line}
}
