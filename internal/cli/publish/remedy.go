package publish

import (
	"regexp"
	"slices"
	"strings"
)

var (
	flagNamed = regexp.MustCompile(`--([a-z][a-z-]*)(?: (refuse|replace|[A-Z]+(?:/[A-Z]+)*)\b)?`)
	clauseEnd = regexp.MustCompile(`[.:,;]\s| or `)
	verbNamed = regexp.MustCompile(`\bgraft [a-z]`)
)

// asInputs names the inputs of the action in a remedy that names flags of graft publish. It leaves the flags of
// other verbs alone, which follow the verb in the same clause.
func asInputs(remedy string) string {
	for _, at := range slices.Backward(flagNamed.FindAllStringSubmatchIndex(remedy, -1)) {
		before, name := remedy[:at[0]], remedy[at[2]:at[3]]
		if ends := clauseEnd.FindAllStringIndex(before, -1); len(ends) > 0 {
			before = before[ends[len(ends)-1][1]:]
		}
		i := slices.IndexFunc(Inputs, func(in Input) bool { return in.Name == name })
		if i < 0 || verbNamed.MatchString(before) {
			continue
		}
		input, end := "the input "+name, at[3]
		switch {
		case at[4] >= 0:
			input, end = name+": "+remedy[at[4]:at[5]], at[5]
		case Inputs[i].Boolean && !strings.HasSuffix(before, "eave out "):
			input = name + ": true"
		}
		remedy = remedy[:at[0]] + input + remedy[end:]
	}
	return remedy
}
