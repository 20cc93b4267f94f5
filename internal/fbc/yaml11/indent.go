package yaml11

import "bytes"

// Indent lays JSON out as encoding/json.Indent does, without a prefix.
func Indent(src []byte, indent string) (out []byte, err error) {
	p := jsonParser{src: src}
	defer catch(&err)
	p.space()
	p.value()
	p.space()
	if p.pos < len(src) {
		p.fail(p.pos, "JSON that goes on after its end")
	}
	out = make([]byte, 0, len(src)+len(src)/4)
	depth := 0
	newLine := func() {
		out = append(out, '\n')
		for range depth {
			out = append(out, indent...)
		}
	}
	empty := false // nothing has come since the last bracket
	for i := 0; i < len(src); i++ {
		c := src[i]
		switch c {
		case ' ', '\t', '\r', '\n':
			continue
		case '{', '[':
			if empty {
				newLine()
			}
			depth++
			empty = true
			out = append(out, c)
			continue
		case '}', ']':
			depth--
			if !empty {
				newLine()
			}
			empty = false
			out = append(out, c)
			continue
		}
		if empty {
			newLine()
			empty = false
		}
		switch c {
		case ',':
			out = append(out, ',')
			newLine()
		case ':':
			out = append(out, ':', ' ')
		case '"':
			end := i + 1 + textEnd(src[i+1:])
			out = append(out, src[i:end]...)
			i = end - 1
		default:
			out = append(out, c)
		}
	}
	return out, nil
}

// textEnd gives the length of a valid JSON string after its opening quote.
func textEnd(b []byte) int {
	n := bytes.IndexByte(b, '"')
	if bytes.IndexByte(b[:n], '\\') < 0 {
		return n + 1
	}
	i := 0
	for ; b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i + 1
}
