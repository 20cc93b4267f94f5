package yaml11

import (
	"bytes"
	"unicode"
)

// compareKeys gives the order of keys in opm's YAML: letters by code point and
// after everything else, runs of digits as numbers.
func compareKeys(a, b []byte) int {
	if bytes.Equal(a, b) {
		return 0
	}
	if lessKey([]rune(string(a)), []rune(string(b))) {
		return -1
	}
	return 1
}

func lessKey(a, b []rune) bool {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	if i == len(a) || i == len(b) {
		return len(a) < len(b)
	}
	aLetter, bLetter := unicode.IsLetter(a[i]), unicode.IsLetter(b[i])
	if aLetter && bLetter {
		return a[i] < b[i]
	}
	if aLetter || bLetter {
		return bLetter
	}
	// Where one has a zero, the digits before it decide whether it counts.
	var start int64
	if a[i] == '0' || b[i] == '0' {
		for j := i - 1; j >= 0 && unicode.IsDigit(a[j]); j-- {
			if a[j] != '0' {
				start = 1
				break
			}
		}
	}
	aNumber, aEnd := digitRun(a, i, start)
	bNumber, bEnd := digitRun(b, i, start)
	if aNumber != bNumber {
		return aNumber < bNumber
	}
	if aEnd != bEnd {
		return aEnd < bEnd
	}
	return a[i] < b[i]
}

// digitRun reads the digits from i on behind a given start. It may overflow, as
// the original does.
func digitRun(s []rune, i int, start int64) (number int64, end int) {
	for ; i < len(s) && unicode.IsDigit(s[i]); i++ {
		start = start*10 + int64(s[i]-'0')
	}
	return start, i
}
