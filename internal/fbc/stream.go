package fbc

import (
	"bytes"
	"errors"
	"io"
)

// Span is a place in a file at which text begins. With it, documents can be read again on their own.
type Span struct {
	Start  int // offset of its first byte
	lines  int // line breaks before it
	col    int // bytes before it on its line
	format Format
}

// Span returns the place at which the document begins.
func (d *Doc) Span() Span { return Span{d.Start, d.lines, d.col, d.Format} }

// SameFormat reports whether both documents have the same format.
func (s Span) SameFormat(o Span) bool { return s.format == o.format }

// Read reads consecutive documents of a file, all of one format. text extends from the start of the first
// document to the end of the last.
func (s Span) Read(file string, text []byte) ([]Doc, error) {
	r := reader{file: file, src: text, from: s}
	var err error
	if s.format == JSON {
		r.part = true
		err = r.jsonStream()
	} else {
		err = r.yamlStream(0)
	}
	return r.docs, err
}

// pieceSize is the number of bytes that Stream reads at a time. A longer document is read as a whole.
const pieceSize = 1 << 20

// Stream reads a file as Read does, but holds only one piece of it at a time. It passes documents to visit in
// groups; their text is invalid after visit returns. Stream refuses YAML that looks like JSON, which Read
// accepts.
func Stream(file string, in io.Reader, visit func([]Doc) error) error {
	return stream(file, in, pieceSize, visit)
}

func stream(file string, in io.Reader, piece int, visit func([]Doc) error) error {
	s := streamer{reader: reader{file: file, part: true}, in: in, piece: piece}
	for done := false; !done; {
		cut, err := s.fill()
		if err != nil {
			return err
		}
		done = cut == len(s.text) && s.ended
		if err := s.read(cut, done); err != nil {
			return err
		}
		if err := visit(s.docs); err != nil {
			return err
		}
		s.next(cut)
	}
	return nil
}

type streamer struct {
	reader
	in    io.Reader
	piece int
	text  []byte // text read but not yet consumed
	ended bool
	json  bool
}

// fill reads up to the end of a document and returns its offset.
func (s *streamer) fill() (cut int, err error) {
	for room := s.piece; ; room = 2 * len(s.text) {
		n := len(s.text)
		s.text = append(s.text, make([]byte, max(room-n, 0))...)
		got, err := io.ReadFull(s.in, s.text[n:])
		s.text = s.text[:n+got]
		s.ended = errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !s.ended {
			return 0, err
		}
		if s.from.Start == 0 {
			s.json = looksLikeJSON(s.text)
		}
		if s.ended {
			return len(s.text), nil
		}
		// In JSON, a line break between braces like these separates two documents.
		before, after := "\n", "---"
		if s.json {
			before, after = "}\n", "{"
		}
		if at := bytes.LastIndex(s.text, []byte(before+after)); at > 0 {
			return at + len(before), nil
		}
	}
}

// read reads the documents up to an offset. Every piece of YAML after the first begins with a separator.
func (s *streamer) read(cut int, last bool) error {
	s.src, s.docs, s.counted, s.lines, s.line = s.text[:cut], nil, 0, 0, 0
	if s.json {
		return s.jsonStream()
	}
	pos := 0
	if s.from.Start > 0 {
		var err error
		if pos, err = s.afterSeparator(0); err != nil {
			return err
		}
	}
	s.part = !last
	return s.yamlStream(pos)
}

// next drops the text that has been read.
func (s *streamer) next(cut int) {
	s.from.lines += bytes.Count(s.text[:cut], []byte("\n"))
	s.from.Start += cut
	s.before += len(s.docs)
	s.text = append(s.text[:0], s.text[cut:]...)
}
