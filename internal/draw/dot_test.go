package draw

import (
	"bytes"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
)

// readDotString reads a quoted string as Graphviz does: its lexer knows \" only, and
// its labels know backslash escapes and entities.
func readDotString(t *testing.T, quoted string) (text, rest string) {
	t.Helper()
	if quoted == "" || quoted[0] != '"' {
		t.Fatalf("no string at %q", quoted)
	}
	var b strings.Builder
	for i := 1; i < len(quoted); i++ {
		switch c := quoted[i]; c {
		case '"':
			return strings.ReplaceAll(b.String(), "&amp;", "&"), quoted[i+1:]
		case '\\':
			i++
			if i == len(quoted) || quoted[i] != '"' && quoted[i] != '\\' {
				t.Fatalf("an escape that means something in %q", quoted)
			}
			b.WriteByte(quoted[i])
		case '\n':
			t.Fatalf("a line ends in %q", quoted)
		default:
			b.WriteByte(c)
		}
	}
	t.Fatalf("no end of %q", quoted)
	return "", ""
}

func FuzzDotString(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		quoted := dotString(s)
		got, rest := readDotString(t, quoted)
		if want := short(clean(s), 2*dotLabel); got != want || rest != "" {
			t.Fatalf("%q becomes %q, which is read as %q", s, quoted, got)
		}
		if strings.Count(strings.ReplaceAll(quoted, "&amp;", ""), "&") > 0 {
			t.Fatalf("%q has an entity in it", quoted)
		}
	})
}

func TestGraphvizReadsDrawings(t *testing.T) {
	dot, err := exec.LookPath("dot")
	if err != nil {
		t.Fatal("there is no dot command: install graphviz, as .ci/run does")
	}
	graphs := []Graph{demo(t), long(t, 30)}
	r := rand.New(rand.NewPCG(9, 9))
	for range 8 {
		graphs = append(graphs, random(r))
	}
	for _, g := range graphs {
		source := Dot(g, Options{})
		cmd := exec.Command(dot, "-Tdot", "-o", "/dev/null")
		cmd.Stdin = bytes.NewReader(source)
		if out, err := cmd.CombinedOutput(); err != nil || len(bytes.TrimSpace(withoutFontTrouble(out))) > 0 {
			t.Errorf("%v: %s\n%s", err, out, source)
		}
	}
}

// withoutFontTrouble drops what Graphviz says of fonts, which are not ours.
func withoutFontTrouble(out []byte) (rest []byte) {
	for line := range bytes.Lines(out) {
		if !bytes.Contains(bytes.ToLower(line), []byte("font")) {
			rest = append(rest, line...)
		}
	}
	return rest
}
