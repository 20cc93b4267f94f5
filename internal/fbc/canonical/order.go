package canonical

import (
	"unicode"
	"unicode/utf8"
)

// CompareKeys compares keys in the order of opm's YAML: letters by code point and after all other characters,
// runs of digits as numbers. The order is not strict for all keys: a9 comes before a11, a11 before a1A, and a1A
// before a9.
func CompareKeys[T string | []byte](a, b T) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	if i == len(a) || i == len(b) {
		return len(a) - len(b)
	}
	for !utf8.RuneStart(a[i]) || !utf8.RuneStart(b[i]) {
		i--
	}
	if lessAfter([]byte(a[:i]), []byte(a[i:]), []byte(b[i:])) {
		return -1
	}
	return 1
}

// lessAfter compares the parts of two keys after their common prefix.
func lessAfter(common, a, b []byte) bool {
	first, _ := utf8.DecodeRune(a)
	second, _ := utf8.DecodeRune(b)
	letter, other := unicode.IsLetter(first), unicode.IsLetter(second)
	if letter && other {
		return first < second
	}
	if letter || other {
		return other
	}
	// If one part starts with a zero, the digits before it decide whether the zero counts.
	var start int64
	if first == '0' || second == '0' {
		for len(common) > 0 && start == 0 {
			r, n := utf8.DecodeLastRune(common)
			if !unicode.IsDigit(r) {
				break
			}
			if r != '0' {
				start = 1
			}
			common = common[:len(common)-n]
		}
	}
	m, mDigits := digitRun(a, start)
	n, nDigits := digitRun(b, start)
	if m != n {
		return m < n
	}
	if mDigits != nDigits {
		return mDigits < nDigits
	}
	return first < second
}

// digitRun reads the digits at the start of s after a given number. It may overflow, as the original does.
func digitRun(s []byte, start int64) (number int64, digits int) {
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		if !unicode.IsDigit(r) {
			break
		}
		start = start*10 + int64(r-'0')
		digits++
		s = s[n:]
	}
	return start, digits
}
