package graph

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/operand"
)

// versionRange is a skipRange. Its result changes only at the versions in its text, the cuts, so a long list of
// versions does not require testing each one.
type versionRange struct {
	operand.Range
	cuts []semver.Version
}

// parseRange reads a range as OLM does. ok is false for "" and for an invalid range.
func parseRange(s string) (r versionRange, ok bool) {
	if s == "" {
		return r, false
	}
	var err error
	if r.Range, err = operand.ParseRange(s); err != nil {
		return r, false
	}
	for _, token := range strings.FieldsFunc(s, func(c rune) bool { return strings.ContainsRune(" <>=!|", c) }) {
		// Before a wildcard blang/semver accepts any operator and drops unknown ones.
		if digit := strings.IndexFunc(token, unicode.IsDigit); digit >= 0 {
			r.addCuts(token[digit:])
		}
	}
	slices.SortFunc(r.cuts, semver.Version.Compare)
	r.cuts = slices.CompactFunc(r.cuts, semver.Version.EQ)
	return r, true
}

// addCuts adds the versions at which a term of a range can change: its own, and for a wildcard also the next
// minor and the next major version.
func (r *versionRange) addCuts(token string) {
	parts := strings.SplitN(token, ".", 3)
	for i := range parts {
		if parts[i] == "x" || parts[i] == "x.x" {
			parts[i] = "0"
		}
	}
	for len(parts) < 3 {
		parts = append(parts, "0")
	}
	r.addCut(parts)
	if !strings.Contains(token, "x") {
		return
	}
	for i := range 2 {
		if n, err := strconv.ParseUint(parts[i], 10, 63); err == nil {
			next := slices.Clone(parts)
			next[i] = strconv.FormatUint(n+1, 10)
			r.addCut(next)
		}
	}
}

func (r *versionRange) addCut(parts []string) {
	if v, err := semver.Parse(strings.Join(parts, ".")); err == nil {
		r.cuts = append(r.cuts, v)
	}
}

// within calls yield for each interval [from, to) of ascending versions that the range contains.
func (r versionRange) within(ascending []semver.Version, yield func(from, to int)) {
	from := 0
	stretch := func(to int) {
		if to > from && r.Holds(ascending[from]) {
			yield(from, to)
		}
		from = max(from, to)
	}
	for _, cut := range r.cuts {
		at, _ := slices.BinarySearchFunc(ascending, cut, semver.Version.Compare)
		stretch(at)
		stretch(firstAbove(ascending, cut, semver.Version.Compare))
	}
	stretch(len(ascending))
}

// holdsBelow reports whether the range contains any version lower than v. Between two cuts it contains all
// versions or none, so the lowest version of each interval decides.
func (r versionRange) holdsBelow(v semver.Version) bool {
	lowest := semver.Version{Pre: []semver.PRVersion{{IsNum: true}}}
	for _, try := range append([]semver.Version{lowest}, r.cuts...) {
		if try.LT(v) && r.Holds(try) {
			return true
		}
		if next := justAbove(try); next.LT(v) && r.Holds(next) {
			return true
		}
	}
	return false
}

// justAbove returns the version directly after v, with none between them.
func justAbove(v semver.Version) semver.Version {
	v.Build = nil
	if len(v.Pre) == 0 {
		v.Patch++
	}
	v.Pre = append(slices.Clone(v.Pre), semver.PRVersion{IsNum: true})
	return v
}
