package graph

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/testkit/effort"
)

// newCatalog returns a catalog with one package "p" from channels written as
//
//	name: entry < replaced -skipped ~range; entry ...
//
// An entry is a version; its bundle is p.vVERSION. Further bundles without a channel may be named.
func newCatalog(t testing.TB, channels ...string) *Catalog {
	t.Helper()
	c := &Catalog{byName: map[string]*Package{}, known: map[uint64]*bundleRead{}}
	a := assembly{c}
	p := a.newPackage("p", Pos{"c.yaml", 1})
	p.Declared = true
	for _, text := range channels {
		name, entries, _ := strings.Cut(text, ":")
		ch := &Channel{Pos: Pos{"c.yaml", 2}, Package: p, Name: name, index: map[string]int{}}
		for _, entry := range strings.Split(entries, ";") {
			var e Entry
			for _, word := range strings.Fields(entry) {
				switch word[0] {
				case '<':
					e.Replaces = bundleName(word[1:])
				case '-':
					e.Skips = append(e.Skips, bundleName(word[1:]))
				case '~':
					e.SkipRange = strings.ReplaceAll(word[1:], ",", " ")
				default:
					e.Name = bundleName(word)
					addTestBundle(t, p, word)
				}
			}
			if e.Name == "" {
				continue
			}
			ch.add(e)
		}
		p.channels[name] = ch
		p.Channels = append(p.Channels, ch)
		if p.DefaultChannel == "" {
			p.DefaultChannel = name
		}
	}
	return c
}

func bundleName(version string) string {
	if version == "" {
		return ""
	}
	return "p.v" + version
}

func addTestBundle(t testing.TB, p *Package, version string) {
	t.Helper()
	name := bundleName(version)
	if p.bundles[name] != nil {
		return
	}
	v, err := semver.Parse(version)
	if err != nil {
		t.Fatal(err)
	}
	b := &Bundle{Package: p.Name, Name: name, Version: Version{Version: v}, HasVersion: true}
	p.bundles[name] = b
	p.Bundles = append(p.Bundles, b)
}

func TestUpgrades(t *testing.T) {
	for _, test := range []struct {
		name, channel, from string
		v0, v1              string // the paths, as versions
	}{
		{"a chain is walked step by step", "c: 1.0.0; 1.1.0 <1.0.0; 1.2.0 <1.1.0", "1.0.0", "1.0.0 1.1.0 1.2.0", "1.0.0 1.1.0 1.2.0"},
		{"a skip leaps", "c: 1.0.0; 1.1.0 <1.0.0; 1.2.0 <1.1.0 -1.0.0", "1.0.0", "1.0.0 1.2.0", "1.0.0 1.2.0"},
		{"a skipped entry still has a way", "c: 1.0.0; 1.1.0 <1.0.0; 1.2.0 <1.0.0 -1.1.0", "1.1.0", "1.1.0 1.2.0", "1.1.0 1.2.0"},
		{"a range takes a version outside the channel", "c: 2.0.0 ~>=1.0.0,<2.0.0", "1.5.0", "1.5.0 2.0.0", "1.5.0 2.0.0"},
		{"a range ends where it says", "c: 2.0.0 ~>=1.0.0,<1.5.0", "1.5.0", "1.5.0", "1.5.0"},
		{"a removed version is skipped by name", "c: 2.0.0 -1.5.0", "1.5.0", "1.5.0 2.0.0", "1.5.0 2.0.0"},
		{"a removed version is replaced by name", "c: 2.0.0 <1.5.0", "1.5.0", "1.5.0 2.0.0", "1.5.0 2.0.0"},
		// This example is from docs/concepts/upgrade-support.md of operator-controller.
		{"v0 ignores skipped entries", "c: 3.0.0 -2.0.0; 2.0.0 ~>=1.0.0,<2.0.0", "1.0.0", "1.0.0", "1.0.0 2.0.0 3.0.0"},
		{"v0 takes the nearest to the head, v1 the highest version", "c: 1.0.0; 1.3.0 <1.0.0; 1.2.0 <1.3.0 -1.0.0", "1.0.0", "1.0.0 1.2.0", "1.0.0 1.3.0"},
		{"v1 is not downgraded from what the channel has", "c: 1.0.0; 1.2.0 <1.0.0; 1.1.0 <1.2.0", "1.2.0", "1.2.0 1.1.0", "1.2.0"},
		{"v1 is downgraded from what the channel has not", "c: 1.1.0 <1.2.0", "1.2.0", "1.2.0 1.1.0", "1.2.0 1.1.0"},
		{"without a single head v0 does nothing", "c: 1.0.0; 1.1.0 <1.0.0; 1.2.0 <1.0.0", "1.0.0", "1.0.0", "1.0.0 1.2.0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCatalog(t, test.channel)
			from := &Bundle{Name: bundleName(test.from), Version: Version{Version: semver.MustParse(test.from)}, HasVersion: true}
			for g, want := range []string{test.v0, test.v1} {
				got := c.Packages[0].Channels[0].Upgrades(Generation(g), from).Path(from.Name)
				if text := strings.ReplaceAll(strings.Join(got, " "), "p.v", ""); text != want {
					t.Errorf("%s: the way is %q, want %q", Generation(g), text, want)
				}
			}
		})
	}
}

