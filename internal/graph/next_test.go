package graph

import (
	"slices"
	"strings"
	"testing"
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
