package yaml11

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Mode chooses between the two forms of JSON that opm makes of a document.
type Mode int

const (
	// Plain is what sigs.k8s.io/yaml gives: integers keep their digits, and
	// <, > and & are escaped.
	Plain Mode = iota
	// Loaded is what opm holds once it has loaded a catalog: numbers have gone
	// through float64, and <, > and & stand as they are.
	Loaded
)

// maxAliased bounds the bytes that aliases may add to a document.
const maxAliased = 64 << 20

// entry is one key of a mapping that is being written.
type entry struct {
	key   []byte
	value int32
}

type jsonWriter struct {
	t       *Tree
	out     []byte
	mode    Mode
	limit   int
	depth   int
	sought  int   // an offset of out to find the value for, -1 for none
	foundAt int32 // the last value that begins before sought
}

// AppendJSON appends the document as compact JSON with sorted keys. A document
// without content is null.
func (t *Tree) AppendJSON(dst []byte, mode Mode) ([]byte, error) {
	return t.writeJSON(&jsonWriter{out: dst, mode: mode, sought: -1}, t.root)
}

// Locate gives the place in the text of what AppendJSON writes at offset.
func (t *Tree) Locate(mode Mode, offset int) *Error {
	w := jsonWriter{mode: mode, sought: offset, foundAt: t.root}
	t.writeJSON(&w, t.root) //nolint:errcheck // what was written before the fault is searched
	return fault(t.src, int(t.nodes[w.foundAt].pos), "")
}

func (t *Tree) writeJSON(w *jsonWriter, i int32) (out []byte, err error) {
	if i == 0 {
		return append(w.out, "null"...), nil
	}
	w.t = t
	w.limit = math.MaxInt
	if t.aliases {
		w.limit = len(w.out) + 8*len(t.src) + maxAliased
	}
	t.entries = t.entries[:0]
	defer catch(&err)
	w.value(i)
	return w.out, nil
}

func (w *jsonWriter) fail(i int32, format string, args ...any) {
	panic(fault(w.t.src, int(w.t.nodes[i].pos), format, args...))
}

func (w *jsonWriter) value(i int32) {
	if w.sought >= len(w.out) {
		w.foundAt = i
	}
	if len(w.out) > w.limit {
		w.fail(i, "aliases make the document larger than %d MiB", maxAliased>>20)
	}
	i = w.t.target(i)
	n := &w.t.nodes[i]
	if n.kind == scalar {
		w.scalar(i)
		return
	}
	if w.depth++; w.depth > maxDepth {
		w.fail(i, "more than %d collections inside each other", maxDepth)
	}
	if n.kind == sequence {
		w.out = append(w.out, '[')
		for k := n.child; k != 0; k = w.t.nodes[k].next {
			if k != n.child {
				w.out = append(w.out, ',')
			}
			w.value(k)
		}
		w.out = append(w.out, ']')
	} else {
		w.mapping(i)
	}
	w.depth--
}

func (w *jsonWriter) mapping(i int32) {
	base := len(w.t.entries)
	w.t.collect(i)
	end := sortEntries(w.t.entries[base:]) + base
	w.out = append(w.out, '{')
	for k := base; k < end; k++ {
		if k > base {
			w.out = append(w.out, ',')
		}
		w.out = appendString(w.out, w.t.entries[k].key, w.mode == Plain)
		w.out = append(w.out, ':')
		w.value(w.t.entries[k].value)
	}
	w.out = append(w.out, '}')
	w.t.entries = w.t.entries[:base]
}

// collect appends the keys of a mapping to t.entries in the order in which
// they take effect. A merge key takes effect where it stands: it overrides
// what comes before it, as in opm.
func (t *Tree) collect(i int32) {
	for k := t.nodes[i].child; k != 0; {
		v := t.nodes[k].next
		switch {
		case !t.isMerge(k):
			t.entries = append(t.entries, entry{t.key(k), v})
		case t.nodes[v].kind == sequence:
			var from []int32
			for m := t.nodes[v].child; m != 0; m = t.nodes[m].next {
				from = append(from, t.target(m))
			}
			for _, m := range slices.Backward(from) {
				t.collect(m)
			}
		default:
			t.collect(t.target(v))
		}
		k = t.nodes[v].next
	}
}

// key gives a key as the text that JSON needs.
func (t *Tree) key(k int32) []byte {
	n := &t.nodes[t.target(k)]
	v, text, err := t.scalarValue(n)
	if err != nil {
		panic(err)
	}
	switch v.typ {
	case typeBool:
		return strconv.AppendBool(nil, v.b)
	case typeInt:
		return strconv.AppendInt(nil, v.i, 10)
	case typeFloat:
		return floatKey(v.f)
	case typeNull, typeUint:
		panic(fault(t.src, int(t.nodes[k].pos), "a key that is null or too large a number"))
	}
	return text
}

