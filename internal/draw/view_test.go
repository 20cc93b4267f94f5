package draw

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// shown formats the cells of a lane.
func shown(l lane) string {
	var words []string
	for _, c := range l.cells {
		words = append(words, c.label())
	}
	return strings.Join(words, " | ")
}

func TestFolding(t *testing.T) {
	// Ten entries in a row; the last one is the head.
	row := func(changes string) Channel {
		var entries []string
		for i := range 10 {
			entry := fmt.Sprintf("1.%d.0", i)
			if i > 0 {
				entry += fmt.Sprintf(" <1.%d.0", i-1)
			}
			entries = append(entries, entry)
		}
		ch := newChannel(t, "c", strings.Join(entries, ";")+" *head")
		for change := range strings.FieldsSeq(changes) {
			i := int(change[1] - '0')
			switch change[0] {
			case 'n':
				ch.Nodes[i].New = true
			case 'r':
				ch.Nodes[i].Removed = true
			case 's':
				ch.Nodes[i].Stranded = true
			case 'o':
				ch.Nodes[i].Outside = true
			case 'h':
				ch.Nodes[i].Head = true
			case 'l':
				ch.Edges[i-1].Lost = true
			}
		}
		return ch
	}
	for name, test := range map[string]struct {
		changes string
		options Options
		room    int
		want    string
	}{
		"all of it fits":     {"", Options{}, 10, "v1.0.0 | v1.1.0 | v1.2.0 | v1.3.0 | v1.4.0 | v1.5.0 | v1.6.0 | v1.7.0 | v1.8.0 | v1.9.0"},
		"around the head":    {"", Options{}, 4, "… 7 older versions | v1.7.0 | v1.8.0 | v1.9.0"},
		"around the new one": {"n4", Options{}, 6, "… 3 older versions | v1.3.0 | v1.4.0 | v1.5.0 | … 3 versions | v1.9.0"},
		"around the requested one": {"n4", Options{Around: "pkg.v1.1.0", Radius: 1}, anyRoom,
			"v1.0.0 | v1.1.0 | v1.2.0 | v1.3.0 | v1.4.0 | … 4 versions | v1.9.0"},
		"around one of another channel": {"n4", Options{Around: "other.v1.1.0", Radius: 1}, anyRoom,
			"… 3 older versions | v1.3.0 | v1.4.0 | v1.5.0 | … 3 versions | v1.9.0"},
		"a radius that takes all":       {"", Options{Radius: 9}, anyRoom, "v1.0.0 | v1.1.0 | v1.2.0 | v1.3.0 | v1.4.0 | v1.5.0 | v1.6.0 | v1.7.0 | v1.8.0 | v1.9.0"},
		"a single one is not folded":    {"", Options{Radius: 8}, anyRoom, "v1.0.0 | v1.1.0 | v1.2.0 | v1.3.0 | v1.4.0 | v1.5.0 | v1.6.0 | v1.7.0 | v1.8.0 | v1.9.0"},
		"two are":                       {"", Options{Radius: 7}, anyRoom, "… 2 older versions | v1.2.0 | v1.3.0 | v1.4.0 | v1.5.0 | v1.6.0 | v1.7.0 | v1.8.0 | v1.9.0"},
		"no room for the radius":        {"", Options{Radius: 7}, 4, "… 7 older versions | v1.7.0 | v1.8.0 | v1.9.0"},
		"no more than the radius":       {"", Options{Radius: 1}, 9, "… 8 older versions | v1.8.0 | v1.9.0"},
		"removed and stranded bundles":  {"s1 r5", Options{}, 5, "v1.0.0 | v1.1.0 | … 3 versions | v1.5.0 | … 3 versions | v1.9.0"},
		"both ends of a lost edge":      {"l3", Options{}, 5, "… 2 older versions | v1.2.0 | v1.3.0 | … 5 versions | v1.9.0"},
		"heads, however far":            {"h0", Options{}, 3 + 1, "v1.0.0 | … 8 versions | v1.9.0"},
		"the least room":                {"n4 h0", Options{}, leastRoom, "… 4 older versions | v1.4.0 | … 5 newer versions"},
		"outside is folded at any room": {"o0 o1 o2", Options{Radius: All}, anyRoom, "… 3 not in this channel | v1.3.0 | v1.4.0 | v1.5.0 | v1.6.0 | v1.7.0 | v1.8.0 | v1.9.0"},
		"one outside is shown":          {"o0", Options{Radius: 7}, anyRoom, "v1.0.0 | v1.1.0 | v1.2.0 | v1.3.0 | v1.4.0 | v1.5.0 | v1.6.0 | v1.7.0 | v1.8.0 | v1.9.0"},
		"outside and old":               {"o0 o1", Options{Radius: 2}, anyRoom, "… 2 not in this channel | … 5 older versions | v1.7.0 | v1.8.0 | v1.9.0"},
	} {
		ch := row(test.changes)
		if got := shown(ch.lane(test.options, test.room)); got != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, test.want)
		}
	}
}

