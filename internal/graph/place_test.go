package graph

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
)

func newcomer(name string) Newcomer {
	v, _ := VersionOf(name)
	return Newcomer{Name: name, Version: v}
}

func TestVersionOf(t *testing.T) {
	for name, want := range map[string]string{
		"op.v1.2.3":              "1.2.3",
		"op-1.2.3":               "1.2.3",
		"1.2.3":                  "1.2.3",
		"v1.2.3-rc.1":            "1.2.3-rc.1",
		"etcd-2.operator.v0.9.4": "0.9.4",
		"sailoperator.v1.28.0-nightly-2025-10-18": "1.28.0-nightly-2025-10-18",
		"op.v1.2.3+build.5":                       "1.2.3+build.5",
		"op.v4.20":                                "4.20.0",
		"op":                                      "",
		"op.vnext":                                "",
	} {
		v, ok := VersionOf(name)
		if ok != (want != "") || ok && v.String() != want {
			t.Errorf("VersionOf(%q) = %v %v, want %q", name, v, ok, want)
		}
	}
}

func TestPlaceIn(t *testing.T) {
	chain := []fbc.Entry{{Name: "op.v1.0.0"}, {Name: "op.v1.1.0", Replaces: "op.v1.0.0"}, {Name: "op.v1.2.0", Replaces: "op.v1.0.0", Skips: []string{"op.v1.1.0"}}}
	pruned := []fbc.Entry{{Name: "op.v1.5.0", Replaces: "op.v1.4.0"}}
	outOfOrder := []fbc.Entry{{Name: "op.v1.0.0"}, {Name: "op.v1.0.1", Replaces: "op.v1.0.0"}, {Name: "op.v1.0.1-1", Replaces: "op.v1.0.1"}}
	twoAhead := slices.Concat(outOfOrder, []fbc.Entry{{Name: "op.v3.0.0", Replaces: "op.v1.0.1-1"}})
	tests := []struct {
		name    string
		in      []fbc.Entry
		new     Newcomer
		rules   PlaceRules
		want    Place
		failure failure.Code
	}{
		{"empty channel", nil, newcomer("op.v1.0.0"), PlaceRules{}, Place{Entry: fbc.Entry{Name: "op.v1.0.0"}}, 0},
		{"head", chain, newcomer("op.v1.3.0"), PlaceRules{}, Place{fbc.Entry{Name: "op.v1.3.0", Replaces: "op.v1.2.0"}, 3, nil}, 0},
		{"backport passes over what is skipped", chain, newcomer("op.v1.1.1"), PlaceRules{}, Place{fbc.Entry{Name: "op.v1.1.1", Replaces: "op.v1.0.0"}, 2, []int{2}}, 0},
		{"below all: the tail replaces it", chain[:1], newcomer("op.v0.9.0"), PlaceRules{}, Place{fbc.Entry{Name: "op.v0.9.0"}, 0, []int{0}}, 0},
		{"pruned tail, above its predecessor", pruned, newcomer("op.v1.4.5"), PlaceRules{}, Place{fbc.Entry{Name: "op.v1.4.5", Replaces: "op.v1.4.0"}, 0, []int{0}}, 0},
		{"pruned tail, below its predecessor", pruned, newcomer("op.v1.3.0"), PlaceRules{}, Place{}, failure.EdgeConflict},
		{"the name that the tail replaces", pruned, newcomer("op.v1.4.0"), PlaceRules{}, Place{Entry: fbc.Entry{Name: "op.v1.4.0"}}, 0},
		{"skipped already", []fbc.Entry{{Name: "op.v1.0.0"}, {Name: "op.v1.2.0", Replaces: "op.v1.0.0", Skips: []string{"op.v1.1.0"}}}, newcomer("op.v1.1.0"), PlaceRules{NoRewire: true},
			Place{fbc.Entry{Name: "op.v1.1.0", Replaces: "op.v1.0.0"}, 1, nil}, 0},
		{"replaced already", []fbc.Entry{{Name: "op.v1.0.0"}, {Name: "op.v1.2.0", Replaces: "op.v1.1.0", Skips: []string{"op.v1.0.0"}}}, newcomer("op.v1.1.0"), PlaceRules{NoRewire: true},
			Place{fbc.Entry{Name: "op.v1.1.0"}, 1, nil}, 0},
		{"no rewire", chain, newcomer("op.v1.1.1"), PlaceRules{NoRewire: true}, Place{}, failure.EdgeConflict},
		{"explicit, unknown predecessor", chain, Newcomer{Name: "op.v1.3.0", Replaces: "op.v0.1.0"}, PlaceRules{}, Place{}, failure.PredecessorMissing},
		{"explicit, skips the successor", chain[:2], Newcomer{Name: "op.v1.0.5", Version: semver.MustParse("1.0.5"), Replaces: "op.v1.0.0", Skips: []string{"op.v1.1.0"}}, PlaceRules{},
			Place{fbc.Entry{Name: "op.v1.0.5", Replaces: "op.v1.0.0", Skips: []string{"op.v1.1.0"}}, 1, nil}, 0},
		{"explicit, skips what a higher one replaces", []fbc.Entry{{Name: "op.v1.0.0"}, {Name: "op.v1.1.0", Replaces: "op.v1.0.0"}, {Name: "op.v1.2.0", Replaces: "op.v1.1.0"}},
			Newcomer{Name: "op.v1.1.1", Version: semver.MustParse("1.1.1"), Replaces: "op.v1.0.0", Skips: []string{"op.v1.1.0"}}, PlaceRules{},
			Place{fbc.Entry{Name: "op.v1.1.1", Replaces: "op.v1.0.0", Skips: []string{"op.v1.1.0"}}, 2, []int{2}}, 0},
		{"head of a way out of order", outOfOrder, newcomer("op.v2.0.0"), PlaceRules{}, Place{fbc.Entry{Name: "op.v2.0.0", Replaces: "op.v1.0.1-1"}, 3, nil}, 0},
		{"into a way out of order", twoAhead, newcomer("op.v2.0.0"), PlaceRules{}, Place{fbc.Entry{Name: "op.v2.0.0", Replaces: "op.v1.0.1-1"}, 4, []int{3}}, 0},
		{"build metadata", chain, newcomer("op.v1.2.0+1"), PlaceRules{}, Place{}, failure.VersionUnordered},
		{"a name without version", []fbc.Entry{{Name: "op-latest"}}, newcomer("op.v1.0.0"), PlaceRules{}, Place{}, failure.VersionUnordered},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := PlaceIn(tt.in, tt.new, VersionOf, tt.rules)
			if tt.failure != 0 {
				if !failure.Is(err, tt.failure) {
					t.Fatalf("got %v, want %s", err, tt.failure.Class())
				}
				return
			}
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v %v, want %+v", got, err, tt.want)
			}
		})
	}
}

