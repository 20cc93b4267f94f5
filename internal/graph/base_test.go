package graph

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/testkit/effort"
)

// shorthand formats findings as "ID VERSION", sorted.
func shorthand(found []Finding) []string {
	var all []string
	for _, f := range found {
		all = append(all, strings.TrimSpace(f.ID+" "+strings.TrimPrefix(f.Bundle, "p.v")))
	}
	slices.Sort(all)
	return all
}

func TestCompareBase(t *testing.T) {
	const chain = "c: 1.0.0; 1.1.0 <1.0.0; 1.2.0 <1.1.0"
	for _, test := range []struct {
		name     string
		old, new []string
		want     []string
	}{
		{"nothing changes", []string{chain}, []string{chain}, nil},
		{"a new head", []string{chain}, []string{chain + "; 1.3.0 <1.2.0"}, nil},
		{"a new head that skips the old one", []string{chain}, []string{chain + "; 1.3.0 <1.1.0 -1.2.0"}, nil},
		{"a backport is put between", []string{"c: 1.0.0; 1.2.0 <1.0.0"}, []string{"c: 1.0.0; 1.1.0 <1.0.0; 1.2.0 <1.1.0"}, nil},
		{"the middle is gone", []string{chain}, []string{"c: 1.0.0; 1.2.0 <1.0.0"}, []string{"entry-pruned 1.1.0", "upgrade-path-lost 1.1.0"}},
		{"the middle is gone and nothing replaces what is below", []string{chain}, []string{"c: 1.0.0; 1.2.0 <1.1.0 -1.0.0"}, []string{"entry-pruned 1.1.0"}},
		{"the middle is gone, and with it the way from below", []string{chain}, []string{"c: 1.0.0; 1.2.0 <1.1.0"},
			[]string{"entry-pruned 1.1.0", "upgrade-path-lost 1.0.0"}},
		{"the tail is pruned, its upgrade stays", []string{chain}, []string{"c: 1.1.0 <1.0.0; 1.2.0 <1.1.0"}, []string{"entry-pruned 1.0.0"}},
		{"the tail is pruned, and the edge to it", []string{chain}, []string{"c: 1.1.0; 1.2.0 <1.1.0"}, []string{"entry-pruned 1.0.0", "upgrade-path-lost 1.0.0"}},
		{"a bad release is taken back", []string{chain}, []string{"c: 1.0.0; 1.1.0 <1.0.0; 1.2.1 <1.1.0 -1.2.0"}, []string{"entry-withdrawn 1.2.0"}},
		{"a tombstone in the middle", []string{chain}, []string{"c: 1.0.0; 1.2.0 <1.0.0 -1.1.0"}, []string{"entry-withdrawn 1.1.0"}},
		{"an entry that was skipped before is gone", []string{"c: 1.0.0; 1.1.0 <1.0.0; 1.2.0 <1.0.0 -1.1.0"}, []string{"c: 1.0.0; 1.2.0 <1.0.0 -1.1.0"}, []string{"entry-pruned 1.1.0"}},
		{"the head is gone", []string{chain}, []string{"c: 1.0.0; 1.1.0 <1.0.0"}, []string{"entry-pruned 1.2.0", "head-regressed 1.1.0", "upgrade-path-lost 1.2.0"}},
		{"a range no longer reaches so far", []string{"c: 1.0.0; 2.0.0 ~>=1.0.0,<2.0.0 -1.0.0"}, []string{"c: 1.0.0; 2.0.0 ~>=1.5.0,<2.0.0 -1.0.0"}, nil},
		{"a skip is gone", []string{"c: 1.0.0; 2.0.0 -1.0.0"}, []string{"c: 1.0.0; 1.5.0 -1.0.0; 2.0.0 -1.5.0"},
			[]string{"upgrade-path-lost 1.0.0"}}, // 1.5.0 is skipped, so v1 considers it and v0 does not
		{"a channel is gone", []string{chain, "d: 1.2.0"}, []string{chain}, []string{"channel-pruned"}},
		{"the default channel is another", []string{chain, "d: 1.2.0"}, []string{"d: 1.2.0", chain}, []string{"default-channel-changed"}},
		{"a new head beside the old one", []string{chain}, []string{chain + "; 1.3.0 <1.1.0"}, []string{"upgrade-path-lost 1.2.0"}},
		{"no head any more", []string{chain}, []string{"c: 1.0.0 <1.2.0; 1.1.0 <1.0.0; 1.2.0 <1.1.0"}, nil},
		{"the old graph was not sound", []string{"c: 1.0.0; 1.1.0 <1.0.0; 1.2.0 <1.0.0"}, []string{"c: 1.0.0; 1.1.0; 1.2.0 <1.1.0 -1.0.0"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			found := CompareBase(newCatalog(t, test.old...), newCatalog(t, test.new...), Levels{})
			if got := shorthand(found); !slices.Equal(got, test.want) {
				t.Errorf("found %v, want %v", got, test.want)
			}
			for _, f := range found {
				if f.ID == "upgrade-path-lost" && (len(f.Path) == 0 || f.Path[0] != f.Bundle) {
					t.Errorf("%s has the path %v", f.Bundle, f.Path)
				}
			}
		})
	}
}

