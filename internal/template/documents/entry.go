package documents

import (
	"fmt"
	"strings"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/yamledit"
)

func textField(key, value string) yamledit.Field {
	return yamledit.Field{Key: key, Value: yamledit.Text(value)}
}

func entryValue(e fbc.Entry) yamledit.Value {
	fields := []yamledit.Field{textField("name", e.Name)}
	if e.Replaces != "" {
		fields = append(fields, textField("replaces", e.Replaces))
	}
	if len(e.Skips) > 0 {
		fields = append(fields, yamledit.Field{Key: "skips", Value: yamledit.Texts(e.Skips)})
	}
	if e.SkipRange != "" {
		fields = append(fields, textField("skipRange", e.SkipRange))
	}
	return yamledit.Map(fields...)
}

// entryLikes returns entries of other channels, which show the style of a key that no entry of this channel has.
func (s *Set) entryLikes(c *Document) []*yamledit.Node {
	var likes []*yamledit.Node
	for _, d := range s.Of(fbc.SchemaChannel) {
		if d.Name == c.Name || d.Node == nil {
			continue
		}
		items := d.Node.FoldValue("entries").Items()
		likes = append(likes, items[max(0, len(items)-4):]...)
		if len(likes) > 24 {
			break
		}
	}
	return likes
}

func listLikes(items []*yamledit.Node) []*yamledit.Node {
	var lists []*yamledit.Node
	for _, n := range items {
		if n.Parent != nil {
			lists = append(lists, n.Parent)
		}
	}
	return lists
}

func added(channel string, e fbc.Entry) kind.Change {
	return kind.Change{What: kind.EntryAdded, Channel: channel, Name: e.Name, To: e.InWords()}
}

// Text is a new template being written.
type Text struct{ strings.Builder }

// Line writes a line that ends with a value.
func (t *Text) Line(text, value string) { t.WriteString(text + yamledit.Quote(value) + "\n") }

// Edges writes an entry's edges, indented by four spaces.
func (t *Text) Edges(e fbc.Entry) {
	if e.Replaces != "" {
		t.Line("    replaces: ", e.Replaces)
	}
	for i, s := range e.Skips {
		if i == 0 {
			t.WriteString("    skips:\n")
		}
		t.Line("    - ", s)
	}
	if e.SkipRange != "" {
		t.Line("    skipRange: ", e.SkipRange)
	}
}

// headNotes returns a note if the new entry leaves the channel with further heads.
func headNotes(channel string, standing []fbc.Entry, p graph.Place) []string {
	after := make([]fbc.Entry, 0, len(standing)+1)
	after = append(append(after, standing...), p.Entry)
	for _, i := range p.Rewired {
		after[i].Replaces = p.Entry.Name
	}
	if note := manyHeads(channel, standing, after); note != "" {
		return []string{note}
	}
	return nil
}

// manyHeads returns a note about the heads that a change adds, or "".
func manyHeads(channel string, standing, after []fbc.Entry) string {
	before, now := graph.HeadNames(standing), graph.HeadNames(after)
	if len(now) > 1 && len(now) > len(before) {
		return fmt.Sprintf("channel %s now has several heads: %s", channel, strings.Join(now, ", "))
	}
	return ""
}
