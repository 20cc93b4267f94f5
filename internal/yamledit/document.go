package yamledit

import (
	"bytes"
	"strings"
)

// newDoc is a document to be added: a value or raw text.
type newDoc struct {
	value *Value
	raw   []byte
}

// InsertDoc adds a document after the one with the given index; -1 adds it before the first. The new document
// follows the style of likes.
func (e *Edits) InsertDoc(after int, v Value, likes ...*Node) error {
	d := e.file.Docs[max(after, 0)]
	w := &writer{src: e.file.Src, json: d.JSON, eol: eolNear(e.file.Src, d.Start), step: 2}
	for _, like := range likes {
		w.learn(like, new(int))
	}
	var body string
	switch like := firstOf(likes, Mapping); {
	case d.JSON || like != nil && like.Style == Flow:
		body = w.flow(v, "", likes, layoutOf(d, likes))
	default:
		body = strings.Join(w.mapLines(v, 0, likes), w.eol)
	}
	if after < 0 {
		return e.addFirst(d, newDoc{value: &v}, body)
	}
	e.addDoc(d, newDoc{value: &v}, body)
	return nil
}

// addFirst adds a document before the first one, which keeps its separator. The new document begins with a
// separator if the first one did.
func (e *Edits) addFirst(d *Doc, n newDoc, body string) error {
	src := e.file.Src
	eol := eolNear(src, d.Start)
	if !d.JSON && bytes.Contains(d.leadTrivia(), []byte("#")) && isMarker(src[d.Start+len(d.leadTrivia()):], "---") {
		return e.file.refused(d.Start, "adding a document before the first one, which has a comment above its ---").
			Fix("Put --- above the comment.")
	}
	e.newDocs[-1] = append(e.newDocs[-1], n)
	e.node = nil
	switch {
	case d.JSON:
		body += eol
	case isMarker(src[d.Start:], "---"):
		body = "---" + eol + body + eol
	default:
		body += eol + "---" + eol
	}
	e.splice(d.Start, d.Start, body)
	return nil
}

// leadTrivia returns the blank lines and comments above the document's first line of content.
func (d *Doc) leadTrivia() []byte {
	src := d.file.Src
	at := d.Start
	for at < d.End && len(trimTrivia(src[at:lineEnd(src, at)])) == 0 {
		at = lineEnd(src, at)
	}
	return src[d.Start:at]
}

// content returns the document's text without its separator, because a first document gains a separator when
// another document precedes it.
func (d *Doc) content() []byte {
	return bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(d.Raw()), []byte("---")))
}

// InsertRaw adds a document with the given text, which has no separator.
func (e *Edits) InsertRaw(after int, text []byte) error {
	d := e.file.Docs[after]
	body := strings.Trim(string(text), "\r\n")
	if eol := eolNear(e.file.Src, d.Start); eol != "\n" {
		body = strings.ReplaceAll(strings.ReplaceAll(body, "\r\n", "\n"), "\n", eol)
	}
	e.addDoc(d, newDoc{raw: []byte(body)}, body)
	return nil
}

// ReplaceRaw replaces a document by the given text, which has no separator. Comments above and below the document
// stay.
func (e *Edits) ReplaceRaw(at int, text []byte) error {
	d := e.file.Docs[at]
	start, end := d.body()
	body := strings.Trim(string(text), "\r\n")
	if eol := eolNear(e.file.Src, d.Start); eol != "\n" {
		body = strings.ReplaceAll(strings.ReplaceAll(body, "\r\n", "\n"), "\n", eol)
	}
	if e.replaced == nil {
		e.replaced = map[int][]byte{}
	}
	e.replaced[at] = []byte(body)
	e.node = nil
	e.splice(start, end, body)
	return nil
}

// body returns the bounds of the document's content, without separator and surrounding comments.
func (d *Doc) body() (start, end int) {
	src := d.file.Src
	start, end = skipTrivia(src, d.Start), d.End
	if !d.JSON {
		end = d.contentEnd()
		if isMarker(src[start:], "---") {
			start = skipTrivia(src, start+3)
		}
	}
	return start, end - len(src[start:end]) + len(bytes.TrimRight(src[start:end], " \t\r\n"))
}

// addDoc puts a document below another one and the comments under that.
func (e *Edits) addDoc(d *Doc, n newDoc, body string) {
	src := e.file.Src
	eol := eolNear(src, d.Start)
	e.newDocs[d.Index] = append(e.newDocs[d.Index], n)
	e.node = nil
	if d.JSON {
		e.splice(d.End, d.End, eol+body)
		return
	}
	last := d.Start + len(bytes.TrimRight(d.Raw(), " \t\r\n"))
	at := min(contentLineEnd(src, lineStart(src, last)), d.End) // blanks behind the last line stay there
	e.splice(at, at, eol+"---"+eol+body)
}

// contentEnd returns the end of the document's last line that is neither blank nor a comment at the margin. Such
// comments may describe what follows.
func (d *Doc) contentEnd() int {
	src := d.file.Src
	for at := d.End; at > d.Start; {
		start := max(lineStart(src, at-1), d.Start)
		line := bytes.TrimRight(src[start:at], " \t\r\n")
		if len(line) > 0 && line[0] != '#' {
			return contentLineEnd(src[:at], start)
		}
		at = start
	}
	return d.End
}

// matches reports whether the document, parsed again, equals the requested one.
func (n newDoc) matches(d *Doc) bool {
	if n.value == nil {
		return bytes.Equal(d.content(), bytes.TrimSpace(n.raw))
	}
	root, err := d.Root()
	return err == nil && n.value.matches(root)
}
