package graph

import (
	"slices"
	"testing"
)

func TestNextRanges(t *testing.T) {
	const chain = "c: 1.0.0; 1.1.0 <1.0.0; 1.2.0 <1.1.0; "
	for _, test := range []struct {
		name, old, new string
		want           []string
	}{
		{"nothing", chain, chain, nil},
		{"a stretch with one next, and one with another before", chain + "1.3.0 <1.2.0 -1.0.0 -1.1.0", chain + "1.3.0 <1.2.0 -1.0.0 -1.1.0; 1.4.0 <1.3.0 -1.0.0 -1.1.0 -1.2.0",
			[]string{"1.0.0 to 1.2.0: 1.3.0 > 1.4.0 [v0 v1]", "1.3.0 to 1.3.0:  > 1.4.0 [v0 v1]"}},
		{"a version between that is not concerned ends a stretch", "c: 1.0.0; 1.1.0; 1.2.0; 1.3.0 -1.0.0 -1.1.0 -1.2.0; 1.4.0 -1.1.0 -1.3.0", "c: 1.0.0; 1.1.0; 1.2.0; 1.3.0 -1.0.0 -1.1.0 -1.2.0; 1.4.0 -1.0.0 -1.1.0 -1.2.0 -1.3.0",
			[]string{"1.0.0 to 1.0.0: 1.3.0 > 1.4.0 [v1]", "1.2.0 to 1.2.0: 1.3.0 > 1.4.0 [v1]", "1.0.0 to 1.0.0:  > 1.4.0 [v0]", "1.2.0 to 1.2.0:  > 1.4.0 [v0]"}},
		{"an upgrade that is gone", "c: 1.0.0; 1.1.0 <1.0.0", "c: 1.1.0", []string{"1.0.0 to 1.0.0: 1.1.0 >  [v0 v1]"}},
		{"the same step leading further is no change", "c: 1.0.0; 1.1.0 <1.0.0; 1.2.0", "c: 1.0.0; 1.1.0 <1.0.0; 1.2.0 <1.1.0", []string{"1.1.0 to 1.1.0:  > 1.2.0 [v0 v1]", "1.0.0 to 1.0.0:  > 1.1.0 [v0]"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, r := range Diff(newCatalog(t, test.old), newCatalog(t, test.new)).NextRanges() {
				if r.Package != "p" || r.Channel != "c" {
					t.Errorf("got channel %s of package %s", r.Channel, r.Package)
				}
				rules := "[v0 v1]"
				if len(r.Rules) == 1 {
					rules = "[" + r.Rules[0].String() + "]"
				}
				if r.Lowest != (r.First == "1.0.0") {
					t.Errorf("%s is the lowest version: %v", r.First, r.Lowest)
				}
				got = append(got, r.First+" to "+r.Last+": "+r.Next.From+" > "+r.Next.To+" "+rules)
			}
			slices.Sort(got)
			slices.Sort(test.want)
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q\nwant %q", got, test.want)
			}
		})
	}
}
