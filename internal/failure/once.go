package failure

import (
	"fmt"
	"slices"
	"strings"
)

// Saying is a text with the parts that Once ignores when it compares: the place, and the name of a second thing
// that the text compares the place with.
type Saying struct{ Text, Place, Against string }

// Said is one text with the places that it concerns.
type Said[T any] struct {
	First  T
	Places []string // the known ones, the first text's before the others
	// Against are the second things, the first text's before the others.
	Against []string
}

// Once joins texts that differ only in place and second thing. It keeps their order.
func Once[T any](all []T, of func(T) Saying) (out []Said[T]) {
	at := map[string]int{}
	for _, one := range all {
		s := of(one)
		i, known := at[s.Text]
		if !known {
			i = len(out)
			at[s.Text], out = i, append(out, Said[T]{First: one})
		}
		out[i].Places = appendNew(out[i].Places, s.Place)
		out[i].Against = appendNew(out[i].Against, s.Against)
	}
	return out
}

func appendNew(all []string, one string) []string {
	if one == "" || slices.Contains(all, one) {
		return all
	}
	return append(all, one)
}

// Also returns a sentence with the places and the second things after the first, or "" if there are no others.
func (s Said[T]) Also() string {
	var parts []string
	if len(s.Places) > 1 {
		parts = append(parts, "in "+listed(s.Places[1:], "place"))
	}
	if len(s.Against) > 1 {
		parts = append(parts, "against "+listed(s.Against[1:], "catalog"))
	}
	if len(parts) == 0 {
		return ""
	}
	return "Also " + strings.Join(parts, "; ") + "."
}

// listed names the first of many.
func listed(names []string, noun string) string {
	const named = 20
	text := strings.Join(names[:min(named, len(names))], ", ")
	if n := len(names) - named; n > 0 {
		text += fmt.Sprintf(" and %d more %ss", n, noun)
	}
	return text
}

// Distinct returns failures with each message and its remedy once.
func Distinct(all []*Error) []Said[*Error] {
	return Once(all, func(e *Error) Saying {
		return Saying{fmt.Sprintf("%d\x00%s\x00%s", e.Code, Without(e.Message, e.Against), e.Remedy), e.Place(), e.Against}
	})
}

// Without returns a text without the name of its second thing, which a colon follows, to compare the text with
// others.
func Without(text, against string) string {
	if against == "" {
		return text
	}
	return strings.Replace(text, " "+against+":", ":", 1)
}
