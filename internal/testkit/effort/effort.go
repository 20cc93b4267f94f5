// Package effort sets how many kills, racers or mutations a random test tries. A sample finds frequent faults;
// GRAFT_TEST=whole finds rare ones.
package effort

import (
	"os"
	"testing"
)

const variable = "GRAFT_TEST"

// Whole reports whether GRAFT_TEST asks for whole tests, however long they take.
func Whole() bool { return os.Getenv(variable) == "whole" }

// Of returns the number of tries: short with -short, whole with GRAFT_TEST=whole (which overrides -short), else
// usual. It logs the number.
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
