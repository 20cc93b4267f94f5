package catalogsource

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func object(version string, spec any, annotations map[string]any) map[string]any {
	meta := map[string]any{"name": "x", "uid": "u"}
	if annotations != nil {
		meta["annotations"] = annotations
	}
	return map[string]any{"apiVersion": Group + "/" + version, "kind": Kind, "metadata": meta, "spec": spec, "status": map[string]any{"message": "m"}}
}

func convertTo(t *testing.T, o map[string]any, version string) map[string]any {
	t.Helper()
	before := fmt.Sprint(o)
	out, err := ConvertObject(o, Group+"/"+version)
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(o) != before {
		t.Errorf("%s was changed to %v", before, o)
	}
	text, err := json.Marshal(out) // as over the network
	if err != nil {
		t.Fatal(err)
	}
	var again map[string]any
	read := json.NewDecoder(bytes.NewReader(text))
	read.UseNumber()
	if err := read.Decode(&again); err != nil {
		t.Fatal(err)
	}
	whole(again)
	return again
}

var (
	pod  = map[string]any{"tolerations": []any{map[string]any{"key": "a", "tolerationSeconds": int64(3)}}}
	more = map[string]any{"hostNetwork": "legacy", "ratio": 0.5, "n": int64(9)}
)

// Every spec that Stored may contain survives conversion to Next and back: both forms, specs older than the
// rules, and specs that Next cannot express. Only a spec that no cluster can contain, with fields of both forms,
// comes back with one source.
func TestVersionsThereAndBack(t *testing.T) {
	fields := []struct {
		name  string
		value any
	}{
		{"image", "a"}, {"address", "b"}, {"configMap", "c"}, {"grpcPodConfig", pod}, {"grpcPodConfig", more},
		{"catalogImageSource", map[string]any{"catalogImage": "a", "podSpecOverrides": pod}}, {"catalogServiceSource", map[string]any{"address": "b"}}, {"configMapSource", map[string]any{}},
	}
	converted := 0
	for _, kind := range []any{nil, "grpc", "configmap", "configMap", "internal", "other"} {
		for set := range 1 << len(fields) {
			spec := map[string]any{"priority": int64(3)}
			if kind != nil {
				spec["sourceType"] = kind
			}
			old, now := kind != nil, false
			for i, f := range fields {
				if set&(1<<i) != 0 {
					spec[f.name] = f.value
					old, now = old || i < 5, now || i >= 5
				}
			}
			o := object(Stored, spec, map[string]any{"a": "b"})
			next := convertTo(t, o, Next)
			for _, name := range deprecatedFields() {
				if _, ok := next["spec"].(map[string]any)[name]; ok {
					t.Errorf("%v has %s as %s", spec, name, Next)
				}
			}
			back := convertTo(t, next, Stored)
			if old && now {
				continue
			}
			converted++
			if !reflect.DeepEqual(back, o) {
				t.Errorf("%v\nbecame %v\nand %v", o, next, back)
			}
		}
	}
	t.Logf("%d specs", converted)
}

