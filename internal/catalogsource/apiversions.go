package catalogsource

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
)

// The versions of CatalogSource. Stored allows both forms of the spec, Next only the new one.
const (
	Stored = "v1alpha1"
	Next   = "v1alpha2"
)

// keptAnnotation is an annotation on objects of version Next. It holds what only Stored can express.
const keptAnnotation = "olmgraft.github.io/v1alpha1"

// kept is the content of the annotation.
type kept struct {
	Form   Form           `json:"form,omitempty"`   // New: the object in Stored also had that form
	Fields map[string]any `json:"fields,omitempty"` // deprecated fields without a counterpart in the new form
}

// ConvertObject converts a CatalogSource to another version. It returns the object itself if it already has that
// version. Every object that Stored may contain converts, including specs older than the rules, because a cluster
// must be able to read what it stores. Converting there and back returns the same object. An object created as
// Next gets the deprecated form, because every release of OLM reads it.
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
	before, after := takeKept(out), kept{Form: New} // a partial object without a spec fits any form
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

// toNext also converts partial objects for server-side apply. These have no source, or one applier's source next
// to another's; then the source in the new form is the later one.
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

// toStored restores what was kept, unless the spec got another source in the meantime.
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

// takeKept removes the annotation, which does not belong to the user, and returns its content.
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
		return kept{} // a person edited it, so nothing is known
	}
	read := json.NewDecoder(strings.NewReader(text))
	read.UseNumber()
	k = kept{}
	_ = read.Decode(&k) // it parsed before
	k.Fields, _ = whole(k.Fields).(map[string]any)
	return k
}

// whole converts whole numbers to int64, as in objects of API servers.
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
		return fmt.Errorf("storing the fields that %s lacks: %w", Next, err)
	}
	if annotationsSize(object)+len(keptAnnotation)+len(text) > maxAnnotations {
		return nil // an unreadable object is worse than a lost form
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

// maxAnnotations is the API server's limit for all annotation keys and values of an object.
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

// deprecatedFields returns the fields of a spec that Next does not have.
func deprecatedFields() []string {
	names := []string{sourceType, legacyOverrides}
	for _, p := range pairs {
		names = append(names, p.legacy)
	}
	return names
}
