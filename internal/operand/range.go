package operand

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
)

// Range is a range of versions, or one version, as blang/semver reads it. The zero Range
// holds every version.
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

// Holds tells whether the range holds a version. An empty alternative, which blang/semver
// parses and then cannot ask, holds nothing.
func (r Range) Holds(v semver.Version) (in bool) {
	if r.holds == nil {
		return r.Text == ""
	}
	defer func() { _ = recover() }()
	return r.holds(v)
}

// Compare orders versions by precedence; those that differ in build metadata alone, which
// have none, by its identifiers, numbers as numbers. So a respin 3.1.1+2 is above 3.1.1+1.
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
