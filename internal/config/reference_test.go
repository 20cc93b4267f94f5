package config

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/yamledit"
)

var update = flag.Bool("update", false, "rewrite docs/configuration.md")

// referencePart returns the list of graft.yaml's keys as a Markdown table. In a key, [] marks the items of a
// list.
func referencePart() string {
	var b strings.Builder
	b.WriteString("| Key | Value | Default | Meaning |\n|---|---|---|---|\n")
	referTo(&b, schemaNode(), "", map[*yamledit.Node]string{})
	return b.String()
}

// referTo writes the rows of a mapping's keys. A definition used in two places is described at the first.
func referTo(b *strings.Builder, s *yamledit.Node, prefix string, told map[*yamledit.Node]string) {
	properties := s.Get("properties")
	if properties == nil {
		return
	}
	for i := 0; i+1 < len(properties.Children); i += 2 {
		key, p := prefix+properties.Children[i].Value, properties.Children[i+1]
		inner, value := key, resolved(p)
		if items := value.Get("items"); items != nil {
			inner, value = key+"[]", resolved(items)
		}
		text := kindOf(p)
		at, again := told[value]
		if again && value.Get("properties") != nil {
			text = "as " + code(at)
		}
		if needed(s, properties.Children[i].Value) {
			text += ", required"
		}
		row(b, key, text, p)
		if value.Get("properties") != nil && !again {
			told[value] = key
			referTo(b, value, inner+".", told)
		}
	}
}

func row(b *strings.Builder, key, value string, p *yamledit.Node) {
	meaning := strings.NewReplacer("*", `\*`, "<", `\<`, "_", `\_`).Replace(p.Get("description").Text())
	if examples := p.Get("examples").Items(); len(examples) > 0 {
		meaning += " Example: " + code(literal(examples[0]))
	}
	standard := ""
	if d := p.Get("default"); d != nil {
		standard = code(literal(d))
	}
	cells := []string{code(key), value, standard, meaning}
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(c, "|", `\|`)
	}
	b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

// kindOf describes the type of a key's value.
func kindOf(p *yamledit.Node) string {
	s := resolved(p)
	if enum := s.Get("enum").Strings(); len(enum) > 0 {
		words := make([]string, len(enum))
		for i, w := range enum {
			words[i] = code(w)
		}
		return strings.Join(words, ", ")
	}
	if s.Get("type").Kind == yamledit.Sequence {
		if s.Get("type").Items()[0].Text() == "array" {
			if resolved(s.Get("items")).Get("properties") == nil {
				return "list of texts, or text"
			}
			return "list of mappings, or text"
		}
		return "mapping, or text"
	}
	switch s.Get("type").Text() {
	case "boolean":
		return "true or false"
	case "integer":
		return "integer"
	case "object":
		return "mapping"
	case "array":
		if resolved(s.Get("items")).Get("properties") != nil {
			return "list of mappings"
		}
		return "list of texts"
	}
	return "text"
}

func needed(s *yamledit.Node, key string) bool {
	for _, r := range s.Get("required").Strings() {
		if r == key {
			return true
		}
	}
	return false
}

// literal returns a value as written in YAML, which includes JSON.
func literal(n *yamledit.Node) string {
	if n.Kind == yamledit.Scalar {
		return n.Value
	}
	return string(Schema[n.Start:n.End])
}

func code(s string) string { return "`" + s + "`" }

// Each key is described once, in a table whose rows have four cells.
func TestReference(t *testing.T) {
	table := referencePart()
	lines := strings.Split(strings.TrimSuffix(table, "\n"), "\n")
	seen := map[string]bool{}
	for _, line := range lines {
		if cells := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|"); cells != 5 {
			t.Errorf("%d borders in %s", cells, line)
		}
		key, _, _ := strings.Cut(line[1:], "|")
		if seen[key] {
			t.Errorf("%s is described twice", key)
		}
		seen[key] = true
	}
	for _, want := range []string{
		"| `targets[].template` | text, required |  | File of the template",
		"| `edges` | as `targets[].edges` |  | ",
		"| `targets[].catalogs[].metadata` | `auto`, `bundle-object`, `csv-metadata` | `auto` | ",
		"| `commit.message` | text | `Publish {package} {version}` | ",
		"as NAME \\<ADDRESS>. ",
		"Example: `>={major}.{minor}.0 <{version}` |",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("the table lacks %s", want)
		}
	}
	begin, end := "<!-- configuration -->\n", "<!-- /configuration -->"
	text, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	i, j := strings.Index(page, begin), strings.Index(page, end)
	if i < 0 || j < i {
		t.Fatal("docs/configuration.md has no place for the configuration")
	}
	want := page[:i+len(begin)] + "\n" + strings.Trim(table, "\n") + "\n\n" + page[j:]
	if *update && want != page {
		if err := os.WriteFile("../../docs/configuration.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != page {
		t.Error("docs/configuration.md is stale: go test ./internal/config -update rewrites it")
	}
}
