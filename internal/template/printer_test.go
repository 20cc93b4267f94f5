package template

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
)

// value is the meaning of a template, in any notation: a text, a list, or a mapping.
type value struct {
	text  string
	items []*value
	keys  []string // of a mapping, with items
	list  bool
}

func said(s string) *value { return &value{text: s} }

func listOf(items ...*value) *value { return &value{list: true, items: items} }

func texts(all []string) *value {
	v := listOf()
	for _, s := range all {
		v.items = append(v.items, said(s))
	}
	return v
}

// mapping takes keys and values in turn, and omits a key with a nil value.
func mapping(pairs ...any) *value {
	v := &value{keys: []string{}}
	for i := 0; i < len(pairs); i += 2 {
		one, ok := pairs[i+1].(*value)
		if s, plain := pairs[i+1].(string); plain {
			one, ok = said(s), s != ""
		}
		if ok && one != nil {
			v.keys, v.items = append(v.keys, pairs[i].(string)), append(v.items, one)
		}
	}
	return v
}

// plainly returns the value as an independent reader sees it.
func (v *value) plainly() any {
	switch {
	case v.list:
		out := []any{}
		for _, item := range v.items {
			out = append(out, item.plainly())
		}
		return out
	case v.keys != nil:
		out := map[string]any{}
		for i, key := range v.keys {
			out[key] = v.items[i].plainly()
		}
		return out
	}
	return v.text
}

// printer writes values in one of the styles that people and tools use, and in some unusual ones. Its random
// choices come from a seed, so that each template can be generated again.
type printer struct {
	rnd *rand.Rand
	b   strings.Builder

	json              string // its indent, "-" for none; "" is YAML
	indent, dash      int
	dashIn, alone     bool    // list items are indented further than their key; a dash has its own line
	flows, notes      float64 // how often: flow style, comments
	quotes, blanks    float64
	shuffles, aliases bool
	odd               bool // tags and escapes
	crlf, bom, open   bool
	start, end        bool
	stream            bool // opm accepts no directives in a stream

	comments []string
	anchors  map[string]string
}

// newPrinter chooses a style.
func newPrinter(rnd *rand.Rand) *printer {
	often := func(n int) bool { return rnd.IntN(n) == 0 }
	p := &printer{
		rnd: rnd, indent: 1 + rnd.IntN(6), dash: 1, dashIn: often(2), alone: often(20), shuffles: often(3), aliases: often(5), odd: often(8),
		crlf: often(6), bom: often(12), open: often(6), start: often(2), end: often(10), anchors: map[string]string{},
	}
	for _, f := range []*float64{&p.flows, &p.notes, &p.quotes, &p.blanks} {
		*f = []float64{0, 0, 0.1, 0.5}[rnd.IntN(4)]
	}
	if often(4) {
		p.dash = 1 + rnd.IntN(4)
	}
	if often(8) {
		p.flows = 1
	}
	if often(5) {
		p.json = []string{"-", "  ", "    ", "\t", " "}[rnd.IntN(5)]
		p.bom = false
	}
	return p
}

func (p *printer) often(share float64) bool { return p.rnd.Float64() < share }

// print writes documents.
func (p *printer) print(docs ...*value) []byte {
	for i, d := range docs {
		if p.shuffles {
			p.shuffle(d)
		}
		if p.json != "" {
			p.asJSON(d, "")
			if p.b.WriteByte('\n'); p.json != "-" && p.often(p.blanks) {
				p.b.WriteByte('\n')
			}
			continue
		}
		if i > 0 || p.start {
			p.separate(i)
		}
		p.anchors = map[string]string{} // anchors end with their document
		p.note(0)
		p.block(d, 0)
	}
	out := p.b.String()
	if p.json == "" && p.end {
		out += "...\n"
	}
	if p.open {
		out = strings.TrimRight(out, "\n")
	}
	if p.crlf {
		out = strings.ReplaceAll(out, "\n", "\r\n")
	}
	if p.bom {
		out = "\uFEFF" + out
	}
	return []byte(out)
}

