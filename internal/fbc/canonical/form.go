package canonical

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"strconv"
)

// The functions in this file check whether parts of a YAML text are what the emitter would write, so that a
// document in opm's bytes is recognized without writing it.

// WrittenPlain reports whether the emitter writes text, one unquoted line, in the same way: unquoted as a string,
// or as a number or word in its own spelling. It does not consider folding.
func WrittenPlain(text []byte) bool {
	var number, spelled [32]byte
	v := resolve(text)
	if v.typ == typeString {
		return examine(text).plain && !isBase60(text)
	}
	// opm converts every number to float64 and parses the result again.
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
	if err != nil { // NaN or infinity, which JSON cannot express
		return dst
	}
	return append(dst, text...)
}

// spell appends the emitter's form of any value except a string.
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

// WrittenQuoted reports whether the emitter writes the content of quoted in the same bytes, at the given column
// and inside a collection with the given indentation.
func WrittenQuoted(quoted []byte, indent, column int, key bool) (same bool) {
	text, ok := Unquote(quoted)
	if !ok {
		return false
	}
	e := emitter{out: make([]byte, 0, len(quoted)+16), line: -column, indent: indent, whitespace: true}
	e.text(text, key)
	return !e.rare && bytes.Equal(e.out, quoted)
}

// BasicPlane reports whether text has no characters beyond the basic plane. The emitter escapes those.
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

// IsText reports whether an unquoted text is a string, not a number, boolean or other value.
func IsText(text []byte) bool {
	t := resolve(text).typ
	return t == typeString || t == typeTime
}

// JSONOf returns the JSON of an unquoted number, boolean or null, and nil for a string. With loaded, every number
// is a float64, as in opm after loading.
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
