package graph

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestCompareChannels(t *testing.T) {
	want := []string{"", "4.9", "4.10", "alpha", "stable", "stable-01", "stable-1", "stable-3", "stable-3.6", "stable-3.10", "stable-3.10-eus", "stable-3.11", "stable-v1", "stable-v2", "stable-v10"}
	for range 20 {
		got := slices.Clone(want)
		rand.Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
		if slices.SortFunc(got, CompareChannels); !slices.Equal(got, want) {
			t.Fatalf("in order they are %q", got)
		}
	}
}
