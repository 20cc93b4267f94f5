package draw

import (
	"strings"
	"testing"
)

// readDotString reads a quoted string as Graphviz does: its lexer knows only \", and its labels know backslash
// escapes and entities.
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
