package template

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/testkit/corpus"
)

// variants rewrite a text in other styles that people and tools use.
var variants = map[string]func(t testing.TB, src []byte) []byte{
	"comment on every line": func(_ testing.TB, src []byte) []byte {
		var out []string
		for _, line := range strings.Split(strings.TrimSuffix(string(src), "\n"), "\n") {
			indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
			if plainLine(line) {
				line += " # why: it's \"so\""
			}
			out = append(out, indent+"# above", line)
		}
		return []byte(strings.Join(out, "\n") + "\n")
	},
	"CRLF":             func(_ testing.TB, src []byte) []byte { return bytes.ReplaceAll(src, []byte("\n"), []byte("\r\n")) },
	"no final newline": func(_ testing.TB, src []byte) []byte { return bytes.TrimRight(src, "\n") },
	"byte order mark":  func(_ testing.TB, src []byte) []byte { return append([]byte("\uFEFF"), src...) },
	"end marker":       func(_ testing.TB, src []byte) []byte { return append(bytes.TrimRight(src, "\n"), "\n...\n"...) },
	"blank lines": func(_ testing.TB, src []byte) []byte {
		return bytes.ReplaceAll(src, []byte("\n- "), []byte("\n\n- "))
	},
	"JSON, 2 spaces": func(t testing.TB, src []byte) []byte { return asJSON(t, src, "  ") },
	"JSON, 4 spaces": func(t testing.TB, src []byte) []byte { return asJSON(t, src, "    ") },
	"JSON, tabs":     func(t testing.TB, src []byte) []byte { return asJSON(t, src, "\t") },
	"JSON, minified": func(t testing.TB, src []byte) []byte { return asJSON(t, src, "") },
	"flow":           func(t testing.TB, src []byte) []byte { return restyle(t, src, 2, yaml.FlowStyle) },
	"indent 2":       func(t testing.TB, src []byte) []byte { return restyle(t, src, 2, 0) },
	"indent 4":       func(t testing.TB, src []byte) []byte { return restyle(t, src, 4, 0) },
	"indent 7":       func(t testing.TB, src []byte) []byte { return restyle(t, src, 7, 0) },
	"double quotes":  func(t testing.TB, src []byte) []byte { return restyle(t, src, 4, yaml.DoubleQuotedStyle) },
	"single quotes":  func(t testing.TB, src []byte) []byte { return restyle(t, src, 2, yaml.SingleQuotedStyle) },
}

// plainLine reports whether a comment may follow on the line.
func plainLine(line string) bool {
	return !strings.HasPrefix(line, "%") && strings.TrimSpace(line) != "" && !strings.HasSuffix(line, "|") && !strings.HasSuffix(line, ">") &&
		!strings.Contains(line, "base64data") && (strings.Contains(line, ":") || strings.HasPrefix(strings.TrimSpace(line), "-"))
}

func asJSON(t testing.TB, src []byte, indent string) []byte {
	var v any
	if err := yaml.Unmarshal(src, &v); err != nil {
		t.Fatal(err)
	}
	if indent == "" {
		out, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	out, err := json.MarshalIndent(v, "", indent)
	if err != nil {
		t.Fatal(err)
	}
	return append(out, '\n')
}

func restyle(t testing.TB, src []byte, indent int, style yaml.Style) []byte {
	var n yaml.Node
	if err := yaml.Unmarshal(src, &n); err != nil {
		t.Fatal(err)
	}
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		switch {
		case style == yaml.FlowStyle && (n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode):
			n.Style = style
		case style != yaml.FlowStyle && style != 0 && n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str":
			n.Style = style
		}
		for _, c := range n.Content {
			walk(c)
		}
	}
	walk(&n)
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(indent)
	if err := enc.Encode(&n); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestVariants replays every release in every style: the edit keeps its promises or is refused. The share of
// refused edits is printed and stays under 1 %.
func TestVariants(t *testing.T) { corpus.Each(t, styleVariants) }

func styleVariants(t *testing.T, c corpus.Corpus) {
	tried, refused := 0, 0
	var names []string
	for name := range variants {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, r := range releases(t, c) {
		before, after := meaning(t, r.before), meaning(t, r.after)
		for _, name := range names {
			if r.before == nil || name == "comment on every line" && bytes.Contains(r.before, []byte("|")) {
				continue // the text of a block scalar cannot hold comments
			}
			src := variants[name](t, r.before)
			if meaning(t, src) != before {
				t.Fatalf("%s, %s: the variant itself says something else", r.name, name)
			}
			tried++
			got, o, err := insert(t, r.template, src, r.request)
			if failure.Is(err, failure.EditRefused) {
				refused++
				t.Logf("%s, %s: refused: %v", r.name, name, err)
				continue
			}
			if err != nil {
				t.Errorf("%s, %s: %v", r.name, name, err)
				continue
			}
			checkVariant(t, r, name, after, src, got, o)
		}
	}
	t.Logf("%d variants, %d refused", tried, refused)
	if tried > 0 && refused*100 >= tried {
		t.Errorf("%d of %d variants are refused, 1 %% or more", refused, tried)
	}
}

func checkVariant(t *testing.T, r release, name, after string, src, got []byte, o *kind.Outcome) {
	t.Helper()
	if meaning(t, got) != after {
		t.Errorf("%s, %s: the meaning differs from the merged template:\n%s", r.name, name, got)
		return
	}
	if !isSubsequence(src, got) && !rewires(o) {
		t.Errorf("%s, %s: bytes of the template are gone:\n%s", r.name, name, got)
	}
	if crlf := bytes.Count(got, []byte("\r\n")); name == "CRLF" && crlf != bytes.Count(got, []byte("\n")) {
		t.Errorf("%s, %s: line breaks are mixed", r.name, name)
	}
	if again, o, err := insert(t, r.template, got, r.request); err != nil || len(o.Files) > 0 || !bytes.Equal(again, got) {
		t.Errorf("%s, %s: the second run: %v", r.name, name, err)
	}
}

func rewires(o *kind.Outcome) bool {
	return slices.ContainsFunc(o.Changes, func(c kind.Change) bool {
		return c.What == kind.EntryRewired || c.What == kind.DefaultChannelSet
	})
}

func isSubsequence(part, whole []byte) bool {
	for _, b := range part {
		i := bytes.IndexByte(whole, b)
		if i < 0 {
			return false
		}
		whole = whole[i+1:]
	}
	return true
}
