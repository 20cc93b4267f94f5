package operand

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// model is a random catalog in numbers: operands have versions N.0.0; a range includes its first number and
// excludes its second.
type model struct {
	bundles []modelBundle // the first is the bundle to resolve
	entries map[string][]int
}

type modelBundle struct {
	pkg, version int
	supports     map[string][][2]int
	requires     map[string][][2]int
}

func (b modelBundle) name() string { return fmt.Sprintf("p%d.v%d.0.0", b.pkg, b.version) }

func in(v int, r [2]int) bool { return v >= r[0] && v < r[1] }

func (b modelBundle) provides(name string, v int) bool {
	return slices.ContainsFunc(b.supports[name], func(r [2]int) bool { return in(v, r) })
}

func (b modelBundle) wants(name string, v int) bool {
	return !slices.ContainsFunc(b.requires[name], func(r [2]int) bool { return !in(v, r) })
}

var operandNames = []string{"a", "b", "c", "d"}

func randomModel(r *rand.Rand) model {
	m := model{entries: map[string][]int{}}
	span := func() [2]int { lo := r.IntN(4); return [2]int{lo, lo + 1 + r.IntN(4)} }
	for pkg := range 1 + r.IntN(4) {
		for version := range 1 + r.IntN(3) {
			b := modelBundle{pkg, version, map[string][][2]int{}, map[string][][2]int{}}
			for _, name := range operandNames {
				for range r.IntN(3) {
					b.supports[name] = append(b.supports[name], span())
				}
				if r.IntN(4) == 0 {
					for range 1 + r.IntN(2) {
						b.requires[name] = append(b.requires[name], span())
					}
				}
			}
			m.bundles = append(m.bundles, b)
		}
	}
	for _, name := range operandNames {
		for v := range 6 {
			if r.IntN(2) == 0 {
				m.entries[name] = append(m.entries[name], v)
			}
		}
	}
	return m
}

// catalogs returns the model's documents, distributed to several catalogs.
func (m model) catalogs(r *rand.Rand) []string {
	out := make([]string, 1+r.IntN(3))
	deal := func(text string) { out[r.IntN(len(out))] += text }
	text := func(s [2]int) string { return fmt.Sprintf(">=%d.0.0 <%d.0.0", s[0], s[1]) }
	for _, i := range r.Perm(len(m.bundles)) {
		b := m.bundles[i]
		var claims []string
		for _, name := range operandNames {
			for _, s := range b.supports[name] {
				claims = append(claims, "supports "+name+" "+text(s))
			}
			for _, s := range b.requires[name] {
				claims = append(claims, "requires "+name+" "+text(s))
			}
		}
		doc := bundleDoc(fmt.Sprintf("p%d", b.pkg), fmt.Sprintf("%d.0.0", b.version), claims...)
		for range 1 + r.IntN(2) {
			deal(doc)
		}
	}
	for name, versions := range m.entries {
		for _, v := range versions {
			deal(operandEntry(name, fmt.Sprintf("%d.0.0", v)))
		}
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

// pick is the way in which a need is satisfied. Greater is better; packages count downward.
type pick struct{ operand, version, pkg int }

func comparePicks(a, b []pick) int {
	return slices.CompareFunc(a, b, func(x, y pick) int {
		return slices.Compare([]int{x.operand, x.version, -x.pkg}, []int{y.operand, y.version, -y.pkg})
	})
}

// best tries every set of bundles with at most one of each package. It returns the best way to satisfy the needs
// of the first bundle, or nil.
func (m model) best() []pick {
	var best []pick
	var try func(rest []modelBundle, chosen []modelBundle)
	try = func(rest, chosen []modelBundle) {
		if len(rest) > 0 {
			try(rest[1:], chosen)
			if !slices.ContainsFunc(chosen, func(b modelBundle) bool { return b.pkg == rest[0].pkg }) {
				try(rest[1:], append(slices.Clone(chosen), rest[0]))
			}
			return
		}
		var own []pick
		for i, b := range chosen {
			for _, name := range operandNames {
				if len(b.requires[name]) == 0 {
					continue
				}
				p, ok := m.meet(b, name, chosen)
				if !ok {
					return
				}
				if i == 0 {
					own = append(own, p)
				}
			}
		}
		if best == nil || comparePicks(own, best) > 0 {
			best = append([]pick{}, own...)
		}
	}
	try(m.bundles[1:], m.bundles[:1])
	return best
}

func (m model) meet(of modelBundle, name string, chosen []modelBundle) (best pick, ok bool) {
	for _, by := range chosen {
		for _, v := range m.entries[name] {
			p := pick{v, by.version, by.pkg}
			if of.wants(name, v) && by.provides(name, v) && (!ok || comparePicks([]pick{p}, []pick{best}) > 0) {
				best, ok = p, true
			}
		}
	}
	return best, ok
}

func TestResolveAgainstBruteForce(t *testing.T) {
	solved, unsolved := 0, 0
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 9))
		m := randomModel(r)
		s := setOf(t, m.catalogs(r)...)
		b, err := s.Bundle(m.bundles[0].name())
		if err != nil {
			t.Fatal(err)
		}
		want := m.best()
		got, err := s.Resolve(b, nil)
		if (err == nil) != (want != nil) {
			t.Fatalf("seed %d: %v, brute force has %v", seed, err, want)
		}
		if err != nil {
			unsolved++
		} else {
			m.holdRequired(t, seed, got, want)
			solved++
		}
		m.holdAsked(t, seed, s, b, r)
		if again := setOf(t, m.catalogs(r)...); err == nil {
			b, _ := again.Bundle(b.Name)
			if more, err := again.Resolve(b, nil); err != nil || !reflect.DeepEqual(versionsOf(more), versionsOf(got)) {
				t.Fatalf("seed %d: dealt to other catalogs it is %v, was %v", seed, versionsOf(more), versionsOf(got))
			}
		}
	}
	if solved < 100 || unsolved < 100 {
		t.Errorf("%d solved and %d not: the models are too much alike", solved, unsolved)
	}
}

