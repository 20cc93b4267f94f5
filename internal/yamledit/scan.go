package yamledit

import (
	"bytes"
	"unicode/utf8"
)

// skipTrivia skips white space, line breaks and comments.
func skipTrivia(src []byte, at int) int {
	for at < len(src) {
		switch c := src[at]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			at++
		case c == '#' && (at == 0 || isBlank(src[at-1])):
			at = lineEnd(src, at)
		default:
			if n := wideBreak(src[at:]); n > 0 {
				at += n
				continue
			}
			return at
		}
	}
	return at
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// wideBreak returns the length of a non-ASCII line break at the start of s, or 0.
func wideBreak(s []byte) int {
	for _, b := range []string{"\u0085", "\u2028", "\u2029"} {
		if bytes.HasPrefix(s, []byte(b)) {
			return len(b)
		}
	}
	return 0
}

// skipProperties skips a node's anchor and tag.
func skipProperties(src []byte, at int, has bool) int {
	if !has {
		return at
	}
	for at < len(src) && (src[at] == '&' || src[at] == '!') {
		for at < len(src) && !isBlank(src[at]) && wideBreak(src[at:]) == 0 {
			at++
		}
		// An empty node ends with its properties. The text that follows belongs to another node, but nothing
		// reads the text of an empty node.
		at = skipTrivia(src, at)
	}
	return at
}

// nonSpecific reports whether a node's properties include the tag !. After an empty node, the following lines
// belong to another node.
func nonSpecific(properties []byte, empty bool) bool {
	if end := bytes.IndexAny(properties, "\r\n"); empty && end >= 0 {
		properties = properties[:end]
	}
	for at := 0; at < len(properties); at = skipTrivia(properties, at) {
		from := at
		for at < len(properties) && !isBlank(properties[at]) && wideBreak(properties[at:]) == 0 {
			at++
		}
		if tag := string(properties[from:at]); tag == "!" || tag == "!<!>" {
			return true
		}
	}
	return false
}

func quotedEnd(src []byte, at int) (int, bool) {
	if at >= len(src) || src[at] != '"' && src[at] != '\'' {
		return at, false
	}
	quote := src[at]
	for i := at + 1; i < len(src); i++ {
		switch {
		case src[i] == '\\' && quote == '"':
			i++
		case src[i] == quote && quote == '\'' && i+1 < len(src) && src[i+1] == '\'':
			i++
		case src[i] == quote:
			return i + 1, true
		}
	}
	return at, false
}

// plainEnd advances through text and value in step. A plain scalar has no escapes; if it spans lines, only its
// white space differs from the value.
func plainEnd(src []byte, at int, value string) (int, bool) {
	if bytes.HasPrefix(src[at:], []byte(value)) {
		return at + len(value), true
	}
	end := at
	for i := 0; i < len(value); {
		if isBlank(value[i]) {
			i++
			continue
		}
		if n := wideBreak([]byte(value[i:])); n > 0 {
			i += n
			continue
		}
		for at < len(src) && (isBlank(src[at]) || wideBreak(src[at:]) > 0) {
			at += max(1, wideBreak(src[at:]))
		}
		_, size := utf8.DecodeRuneInString(value[i:])
		if !bytes.HasPrefix(src[at:], []byte(value[i:i+size])) {
			return at, false
		}
		at, i = at+size, i+size
		end = at
	}
	return end, true
}

// parentIndent returns the indent of the block collection around a scalar, or -1 at the top.
func parentIndent(n *Node) int {
	for p := n.Parent; p != nil; p = p.Parent {
		if p.Style == Block {
			return p.indent()
		}
	}
	return -1
}

// blockScalarEnd returns the end of the last line of a | or > scalar. The scalar's lines are indented at least as
// deep as its first line; if the header sets an indent, deeper than the parent. Trailing blank lines belong to
// the scalar only if the header keeps them (+).
func blockScalarEnd(src []byte, at, parent int) int {
	header := lineEnd(src, at)
	indicators := trimComment(src[at:header])
	keep := bytes.IndexByte(indicators, '+') >= 0
	least := parent + 1
	if !bytes.ContainsAny(indicators, "123456789") {
		least = max(least, firstIndent(src[header:]))
	}
	end, from := at+len(bytes.TrimRight(src[at:header], "\r\n")), header
	for from < len(src) {
		next := lineEnd(src, from)
		text := bytes.TrimRight(src[from:next], "\r\n")
		body := bytes.TrimLeft(text, " ")
		switch {
		case len(bytes.TrimSpace(text)) == 0:
			if keep {
				end = from + len(text)
			}
		case len(text)-len(body) >= least && (parent >= 0 || !isMarker(src[from:next], "---")):
			end = from + len(text)
		default:
			return end
		}
		from = next
	}
	return end
}

func firstIndent(src []byte) int {
	for at := 0; at < len(src); at = lineEnd(src, at) {
		text := bytes.TrimRight(src[at:lineEnd(src, at)], "\r\n")
		if body := bytes.TrimLeft(text, " "); len(body) > 0 {
			return len(text) - len(body)
		}
	}
	return 0
}

func trimComment(header []byte) []byte {
	if i := bytes.IndexByte(header, '#'); i >= 0 {
		return header[:i]
	}
	return header
}
