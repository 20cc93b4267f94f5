package yaml11

import (
	"bytes"
	"encoding/binary"
	"strconv"
)

// The functions of this file tell of parts of a YAML text whether they are what
// the emitter would write, so that a document in opm's bytes can be recognized
// without writing it anew.

// CompareKeys gives the order of keys in opm's YAML.
func CompareKeys(a, b []byte) int { return compareKeys(a, b) }

// WrittenPlain tells whether text, one line without quotes, is a text that the
// emitter writes without quotes, or a number or word in the emitter's spelling.
// Where lines are folded is not considered.
func WrittenPlain(text []byte) bool {
	var number, spelled [32]byte
	v := resolve(text)
	if v.typ == typeString {
		return examine(text).plain && !isBase60(text)
	}
	// opm makes a float64 of every number and reads it again.
	switch v.typ {
	case typeInt:
		v = resolve(appendFloat(number[:0], float64(v.i)))
	case typeUint:
		v = resolve(appendFloat(number[:0], float64(v.u)))
	case typeFloat:
		v = resolve(appendFloat(number[:0], v.f))
	}
	return bytes.Equal(v.spell(spelled[:0]), text)
}

// spell appends the emitter's form of anything but a text.
func (v *value) spell(dst []byte) []byte {
	switch v.typ {
	case typeNull:
		return append(dst, "null"...)
	case typeBool:
		return strconv.AppendBool(dst, v.b)
	case typeInt:
		return strconv.AppendInt(dst, v.i, 10)
	case typeUint:
		return strconv.AppendUint(dst, v.u, 10)
	case typeFloat:
		return strconv.AppendFloat(dst, v.f, 'g', -1, 64)
	}
	return dst
}

// WrittenQuoted tells whether the emitter writes the text that quoted, in
// quotes, stands for in the same way at a column, inside a collection with an
// indentation.
func WrittenQuoted(quoted []byte, indent, column int, key bool) (same bool) {
	var err error
	defer catch(&err)
	t := newTree(quoted)
	defer t.Free()
	s := &t.p.scanner
	s.store = &t.store
	s.reset(quoted)
	s.scanQuoted(quoted[0])
	e := emitter{t: t, out: make([]byte, 0, len(quoted)+16), line: -column, indent: indent, whitespace: true}
	e.text(s.queue[0].val, key)
	return s.pos == len(quoted) && bytes.Equal(e.out, quoted)
}

// BasicPlane tells whether there are no characters beyond the basic plane, all
// of which the emitter escapes.
func BasicPlane(text []byte) bool {
	i := 0
	for ; i+8 <= len(text); i += 8 {
		w := binary.LittleEndian.Uint64(text[i:])
		if w&(w<<1)&(w<<2)&(w<<3)&0x8080808080808080 != 0 {
			return false
		}
	}
	for _, c := range text[i:] {
		if c >= 0xF0 {
			return false
		}
	}
	return true
}
