package catalogsource

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/olmgraft/graft/internal/budget"
)

// JSONPath evaluates an expression as client-go does, whose dialect is that of kubectl:
// text and {} with fields, quoted keys, indexes, slices, wildcards, recursive descent,
// unions, filters, literals, range and end. It differs where client-go's answer is of no use
// for an image, or is not the same each time:
//
//  1. Each {} gives one string, number or boolean; anything else is an error.
//  2. Keys of mappings are visited in their order.
//  3. A wildcard has no meaning for a string, which client-go takes apart into bytes.
//  4. What is larger, costs more or takes longer than the budget of a template is an error.
//
// It is a Path.
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

// Plain is the text of a string, number or boolean; anything else is an error.
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

// evaluation walks the texts and actions of an expression. Ranges begin and end between
// actions, so that those that are open are counted here.
type evaluation struct {
	nodes []pathNode // texts, and a steps for each {}
	cost  int
	now   func() time.Time
	begun time.Time
	looks int // at the clock

	begin, in, end int // ranges that are to begin, are open, are to end
	lastEnd        int // the node that ended one last, -1 before
}

// nothing is what a range over nothing is walked with, and what null is as a whole object.
type nothing struct{}

// find gives the values of each node from one on, upon one object.
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

// loop walks what is in a range for each of its values. A range over nothing is walked as
// well, for its end.
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

// walk evaluates one node, and counts what that costs.
func (e *evaluation) walk(in []any, n pathNode) ([]any, error) {
	if err := e.spend(1 + len(in)); err != nil {
		return nil, err
	}
	return n.eval(e, in)
}

// errSpent is why an evaluation is not gone on with, within filters too.
var errSpent = errors.New("it costs too much")

// spend counts values that are looked at, and looks at the clock now and then.
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

// read counts text that is compared.
func (e *evaluation) read(bytes int) error { return e.spend(bytes / 64) }

// ErrTooLarge says of an object that it is not looked at.
var ErrTooLarge = fmt.Errorf("the object is larger than %d MiB", budget.TemplateObject>>20)

// TooLarge reports whether an object is refused for its size, which it does not measure beyond.
func TooLarge(object any) bool { return left(object, budget.TemplateObject) < 0 }

// left is what a value leaves of a size.
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
