package graph

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/testkit/effort"
)

// manyVersions is an ascending list of close versions.
var manyVersions = func() (versions []semver.Version) {
	for major := range uint64(4) {
		for minor := range uint64(4) {
			for patch := range uint64(3) {
				for _, tail := range []string{"-0", "-alpha", "-rc.1", "", "+1"} {
					versions = append(versions, semver.MustParse(fmt.Sprintf("%d.%d.%d%s", major, minor, patch, tail)))
				}
			}
		}
	}
	slices.SortStableFunc(versions, semver.Version.Compare)
	return versions
}()

// checkRange compares a range's intervals with the range itself, and reports whether text is a range.
func checkRange(t *testing.T, text string) bool {
	t.Helper()
	rg, ok := parseRange(text)
	direct, err := semver.ParseRange(text)
	if ok != (err == nil && text != "") {
		t.Fatalf("%q parses: %v, %v", text, ok, err)
	}
	if !ok {
		return false
	}
	in := make([]bool, len(manyVersions))
	rg.within(manyVersions, func(from, to int) {
		for i := from; i < to; i++ {
			in[i] = true
		}
	})
	lower, top := false, manyVersions[90]
	for i, v := range manyVersions {
		want := func() (in bool) {
			defer func() { _ = recover() }() // an empty alternative is a nil function
			return direct(v)
		}()
		if in[i] != want {
			t.Fatalf("%q holds %s: %v, want %v", text, v, in[i], want)
		}
		lower = lower || want && v.LT(top)
	}
	if lower && !rg.holdsBelow(top) {
		t.Fatalf("%q holds nothing below %s, it says", text, top)
	}
	return true
}

func TestRangeStretchesAgreeWithTheRange(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	term := func() string {
		op := []string{"", "=", "==", "!", "!=", "<", "<=", ">", ">=", "> ", ">= "}[r.IntN(11)]
		v := fmt.Sprintf("%d.%d.%d", r.IntN(4), r.IntN(4), r.IntN(3))
		switch r.IntN(6) {
		case 0:
			v = fmt.Sprintf("%d.%d.x", r.IntN(4), r.IntN(4))
		case 1:
			v = fmt.Sprintf("%d.x", r.IntN(4))
		case 2:
			v = fmt.Sprintf("%d.x.x", r.IntN(4))
		case 3:
			v += []string{"-alpha", "-rc.1", "-x", "-0"}[r.IntN(4)]
		}
		return op + v
	}
	ranges := 0
	for range effort.Of(t, 2000, 5000, 20_000) {
		text := term()
		for r.IntN(2) == 0 {
			text += []string{" ", " ", " || ", "  ", " || || "}[r.IntN(5)] + term()
		}
		if checkRange(t, text) {
			ranges++
		}
	}
	t.Logf("%d ranges", ranges)
}

func FuzzRange(f *testing.F) {
	for _, seed := range []string{">=1.0.0 <2.0.0", "<1.x", ">1.0.0 || || <3.0.0", "!=1.x.x", "1.2.x", ">=1.0.0-rc.1", "A0.x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) { checkRange(t, s) })
}
