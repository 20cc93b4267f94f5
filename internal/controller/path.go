package controller

import (
	"fmt"

	"k8s.io/client-go/util/jsonpath"

	"github.com/olmgraft/graft/internal/catalogsource"
)

// Path evaluates JSONPath by client-go's library. Each {} must give one plain value.
func Path(object any, expression string) (value string, err error) {
	defer func() {
		if bug := recover(); bug != nil { // the expression is a stranger's, the library large
			value, err = "", fmt.Errorf("evaluating %s: %v", expression, bug)
		}
	}()
	j := jsonpath.New("template")
	if err := j.Parse(expression); err != nil {
		return "", fmt.Errorf("reading %s: %w", expression, err)
	}
	results, err := j.FindResults(object)
	if err != nil {
		return "", fmt.Errorf("evaluating %s: %w", expression, err)
	}
	for _, one := range results {
		if len(one) != 1 {
			return "", fmt.Errorf("evaluating %s: it gives %d values, and one is due", expression, len(one))
		}
		plain, err := catalogsource.Plain(one[0].Interface())
		if err != nil {
			return "", fmt.Errorf("evaluating %s: %w", expression, err)
		}
		value += plain
	}
	return value, nil
}
