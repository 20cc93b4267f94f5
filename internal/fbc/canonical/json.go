package canonical

import "unicode/utf8"

// plainByte marks the bytes that JSON strings contain unescaped.
var plainByte = func() (plain [256]bool) {
	for c := rune(' '); c < utf8.RuneSelf; c++ {
		plain[c] = c != '"' && c != '\\' && c != '<' && c != '>' && c != '&'
	}
	return plain
}()

// AppendString appends a JSON string as encoding/json writes it, with or without HTML escapes.
func AppendString(to []byte, s string, html bool) []byte {
	to = append(to, '"')
	start := 0
	for i := 0; i < len(s); {
		if plainByte[s[i]] || !html && (s[i] == '<' || s[i] == '>' || s[i] == '&') {
			i++
			continue
		}
		if s[i] < utf8.RuneSelf {
			to = append(to, s[start:i]...)
			to = appendEscape(to, s[i])
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			to = append(to, s[start:i]...)
			to = append(to, `\ufffd`...)
			start = i + size
		case r == '\u2028' || r == '\u2029':
			to = append(to, s[start:i]...)
			to = append(to, `\u202`...)
			to = append(to, byte('0'+r&0xf))
			start = i + size
		}
		i += size
	}
	to = append(to, s[start:]...)
	return append(to, '"')
}

func appendEscape(to []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(to, '\\', c)
	case '\b':
		return append(to, `\b`...)
	case '\f':
		return append(to, `\f`...)
	case '\n':
		return append(to, `\n`...)
	case '\r':
		return append(to, `\r`...)
	case '\t':
		return append(to, `\t`...)
	}
	const hex = "0123456789abcdef"
	return append(to, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
}
