package schema

import (
	"strings"

	"github.com/olmgraft/graft/internal/failure"
)

// DidYouMean returns a question that suggests the nearest word, to begin a remedy. It returns "" if no word is
// near.
func DidYouMean(word string, known []string) string {
	if near := Nearest(word, known); near != "" {
		return "Did you mean " + near + "? "
	}
	return ""
}

// Nearest returns the known word with the fewest changes, at most a third of its letters, or "". Case, hyphens
// and underscores do not count.
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
