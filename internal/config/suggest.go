package config

import "strings"

// didYouMean names the nearest word, as the beginning of a remedy; nothing where none is
// near.
func didYouMean(word string, known []string) string {
	if near := nearest(word, known); near != "" {
		return "Did you mean " + near + "? "
	}
	return ""
}

// nearest is the known word that takes the fewest changes, a third of its letters at most.
// Case, hyphens and underscores count for nothing.
func nearest(word string, known []string) string {
	const longest = 64
	if len(word) > longest {
		return ""
	}
	best, fewest := "", 0
	for _, k := range known {
		d := distance(plain(word), plain(k))
		if d <= max(1, len(k)/3) && (best == "" || d < fewest) {
			best, fewest = k, d
		}
	}
	return best
}

func plain(s string) string {
	return strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(s))
}

// distance counts the letters to insert, remove or replace.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			changed := diagonal
			if a[i] != b[j] {
				changed++
			}
			diagonal = row[j+1]
			row[j+1] = min(changed, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