func (p *printer) separate(i int) {
	if i == 0 && !p.stream && p.often(0.1) {
		p.b.WriteString("%YAML 1.1\n")
	}
	if i > 0 && p.often(0.05) {
		p.b.WriteString("...\n")
	}
	p.b.WriteString("---" + p.trailing() + "\n")
}

func (p *printer) shuffle(v *value) {
	p.rnd.Shuffle(len(v.keys), func(i, j int) {
		v.keys[i], v.keys[j] = v.keys[j], v.keys[i]
		v.items[i], v.items[j] = v.items[j], v.items[i]
	})
	for _, item := range v.items {
		p.shuffle(item)
	}
}

// comment returns a comment that keeps can find again.
func (p *printer) comment() string {
	mark := fmt.Sprintf("<%d>", len(p.comments))
	p.comments = append(p.comments, mark)
	return []string{"# ", "#", "# - name: op.v9.9.9 ", "# it's \"", "#: ", "### [{ "}[p.rnd.IntN(6)] + mark
}

func (p *printer) trailing() string {
	if !p.often(p.notes) {
		return []string{"", "", "", " ", "  "}[p.rnd.IntN(5)]
	}
	return strings.Repeat(" ", 1+p.rnd.IntN(3)) + p.comment()
}

// note writes comments and blank lines above the next value.
func (p *printer) note(indent int) {
	for p.often(p.blanks / 4) {
		p.b.WriteString([]string{"\n", "\n", " \n"}[p.rnd.IntN(3)])
	}
	if p.often(p.notes / 2) {
		in := indent
		if p.rnd.IntN(4) == 0 {
			in = p.rnd.IntN(indent + 1) // further in, it could be part of a text
		}
		p.b.WriteString(strings.Repeat(" ", in) + p.comment() + "\n")
	}
}

// block writes a value that starts on its own line.
func (p *printer) block(v *value, indent int) {
	for i, item := range v.items {
		if i > 0 {
			p.note(indent)
		}
		p.b.WriteString(strings.Repeat(" ", indent))
		if v.list {
			p.item(item, indent)
		} else {
			p.field(v.keys[i], item, indent)
		}
	}
}

func (p *printer) item(v *value, indent int) {
	p.b.WriteByte('-')
	switch {
	case p.flat(v):
		p.b.WriteString(strings.Repeat(" ", p.dash) + p.inline(v, indent) + p.trailing() + "\n")
	case p.alone && p.often(0.3):
		p.b.WriteString(p.trailing() + "\n")
		p.block(v, indent+1+p.dash)
	default:
		p.b.WriteString(strings.Repeat(" ", p.dash))
		inside := indent + 1 + p.dash
		p.field(v.keys[0], v.items[0], inside)
		if len(v.keys) > 1 {
			p.note(inside)
			p.block(&value{keys: v.keys[1:], items: v.items[1:]}, inside)
		}
	}
}

func (p *printer) field(key string, v *value, indent int) {
	p.b.WriteString(p.key(key) + ":")
	if strings.Contains(v.text, "\n") && p.often(0.7) {
		p.literal(v.text, indent)
		return
	}
	if v.list && p.aliases {
		id, _ := json.Marshal(v.plainly()) //nolint:errchkjson // plain values
		if name, ok := p.anchors[string(id)]; ok && p.often(0.5) {
			p.b.WriteString(" *" + name + p.trailing() + "\n")
			return
		} else if !ok && p.often(0.3) {
			p.b.WriteString(" " + p.anchor(string(id)))
		}
	}
	if p.flat(v) {
		p.b.WriteString(" " + p.inline(v, indent) + p.trailing() + "\n")
		return
	}
	p.b.WriteString(p.trailing() + "\n")
	inside := indent + p.indent
	if v.list && !p.dashIn {
		inside = indent
	}
	p.note(inside)
	p.block(v, inside)
}

func (p *printer) anchor(id string) string {
	p.anchors[id] = fmt.Sprintf("a%d", len(p.anchors))
	return "&" + p.anchors[id]
}

