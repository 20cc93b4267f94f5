package catalogsource

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Form is one of the two forms of a spec.
type Form string

// The forms of a spec: each source in its own structure, or in deprecated fields.
const (
	New    Form = "new"
	Legacy Form = "legacy"
)

// ConvertSpec returns a spec in another form, or the spec itself if it already has that form. It fails if the
// form cannot express the spec, or if the spec does not have exactly one source. Converting there and back
// returns the same spec. ConvertSpec does not modify spec.
func ConvertSpec(spec map[string]any, to Form) (map[string]any, error) {
	p, from, err := sourceOf(spec)
	if err != nil || from == to {
		return spec, err
	}
	out := maps.Clone(spec)
	if to == New {
		return out, p.toNew(out)
	}
	return out, p.toLegacy(out)
}

// ImageField returns the path of the spec's image field, which may be missing. It returns nil if the spec has
// another kind of source.
func ImageField(spec map[string]any) []string {
	if _, ok := spec["catalogImageSource"]; ok {
		return []string{"catalogImageSource", "catalogImage"}
	}
	for _, other := range otherSources() {
		if _, ok := spec[other]; ok {
			return nil
		}
	}
	return []string{"image"}
}

// sourceOf returns the only source that a spec names, and its form.
func sourceOf(spec map[string]any) (pair, Form, error) {
	var found []pair
	var forms []Form
	for _, p := range pairs {
		if _, ok := spec[p.source]; ok {
			found, forms = append(found, p), append(forms, New)
		}
		if _, ok := spec[p.legacy]; ok {
			found, forms = append(found, p), append(forms, Legacy)
		}
	}
	if len(found) != 1 {
		return pair{}, "", fmt.Errorf("spec names %d sources, want one", len(found))
	}
	if forms[0] == New {
		for _, old := range []string{sourceType, legacyOverrides} {
			if _, ok := spec[old]; ok {
				return pair{}, "", fmt.Errorf("%s conflicts with %s", old, found[0].source)
			}
		}
	}
	return found[0], forms[0], nil
}

func (p pair) toNew(spec map[string]any) error {
	if spec[sourceType] == nil {
		return fmt.Errorf("%s needs sourceType", p.legacy)
	}
	if spec[sourceType] != p.sourceType && (p.sourceType != "configmap" || spec[sourceType] != proposedType) {
		return fmt.Errorf("%s cannot express sourceType %v, only sourceType %s", p.source, spec[sourceType], p.sourceType)
	}
	in := map[string]any{p.field: spec[p.legacy]}
	if pod, ok := spec[legacyOverrides]; ok {
		if p.legacy != "image" {
			return fmt.Errorf("%s does not have %s", p.source, legacyOverrides)
		}
		if err := onlyOverrides(pod); err != nil {
			return err
		}
		in[overrides] = pod
	}
	delete(spec, sourceType)
	delete(spec, p.legacy)
	delete(spec, legacyOverrides)
	spec[p.source] = in
	return nil
}

func (p pair) toLegacy(spec map[string]any) error {
	in, ok := spec[p.source].(map[string]any)
	if !ok {
		return fmt.Errorf("%s is not a mapping", p.source)
	}
	if _, ok := in[p.field]; !ok {
		return fmt.Errorf("%s has no %s", p.source, p.field)
	}
	for key, value := range in {
		switch {
		case key == p.field:
			spec[p.legacy] = value
		case key == overrides && p.legacy == "image":
			if err := onlyOverrides(value); err != nil {
				return err
			}
			spec[legacyOverrides] = value
		default:
			return fmt.Errorf("no deprecated field is the same as %s.%s", p.source, key)
		}
	}
	delete(spec, p.source)
	spec[sourceType] = p.sourceType
	return nil
}

// podFields are the fields for an image's pod that both forms have.
var podFields = []string{"affinity", "extractContent", "memoryTarget", "nodeSelector", "priorityClassName", "securityContextConfig", "tolerations"}

// onlyOverrides refuses fields that the schema of the other form would drop.
func onlyOverrides(pod any) error {
	m, ok := pod.(map[string]any)
	if !ok {
		return fmt.Errorf("%s is not a mapping", legacyOverrides)
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(podFields, key) {
			return fmt.Errorf("%s and %s do not have %s, only %s", overrides, legacyOverrides, key, strings.Join(podFields, ", "))
		}
	}
	return nil
}
