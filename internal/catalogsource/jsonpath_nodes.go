package catalogsource

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// pathNode is one step of an expression. On failure it still returns the values that client-go returns, because a
// filter that tests for existence uses them.
type pathNode interface {
	eval(e *evaluation, in []any) ([]any, error)
}

type (
	steps    []pathNode // each works on the results of the previous one
	literal  struct{ value any }
	fieldOf  string
	wildcard struct{}
	descent  struct{}
	union    []steps
	word     string // range, end, or an unknown word
	slice    [3]bound
	filter   struct {
		left, right steps
		operator    string // "" tests whether left exists
	}
)

// bound is a part of a slice: first, end or step.
type bound struct {
	value   int
	known   bool
	derived bool // the end of an index
}

func (s steps) eval(e *evaluation, in []any) (out []any, err error) {
	out = in
	for _, n := range s {
		if out, err = e.walk(out, n); err != nil {
			return out, err
		}
	}
	return out, nil
}

func (l literal) eval(_ *evaluation, in []any) ([]any, error) {
	if _, text := l.value.(string); text {
		return []any{l.value}, nil
	}
	return slices.Repeat([]any{l.value}, len(in)), nil
}

func (f fieldOf) eval(_ *evaluation, in []any) (out []any, err error) {
	for _, one := range in {
		if m, ok := one.(map[string]any); ok {
			if v, ok := m[string(f)]; ok {
				out = append(out, v)
			}
		}
	}
	if len(out) == 0 && len(in) > 0 {
		return out, fmt.Errorf("%s is not found", string(f))
	}
	return out, nil
}

func (wildcard) eval(e *evaluation, in []any) (out []any, err error) {
	for _, one := range in {
		if _, text := one.(string); text {
			return nil, errors.New("a string has no parts for a wildcard")
		}
		below, err := e.parts(one)
		if err != nil {
			return nil, err
		}
		out = append(out, below...)
	}
	return out, nil
}

// parts returns the items of a list, or the values of a mapping in the order of keys.
func (e *evaluation) parts(v any) ([]any, error) {
	switch v := v.(type) {
	case []any:
		return v, e.spend(len(v))
	case map[string]any:
		text := 0
		for key := range v {
			text += len(key)
		}
		if err := errors.Join(e.spend(len(v)), e.read(text)); err != nil {
			return nil, err
		}
		below := make([]any, 0, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			below = append(below, v[key])
		}
		return below, nil
	}
	return nil, nil
}

// eval returns all values with parts, from the outside in. Here strings have parts.
func (d descent) eval(e *evaluation, in []any) (out []any, err error) {
	for _, one := range in {
		if s, text := one.(string); text && s != "" {
			out = append(out, one)
			continue
		}
		below, err := e.parts(one)
		if err != nil {
			return nil, err
		}
		if len(below) == 0 {
			continue
		}
		deeper, err := d.eval(e, below)
		if err != nil {
			return nil, err
		}
		out = append(append(out, one), deeper...)
		if err := e.spend(len(deeper)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (u union) eval(e *evaluation, in []any) (out []any, err error) {
	for _, one := range u {
		some, err := one.eval(e, in)
		if err != nil {
			return in, err
		}
		out = append(out, some...)
	}
	return out, nil
}

func (w word) eval(e *evaluation, in []any) ([]any, error) {
	switch {
	case w == "range":
		e.begin++
		return in, nil
	case w == "end" && e.in == 0:
		return nil, errors.New("end without a range")
	case w == "end":
		e.end++
		return nil, nil
	}
	return in, fmt.Errorf("%s is unknown; the words are range, end, true and false", string(w))
}

func (s slice) eval(e *evaluation, in []any) (out []any, err error) {
	for _, one := range in {
		if one == nil {
			continue
		}
		list, ok := one.([]any)
		if !ok {
			return in, errors.New("only a list has items")
		}
		from, to := s[0].value, len(list)
		if from < 0 {
			from += len(list)
		}
		if s[1].known {
			to = s[1].value
		}
		if to < 0 || to == 0 && s[1].derived {
			to += len(list)
		}
		if from == to {
			return out, nil // like client-go, which skips the remaining lists
		}
		if from < 0 || from >= len(list) || to < from || to > len(list) {
			return in, fmt.Errorf("items %d to %d are not in a list of %d", from, to-1, len(list))
		}
		step := 1
		if s[2].known {
			step = s[2].value
		}
		if step <= 0 {
			return in, errors.New("the step of a slice must be 1 or more")
		}
		if err := e.spend((to - from) / step); err != nil {
			return nil, err
		}
		for i := from; i < to; i += step {
			out = append(out, list[i])
		}
	}
	return out, nil
}

func (f filter) eval(e *evaluation, in []any) (out []any, err error) {
	for _, one := range in {
		list, ok := one.([]any)
		if !ok {
			return in, errors.New("only a list can be filtered")
		}
		for _, item := range list {
			pass, err := f.passes(e, item)
			if err != nil {
				return in, err
			}
			if pass {
				out = append(out, item)
			}
		}
	}
	return out, nil
}

func (f filter) passes(e *evaluation, item any) (bool, error) {
	lefts, err := e.walk([]any{item}, f.left)
	if errors.Is(err, errSpent) {
		return false, err
	}
	if f.operator == "" {
		return len(lefts) > 0, nil
	}
	if err != nil || len(lefts) == 0 {
		return false, err
	}
	rights := []any(nil)
	if len(lefts) == 1 {
		if rights, err = e.walk([]any{item}, f.right); err != nil || len(rights) == 0 {
			return false, err
		}
	}
	if len(rights) != 1 {
		return false, errors.New("a filter must compare one value with one other")
	}
	l, _ := lefts[0].(string)
	r, _ := rights[0].(string)
	if err := e.read(min(len(l), len(r))); err != nil {
		return false, err
	}
	return compare(lefts[0], f.operator, rights[0])
}

// compare compares values of the same kind. Booleans have no order.
func compare(left any, operator string, right any) (bool, error) {
	var order int
	var kind bool
	switch l := asInt(left).(type) {
	case string:
		r, ok := right.(string)
		order, kind = cmp.Compare(l, r), ok
	case int64:
		r, ok := asInt(right).(int64)
		order, kind = cmp.Compare(l, r), ok
	case float64:
		r, ok := right.(float64)
		order, kind = cmp.Compare(l, r), ok
	case bool:
		r, ok := right.(bool)
		kind = ok && (operator == "==" || operator == "!=")
		if l != r {
			order = 1
		}
	}
	if !kind {
		return false, fmt.Errorf("a filter cannot compare %T %s %T; both must have one type", left, operator, right)
	}
	switch operator {
	case "==":
		return order == 0, nil
	case "!=":
		return order != 0, nil
	case "<":
		return order < 0, nil
	case "<=":
		return order <= 0, nil
	case ">":
		return order > 0, nil
	case ">=":
		return order >= 0, nil
	}
	return false, fmt.Errorf("a filter has no operator %s", operator)
}

func asInt(v any) any {
	if i, ok := v.(int); ok {
		return int64(i)
	}
	return v
}
