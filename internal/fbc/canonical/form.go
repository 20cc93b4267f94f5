package canonical

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"strconv"
)

// The functions of this file tell of parts of a YAML text whether they are what
// the emitter would write, so that a document in opm's bytes can be recognized
// without writing it anew.

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

// appendFloat appends a number as encoding/json writes it.
func appendFloat(dst []byte, f float64) []byte {
	text, err := json.Marshal(f)
	if err != nil { // not a number, or infinite: it is written so nowhere
		return dst
	}
	return append(dst, text...)
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
	text, ok := Unquote(quoted)
	if !ok {
		return false
	}
	e := emitter{out: make([]byte, 0, len(quoted)+16), line: -column, indent: indent, whitespace: true}
	e.text(text, key)
	return !e.rare && bytes.Equal(e.out, quoted)
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

// IsText tells whether a text without quotes stands for itself, not for a number, a
// boolean or the like.
func IsText(text []byte) bool {
	t := resolve(text).typ
	return t == typeString || t == typeTime
}

// JSONOf gives the JSON of a text without quotes that is a number, a boolean or null; nil for
// one that stands for itself. Once it is loaded, opm holds every number as a float64.
func JSONOf(text []byte, loaded bool) []byte {
	switch v := resolve(text); v.typ {
	case typeNull:
		return []byte("null")
	case typeBool:
		return strconv.AppendBool(nil, v.b)
	case typeInt:
		if !loaded {
			return strconv.AppendInt(nil, v.i, 10)
		}
		return appendFloat(nil, float64(v.i))
	case typeUint:
		if !loaded {
			return strconv.AppendUint(nil, v.u, 10)
		}
		return appendFloat(nil, float64(v.u))
	case typeFloat:
		return appendFloat(nil, v.f)
	}
	return nil
}
