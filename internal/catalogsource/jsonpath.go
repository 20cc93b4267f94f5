package catalogsource

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// MaxPath bounds an expression; a template has no use for a longer one.
const MaxPath = 1024

// FieldPath evaluates the part of client-go's JSONPath that names one value: text and
// {} with, from the root ($, @ or nothing), fields (.a, .a\.b), quoted keys (['a\.b']) and
// indexes ([0], [-1]). What it gives is what client-go gives; wildcards, slices, unions,
// filters, ranges and literals are refused. It is a Path.
func FieldPath(object any, expression string) (string, error) {
	if len(expression) > MaxPath {
		return "", fmt.Errorf("reading %s: it is longer than %d", expression, MaxPath)
	}
	var out strings.Builder
	for rest := expression; rest != ""; {
		text, after, found := strings.Cut(rest, "{")
		out.WriteString(text)
		if !found {
			break
		}
		value, next, err := evaluate(object, after)
		if err != nil {
			return "", fmt.Errorf("evaluating %s: %w", expression, err)
		}
		out.WriteString(value)
		rest = next
	}
	return out.String(), nil
}

var (
	fieldStep = regexp.MustCompile(`^\.((?:\\.|[^\s.,\[\]$@{}\\])+)`)
	quoteStep = regexp.MustCompile(`^\['((?:\\.|[^\s,\[\]$@{}\\'"])+)'\]`)
	indexStep = regexp.MustCompile(`^\[(-?[0-9]{1,9})\]`)
	rootStep  = regexp.MustCompile(`^[$@]`)
)

// evaluate follows one action up to its closing brace.
func evaluate(at any, action string) (value, rest string, err error) {
	for rest = rootStep.ReplaceAllString(action, ""); ; {
		if after, ok := strings.CutPrefix(rest, "}"); ok {
			value, err = Plain(at)
			return value, after, err
		}
		if m := fieldStep.FindStringSubmatch(rest); m != nil && m[1] != "*" {
			at, err = member(at, strings.ReplaceAll(m[1], `\`, ""))
			rest = rest[len(m[0]):]
		} else if m := quoteStep.FindStringSubmatch(rest); m != nil && m[1] != "*" {
			// As client-go has it, a dot within the quotes is a step unless it is escaped.
			rest = "." + m[1] + rest[len(m[0]):]
		} else if m := indexStep.FindStringSubmatch(rest); m != nil {
			at, err = item(at, m[1])
			rest = rest[len(m[0]):]
		} else {
			return "", "", fmt.Errorf("%q is more than fields, quoted keys and indexes, all that is known without a cluster", rest)
		}
		if err != nil {
			return "", "", err
		}
	}
}

func member(of any, key string) (any, error) {
	if m, ok := of.(map[string]any); ok {
		if v, ok := m[key]; ok {
			return v, nil
		}
	}
	return nil, fmt.Errorf("%s is not found", key)
}

func item(of any, index string) (any, error) {
	list, ok := of.([]any)
	if !ok {
		return nil, fmt.Errorf("[%s] asks for an item of something that is no list", index)
	}
	i, err := strconv.Atoi(index)
	if err != nil {
		return nil, err
	}
	if i < 0 {
		i += len(list)
	}
	if i < 0 || i >= len(list) {
		return nil, fmt.Errorf("[%s] asks for an item of a list of %d", index, len(list))
	}
	return list[i], nil
}

// Plain is the text of a string, number or boolean; anything else is an error.
func Plain(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case bool, int, int64, float64:
		return fmt.Sprint(v), nil
	case nil:
		return "", fmt.Errorf("it is null")
	case []any:
		return "", fmt.Errorf("it is a list, not a plain value")
	}
	return "", fmt.Errorf("it is a mapping, not a plain value")
}
