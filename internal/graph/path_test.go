package graph

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/testkit/effort"
)

// stagesOf returns the catalogs of 4.16 and later platforms, each built from channels joined by a slash.
func stagesOf(t testing.TB, catalogs ...string) []Stage {
	t.Helper()
	var stages []Stage
	for i, text := range catalogs {
		c := &Catalog{}
		if text != "" {
			c = newCatalog(t, strings.Split(text, "/")...)
		}
		stages = append(stages, Stage{fmt.Sprintf("4.%d", 16+i), c})
	}
	return stages
}

// pathText formats a path, as in "a@4.16: 1.1.0 cluster:4.17 channel:b 1.2.0*".
func pathText(p *Path) string {
	text := p.Start.Channel + "@" + p.Start.Platform + ":"
	for _, s := range p.Steps {
		switch s.Kind {
		case UpgradeBundle:
			text += " " + strings.TrimPrefix(s.Bundle, "p.v")
			if s.Pinned {
				text += "*"
			}
		case ChangeChannel:
			text += " channel:" + s.Channel
		case UpgradeCluster:
			text += " cluster:" + s.Platform
		}
	}
	return text
}

func TestFindPath(t *testing.T) {
	const chain = "a: 1.0.0; 1.1.0 <1.0.0; 1.2.0 <1.1.0"
	for _, test := range []struct {
		name, from, to string
		catalogs       []string
		v0, v1         string
	}{
		{"step by step", "1.0.0", "1.2.0", []string{chain}, "a@4.16: 1.1.0 1.2.0", "a@4.16: 1.1.0 1.2.0"},
		{"early, where it makes no difference", "1.0.0", "1.1.0", []string{"a: 1.0.0; 1.1.0 <1.0.0", "a: 1.0.0; 1.1.0 <1.0.0"}, "a@4.16: 1.1.0 cluster:4.17", "a@4.16: 1.1.0 cluster:4.17"},
		{"nothing to do", "1.2.0", "1.2.0", []string{chain}, "a@4.16:", "a@4.16:"},
		{"the cluster goes with it", "1.0.0", "1.1.0", []string{"a: 1.0.0", "a: 1.0.0; 1.1.0 <1.0.0"}, "a@4.16: cluster:4.17 1.1.0", "a@4.16: cluster:4.17 1.1.0"},
		{"a platform without the bundle is passed", "1.0.0", "2.0.0", []string{"a: 1.0.0", "", "a: 2.0.0 ~>=1.0.0,<2.0.0"}, "a@4.16: cluster:4.17 cluster:4.18 2.0.0", "a@4.16: cluster:4.17 cluster:4.18 2.0.0"},
		{"a channel that ends is changed", "1.0.0", "2.0.0", []string{"a: 1.0.0", "b: 2.0.0 <1.0.0"}, "a@4.16: cluster:4.17 channel:b 2.0.0", "a@4.16: cluster:4.17 channel:b 2.0.0"},
		{"fewer upgrades before fewer channels", "1.0.0", "1.2.0", []string{chain, "b: 1.2.0 <1.0.0/a: 1.0.0; 1.1.0 <1.0.0; 1.2.0 <1.1.0"}, "a@4.16: cluster:4.17 channel:b 1.2.0", "a@4.16: cluster:4.17 channel:b 1.2.0"},
		{"v1 is asked for a version below the highest", "1.0.0", "1.1.0", []string{"a: 1.0.0; 1.1.0 <1.0.0; 1.2.0 <1.1.0 -1.0.0"}, "", "a@4.16: 1.1.0*"},
		{"an installed bundle that no catalog has", "0.9.0", "1.2.0", []string{chain, "a: 1.2.0 ~>=0.5.0,<1.2.0"}, "a@4.16: cluster:4.17 1.2.0", "a@4.16: cluster:4.17 1.2.0"},
		{"no way", "1.0.0", "2.0.0", []string{"a: 1.0.0", "a: 2.0.0"}, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			for g, want := range []string{test.v0, test.v1} {
				q := PathQuery{Package: "p", From: bundleName(test.from), To: bundleName(test.to), Rules: Generation(g)}
				path, no := FindPath(stagesOf(t, test.catalogs...), q)
				got := ""
				if path != nil {
					got = pathText(path)
				}
				if got != want || (path == nil) != (no != nil) {
					t.Errorf("%s: %q, want %q", q.Rules, got, want)
				}
			}
		})
	}
}

