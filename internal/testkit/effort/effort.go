// Package effort says how much a test does of what it could do without end: kills, racers,
// mutations. A sample finds what is broken; GRAFT_TEST=whole finds what breaks rarely.
package effort

import (
	"os"
	"testing"
)

const variable = "GRAFT_TEST"

// Whole reports whether tests are to do all that they can, however long it takes.
func Whole() bool { return os.Getenv(variable) == "whole" }

// Of is how much a test does: with -short, usually, and with GRAFT_TEST=whole, which -short
// does not lessen. The log of the test says what it is.
func Of(t testing.TB, short, usual, whole int) int {
	t.Helper()
	n, why := usual, "GRAFT_TEST=whole is for all"
	switch value := os.Getenv(variable); {
	case value != "" && value != "whole":
		t.Fatalf("GRAFT_TEST is %q; it can be whole", value)
	case Whole():
		n, why = whole, "which is all"
	case testing.Short():
		n, why = short, "for -short"
	}
	t.Logf("%d of %d, %s", n, whole, why)
	return n
}