// Natural inserts in any order give the same list, which is a single chain.
func TestPlaceInAnyOrder(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var names []string
		seen := map[string]bool{}
		for range 1 + rnd.IntN(12) {
			v := semver.Version{Major: uint64(rnd.IntN(3)), Minor: uint64(rnd.IntN(4)), Patch: uint64(rnd.IntN(3))}
			if rnd.IntN(4) == 0 {
				v.Pre = []semver.PRVersion{{VersionStr: "rc"}, {VersionNum: uint64(rnd.IntN(3)), IsNum: true}}
			}
			if name := "op.v" + v.String(); !seen[name] {
				seen[name] = true
				names = append(names, name)
			}
		}
		var first []fbc.Entry
		for range 6 {
			rnd.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
			var list []fbc.Entry
			for _, name := range names {
				list = insertAt(t, list, newcomer(name))
			}
			for i, e := range list {
				if i > 0 && e.Replaces != list[i-1].Name {
					t.Fatalf("%v: %s replaces %q, want %q", names, e.Name, e.Replaces, list[i-1].Name)
				}
			}
			if first == nil {
				first = list
			}
			if !reflect.DeepEqual(first, list) {
				t.Fatalf("order %v gives %v, another gave %v", names, list, first)
			}
		}
	}
}

// A chain out of order stays a single chain, with the same edges in any order of inserts.
func TestPlaceInAChainOutOfOrder(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	name := func(n int) string { return "op.v1." + strconv.Itoa(n) + ".0" }
	for range 300 {
		all := rnd.Perm(12)
		there, names := all[:2+rnd.IntN(6)], []string{}
		for _, n := range all[len(there):] {
			names = append(names, name(n+1))
		}
		chain := []fbc.Entry{{Name: name(0)}}
		for _, n := range there {
			chain = append(chain, fbc.Entry{Name: name(n + 1), Replaces: chain[len(chain)-1].Name})
		}
		var first map[string]string
		for range 6 {
			rnd.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
			list, edges := slices.Clone(chain), map[string]string{}
			for _, name := range names {
				list = insertAt(t, list, newcomer(name))
			}
			for _, e := range list {
				edges[e.Name] = e.Replaces
			}
			if first == nil {
				first = edges
			}
			if heads := HeadNames(list); len(heads) != 1 || !reflect.DeepEqual(first, edges) {
				t.Fatalf("order %v upon %v gives %v with heads %v, another gave %v", names, chain, edges, heads, first)
			}
		}
	}
}

func insertAt(t *testing.T, list []fbc.Entry, n Newcomer) []fbc.Entry {
	t.Helper()
	p, err := PlaceIn(list, n, VersionOf, PlaceRules{})
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range p.Rewired {
		list[i].Replaces = n.Name
	}
	out := append([]fbc.Entry{}, list[:p.Index]...)
	return append(append(out, p.Entry), list[p.Index:]...)
}