func floatKey(f float64) []byte {
	switch s := strconv.FormatFloat(f, 'g', -1, 32); s {
	case "+Inf":
		return []byte(".inf")
	case "-Inf":
		return []byte("-.inf")
	case "NaN":
		return []byte(".nan")
	default:
		return []byte(s)
	}
}

// sortEntries sorts by key, keeps the last of equal keys, and gives how many
// are left.
func sortEntries(e []entry) int {
	sorted := true
	for i := 1; i < len(e) && sorted; i++ {
		sorted = bytes.Compare(e[i-1].key, e[i].key) < 0
	}
	if sorted {
		return len(e)
	}
	slices.SortStableFunc(e, func(a, b entry) int { return bytes.Compare(a.key, b.key) })
	n := 0
	for i := range e {
		if n > 0 && bytes.Equal(e[n-1].key, e[i].key) {
			n--
		}
		e[n] = e[i]
		n++
	}
	return n
}

func (w *jsonWriter) scalar(i int32) {
	n := &w.t.nodes[i]
	if w.t.json && n.implicit {
		w.out = w.number(i, n.val)
		return
	}
	v, text, err := w.t.scalarValue(n)
	if err != nil {
		panic(err)
	}
	switch v.typ {
	case typeNull:
		w.out = append(w.out, "null"...)
	case typeBool:
		w.out = strconv.AppendBool(w.out, v.b)
	case typeInt:
		if w.mode == Loaded && (v.i >= 1<<53 || v.i <= -1<<53) {
			w.out = appendFloat(w.out, float64(v.i))
		} else {
			w.out = strconv.AppendInt(w.out, v.i, 10)
		}
	case typeUint:
		if w.mode == Loaded {
			w.out = appendFloat(w.out, float64(v.u))
		} else {
			w.out = strconv.AppendUint(w.out, v.u, 10)
		}
	case typeFloat:
		if math.IsNaN(v.f) || math.IsInf(v.f, 0) {
			w.fail(i, "%s has no form in JSON", text)
		}
		w.out = appendFloat(w.out, v.f)
	default:
		w.out = appendString(w.out, text, w.mode == Plain)
	}
}

// number writes what stands in JSON without quotes. Few digits are the same
// before and after they have been a float64.
func (w *jsonWriter) number(i int32, text []byte) []byte {
	if c := text[len(text)-1]; c == 'e' || c == 'l' || w.mode == Plain || len(text) <= 15 && allDigits(text) {
		return append(w.out, text...)
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		w.fail(i, "a number that is too large")
	}
	return appendFloat(w.out, f)
}

// appendFloat writes a number as encoding/json does.
func appendFloat(dst []byte, f float64) []byte {
	format := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	dst = strconv.AppendFloat(dst, f, format, -1, 64)
	if n := len(dst); format == 'e' && n >= 4 && dst[n-4] == 'e' && dst[n-3] == '-' && dst[n-2] == '0' {
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}

// jsonSafe marks the bytes that stand for themselves in a JSON string whatever
// surrounds them. The first byte of the two line separators is not among them.
var jsonSafe = func() (t [256]bool) {
	for i := range t {
		t[i] = i >= ' ' && i < utf8.RuneSelf && i != '"' && i != '\\' && i != '<' && i != '>' && i != '&'
	}
	return t
}()

const hexDigits = "0123456789abcdef"

// appendString writes a JSON string as encoding/json does.
func appendString(dst, s []byte, html bool) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		if jsonSafe[s[i]] {
			i++
			continue
		}
		c := s[i]
		if c < utf8.RuneSelf {
			if (c == '<' || c == '>' || c == '&') && !html {
				i++
				continue
			}
			dst = append(dst, s[from:i]...)
			dst = appendEscape(dst, c)
			i++
			from = i
			continue
		}
		r, n := utf8.DecodeRune(s[i:])
		if r == utf8.RuneError && n == 1 {
			dst = append(dst, s[from:i]...)
			if html {
				dst = append(dst, `\ufffd`...)
			} else {
				dst = utf8.AppendRune(dst, r)
			}
			from = i + 1
		} else if r == '\u2028' || r == '\u2029' {
			dst = append(append(dst, s[from:i]...), `\u202`...)
			dst = append(dst, hexDigits[r&0xF])
			from = i + n
		}
		i += n
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	return append(dst, `\u00`+string(hexDigits[c>>4])+string(hexDigits[c&0xF])...)
}
