package graph

import (
	"slices"
	"testing"

	"github.com/olmgraft/graft/internal/fbc"
)

// A bundle that could reach the head before must reach one after, by name or by range.
func TestStranded(t *testing.T) {
	chain := []fbc.Entry{{Name: "op.v1.0.0"}, {Name: "op.v1.1.0", Replaces: "op.v1.0.0"}, {Name: "op.v1.2.0", Replaces: "op.v1.1.0"}}
	for _, tt := range []struct {
		name          string
		before, after []fbc.Entry
		want          []string
	}{
		{"nothing changes", chain, chain, nil},
		{"the channel is removed", chain, nil, []string{"op.v1.0.0", "op.v1.1.0", "op.v1.2.0"}},
		{"the head is removed", chain, chain[:2], []string{"op.v1.2.0"}},
		{"the middle is removed", chain, []fbc.Entry{{Name: "op.v1.0.0"}, {Name: "op.v1.2.0", Replaces: "op.v1.0.0"}}, []string{"op.v1.1.0"}},
		{"the middle is skipped by name", chain, []fbc.Entry{{Name: "op.v1.0.0"}, {Name: "op.v1.2.0", Replaces: "op.v1.0.0", Skips: []string{"op.v1.1.0"}}}, nil},
		{"the middle is skipped by range", chain, []fbc.Entry{{Name: "op.v1.0.0"}, {Name: "op.v1.2.0", Replaces: "op.v1.0.0", SkipRange: ">=1.0.0 <1.2.0"}}, nil},
		{"the way is broken", chain, []fbc.Entry{{Name: "op.v1.0.0"}, {Name: "op.v1.2.0", SkipRange: ">=1.1.0 <1.2.0"}}, []string{"op.v1.0.0"}},
		{"who is named and not listed", []fbc.Entry{{Name: "op.v1.1.0", Replaces: "op.v1.0.0", Skips: []string{"op.v1.0.1"}}}, []fbc.Entry{{Name: "op.v1.1.0"}}, []string{"op.v1.0.0", "op.v1.0.1"}},
		{"no way before", []fbc.Entry{{Name: "op.v1.0.0"}, {Name: "op.v1.1.0"}}, chain[:1], nil},
	} {
		if got := Stranded(tt.before, tt.after, VersionOf); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