func TestEdgesThatAreDrawn(t *testing.T) {
	for name, test := range map[string]struct{ channel, want string }{
		"of ranges only the highest":          {"1; 2 ~1; 3 ~1 ~2", "1~3 2~3"},
		"no range where a higher entry skips": {"1; 2 ~1; 3 -1", "1-3"},
		"no range where the entry replaces":   {"1; 2 <1 ~1", "1<2"},
		"the range of a new entry":            {"1; 2 ~1 *new; 3 <1", "1<3 1~2"},
		"a range that is lost":                {"1; 2 ~!1; 3 <1", "1<3 1~2"},
		"all that is written":                 {"1; 2 <1 -1; 3 -1 -2", "1-2 1-3 1<2 2-3"},
		"nothing upgrades to itself":          {"1 <1", ""},
	} {
		ch := newChannel(t, "c", test.channel)
		l := ch.lane(Options{Radius: All}, anyRoom)
		got := map[string]bool{}
		for _, e := range l.links {
			got[l.cells[e.From].Version+string("<-~"[e.Kind])+l.cells[e.To].Version] = true
		}
		for want := range strings.FieldsSeq(test.want) {
			if !got[want] {
				t.Errorf("%s: no %s", name, want)
			}
			delete(got, want)
		}
		if len(got) > 0 {
			t.Errorf("%s: also %v", name, got)
		}
	}
}

// Folding loses no bundle, and the cells fit the room if the bundles that must be shown do.
func TestFoldingOfAnyChannel(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 1000 {
		for _, p := range random(r).Packages {
			for _, ch := range p.Channels {
				room := 1 + r.IntN(20)
				l := ch.lane(Options{Radius: r.IntN(4) - 1}, room)
				total := 0
				for _, c := range l.cells {
					total += max(1, c.folded)
					if c.folded == 1 {
						t.Fatal("one bundle is folded")
					}
				}
				if v := newView(&ch); total != len(v.nodes) {
					t.Fatalf("%d bundles are drawn of %d", total, len(v.nodes))
				}
				if room <= leastRoom && len(l.cells) > leastRoom {
					t.Fatalf("%d cells in the least room", len(l.cells))
				}
				for _, e := range l.links {
					if e.From == e.To || e.From >= len(l.cells) || e.To >= len(l.cells) {
						t.Fatalf("edge %+v among %d cells", e, len(l.cells))
					}
				}
			}
		}
	}
}

func TestLabels(t *testing.T) {
	for _, test := range []struct {
		node Node
		want string
	}{
		{Node{Name: "etcd.v1.2.3", Version: "1.2.3"}, "v1.2.3"},
		{Node{Name: "etcd-1.2.3", Version: "1.2.3"}, "etcd-1.2.3"},
		{Node{Name: "etcd.1.2.3", Version: "1.2.3"}, "v1.2.3"},
		{Node{Name: "etcd.v1.2", Version: "1.2.3"}, "etcd.v1.2 (1.2.3)"},
		{Node{Name: "etcd.v1.2.3-x", Version: "1.2.3"}, "etcd.v1.2.3-x"},
		{Node{Name: "etcd.v1.2.3"}, "v1.2.3"},
		{Node{Name: "etcd.version"}, "etcd.version"},
		{Node{Name: "etcd"}, "etcd"},
		{Node{}, "(no name)"},
		{Node{Name: " \n"}, "(no name)"},
	} {
		if got := (cell{Node: test.node}).label(); got != test.want {
			t.Errorf("%+v: got %q, want %q", test.node, got, test.want)
		}
	}
}

func TestShort(t *testing.T) {
	for _, test := range []struct {
		text  string
		limit int
		want  string
	}{
		{"abc", 3, "abc"}, {"abcd", 3, "a…d"}, {"abcdef", 4, "ab…f"}, {"äöüß", 3, "ä…ß"}, {"", 3, ""},
	} {
		if got := short(test.text, test.limit); got != test.want {
			t.Errorf("short(%q, %d) is %q, want %q", test.text, test.limit, got, test.want)
		}
	}
}