func TestLostPathIsToldWithItsBreak(t *testing.T) {
	old := newCatalog(t, "c: 1.0.0; 1.1.0 <1.0.0; 1.2.0 <1.1.0; 1.3.0 <1.2.0")
	now := newCatalog(t, "c: 1.0.0; 1.2.0 <1.1.0; 1.3.0 <1.2.0; 1.4.0 <1.3.0")
	for _, f := range CompareBase(old, now, Levels{}) {
		if f.ID != "upgrade-path-lost" {
			continue
		}
		for _, want := range []string{"p.v1.0.0 can no longer reach the head p.v1.4.0", "v0 and v1", "its way leads through p.v1.1.0, which is gone", "p.v1.0.0 -> p.v1.1.0 -> p.v1.2.0 -> p.v1.3.0"} {
			if !strings.Contains(f.Message, want) {
				t.Errorf("%q does not say %q", f.Message, want)
			}
		}
		return
	}
	t.Error("nothing is lost, it says")
}

func TestAPackageThatIsGone(t *testing.T) {
	old := load("old.yaml", []byte(soundCatalog))
	now := load("new.yaml", []byte(strings.NewReplacer(": p\n", ": q\n", "p.v1", "q.v1").Replace(soundCatalog)))
	if got := shorthand(CompareBase(old, now, Levels{})); !slices.Equal(got, []string{"package-pruned"}) {
		t.Errorf("found %v", got)
	}
}

// A path is lost exactly if the slow search finds the old head before and does not find the new one after.
func TestCompareBaseAgainstSlowSearch(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 4))
	lostCount, compared := 0, 0
	for range effort.Of(t, 2000, 5000, 20_000) {
		text := randomChannel(r)
		entries := strings.Split(strings.TrimPrefix(text, "c:"), ";")
		for range 1 + r.IntN(2) {
			switch i := r.IntN(len(entries)); r.IntN(4) {
			case 0:
				entries = slices.Delete(entries, i, i+1)
			case 1:
				entries[i], _, _ = strings.Cut(entries[i], "-p")
			case 2:
				if words := strings.Fields(entries[i]); len(words) > 1 {
					entries[i] = strings.Join(slices.Delete(words, 1, 2), " ")
				}
			case 3:
				entries = append(entries, " 3.0.0 <"+strings.Fields(entries[0] + " 1.0.0")[0])
			}
			if len(entries) == 0 {
				entries = []string{" 9.0.0"}
			}
		}
		old, now := newCatalog(t, text), newCatalog(t, "c:"+strings.Join(entries, ";"))
		before, after := old.Packages[0].Channels[0], now.Packages[0].Channels[0]
		if before.Head() == "" || after.Head() == "" {
			continue
		}
		compared++
		got := map[string]bool{}
		for _, f := range CompareBase(old, now, Levels{}) {
			if f.ID == "upgrade-path-lost" {
				got[f.Bundle] = true
			}
		}
		for _, e := range before.Entries {
			b := before.Bundle(e.Name)
			want := slowReaches(before, V0, b) && !slowReaches(after, V0, b) || slowReaches(before, V1, b) && !slowReaches(after, V1, b)
			if got[e.Name] != want {
				t.Fatalf("from %s\nto %s\n%s is lost: %v, want %v", text, strings.Join(entries, ";"), e.Name, got[e.Name], want)
			}
			if want {
				lostCount++
			}
		}
	}
	t.Logf("%d pairs compared, %d paths lost", compared, lostCount)
}

