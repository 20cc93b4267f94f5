package schema

import (
	"strings"

	"github.com/olmgraft/graft/internal/failure"
)

// DidYouMean names the nearest word, as the beginning of a remedy; nothing where none is
// near.
func DidYouMean(word string, known []string) string {
	if near := Nearest(word, known); near != "" {
		return "Did you mean " + near + "? "
	}
	return ""
}

// Nearest is the known word that takes the fewest changes, a third of its letters at most.
// Case, hyphens and underscores count for nothing.
func Nearest(word string, known []string) string {
	const longest = 64
	if len(word) > longest {
		return ""
	}
	best, fewest := "", 0
	for _, k := range known {
		d := failure.Distance(plain(word), plain(k))
		if d <= max(1, len(k)/3) && (best == "" || d < fewest) {
			best, fewest = k, d
		}
	}
	return best
}

var joints = strings.NewReplacer("-", "", "_", "")

func plain(s string) string { return joints.Replace(strings.ToLower(s)) }
