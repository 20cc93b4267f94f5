package publish

import (
	"regexp"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
)

var (
	flagRead  = regexp.MustCompile(`^reading the command line: --([a-z-]+)`)
	flagNamed = regexp.MustCompile(`--([a-z][a-z-]*)(?: (refuse|replace|[A-Z]+(?:/[A-Z]+)*)\b)?`)
	clauseEnd = regexp.MustCompile(`[.:,;]\s| or `)
	verbNamed = regexp.MustCompile(`\bgraft [a-z]`)
)

// nameInputs makes failures name the inputs of the action, if it has any, where they name flags of graft publish. A
// step that runs graft publish itself gives flags.
func (p *publishing) nameInputs(failures []*failure.Error) {
	if p.action == nil || !slices.ContainsFunc(Inputs, func(in Input) bool { return p.action.Input(in.Name) != "" }) {
		return
	}
	for _, f := range failures {
		f.Message = flagRead.ReplaceAllString(f.Message, "reading the inputs: $1")
		f.Remedy = asInputs(f.Remedy)
	}
}

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