func TestFindPathHeedsDeprecationsChannelsAndPlatforms(t *testing.T) {
	stages := stagesOf(t, "a: 1.0.0; 1.1.0 <1.0.0; 1.2.0 <1.1.0; 1.3.0 <1.2.0 ~<1.3.0/b: 1.0.0; 1.1.0 <1.0.0; 1.2.0 <1.1.0", "a: 1.3.0/b: 1.3.0 <1.2.0")
	q := PathQuery{Package: "p", From: "p.v1.0.0", To: "p.v1.3.0", Rules: V1}
	find := func(want string) {
		t.Helper()
		path, _ := FindPath(stages, q)
		if path == nil || pathText(path) != want {
			t.Errorf("got %+v, want %s", path, want)
		}
	}
	find("a@4.16: 1.3.0 cluster:4.17")
	q.Anywhere = true
	find("a@4.16: 1.3.0")
	q.Channel = "b"
	find("b@4.16: channel:a 1.3.0")
	q.Anywhere, q.Channel = false, ""
	stages[0].Catalog.Packages[0].deprecated["p.v1.3.0"] = true
	find("b@4.16: 1.1.0 1.2.0 cluster:4.17 1.3.0")
}

// A bundle with a last OpenShift version prevents cluster upgrades beyond it, wherever its document is.
func TestFindPathHeedsMaxOpenShift(t *testing.T) {
	for _, value := range []string{`"4.16"`, `4.16`, `"4.16.9"`} {
		first := strings.Replace(soundCatalog, "- type: olm.package\n  value:\n    packageName: p\n    version: 1.0.0", "- type: olm.maxOpenShiftVersion\n  value: "+value+"\n- type: olm.package\n  value:\n    packageName: p\n    version: 1.0.0", 1)
		if first == soundCatalog {
			t.Fatal("the catalog has no version 1.0.0")
		}
		stages := []Stage{{"4.16", load("a.yaml", []byte(first))}, {"4.17", load("b.yaml", []byte(soundCatalog))}}
		q := PathQuery{Package: "p", From: "p.v1.0.0", To: "p.v1.0.0"}
		path, no := FindPath(stages, q)
		if path != nil || no.Why != "olm.maxOpenShiftVersion of p.v1.0.0 is 4.16, so the cluster cannot be upgraded to 4.17 while it is installed" {
			t.Errorf("%s: %+v, %+v", value, path, no)
		}
		q.To = "p.v1.2.0"
		if path, _ = FindPath(stages, q); path == nil || path.Steps[0].Kind != UpgradeBundle {
			t.Errorf("%s: %+v", value, path)
		}
	}
}

func TestNoPathNamesAnEdge(t *testing.T) {
	for _, test := range []struct {
		name, from, to string
		catalogs       []string
		rules          Generation
		why, edge      string
	}{
		{"a gap between heads", "1.0.0", "2.0.0", []string{"a: 1.0.0; 1.1.0 <1.0.0", "a: 2.0.0"}, V0, "end at p.v1.1.0", "in channel a of 4.17, p.v2.0.0 replaces p.v1.1.0"},
		{"a gap, and the entry replaces another", "1.0.0", "2.0.0", []string{"a: 1.0.0", "a: 2.0.0 <1.9.0"}, V0, "end at p.v1.0.0", "in channel a of 4.17, p.v2.0.0 skips p.v1.0.0"},
		{"the target is in no channel", "1.0.0", "3.0.0", []string{"a: 1.0.0"}, V1, "no channel of the catalogs to 4.16 has bundle p.v3.0.0", ""},
		{"a downgrade", "2.0.0", "1.0.0", []string{"a: 1.0.0; 2.0.0 <1.0.0"}, V1, "p.v1.0.0 is below p.v2.0.0, and no edge leads back", ""},
		{"OLM v0 leaps over the target", "1.0.0", "1.1.0", []string{"a: 1.0.0; 1.1.0 <1.0.0; 1.2.0 -1.0.0 -1.1.0"}, V0, "OLM v0 passes over p.v1.1.0 on the way from p.v1.0.0 to p.v1.2.0", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, no := FindPath(stagesOf(t, test.catalogs...), PathQuery{Package: "p", From: bundleName(test.from), To: bundleName(test.to), Rules: test.rules})
			edge := ""
			if no != nil && no.Edge != nil {
				edge = no.Edge.String()
			}
			if no == nil || !strings.Contains(no.Why, test.why) || edge != test.edge {
				t.Errorf("%+v, edge %q", no, edge)
			}
		})
	}
}

