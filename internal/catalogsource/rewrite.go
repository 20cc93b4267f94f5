package catalogsource

import (
	"bytes"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/yamledit"
)

// Convert returns the file with all or the given CatalogSources in a form, and those that changed.
// ClusterCatalogs have only one form.
//
//  1. The line of sourceType becomes the line of the new source, or the reverse; comments and
//     blank lines stay in place.
//  2. Deprecated fields in other places move to that line, with the comments above them.
//  3. Lines change their indent and keys their name; no other byte changes.
//
// Convert reads the result again and compares it with ConvertSpec. It fails with catalogsource-invalid if the
// form cannot express a spec, and with edit-refused if a spec is not in block style.
func (m *Manifest) Convert(to Form, only ...*Source) (after []byte, changed []*Source, err error) {
	src := m.file.Src
	ended := bytes.HasSuffix(src, []byte("\n"))
	if !ended {
		src = append(slices.Clone(src), '\n')
	}
	var edits []replacement
	var want []any
	for _, s := range m.Sources {
		if len(only) > 0 && !slices.Contains(only, s) || s.isCluster() {
			want = append(want, plainOf(s.root))
			continue
		}
		object, more, err := s.convert(src, to)
		if err != nil {
			return nil, nil, err
		}
		if len(more) > 0 {
			changed = append(changed, s)
		}
		want, edits = append(want, object), append(edits, more...)
	}
	if len(edits) == 0 {
		return m.file.Src, nil, nil
	}
	after = splice(src, edits)
	if !ended {
		after = bytes.TrimSuffix(bytes.TrimSuffix(after, []byte("\n")), []byte("\r"))
	}
	return after, changed, m.prove(after, want, changed[0])
}

// prove reads a converted file again. It also checks that no comment is lost.
func (m *Manifest) prove(after []byte, want []any, first *Source) error {
	refused := func(what string) error {
		return first.root.Failure(failure.EditRefused, "converting %s: checking the result: %s", first, what).
			Fix("Write each field of the spec on its own lines, without anchors.")
	}
	again, err := Open(m.file.Name, after)
	if err != nil || len(again.Sources) != len(want) || len(again.file.Docs) != len(m.file.Docs) {
		return refused("it is not a manifest")
	}
	for i, s := range again.Sources {
		if !reflect.DeepEqual(plainOf(s.root), want[i]) {
			return refused("its fields are not the intended ones")
		}
	}
	if bytes.Count(after, []byte("#")) != bytes.Count(m.file.Src, []byte("#")) {
		return refused("a comment is missing")
	}
	return nil
}

// replacement is text that replaces the bytes from start to end.
type replacement struct {
	start, end int
	text       string
}

func splice(src []byte, edits []replacement) []byte {
	slices.SortStableFunc(edits, func(a, b replacement) int { return a.start - b.start })
	var out bytes.Buffer
	at := 0
	for _, e := range edits {
		out.Write(src[at:e.start])
		out.WriteString(e.text)
		at = e.end
	}
	out.Write(src[at:])
	return out.Bytes()
}

// convert returns the converted CatalogSource, and the edits that produce it.
func (s *Source) convert(src []byte, to Form) (map[string]any, []replacement, error) {
	object, _ := plainOf(s.root).(map[string]any)
	spec, ok := object["spec"].(map[string]any)
	if !ok {
		return nil, nil, s.root.Failure(failure.CatalogSourceInvalid, "converting %s: it has no spec", s).Fix("Write a spec.")
	}
	converted, err := ConvertSpec(spec, to)
	if err != nil {
		return nil, nil, s.spec.Failure(failure.CatalogSourceInvalid, "converting %s to the %s form: %w", s, to, err).
			Fix("Correct the spec. graft catalogsource validate shows the details.")
	}
	p, from, _ := sourceOf(spec)
	if from == to {
		return object, nil, nil
	}
	if s.version() == Next {
		return nil, nil, s.root.Get("apiVersion").Failure(failure.CatalogSourceInvalid, "converting %s to the %s form: version %s does not have that form", s, to, Next).
			Fix("Write apiVersion: %s/%s.", Group, Stored)
	}
	object["spec"] = converted
	l, err := s.layout(src)
	if err != nil {
		return nil, nil, err
	}
	if to == New {
		return object, l.toNew(p), nil
	}
	edits, err := l.toLegacy(p)
	return object, edits, err
}

// lines is a spec in block style, split into the lines of its fields.
type lines struct {
	source *Source
	src    []byte
	step   string // one level of indent
	fields []fieldLines
}

// fieldLines are the lines of one field. above is the start of its comments, start that of the key's line; end is
// after its last line.
type fieldLines struct {
	key, value        *yamledit.Node
	above, start, end int
}

// oddBreak matches line breaks of YAML that editors do not treat as such.
var oddBreak = regexp.MustCompile("\r(?:[^\n]|$)|[\u0085\u2028\u2029]")