// literal writes a text of several lines.
func (p *printer) literal(s string, indent int) {
	p.b.WriteString(" |-" + "\n")
	for line := range strings.SplitSeq(s, "\n") {
		if line != "" {
			line = strings.Repeat(" ", indent+p.indent) + line
		}
		p.b.WriteString(line + "\n")
	}
}

// flat reports whether a value is on the line of its key.
func (p *printer) flat(v *value) bool { return len(v.items) == 0 || p.often(p.flows) }

// inline writes a scalar, or a value in flow style.
func (p *printer) inline(v *value, indent int) string {
	if v.keys == nil && !v.list {
		return p.scalar(v.text)
	}
	open, shut := "{", "}"
	if v.list {
		open, shut = "[", "]"
	}
	if len(v.items) == 0 {
		return open + shut
	}
	between, last := ", ", ""
	switch long := strings.Repeat(" ", indent+2); p.rnd.IntN(8) {
	case 0:
		between = ","
		if !v.list {
			between = " , "
		}
	case 1:
		open, between, last = open+"\n"+long, ",\n"+long, "\n"+long
	case 2:
		open, between, last = open+"\n"+long, ",\n"+long, ",\n"+long
	case 3:
		open, last = open+" ", " "
	}
	var parts []string
	for i, item := range v.items {
		part := p.inline(item, indent+2)
		if !v.list {
			part = p.key(v.keys[i]) + ": " + part
		}
		parts = append(parts, part)
	}
	return open + strings.Join(parts, between) + last + shut
}

func (p *printer) key(s string) string {
	if p.often(p.quotes / 10) {
		return `"` + s + `"`
	}
	return s
}

var plain = regexp.MustCompile(`^[A-Za-z<][A-Za-z0-9._/:@<-]*$`)

func (p *printer) scalar(s string) string {
	if p.aliases && len(s) > 1 {
		if name, ok := p.anchors[s]; ok && p.often(0.3) {
			return "*" + name + " "
		} else if !ok && p.often(0.1) {
			return p.anchor(s) + " " + p.quoted(s)
		}
	}
	if p.odd && p.often(0.1) {
		return "!!str " + p.quoted(s)
	}
	return p.quoted(s)
}

func (p *printer) quoted(s string) string {
	isPlain := plain.MatchString(s)
	switch {
	case strings.Contains(s, "\n"):
	case isPlain && !p.often(p.quotes):
		return s
	case p.often(0.5):
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	out, _ := json.Marshal(s) //nolint:errchkjson // a text
	if p.odd && p.often(0.2) && len(s) > 1 && isPlain && s[0] != '<' && s[1] != '<' {
		return fmt.Sprintf(`"%c\x%02x`, s[0], s[1]) + string(out[3:])
	}
	return string(out)
}

func (p *printer) asJSON(v *value, indent string) {
	colon, deeper, line := ": ", indent+p.json, "\n"
	if p.json == "-" {
		colon, deeper, line = ":", "", ""
		indent = ""
	}
	short := p.json != "-" && p.often(p.flows/2)
	if short {
		deeper, line = "", ""
	}
	if v.keys == nil && !v.list {
		out, _ := json.Marshal(v.text) //nolint:errchkjson // a text
		p.b.Write(out)
		return
	}
	open, shut := "{", "}"
	if v.list {
		open, shut = "[", "]"
	}
	p.b.WriteString(open)
	for i, item := range v.items {
		if i > 0 {
			p.b.WriteByte(',')
			if short {
				p.b.WriteByte(' ')
			}
		}
		p.b.WriteString(line + deeper)
		if !v.list {
			key, _ := json.Marshal(v.keys[i]) //nolint:errchkjson // a text
			p.b.WriteString(string(key) + colon)
		}
		if short {
			out, _ := json.Marshal(item.plainly()) //nolint:errchkjson // plain values
			p.b.Write(out)
			continue
		}
		p.asJSON(item, deeper)
	}
	if len(v.items) > 0 && !short {
		p.b.WriteString(line + indent)
	}
	p.b.WriteString(shut)
}
