package catalogsource

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/olmgraft/graft/internal/budget"
)

// JSONPath evaluates an expression in client-go's dialect, which kubectl uses: text and {} with fields, quoted
// keys, indexes, slices, wildcards, recursive descent, unions, filters, literals, range and end. It differs where
// client-go's result is useless for an image or not deterministic:
//
//  1. Each {} yields one string, number or boolean; anything else is an error.
//  2. Keys of mappings are visited in sorted order.
//  3. A wildcard on a string is an error; client-go splits the string into bytes.
//  4. Exceeding the template's budget of size, cost or time is an error.
//
// JSONPath is a Path.
func JSONPath(object any, expression string) (string, error) {
	return evaluate(object, expression, time.Now)
}

func evaluate(object any, expression string, now func() time.Time) (string, error) {
	if len(expression) > budget.TemplatePath {
		return "", fmt.Errorf("reading %.40s...: it is longer than %d bytes", expression, budget.TemplatePath)
	}
	if TooLarge(object) {
		return "", fmt.Errorf("evaluating %s: %w", expression, ErrTooLarge)
	}
	parsed, err := parsePath(expression)
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", expression, err)
	}
	e := evaluation{nodes: parsed, lastEnd: -1, now: now, begun: now()}
	results, err := e.find(object, 0)
	if err != nil {
		return "", fmt.Errorf("evaluating %s: %w", expression, err)
	}
	var out strings.Builder
	for _, one := range results {
		if len(one) != 1 {
			return "", fmt.Errorf("evaluating %s: it gives %d values, want one", expression, len(one))
		}
		text, err := Plain(one[0])
		if err == nil && out.Len()+len(text) > budget.TemplateValue {
			err = fmt.Errorf("it comes to more than %d bytes", budget.TemplateValue)
		}
		if err != nil {
			return "", fmt.Errorf("evaluating %s: %w", expression, err)
		}
		out.WriteString(text)
	}
	return out.String(), nil
}

// Plain returns the text of a string, number or boolean. Anything else is an error.
func Plain(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case bool, int, int64, float64:
		return fmt.Sprint(v), nil
	case nil, nothing:
		return "", errors.New("it is null")
	case []any:
		return "", errors.New("it is a list, not a plain value")
	}
	return "", errors.New("it is a mapping, not a plain value")
}

// evaluation walks the texts and actions of an expression. It counts open ranges, because ranges begin and end
// between actions.
type evaluation struct {
	nodes []pathNode // texts, and one steps for each {}
	cost  int
	now   func() time.Time
	begun time.Time
	looks int // number of looks at the clock

	begin, in, end int // ranges that are about to begin, are open, are about to end
	lastEnd        int // last node that ended a range; -1 before that
}

// nothing replaces null as a whole object, and the value of an empty range.
type nothing struct{}

// find returns the values of each node from an index on, for one object.
func (e *evaluation) find(object any, from int) (all [][]any, err error) {
	if object == nil {
		object = nothing{}
	}
	for i := from; i < len(e.nodes); i++ {
		results, err := e.walk([]any{object}, e.nodes[i])
		if err != nil {
			return nil, err
		}
		if e.end > 0 && e.end <= e.in {
			e.end--
			e.lastEnd = i
			break
		}
		if e.begin == 0 {
			all = append(all, results)
			continue
		}
		e.begin--
		e.in++
		inner, err := e.loop(results, i+1)
		if err != nil {
			return nil, err
		}
		all = append(all, inner...)
		e.in--
		i = max(i, e.lastEnd)
	}
	return all, nil
}

// loop walks the content of a range for each of its values. It also walks an empty range, to find its end.
func (e *evaluation) loop(over []any, from int) (all [][]any, err error) {
	if len(over) == 0 {
		_, err := e.find(nil, from)
		return nil, err
	}
	for _, one := range over {
		inner, err := e.find(one, from)
		if err != nil {
			return nil, err
		}
		all = append(all, inner...)
	}
	return all, nil
}

// walk evaluates one node and counts the cost.
func (e *evaluation) walk(in []any, n pathNode) ([]any, error) {
	if err := e.spend(1 + len(in)); err != nil {
		return nil, err
	}
	return n.eval(e, in)
}

// errSpent stops an evaluation, even inside filters.
var errSpent = errors.New("it costs too much")

// spend counts visited values, and looks at the clock from time to time.
func (e *evaluation) spend(n int) error {
	const atOnce = 1000
	if e.cost += n; e.cost > budget.TemplateSteps {
		return fmt.Errorf("%w: it looks at more than %d values", errSpent, budget.TemplateSteps)
	}
	if e.cost/atOnce > e.looks {
		e.looks = e.cost / atOnce
		if e.now().Sub(e.begun) > budget.TemplateSeconds*time.Second {
			return fmt.Errorf("%w: it takes longer than %d s", errSpent, budget.TemplateSeconds)
		}
	}
	return nil
}

// read counts the text of comparisons.
func (e *evaluation) read(bytes int) error { return e.spend(bytes / 64) }

// ErrTooLarge is the error for an object that is too large to evaluate.
var ErrTooLarge = fmt.Errorf("the object is larger than %d MiB", budget.TemplateObject>>20)

// TooLarge reports whether an object is too large. It stops measuring at the limit.
func TooLarge(object any) bool { return left(object, budget.TemplateObject) < 0 }

// left returns the rest of size after subtracting a value.
func left(v any, size int) int {
	switch v := v.(type) {
	case map[string]any:
		size -= len("{}")
		for key, value := range v {
			if size -= len(key) + len(`"":,`); size < 0 {
				return size
			}
			size = left(value, size)
		}
		return size
	case []any:
		size -= len("[]")
		for _, value := range v {
			if size < 0 {
				return size
			}
			size = left(value, size-len(","))
		}
		return size
	case string:
		return size - len(v) - len(`""`)
	case int64:
		return size - len(strconv.AppendInt(make([]byte, 0, 24), v, 10))
	case float64:
		return size - len(strconv.AppendFloat(make([]byte, 0, 32), v, 'g', -1, 64))
	}
	return size - len("true")
}
