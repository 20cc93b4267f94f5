package catalogsource

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
)

// The versions of CatalogSource: Stored has both forms of the spec, Next the new one alone.
const (
	Stored = "v1alpha1"
	Next   = "v1alpha2"
)

// keptAnnotation holds, on an object of the version Next, what that cannot say and Stored
// said.
const keptAnnotation = "olmgraft.github.io/v1alpha1"

// kept is what the annotation holds.
type kept struct {
	Form   Form           `json:"form,omitempty"`   // New: Stored had that form as well
	Fields map[string]any `json:"fields,omitempty"` // deprecated ones that no field of the new form means
}

// ConvertObject is a CatalogSource in another version, the object itself where it has that
// one. Each object that Stored may hold converts, a spec of before the rules as well, since a
// cluster must be able to read what it holds; there and back is the same object. An object
// made as Next becomes the deprecated form: every release of OLM reads that one.
func ConvertObject(object map[string]any, to string) (map[string]any, error) {
	from := fmt.Sprint(object["apiVersion"])
	known := from == Group+"/"+Stored || from == Group+"/"+Next
	if !known || to != Group+"/"+Stored && to != Group+"/"+Next || object["kind"] != Kind {
		return nil, fmt.Errorf("%v of %s has no conversion to %s", object["kind"], from, to)
	}
	if from == to {
		return object, nil
	}
	out := maps.Clone(object)
	out["apiVersion"] = to
	before, after := takeKept(out), kept{Form: New} // a piece without a spec belongs to any form
	spec, ok := object["spec"].(map[string]any)
	if to == Group+"/"+Stored {
		if ok {
			out["spec"] = toStored(spec, before)
		}
		return out, nil
	}
	if ok {
		out["spec"], after = toNext(spec)
	}
	return out, putKept(out, after)
}

// toNext is given pieces as well, which server-side apply converts: without a source, or
// with that of one applier beside that of another. The one that Next has is the later one.
func toNext(spec map[string]any) (map[string]any, kept) {
	rest, fields := maps.Clone(spec), map[string]any{}
	for _, name := range deprecatedFields() {
		if value, ok := rest[name]; ok {
			fields[name] = value
			delete(rest, name)
		}
	}
	if _, form, err := sourceOf(rest); err == nil && form == New || len(fields) == 0 {
		return rest, kept{Form: New}
	}
	if same := maps.Clone(spec); spec[sourceType] == internalType || spec[sourceType] == proposedType {
		same[sourceType] = "configmap"
		if converted, err := ConvertSpec(same, New); err == nil {
			return converted, kept{Fields: map[string]any{sourceType: spec[sourceType]}}
		}
	} else if converted, err := ConvertSpec(spec, New); err == nil {
		return converted, kept{}
	}
	return rest, kept{Fields: fields}
}

// toStored brings back what was kept, unless the spec was given a source meanwhile.
func toStored(spec map[string]any, before kept) map[string]any {
	converted, err := ConvertSpec(spec, Legacy)
	switch {
	case err == nil && before.Form == New:
		return spec
	case err != nil && len(before.Fields) > 0:
		converted = maps.Clone(spec)
		for _, name := range deprecatedFields() {
			if value, ok := before.Fields[name]; ok && definition()[Stored].Property("spec").Property(name).Accepts(value) {
				converted[name] = value
			}
		}
		return converted
	case err != nil:
		return spec
	case converted["configMap"] != nil && (before.Fields[sourceType] == internalType || before.Fields[sourceType] == proposedType):
		converted[sourceType] = before.Fields[sourceType]
	}
	return converted
}

// takeKept removes the annotation, which is not the user's, and gives what it held.
func takeKept(object map[string]any) (k kept) {
	meta, _ := object["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	text, ok := annotations[keptAnnotation].(string)
	if !ok {
		return kept{}
	}
	meta, annotations = maps.Clone(meta), maps.Clone(annotations)
	delete(annotations, keptAnnotation)
	meta["annotations"] = annotations
	if len(annotations) == 0 {
		delete(meta, "annotations")
	}
	object["metadata"] = meta
	if json.Unmarshal([]byte(text), &k) != nil {
		return kept{} // edited by somebody: then nothing is known
	}
	read := json.NewDecoder(strings.NewReader(text))
	read.UseNumber()
	k = kept{}
	_ = read.Decode(&k) // it was read once
	k.Fields, _ = whole(k.Fields).(map[string]any)
	return k
}

// whole has whole numbers as int64, as the objects of API servers do.
func whole(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			v[key] = whole(value)
		}
	case []any:
		for i, value := range v {
			v[i] = whole(value)
		}
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i
		}
		f, _ := v.Float64() // the decoder has read it as a number
		return f
	}
	return v
}

func putKept(object map[string]any, k kept) error {
	if k.Form == "" && len(k.Fields) == 0 {
		return nil
	}
	text, err := json.Marshal(k)
	if err != nil {
		return fmt.Errorf("keeping what %s cannot say: %w", Next, err)
	}
	if annotationsSize(object)+len(keptAnnotation)+len(text) > maxAnnotations {
		return nil // an object that cannot be read is worse than a form that is forgotten
	}
	meta, _ := object["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	meta, annotations = maps.Clone(meta), maps.Clone(annotations)
	if meta == nil {
		meta = map[string]any{}
	}
	if annotations == nil {
		annotations = map[string]any{}
	}
	annotations[keptAnnotation] = string(text)
	meta["annotations"] = annotations
	object["metadata"] = meta
	return nil
}

// maxAnnotations is what API servers take, keys and values of an object together.
const maxAnnotations = 256 << 10

func annotationsSize(object map[string]any) (size int) {
	meta, _ := object["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	for key, value := range annotations {
		text, _ := value.(string)
		size += len(key) + len(text)
	}
	return size
}

// deprecatedFields are those of a spec that Next has not.
func deprecatedFields() []string {
	names := []string{sourceType, legacyOverrides}
	for _, p := range pairs {
		names = append(names, p.legacy)
	}
	return names
}