// OLM v1 skips a bundle that it does not install, if another is requested.
func TestFindPathGoesPastWhatV1DoesNotInstall(t *testing.T) {
	stages := stagesOf(t, "a: 1.0.0; 1.1.0 <1.0.0; 1.2.0 <1.1.0 -1.0.0; 1.3.0 <1.2.0 -1.1.0")
	stages[0].Catalog.Packages[0].Bundle("p.v1.2.0").v1.modesTold = true
	q := PathQuery{Package: "p", From: "p.v1.0.0", To: "p.v1.3.0", Rules: V1}
	if path, _ := FindPath(stages, q); path == nil || pathText(path) != "a@4.16: 1.1.0* 1.3.0" {
		t.Errorf("got %+v", path)
	}
	q.To = "p.v1.2.0"
	if path, no := FindPath(stages, q); path != nil || !strings.HasPrefix(no.Why, "p.v1.2.0: OLM v1 does not install it, and no other in its place: it lacks install mode AllNamespaces") {
		t.Errorf("got %+v, %+v", path, no)
	}
}

// slowPath relaxes the costs of all states until they no longer change, with rules written independently of the
// code.
func slowPath(stages []Stage, q PathQuery, limits map[string]int) (pathCost, bool) {
	costs := map[pathState]pathCost{}
	in := func(i int) *Package { return stages[i].Catalog.Package("p") }
	for _, ch := range in(0).Channels {
		if ch.Entry(q.From) != nil {
			costs[pathState{0, ch.Name, q.From}] = pathCost{}
		}
	}
	for changed := true; changed; {
		changed = false
		for at, cost := range costs {
			relax := func(to pathState, more pathCost) {
				next := cost.plus(more)
				if old, ok := costs[to]; !ok || next.compare(old) < 0 {
					costs[to], changed = next, true
				}
			}
			b := in(at.stage).Bundle(at.bundle)
			for i := range stages {
				if b == nil {
					b = in(i).Bundle(at.bundle)
				}
			}
			if i := at.stage + 1; i < len(stages) && (limits[at.bundle] == 0 || i < limits[at.bundle]) {
				relax(pathState{i, at.channel, at.bundle}, pathCost{3: 1})
			}
			for _, ch := range in(at.stage).Channels {
				if ch.Name != at.channel {
					relax(pathState{at.stage, ch.Name, at.bundle}, pathCost{2: 1})
					continue
				}
				auto := slowChoice(ch, q.Rules, b)
				for i := range ch.Entries {
					e := &ch.Entries[i]
					to := ch.Bundle(e.Name)
					if q.Rules == V1 && len(to.v1.needs) > 0 || q.Rules == V0 && e.Name != auto || q.Rules == V1 && (!succeeds(e, b) || to.Version.Compare(b.Version) == 0) {
						continue
					}
					relax(pathState{at.stage, ch.Name, e.Name}, pathCost{bit(in(at.stage).Deprecated(e.Name)), 1, 0, 0, bit(e.Name != auto), at.stage})
				}
			}
		}
	}
	var best pathCost
	found := false
	for at, cost := range costs {
		if at.bundle == q.To && (q.Anywhere || at.stage == len(stages)-1) && (!found || cost.compare(best) < 0) {
			best, found = cost, true
		}
	}
	return best, found
}