func TestVersions(t *testing.T) {
	for _, c := range []struct{ next, stored map[string]any }{
		{map[string]any{"catalogImageSource": map[string]any{"catalogImage": "a", "podSpecOverrides": pod}}, map[string]any{"sourceType": "grpc", "image": "a", "grpcPodConfig": pod}},
		{map[string]any{"catalogServiceSource": map[string]any{"address": "a"}}, map[string]any{"sourceType": "grpc", "address": "a"}},
		{map[string]any{"configMapSource": map[string]any{"configMap": "a"}}, map[string]any{"sourceType": "configmap", "configMap": "a"}},
	} {
		if got := convertTo(t, object(Next, c.next, nil), Stored); !reflect.DeepEqual(got, object(Stored, c.stored, nil)) {
			t.Errorf("%v became %v", c.next, got)
		}
		if got := convertTo(t, object(Stored, c.stored, nil), Next); !reflect.DeepEqual(got, object(Next, c.next, nil)) {
			t.Errorf("%v became %v", c.stored, got)
		}
	}

	// A value that Next cannot express is kept until the spec changes.
	internal := convertTo(t, object(Stored, map[string]any{"sourceType": "internal", "configMap": "a"}, nil), Next)
	if want := object(Next, map[string]any{"configMapSource": map[string]any{"configMap": "a"}}, map[string]any{keptAnnotation: `{"fields":{"sourceType":"internal"}}`}); !reflect.DeepEqual(internal, want) {
		t.Errorf("got %v", internal)
	}
	internal["spec"] = map[string]any{"catalogImageSource": map[string]any{"catalogImage": "a"}}
	if got, want := convertTo(t, internal, Stored), object(Stored, map[string]any{"sourceType": "grpc", "image": "a"}, nil); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
	two := convertTo(t, object(Stored, map[string]any{"sourceType": "grpc", "image": "a", "address": "b"}, nil), Next)
	two["spec"] = map[string]any{"catalogServiceSource": map[string]any{"address": "b"}}
	if got, want := convertTo(t, two, Stored), object(Stored, map[string]any{"sourceType": "grpc", "address": "b"}, nil); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}

	// Anybody may edit the annotation.
	for _, text := range []string{"", "{", `{"form":3}`, `[]`, `{"fields":{"grpcPodConfig":{"x":1e59999}}}`, `{"fields":{"image":"evil"}}`} {
		got := convertTo(t, object(Next, map[string]any{"configMapSource": map[string]any{"configMap": "a"}}, map[string]any{keptAnnotation: text}), Stored)
		if want := object(Stored, map[string]any{"sourceType": "configmap", "configMap": "a"}, nil); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v", text, got)
		}
	}
	if got := convertTo(t, object(Stored, map[string]any{"sourceType": "grpc", "image": "a"}, map[string]any{keptAnnotation: `{"form":"new"}`}), Next); got["metadata"].(map[string]any)["annotations"] != nil {
		t.Errorf("got %v", got)
	}

	// The annotation cannot add fields that Stored does not have.
	two["metadata"] = map[string]any{"name": "x", "uid": "u", "annotations": map[string]any{
		keptAnnotation: `{"fields":{"image":3,"sourceType":["x"],"address":"b","grpcPodConfig":{"tolerations":[3]},"displayName":{"a":1},"priority":"high"}}`}}
	two["spec"] = map[string]any{"priority": int64(1)}
	if got, want := convertTo(t, two, Stored), object(Stored, map[string]any{"address": "b", "priority": int64(1)}, nil); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
	// If there is no space for the annotation, the form is lost, but the object stays readable.
	full := object(Stored, map[string]any{"configMapSource": map[string]any{"configMap": "a"}}, map[string]any{"a": strings.Repeat("x", maxAnnotations-40)})
	if got := convertTo(t, full, Next); len(got["metadata"].(map[string]any)["annotations"].(map[string]any)) != 1 {
		t.Errorf("there are more annotations than there is room for")
	}

	// Objects without a spec, or with one of the wrong type.
	for _, spec := range []any{nil, "a", []any{}} {
		if got := convertTo(t, object(Stored, spec, nil), Next); !reflect.DeepEqual(got["spec"], spec) {
			t.Errorf("got %v", got)
		}
	}
	for _, o := range []map[string]any{
		{}, {"apiVersion": 3, "kind": Kind}, {"apiVersion": Group + "/v1", "kind": Kind}, {"apiVersion": Group + "/" + Stored, "kind": "Subscription"},
	} {
		if _, err := ConvertObject(o, Group+"/"+Next); err == nil || !strings.Contains(err.Error(), "has no conversion") {
			t.Errorf("%v: %v", o, err)
		}
	}
	if _, err := ConvertObject(object(Stored, nil, nil), Group+"/v2"); err == nil {
		t.Error("there is a v2")
	}
}

// A conversion loses nothing of a spec, unless it names sources in both forms.
func FuzzVersions(f *testing.F) {
	for _, spec := range []string{
		`{}`, `{"sourceType":"grpc","image":"a","grpcPodConfig":{"tolerations":[{"tolerationSeconds":3}]}}`, `{"sourceType":"internal","configMap":"m","priority":1}`,
		`{"catalogImageSource":{"catalogImage":"a","podSpecOverrides":{}},"secrets":["s"]}`, `{"image":"a","address":"b"}`, `{"configMapSource":null}`, `{"sourceType":"grpc","image":"a","grpcPodConfig":{"x":1.5}}`,
	} {
		f.Add(spec)
	}
	f.Fuzz(func(t *testing.T, text string) {
		read := json.NewDecoder(strings.NewReader(text))
		read.UseNumber()
		var spec map[string]any
		var plain any
		if json.Unmarshal([]byte(text), &plain) != nil || read.Decode(&spec) != nil || spec == nil {
			return
		}
		whole(spec)
		var old, now bool
		for _, name := range deprecatedFields() {
			value, there := spec[name]
			old = old || there
			if there && !definition()[Stored].Property("spec").Property(name).Accepts(value) {
				return // an API server stores no such object
			}
		}
		for _, p := range pairs {
			_, there := spec[p.source]
			now = now || there
		}
		o := object(Stored, spec, nil)
		next, err := ConvertObject(o, Group+"/"+Next)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range deprecatedFields() {
			if _, ok := next["spec"].(map[string]any)[name]; ok {
				t.Fatalf("%v has %s", next, name)
			}
		}
		back, err := ConvertObject(next, Group+"/"+Stored)
		was, _ := json.Marshal(o)
		is, _ := json.Marshal(back) // JSON does not distinguish 1e5 from 100000
		if err != nil || (!old || !now) && !bytes.Equal(is, was) {
			t.Fatalf("%v\nbecame %v\nand %v, %v", o, next, back, err)
		}
	})
}