func versionsOf(r *Resolution) (out []string) {
	for _, c := range r.Required {
		out = append(out, c.For.Name+" "+c.Entry.Name+" "+c.Entry.Version.String()+" "+c.By.Name)
	}
	return out
}

// holdRequired checks that the bundle's own needs are satisfied in the best way, that all others are satisfied,
// and that no package occurs twice.
func (m model) holdRequired(t *testing.T, seed uint64, got *Resolution, want []pick) {
	t.Helper()
	var own []pick
	held := map[string]string{got.Bundle.Package: got.Bundle.Name}
	met := map[string]bool{}
	find := func(name string) modelBundle {
		return m.bundles[slices.IndexFunc(m.bundles, func(b modelBundle) bool { return b.name() == name })]
	}
	for _, c := range got.Required {
		of, by, v := find(c.For.Name), find(c.By.Name), int(c.Entry.Version.Major)
		if !of.wants(c.Entry.Name, v) || !by.provides(c.Entry.Name, v) || !slices.Contains(m.entries[c.Entry.Name], v) {
			t.Fatalf("seed %d: %v does not meet the need", seed, c)
		}
		if c.For.Name == got.Bundle.Name {
			own = append(own, pick{v, by.version, by.pkg})
		}
		if other := held[c.By.Package]; other != "" && other != c.By.Name {
			t.Fatalf("seed %d: %s and %s are of one package", seed, other, c.By.Name)
		}
		held[c.By.Package] = c.By.Name
		met[c.For.Name+" "+c.Entry.Name] = true
	}
	for _, name := range held {
		for need := range find(name).requires {
			if !met[name+" "+need] {
				t.Fatalf("seed %d: %s requires %s, which is missing", seed, name, need)
			}
		}
	}
	if comparePicks(own, want) != 0 {
		t.Fatalf("seed %d: got %v, brute force has %v", seed, own, want)
	}
}

// holdAsked checks that each request gets the highest version that range and bundle allow.
func (m model) holdAsked(t *testing.T, seed uint64, s *Set, b *Bundle, r *rand.Rand) {
	t.Helper()
	for _, name := range operandNames {
		span := [2]int{r.IntN(3), 3 + r.IntN(3)}
		want := -1
		for _, v := range m.entries[name] {
			if in(v, span) && m.bundles[0].provides(name, v) {
				want = max(want, v)
			}
		}
		c, err := s.choose(b, request(t, fmt.Sprintf("%s@>=%d.0.0 <%d.0.0", name, span[0], span[1])))
		if (err == nil) != (want >= 0) || err == nil && int(c.Entry.Version.Major) != want {
			t.Fatalf("seed %d: %s within %v is %v %v, brute force has %d", seed, name, span, c.Entry, err, want)
		}
	}
}