// slowChoice is slowNext with deprecated bundles last, as in OLM v1.
func slowChoice(ch *Channel, g Generation, b *Bundle) string {
	if g == V0 {
		return slowNextV0(ch, b)
	}
	var best *Bundle
	for i := range ch.Entries {
		c := ch.Bundle(ch.Entries[i].Name)
		if !succeeds(&ch.Entries[i], b) && c.Version.Compare(b.Version) != 0 {
			continue
		}
		worse := best != nil && ch.Package.Deprecated(c.Name) && !ch.Package.Deprecated(best.Name)
		better := best != nil && !ch.Package.Deprecated(c.Name) && ch.Package.Deprecated(best.Name)
		if best == nil || better || !worse && c.Version.Compare(best.Version) > 0 {
			best = c
		}
	}
	if best == nil || best.Version.Compare(b.Version) == 0 {
		return ""
	}
	return best.Name
}

func TestFindPathAgainstExhaustiveSearch(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 1))
	found, deprecated, blocked, edges := 0, 0, 0, 0
	sets := effort.Of(t, 100, 300, 10_000)
	for range sets {
		var catalogs []string
		for range 1 + r.IntN(4) {
			channels := randomChannel(r)
			for i := range r.IntN(3) {
				channels += "/" + string(rune('d'+i)) + strings.TrimPrefix(randomChannel(r), "c")
			}
			catalogs = append(catalogs, channels)
		}
		stages := stagesOf(t, catalogs...)
		limits := map[string]int{}
		var names []string
		for _, stage := range stages {
			p := stage.Catalog.Packages[0]
			for _, b := range p.Bundles {
				names = append(names, b.Name)
				if r.IntN(5) == 0 {
					p.deprecated[b.Name] = true
				}
				if r.IntN(10) == 0 {
					b.v1.needs = []string{"olm.constraint"}
				}
				if limits[b.Name] == 0 && r.IntN(8) == 0 {
					limits[b.Name] = 1 + r.IntN(len(stages))
				}
			}
		}
		for name, limit := range limits {
			for _, stage := range stages {
				if b := stage.Catalog.Packages[0].Bundle(name); b != nil {
					b.maxOpenShift = &semver.Version{Major: 4, Minor: uint64(15 + limit)}
				}
			}
		}
		first := stages[0].Catalog.Packages[0]
		q := PathQuery{Package: "p", From: first.Bundles[r.IntN(len(first.Bundles))].Name, To: names[r.IntN(len(names))], Anywhere: r.IntN(2) == 0}
		for _, q.Rules = range []Generation{V0, V1} {
			path, no := FindPath(stages, q)
			want, exists := slowPath(stages, q, limits)
			if (path != nil) != exists {
				t.Fatalf("%q\n%+v\nfound %v, want %v", catalogs, q, path, exists)
			}
			if path == nil {
				blocked += bit(strings.HasPrefix(no.Why, "olm.max"))
				edges += bit(no.Edge != nil)
				continue
			}
			var got pathCost
			late := 0
			for _, s := range path.Steps {
				late += bit(s.Kind == UpgradeCluster)
				got = got.plus(pathCost{bit(s.Deprecated), bit(s.Kind == UpgradeBundle), bit(s.Kind == ChangeChannel), bit(s.Kind == UpgradeCluster), bit(s.Pinned), late * bit(s.Kind == UpgradeBundle)})
			}
			if got != want {
				t.Fatalf("%q\n%+v\n%s costs %v, want %v", catalogs, q, pathText(path), got, want)
			}
			found++
			deprecated += bit(got[0] > 0)
		}
	}
	t.Logf("%d sets: %d paths, %d with deprecated bundles, %d blocked by a bundle, %d edges named", sets, found, deprecated, blocked, edges)
	if sets >= 300 && (found < sets/4 || blocked == 0 || edges == 0 || deprecated == 0) {
		t.Error("too few of a kind")
	}
}