func (s *Source) layout(src []byte) (*lines, error) {
	refused := func(at *yamledit.Node, what string) error {
		return at.Failure(failure.EditRefused, "converting %s: %s", s, what).Fix("Write the spec in block style, each field on its own lines.")
	}
	if s.spec.Style != yamledit.Block || s.spec.Anchor != "" || len(s.spec.Children) == 0 {
		return nil, refused(s.spec, "its spec is not in block style, or has an anchor")
	}
	if oddBreak.Match(src[s.spec.Start:s.spec.End]) {
		return nil, refused(s.spec, "its spec has line breaks other than LF and CRLF")
	}
	l := &lines{source: s, src: src}
	for key, value := range s.spec.Fields() {
		start := bytes.LastIndexByte(src[:key.Start], '\n') + 1
		if len(bytes.TrimSpace(src[start:key.Start])) > 0 || key.Kind != yamledit.Scalar {
			return nil, refused(key, "a field of its spec does not begin a line")
		}
		f := fieldLines{key: key, value: value, start: start, end: max(key.End, value.End)}
		if src[f.end-1] != '\n' {
			f.end += bytes.IndexByte(src[f.end:], '\n') + 1
		}
		col := key.Start - start
		for f.end < len(src) && isComment(src, f.end) && indentAt(src, f.end) > col {
			f.end += bytes.IndexByte(src[f.end:], '\n') + 1
		}
		for f.above = start; f.above > 0; {
			line := bytes.LastIndexByte(src[:f.above-1], '\n') + 1
			if !isComment(src, line) || indentAt(src, line) != col {
				break
			}
			f.above = line
		}
		l.fields = append(l.fields, f)
	}
	parent := s.root.Children[0]
	l.step = strings.Repeat(" ", max(1, columnOf(src, s.spec.Children[0])-columnOf(src, parent)))
	return l, nil
}

func columnOf(src []byte, n *yamledit.Node) int {
	return n.Start - bytes.LastIndexByte(src[:n.Start], '\n') - 1
}

func indentAt(src []byte, line int) int {
	return len(src[line:]) - len(bytes.TrimLeft(src[line:], " "))
}

func isComment(src []byte, line int) bool {
	return bytes.HasPrefix(bytes.TrimLeft(src[line:], " "), []byte("#"))
}

// field returns an existing field. ConvertSpec has read it, so it exists.
func (l *lines) field(name string) fieldLines {
	return l.fields[slices.IndexFunc(l.fields, func(f fieldLines) bool { return f.key.Value == name })]
}

// toNew moves the fields of a source below the line of sourceType.
func (l *lines) toNew(p pair) []replacement {
	kind := l.field(sourceType)
	var below strings.Builder
	var moved []replacement
	end := kind.end // end of the lines already moved below sourceType
	for _, f := range l.fields {
		name := map[string]string{p.legacy: p.field, legacyOverrides: overrides}[f.key.Value]
		if name == "" {
			continue
		}
		from := f.above
		if f.start >= end && isTrivia(l.src[end:f.start]) {
			from, end = end, f.end
		}
		text := string(l.src[from:f.key.Start]) + name + string(l.src[f.key.End:f.end])
		below.WriteString(shift(text, func(line string) string { return l.step + line }))
		moved = append(moved, replacement{from, f.end, ""})
	}
	return append([]replacement{
		{kind.key.Start, kind.value.End, p.source + ":"},
		{kind.end, kind.end, below.String()},
	}, moved...)
}

// isTrivia reports whether text consists of blank lines and comments.
func isTrivia(text []byte) bool {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return false
		}
	}
	return true
}

// toLegacy moves the fields out of a source's structure.
func (l *lines) toLegacy(p pair) ([]replacement, error) {
	f := l.field(p.source)
	in := f.value
	if in.Kind != yamledit.Mapping || in.Style != yamledit.Block || in.Anchor != "" || in.Start < f.key.End {
		return nil, f.key.Failure(failure.EditRefused, "converting %s: %s is not in block style, or has an anchor", l.source, p.source).
			Fix("Write %s in block style, each field on its own lines.", p.source)
	}
	colon := f.key.End + bytes.IndexByte(l.src[f.key.End:], ':')
	begin := colon + bytes.IndexByte(l.src[colon:], '\n') + 1
	text, at := "", begin
	for key := range in.Fields() {
		name := map[string]string{p.field: p.legacy, overrides: legacyOverrides}[key.Value]
		text += string(l.src[at:key.Start]) + name
		at = key.End
	}
	text += string(l.src[at:f.end])
	depth := columnOf(l.src, in.Children[0]) - columnOf(l.src, f.key)
	return []replacement{
		{f.key.Start, colon + 1, sourceType + ": " + p.sourceType},
		{begin, f.end, shift(text, func(line string) string {
			return line[min(depth, len(line)-len(strings.TrimLeft(line, " "))):]
		})},
	}, nil
}

// shift changes the indent of all lines that are not blank.
func shift(text string, indent func(string) string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			line = indent(line)
		}
		out.WriteString(line)
	}
	return out.String()
}
