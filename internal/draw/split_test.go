package draw

import (
	"fmt"
	"testing"
)

func TestSplit(t *testing.T) {
	channels := func(names ...string) (all []Channel) {
		for _, name := range names {
			all = append(all, Channel{Name: name})
		}
		return all
	}
	shown := func(g Graph) (text string) {
		for _, p := range g.Packages {
			text += p.Name + ":"
			for _, c := range p.Channels {
				text += c.Name
			}
			text += " "
		}
		return text
	}
	g := Graph{Packages: []Package{{Name: "p", Channels: channels("a", "b")}, {Name: "q", Channels: channels("c", "d")}}}
	for n, want := range []string{" | p:ab q:cd ", "p:a  | p:b q:cd ", "p:ab  | q:cd ", "p:ab q:c  | q:d ", "p:ab q:cd  | ", "p:ab q:cd  | "} {
		first, others := g.Split(n)
		if got := fmt.Sprintf("%s | %s", shown(first), shown(others)); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
}
