package graph

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/testkit/effort"
)

// allPairs compares all pairs of channels, and returns the findings of the first that disagree on a bundle.
func allPairs(p *Package) (found []string) {
	told := map[string]bool{}
	for i, one := range p.Channels {
		for _, other := range p.Channels[i+1:] {
			for j := range other.Entries {
				b := &other.Entries[j]
				a := one.Entry(b.Name)
				if a == nil || told[b.Name] {
					continue
				}
				if what := disagreement(member{one, a}, member{other, b}); what != "" {
					told[b.Name] = true
					found = append(found, fmt.Sprintf("%q %s in only one of the channels %q and %q", b.Name, what, one.Name, other.Name))
				}
			}
		}
	}
	slices.Sort(found)
	return found
}

// The findings about channels that disagree are those of a comparison of all pairs.
func TestAgreementOfAllPairs(t *testing.T) {
	differ := 0
	for seed := range uint64(effort.Of(t, 300, 2000, 50_000)) {
		rnd := rand.New(rand.NewPCG(seed, 33))
		name := func() string { return fmt.Sprintf("op.v1.%d.0", rnd.IntN(6)) }
		docs := []fbc.Doc{}
		for c := range 1 + rnd.IntN(6) {
			var entries strings.Builder
			for i := range 6 {
				if rnd.IntN(3) == 0 {
					continue
				}
				fmt.Fprintf(&entries, "- name: op.v1.%d.0\n", i)
				if rnd.IntN(2) == 0 {
					fmt.Fprintf(&entries, "  replaces: %s\n", name())
				}
				if rnd.IntN(3) == 0 {
					fmt.Fprintf(&entries, "  skips: [%s, %s]\n", name(), name())
				}
				if rnd.IntN(6) == 0 {
					fmt.Fprintf(&entries, "  skipRange: <1.%d.0\n", rnd.IntN(3))
				}
			}
			if entries.Len() == 0 {
				continue
			}
			more, err := fbc.Read("f", fmt.Appendf(nil, "schema: olm.channel\npackage: op\nname: c%d\nentries:\n%s", c, entries.String()))
			if err != nil {
				t.Fatal(err)
			}
			docs = append(docs, more...)
		}
		catalog := FromDocs(docs)
		if len(catalog.Packages) == 0 {
			continue
		}
		v := &verifier{pkg: catalog.Packages[0]}
		v.adviseAgreement()
		var got []string
		for _, f := range v.found {
			got = append(got, f.Message)
		}
		slices.Sort(got)
		want := allPairs(v.pkg)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: found %q, want %q", seed, got, want)
		}
		if len(want) > 0 {
			differ++
		}
	}
	t.Logf("in %d catalogs, channels disagree", differ)
}
