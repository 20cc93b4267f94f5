package graph

import (
	"cmp"
	"strings"
)

// CompareChannels orders the names of channels as people count: stable-3.9 before stable-3.10.
func CompareChannels(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		n, m := digits(x), digits(y)
		if n == 0 || m == 0 {
			if x[0] != y[0] {
				return cmp.Compare(x[0], y[0])
			}
			x, y = x[1:], y[1:]
			continue
		}
		left, right := strings.TrimLeft(x[:n], "0"), strings.TrimLeft(y[:m], "0")
		if by := cmp.Or(cmp.Compare(len(left), len(right)), strings.Compare(left, right)); by != 0 {
			return by
		}
		x, y = x[n:], y[m:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(a, b))
}

// digits is how many digits a text begins with.
func digits(text string) int { return len(text) - len(strings.TrimLeft(text, "0123456789")) }