func TestV1TakesDeprecatedLast(t *testing.T) {
	c := newCatalog(t, "c: 1.0.0; 1.1.0 <1.0.0; 1.2.0 <1.1.0 -1.0.0")
	p := c.Packages[0]
	p.deprecated[bundleName("1.2.0")] = true
	if got := p.Channels[0].Upgrades(V1).Next(bundleName("1.0.0")); got != bundleName("1.1.0") {
		t.Errorf("with 1.2.0 deprecated, 1.0.0 goes to %q; want 1.1.0", got)
	}
	if got := p.Channels[0].Upgrades(V1).Next(bundleName("1.1.0")); got != "" {
		t.Errorf("with 1.2.0 deprecated, 1.1.0 goes to %q; want to stay", got)
	}
}

// randomChannel returns a channel of up to 12 entries with edges of all kinds, most of them valid.
func randomChannel(r *rand.Rand) string {
	n := 1 + r.IntN(12)
	var versions []string
	for range n {
		v := fmt.Sprintf("%d.%d.%d", r.IntN(2), r.IntN(4), r.IntN(4))
		if r.IntN(6) == 0 {
			v += []string{"-rc.1", "-alpha", "+build.1", "+2"}[r.IntN(4)]
		}
		if !slices.Contains(versions, v) {
			versions = append(versions, v)
		}
	}
	if r.IntN(4) > 0 {
		slices.SortFunc(versions, func(a, b string) int { return semver.MustParse(a).Compare(semver.MustParse(b)) })
	}
	any := func() string { return versions[r.IntN(len(versions))] }
	var b strings.Builder
	b.WriteString("c:")
	for i, v := range versions {
		fmt.Fprintf(&b, " %s", v)
		switch {
		case i > 0 && r.IntN(8) > 0:
			fmt.Fprintf(&b, " <%s", versions[i-1])
		case r.IntN(4) == 0:
			fmt.Fprintf(&b, " <%s", any())
		}
		for r.IntN(3) == 0 {
			if s := versions[r.IntN(i+1)]; s != v {
				fmt.Fprintf(&b, " -%s", s)
			}
		}
		if r.IntN(4) == 0 {
			forms := []string{"~>=A,<B", "~<B", "~>A,<=B", "~!=A", "~<A,||,>B", "~A"}
			b.WriteString(" " + strings.NewReplacer("A", plain(any()), "B", plain(any())).Replace(forms[r.IntN(len(forms))]))
		}
		b.WriteByte(';')
	}
	return b.String()
}

func plain(version string) string { v, _, _ := strings.Cut(version, "+"); return v }

// succeeds is the rule that both generations share, derived from their code.
func succeeds(e *Entry, installed *Bundle) bool {
	if e.Replaces == installed.Name || slices.Contains(e.Skips, installed.Name) {
		return true
	}
	if e.SkipRange == "" {
		return false
	}
	in, err := semver.ParseRange(e.SkipRange)
	return err == nil && in(installed.Version.Version)
}

// slowNext chooses among all successors by comparing each pair.
func slowNext(ch *Channel, g Generation, installed *Bundle) string {
	if g == V0 {
		return slowNextV0(ch, installed)
	}
	var best *Bundle
	if ch.Entry(installed.Name) != nil {
		best = installed
	}
	for i := range ch.Entries {
		b := ch.Bundle(ch.Entries[i].Name)
		if !succeeds(&ch.Entries[i], installed) && b.Version.Compare(installed.Version) != 0 {
			continue
		}
		if best == nil || b.Version.Compare(best.Version) > 0 {
			best = b
		}
	}
	if best == nil || best.Version.Compare(installed.Version) == 0 {
		return ""
	}
	return best.Name
}

func slowNextV0(ch *Channel, installed *Bundle) string {
	head := ch.Head()
	if head == "" || installed.Name == head {
		return ""
	}
	var chain []*Entry
	for e := ch.Entry(head); e != nil; e = ch.Entry(e.Replaces) {
		if slices.Contains(chain, e) {
			return ""
		}
		chain = append(chain, e)
	}
	for _, e := range chain {
		skipped := slices.ContainsFunc(ch.Entries, func(o Entry) bool { return slices.Contains(o.Skips, e.Name) })
		if !skipped && succeeds(e, installed) {
			if e.Name == installed.Name {
				return ""
			}
			return e.Name
		}
	}
	return ""
}

