package drawings

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"

	"github.com/olmgraft/graft/internal/draw"
)

func TestGraphvizReadsDrawings(t *testing.T) {
	for _, name := range []string{"dot", "nop"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Fatalf("there is no %s: apt-get install graphviz", name)
		}
	}
	sources := append(golden(t, ".dot"), draw.Dot(row(30), draw.Options{}))
	for _, name := range hostile {
		sources = append(sources, draw.Dot(named(name), draw.Options{}))
	}
	for _, source := range sources {
		if said := say(source, "dot", "-Tdot", "-o", os.DevNull); said != "" {
			t.Errorf("%s\n%s", said, source)
		}
	}
	// dot fails to lay out some unrealistic graphs, so these are only parsed.
	r := rand.New(rand.NewPCG(9, 9))
	for range 60 {
		sources = append(sources, draw.Dot(random(r), draw.Options{}))
	}
	for _, source := range sources {
		if said := say(source, "nop", "-p"); said != "" {
			t.Errorf("%s\n%s", said, source)
		}
	}
	broken := bytes.Replace(sources[0], []byte("{"), nil, 1)
	if say(broken, "nop", "-p") == "" || say(broken, "dot", "-Tdot", "-o", os.DevNull) == "" {
		t.Error("Graphviz accepts a broken drawing")
	}
}

// say returns the messages of a Graphviz program about a drawing.
func say(source []byte, name string, args ...string) string {
	cmd := exec.Command(name, args...)
	cmd.Stdin = bytes.NewReader(source)
	out, err := cmd.CombinedOutput()
	said := string(bytes.TrimSpace(withoutFontTrouble(out)))
	if err != nil {
		said = err.Error() + "\n" + said
	}
	return said
}

// withoutFontTrouble removes Graphviz' messages about fonts.
func withoutFontTrouble(out []byte) (rest []byte) {
	for line := range bytes.Lines(out) {
		if !bytes.Contains(bytes.ToLower(line), []byte("font")) {
			rest = append(rest, line...)
		}
	}
	return rest
}
