package config

import (
	"strings"

	"github.com/olmgraft/graft/internal/yamledit"
)

// Reference is the list of the keys of graft.yaml, as a table in Markdown. In a key []
// stands for each item of a list.
func Reference() string {
	var b strings.Builder
	b.WriteString("| Key | Value | Default | Meaning |\n|---|---|---|---|\n")
	referTo(&b, schema(), "", map[*yamledit.Node]string{})
	return b.String()
}

// referTo writes the rows of a mapping's keys. What stands in two places is told at the
// first.
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

// kindOf says what a key's value is.
func kindOf(p *yamledit.Node) string {
	s := resolved(p)
	if enum := s.Get("enum").Strings(); len(enum) > 0 {
		words := make([]string, len(enum))
		for i, w := range enum {
			words[i] = code(w)
		}
		return strings.Join(words, ", ")
	}
	switch s.Get("type").Text() {
	case "boolean":
		return "true or false"
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

// literal is a value as it is written in YAML, of which JSON is a part.
func literal(n *yamledit.Node) string {
	if n.Kind == yamledit.Scalar {
		return n.Value
	}
	return string(Schema[n.Start:n.End])
}

func code(s string) string { return "`" + s + "`" }
