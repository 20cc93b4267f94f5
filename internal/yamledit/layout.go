package yamledit

import (
	"bytes"
	"strings"
)

// contentLineEnd returns the end of the line that contains at, without its line break.
func contentLineEnd(src []byte, at int) int {
	end := lineEnd(src, at)
	if end > at && src[end-1] == '\n' {
		end--
		if end > at && src[end-1] == '\r' {
			end--
		}
	}
	return end
}

// eolNear returns the line break in use around an offset.
func eolNear(src []byte, at int) string {
	end := lineEnd(src, min(at, len(src)))
	if end == 0 || src[end-1] != '\n' {
		end = lineStart(src, min(at, len(src)))
	}
	if end >= 2 && src[end-1] == '\n' && src[end-2] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// aboveComments moves up from the start of a line over the comment lines directly above it that have the same
// indent, because they describe what follows.
func aboveComments(src []byte, at, least, col int) int {
	for at > least {
		above := lineStart(src, at-1)
		line := src[above:at]
		text := bytes.TrimLeft(line, " ")
		if len(text) == 0 || text[0] != '#' || len(line)-len(text) != col || above < least {
			return at
		}
		at = above
	}
	return at
}

// belowComments moves down from the end of a line over the comment lines directly below it that have a deeper
// indent than col, because they describe what precedes.
func belowComments(src []byte, at, col int) int {
	for next := lineEnd(src, min(at, len(src))); next < len(src); next = lineEnd(src, next) {
		line := src[next:lineEnd(src, next)]
		text := bytes.TrimLeft(line, " ")
		if len(text) == 0 || text[0] != '#' || len(line)-len(text) <= col {
			break
		}
		at = contentLineEnd(src, next)
	}
	return at
}

// blankBetween returns 1 if a blank line separates all items of a list, otherwise 0.
func (e *Edits) blankBetween(seq *Node) int {
	if len(seq.Children) < 2 {
		return 0
	}
	return e.leastBlank(seq.Children[:len(seq.Children)-1], seq.Children[1:])
}

// leastBlank returns 1 if a blank line separates each node from its follower, otherwise 0.
func (e *Edits) leastBlank(before, after []*Node) int {
	for i := range before {
		gap := e.file.Src[min(before[i].End, after[i].Start):after[i].Start]
		if bytes.Count(bytes.ReplaceAll(gap, []byte("\r"), nil), []byte("\n\n")) == 0 {
			return 0
		}
	}
	return 1
}

// lineIndent returns the white space at the start of the line that contains the offset.
func (w *writer) lineIndent(at int) string {
	start := lineStart(w.src, at)
	if start == 0 {
		start = bomLen(w.src)
	}
	end := start
	for end < len(w.src) && (w.src[end] == ' ' || w.src[end] == '\t') {
		end++
	}
	return string(w.src[start:end])
}

// layout describes how flow collections and JSON are laid out.
type layout struct {
	lines bool   // each field is on its own line
	unit  string // one level of indent
	colon string
	comma string
	pad   string // inside braces on one line
}

// layoutOf takes the layout from a like, or from the first flow mapping of the document.
func layoutOf(d *Doc, likes []*Node) layout {
	l := layout{unit: "  ", colon: ": ", comma: ", "}
	like := firstOf(likes, Mapping)
	if like == nil || like.Style != Flow {
		like = firstFlow(d)
	}
	if like == nil {
		return l
	}
	w := &writer{src: d.file.Src}
	src, first := d.file.Src, like.Children[0]
	lead := src[like.Start+1 : max(first.Start, like.Start+1)]
	l.lines = bytes.IndexByte(lead, '\n') >= 0
	if l.lines {
		base, inner := w.lineIndent(like.End-1), w.lineIndent(first.Start)
		if len(inner) > len(base) {
			l.unit = inner[len(base):]
		}
	} else if len(bytes.TrimSpace(lead)) == 0 {
		l.pad = string(lead)
	}
	if like.Kind == Mapping && len(like.Children) > 1 {
		if sep := src[first.End:max(like.Children[1].Start, first.End)]; isSeparator(sep, ':') {
			l.colon = string(sep)
		}
	}
	if !l.lines {
		if at := commaAfter(like); at >= 0 {
			end := at + 1
			for end < len(src) && src[end] == ' ' {
				end++
			}
			l.comma = strings.TrimRight(string(src[at:end]), "\n\r")
		}
	}
	return l
}

func isSeparator(sep []byte, mark byte) bool {
	return bytes.Count(sep, []byte{mark}) == 1 && len(bytes.Trim(sep, " "+string(mark))) == 0
}

func commaAfter(n *Node) int {
	step := 1
	if n.Kind == Mapping {
		step = 2
	}
	if len(n.Children) <= step {
		return -1
	}
	at := skipTrivia(n.doc.file.Src, n.Children[step-1].End)
	if at < n.End && n.doc.file.Src[at] == ',' {
		return at
	}
	return -1
}

func firstFlow(d *Doc) *Node {
	root, _ := d.Root()
	var find func(n *Node, left *int) *Node
	find = func(n *Node, left *int) *Node {
		if n == nil || *left <= 0 {
			return nil
		}
		*left--
		if n.Kind == Mapping && n.Style == Flow && len(n.Children) > 0 {
			return n
		}
		for _, c := range n.Children {
			if got := find(c, left); got != nil {
				return got
			}
		}
		return nil
	}
	left := 400
	return find(root, &left)
}
