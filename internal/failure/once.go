package failure

import (
	"fmt"
	"slices"
	"strings"
)

// Said is what is said once, with the places that it concerns.
type Said[T any] struct {
	First  T
	Places []string // those that are known, that of the first before the others
}

// Once joins what differs in nothing but its place, in the order in which it came.
func Once[T any](all []T, of func(T) (text, place string)) (out []Said[T]) {
	at := map[string]int{}
	for _, one := range all {
		text, place := of(one)
		i, known := at[text]
		if !known {
			i = len(out)
			at[text], out = i, append(out, Said[T]{First: one})
		}
		if place != "" && !slices.Contains(out[i].Places, place) {
			out[i].Places = append(out[i].Places, place)
		}
	}
	return out
}

// Also is a sentence that names the places after the first one, "" where there is none. Of many it
// names some.
func (s Said[T]) Also() string {
	const named = 20
	if len(s.Places) < 2 {
		return ""
	}
	others := s.Places[1:]
	text := "Also in " + strings.Join(others[:min(named, len(others))], ", ")
	if n := len(others) - named; n > 0 {
		text += fmt.Sprintf(" and %d more places", n)
	}
	return text + "."
}

// Distinct are failures, each message with its remedy once.
func Distinct(all []*Error) []Said[*Error] {
	return Once(all, func(e *Error) (text, place string) {
		return fmt.Sprintf("%d\x00%s\x00%s", e.Code, e.Message, e.Remedy), e.Place()
	})
}
