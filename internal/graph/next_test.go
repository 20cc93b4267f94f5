package graph

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/testkit/effort"
)

func TestCompareNext(t *testing.T) {
	for _, test := range []struct {
		name     string
		from, to []string
		want     []string
		says     string
	}{
		{"the same in both", []string{"c: 1.0.0; 1.1.0 <1.0.0"}, []string{"c: 1.0.0; 1.1.0 <1.0.0"}, nil, ""},
		{"more in the next", []string{"c: 1.0.0"}, []string{"c: 1.0.0; 1.1.0 <1.0.0"}, nil, ""},
		{"old versions end at the next platform, and are replaced", []string{"c: 1.0.0; 1.1.0 <1.0.0"}, []string{"c: 1.1.0 <1.0.0"}, nil, ""},
		{"old versions end, and a range takes them", []string{"c: 1.0.0; 1.1.0 <1.0.0"}, []string{"c: 2.0.0 ~>=1.0.0,<2.0.0"}, nil, ""},
		{"the newest was forgotten in the next", []string{"c: 1.0.0; 1.1.0 <1.0.0"}, []string{"c: 1.0.0"}, []string{"version-skew 1.1.0"}, "p 1.1.0 of 4.14 is not in 4.15"},
		{"two were forgotten", []string{"c: 1.0.0; 1.1.0 <1.0.0; 1.2.0 <1.1.0"}, []string{"c: 1.0.0"}, []string{"version-skew 1.2.0"}, "p 1.1.0, 1.2.0 of 4.14 are not in 4.15"},
		{"the head only goes back", []string{"c: 1.0.0; 1.1.0 <1.0.0"}, []string{"c: 1.0.0 -1.1.0"}, []string{"head-skew 1.1.0"}, "where the highest is 1.0.0"},
		{"the package has ended", []string{"c: 1.0.0"}, nil, []string{"version-skew 1.0.0"}, ""},
		{"the channel has ended, another has the version", []string{"c: 1.0.0"}, []string{"d: 1.0.0"}, []string{"channel-skew 1.0.0"}, `other channels than "c"`},
		{"the channel has ended, another succeeds the version", []string{"c: 1.0.0"}, []string{"d: 2.0.0 <1.0.0"}, []string{"channel-skew 1.0.0"}, ""},
		{"only v1 sees a way forward", []string{"c: 1.0.0"}, []string{"c: 1.5.0 <1.0.0; 2.0.0 -1.5.0"}, []string{"version-skew 1.0.0"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			next := &Catalog{}
			if test.to != nil {
				next = newCatalog(t, test.to...)
			}
			found := CompareNext([]Stage{{"4.14", newCatalog(t, test.from...)}, {"4.15", next}}, Levels{})
			if got := shorthand(found); !slices.Equal(got, test.want) {
				t.Errorf("found %v, want %v", got, test.want)
			}
			if len(found) > 0 && !strings.Contains(found[0].Message, test.says) {
				t.Errorf("%q does not say %q", found[0].Message, test.says)
			}
		})
	}
}

func TestCompareNextGoesFromStageToStage(t *testing.T) {
	a, b := newCatalog(t, "c: 1.0.0; 1.1.0 <1.0.0"), newCatalog(t, "c: 1.0.0")
	found := CompareNext([]Stage{{"1", a}, {"2", b}, {"3", a}, {"4", b}}, Levels{})
	if len(found) != 2 || !strings.Contains(found[0].Message, "of 1 is not in 2") || !strings.Contains(found[1].Message, "of 3 is not in 4") {
		t.Errorf("found %v", found)
	}
}

// A bundle is skewed exactly if no channel of the next catalog contains it or succeeds it, channel by channel.
func TestCompareNextAgainstEachChannel(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 2))
	kinds := map[string]int{}
	for range effort.Of(t, 500, 3000, 20_000) {
		texts := func() (from []string) {
			for _, name := range []string{"c", "d", "e"}[:1+r.IntN(3)] {
				from = append(from, name+strings.TrimPrefix(randomChannel(r), "c"))
			}
			return from
		}
		from, to := texts(), texts()
		now, next := newCatalog(t, from...), newCatalog(t, to...)
		got := map[string]string{}
		for _, f := range CompareNext([]Stage{{"a", now}, {"b", next}}, Levels{}) {
			for _, b := range f.Bundles {
				if f.ID != "head-skew" {
					got[f.Channel+" "+b] = f.ID
				}
			}
		}
		p := next.Packages[0]
		goesOn := func(ch *Channel, b *Bundle) bool {
			if ch == nil {
				return false
			}
			for _, e := range ch.Entries {
				if own := ch.Bundle(e.Name); ch.installable(e.Name) && (e.Name == b.Name || own.HasVersion && own.Version.Compare(b.Version) == 0) {
					return true
				}
			}
			return ch.Upgrades(V1, b).Next(b.Name) != "" && (ch.Head() == "" || ch.Upgrades(V0, b).Next(b.Name) != "")
		}
		for _, ch := range now.Packages[0].Channels {
			for _, e := range ch.Entries {
				b, want := ch.Bundle(e.Name), ""
				switch {
				case !ch.installable(e.Name) || goesOn(p.Channel(ch.Name), b):
				case slices.ContainsFunc(p.Channels, func(other *Channel) bool { return goesOn(other, b) }):
					want = "channel-skew"
				default:
					want = "version-skew"
				}
				if got[ch.Name+" "+e.Name] != want {
					t.Fatalf("from %q\nto %q\n%s of %s: %q, want %q", from, to, e.Name, ch.Name, got[ch.Name+" "+e.Name], want)
				}
				kinds[want]++
			}
		}
	}
	t.Logf("entries: %v", kinds)
}

func TestARenamedBundleOfTheSameVersionIsThere(t *testing.T) {
	from, to := newCatalog(t, "c: 1.0.0"), newCatalog(t, "c: 1.0.0")
	p := to.Packages[0]
	p.Bundles[0].Name = "other.v1.0.0"
	p.bundles = map[string]*Bundle{"other.v1.0.0": p.Bundles[0]}
	p.Channels[0].Entries[0].Name = "other.v1.0.0"
	p.Channels[0].index = map[string]int{"other.v1.0.0": 0}
	if found := CompareNext([]Stage{{"a", from}, {"b", to}}, Levels{}); len(found) > 0 {
		t.Errorf("found %v", found)
	}
}
