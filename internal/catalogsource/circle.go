package catalogsource

import (
	"fmt"
	"regexp"
)

// Follow returns Objects that let a CatalogSource, NAMESPACE/NAME, look up other CatalogSources without allowing
// cycles:
//
//  1. It may read fields that no one sets because of a template, from any CatalogSource including
//     itself.
//  2. It may read image and status of those that do not read image or status of CatalogSources.
func Follow(self string, objects Objects) Objects {
	return func(l Lookup) (any, error) {
		object, err := objects(l)
		if err != nil || !l.readsWritten() {
			return object, err
		}
		found, _ := object.(map[string]any)
		meta, _ := found["metadata"].(map[string]any)
		name := fmt.Sprintf("%v/%v", meta["namespace"], meta["name"])
		if name == self {
			return nil, fmt.Errorf("this template changes %s, so a lookup of %s there never settles", name, l.JSONPath)
		}
		annotations, _ := meta["annotations"].(map[string]any)
		for _, key := range templateKeys {
			reference, _ := annotations[key].(string)
			for _, p := range Parse(reference) {
				if p.Template != nil && p.Template.Lookup.readsWritten() {
					return nil, fmt.Errorf("%s also looks up a CatalogSource, so the two could change each other without end", name)
				}
			}
		}
		return object, nil
	}
}

// unwritten matches paths that neither the controller nor OLM writes.
var unwritten = regexp.MustCompile(`^\{[$@]?\.(metadata\.(name|namespace|uid|labels|annotations)|` +
	`spec\.(address|configMap|catalogServiceSource|configMapSource|description|displayName|priority|publisher|sourceType|updateStrategy))([.\[][^{}]*)?\}$`)

func (l Lookup) readsWritten() bool {
	return l.Group == Group && l.Kind == Kind && !unwritten.MatchString(l.JSONPath)
}
