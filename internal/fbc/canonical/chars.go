package canonical

import (
	"encoding/binary"
	"unicode/utf8"
)

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// Ordinary reports whether text consists of printable characters and line feeds, without any other character that
// YAML reads as a line break.
func Ordinary(b []byte) bool {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
	)
	i := 0
	for i < len(b) {
		for ; i+8 <= len(b); i += 8 {
			w := binary.LittleEndian.Uint64(b[i:])
			if w&highs != 0 {
				break
			}
			control := ^(w + ones*(0x80-' ')) & highs
			feed := ^((w ^ ones*'\n') + ones*0x7F) & highs
			del := ^((w ^ ones*0x7F) + ones*0x7F) & highs
			if control != feed || del != 0 {
				return false
			}
		}
		for end := min(i+8, len(b)); i < end; {
			if c := b[i]; c < utf8.RuneSelf {
				if c < ' ' && c != '\n' || c == 0x7F {
					return false
				}
				i++
				continue
			}
			r, n := utf8.DecodeRune(b[i:])
			if r == utf8.RuneError && n == 1 || r < 0xA0 || r == 0x2028 || r == 0x2029 || r == 0xFEFF || r == 0xFFFE || r == 0xFFFF {
				return false
			}
			i += n
		}
	}
	return true
}
