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
	if err := affordable(expression); err != nil {
		return "", fmt.Errorf("reading %s: %w", expression, err)
	}
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

const maxFilters = 4

// affordable refuses what costs more than the object is large: unions and ranges, which
// multiply and end in several values anyway, and more than one recursive descent.
func affordable(expression string) error {
	if len(expression) > catalogsource.MaxPath {
		return fmt.Errorf("it is longer than %d", catalogsource.MaxPath)
	}
	parsed, err := jsonpath.Parse("template", expression)
	if err != nil {
		return err
	}
	descents, filters := 0, 0
	var look func(jsonpath.Node) error
	look = func(n jsonpath.Node) error {
		var below []jsonpath.Node
		switch n := n.(type) {
		case *jsonpath.ListNode:
			below = n.Nodes
		case *jsonpath.FilterNode:
			filters++
			below = []jsonpath.Node{n.Left, n.Right}
		case *jsonpath.RecursiveNode:
			descents++
		case *jsonpath.UnionNode, *jsonpath.IdentifierNode:
			return fmt.Errorf("%s gives several values, and one is due", n)
		}
		for _, one := range below {
			if err := look(one); err != nil {
				return err
			}
		}
		return nil
	}
	if err := look(parsed.Root); err != nil {
		return err
	}
	if descents > 1 || filters > maxFilters {
		return fmt.Errorf("it descends %d times and filters %d times, and may once and %d times", descents, filters, maxFilters)
	}
	return nil
}