func TestPublishedCatalogsLoseNothingToThemselves(t *testing.T) {
	eachCatalog(t, func(t *testing.T, name string, src []byte) {
		c := load(name, src)
		if found := CompareBase(c, c, Levels{}); len(found) > 0 {
			t.Errorf("%s: %v", name, found)
		}
		if found := CompareNext([]Stage{{"4.20", c}, {"4.21", c}}, Levels{}); len(found) > 0 {
			t.Errorf("%s: %v", name, found)
		}
		if d := Diff(c, c); !d.Empty() {
			t.Errorf("%s: %+v", name, d)
		}
	})
}

// A warning that the catalog had before is earlier, and a new one of the same kind is not. An error never is.
func TestMarkEarlier(t *testing.T) {
	before := newCatalog(t, "c: 1.0.0 -9.0.0")
	after := newCatalog(t, "c: 1.0.0 -9.0.0; 1.1.0 <1.0.0 -8.0.0")
	for _, level := range []Level{Warning, Error} {
		levels := Levels{Of: map[string]Level{"skip-unknown": level}}
		var got []string
		found := Verify(after, before, levels)
		MarkEarlier(found, before, levels)
		for _, f := range found {
			if f.ID == "skip-unknown" {
				got = append(got, fmt.Sprint(f.Bundle, f.Earlier))
			}
		}
		slices.Sort(got)
		if want := []string{"p.v1.0.0" + strconv.FormatBool(level == Warning), "p.v1.1.0false"}; !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", level, got, want)
		}
	}
}

// Each of many warnings is marked. Comparing each with each would take a minute.
func TestMarkEarlierMany(t *testing.T) {
	var entries strings.Builder
	entries.WriteString("c: 1.0.0")
	for i := range 80_000 {
		fmt.Fprintf(&entries, " -9.0.%d", i)
	}
	before := newCatalog(t, entries.String())
	found := Verify(before, before, Levels{})
	MarkEarlier(found, before, Levels{})
	if len(found) != 80_000 || slices.ContainsFunc(found, func(f Finding) bool { return !f.Earlier }) {
		t.Errorf("not all of %d warnings are earlier", len(found))
	}
}

// A way that leads in a circle has no end.
func TestLostInCircle(t *testing.T) {
	before := newCatalog(t, "c: 1.0.0; 2.0.0 <1.0.0; 3.0.0 <2.0.0")
	after := newCatalog(t, "c: 1.0.0 ~>=2.0.0,<2.5.0; 2.0.0 <1.0.0; 2.5.0 <2.0.0; 3.0.0 <2.5.0 -2.5.0")
	found := CompareBase(before, after, Levels{})
	if got, want := shorthand(found), []string{"upgrade-path-lost 1.0.0", "upgrade-path-lost 2.0.0"}; !slices.Equal(got, want) {
		t.Fatalf("got %q, want %q", got, want)
	}
	for _, f := range found {
		if !strings.Contains(f.Message, ": its way now is a circle through p.v") {
			t.Error(f.Message)
		}
	}
}
