package operand

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
)

// Range is a range of versions, or a single version, in the syntax of blang/semver. The zero Range contains every
// version.
type Range struct {
	Text  string
	holds semver.Range
}

// ParseRange reads a range such as ">= 2.1.0 < 3.0.0" or "3.1.1".
func ParseRange(text string) (Range, error) {
	holds, err := semver.ParseRange(text)
	if err == nil && (holds == nil || strings.TrimSpace(text) == "") {
		err = errors.New("it is empty")
	}
	return Range{text, holds}, err
}

// Holds reports whether the range contains a version. A range with an empty alternative, which blang/semver
// parses but panics on, contains none.
func (r Range) Holds(v semver.Version) (in bool) {
	if r.holds == nil {
		return r.Text == ""
	}
	defer func() { _ = recover() }()
	return r.holds(v)
}

// Compare orders versions by precedence, and versions with equal precedence by the identifiers of their build
// metadata, numbers as numbers. So the respin 3.1.1+2 is higher than 3.1.1+1.
func Compare(a, b semver.Version) int {
	return cmp.Or(a.Compare(b), slices.CompareFunc(a.Build, b.Build, compareIdentifiers))
}

func compareIdentifiers(a, b string) int {
	number := func(s string) bool { return strings.Trim(s, "0123456789") == "" }
	if number(a) && number(b) {
		x, y := strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
		return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y), cmp.Compare(a, b))
	}
	if number(a) != number(b) {
		if number(a) {
			return -1
		}
		return 1
	}
	return cmp.Compare(a, b)
}