func TestUpgradesAgainstSlowSearch(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	withHead, steps, ends := 0, 0, 0
	for range effort.Of(t, 2000, 5000, 20_000) {
		text := randomChannel(r)
		ch := newCatalog(t, text).Packages[0].Channels[0]
		if ch.Head() != "" {
			withHead++
		}
		installed := append([]*Bundle(nil), ch.Package.Bundles...)
		for range 3 {
			v := semver.Version{Major: uint64(r.IntN(2)), Minor: uint64(r.IntN(5)), Patch: uint64(r.IntN(5))}
			name := "gone.v" + v.String()
			installed = append(installed, &Bundle{Name: name, Version: Version{Version: v}, HasVersion: true})
		}
		for _, g := range []Generation{V0, V1} {
			u := ch.Upgrades(g, installed...)
			for _, b := range installed {
				if got, want := u.Next(b.Name), slowNext(ch, g, b); got != want {
					t.Fatalf("%s\n%s: %s goes to %q, want %q", text, g, b.Name, got, want)
				} else if want != "" {
					steps++
				}
				if got, want := u.ReachesHead(b.Name), slowReaches(ch, g, b); got != want {
					t.Fatalf("%s\n%s: %s reaches the head: %v, want %v", text, g, b.Name, got, want)
				} else if want {
					ends++
				}
			}
		}
	}
	t.Logf("%d channels with a head, %d upgrades, %d ways to a head", withHead, steps, ends)
}

func slowReaches(ch *Channel, g Generation, b *Bundle) bool {
	seen := map[string]bool{}
	for ch.Head() != "" && !seen[b.Name] {
		if b.Name == ch.Head() {
			return true
		}
		seen[b.Name] = true
		next := slowNext(ch, g, b)
		if next == "" {
			return false
		}
		b = ch.Bundle(next)
	}
	return false
}

// In a channel that opm accepts, v0's choice of the nearest entry always reaches the head if any other choice
// would.
func TestV0ReachesWhateverAnyPathReaches(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 4))
	sound := 0
	for range effort.Of(t, 2000, 5000, 20_000) {
		text := randomChannel(r)
		c := newCatalog(t, text)
		ch := c.Packages[0].Channels[0]
		v := &verifier{pkg: ch.Package}
		if v.verifyChain(ch); len(v.found) > 0 || len(ch.chainV0(ch.Head())) == 0 {
			continue // opm accepts a cycle behind a skipped entry, and OLM v0 gives up
		}
		sound++
		u := ch.Upgrades(V0)
		for _, b := range ch.Package.Bundles {
			if got, want := u.ReachesHead(b.Name), anyPath(ch, b, map[string]bool{}); got != want {
				t.Fatalf("%s\n%s reaches the head: %v; by any path: %v", text, b.Name, got, want)
			}
		}
	}
	if sound < 100 {
		t.Errorf("only %d channels were sound", sound)
	}
}

func anyPath(ch *Channel, b *Bundle, seen map[string]bool) bool {
	if b.Name == ch.Head() {
		return true
	}
	if seen[b.Name] {
		return false
	}
	seen[b.Name] = true
	skipped := ch.skipped()
	for e := ch.Entry(ch.Head()); e != nil; e = ch.Entry(e.Replaces) {
		if !skipped[e.Name] && succeeds(e, b) && anyPath(ch, ch.Bundle(e.Name), seen) {
			return true
		}
	}
	return false
}

func BenchmarkReachability2000(b *testing.B) {
	for _, kind := range []string{"chain", "skips", "ranges"} {
		b.Run(kind, func(b *testing.B) {
			var text strings.Builder
			text.WriteString("c:")
			for i := range 2000 {
				fmt.Fprintf(&text, " 1.%d.0", i)
				if i > 0 {
					fmt.Fprintf(&text, " <1.%d.0", i-1)
				}
				if kind == "skips" && i > 1 {
					for j := max(0, i-20); j < i-1; j++ {
						fmt.Fprintf(&text, " -1.%d.0", j)
					}
				}
				if kind == "ranges" {
					fmt.Fprintf(&text, " ~>=1.%d.0,<1.%d.0", max(0, i-500), i)
				}
				text.WriteByte(';')
			}
			c := newCatalog(b, text.String())
			b.ResetTimer()
			for range b.N {
				CompareBase(c, c, Levels{})
			}
		})
	}
}
