package graph

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/testkit/effort"
)

// metadata has the types into which opm decodes an olm.csv.metadata.
type metadata struct {
	Annotations           map[string]string `json:"annotations,omitempty"`
	APIServiceDefinitions struct {
		Owned    []api `json:"owned,omitempty"`
		Required []api `json:"required,omitempty"`
	} `json:"apiServiceDefinitions,omitempty"`
	CustomResourceDefinitions struct {
		Owned    []described `json:"owned,omitempty"`
		Required []described `json:"required,omitempty"`
	} `json:"crdDescriptions,omitempty"`
	Description  string `json:"description,omitempty"`
	DisplayName  string `json:"displayName,omitempty"`
	InstallModes []struct {
		Type      string `json:"type"`
		Supported bool   `json:"supported"`
	} `json:"installModes,omitempty"`
	Keywords []string          `json:"keywords,omitempty"`
	Labels   map[string]string `json:"labels,omitempty"`
	Links    []struct {
		Name string `json:"name"`
		URL  string `json:"url"`
	} `json:"links,omitempty"`
	Maintainers []struct {
		Name  string `json:"name"`
		Email string `json:"email"`
	} `json:"maintainers,omitempty"`
	Maturity       string `json:"maturity,omitempty"`
	MinKubeVersion string `json:"minKubeVersion,omitempty"`
	NativeAPIs     []struct {
		Group   string `json:"group"`
		Version string `json:"version"`
		Kind    string `json:"kind"`
	} `json:"nativeAPIs,omitempty"`
	Provider struct {
		Name string `json:"name"`
		URL  string `json:"url"`
	} `json:"provider,omitempty"`
}

type described struct {
	Name              string `json:"name"`
	Version           string `json:"version"`
	Kind              string `json:"kind"`
	DisplayName       string `json:"displayName,omitempty"`
	Description       string `json:"description,omitempty"`
	Resources         []struct{ Name, Kind, Version string }
	StatusDescriptors []descriptor `json:"statusDescriptors,omitempty"`
	SpecDescriptors   []descriptor `json:"specDescriptors,omitempty"`
	ActionDescriptor  []descriptor `json:"actionDescriptors,omitempty"`
}

type api struct {
	described
	Group          string `json:"group"`
	DeploymentName string `json:"deploymentName,omitempty"`
	ContainerPort  int32  `json:"containerPort,omitempty"`
}

type descriptor struct {
	Path         string          `json:"path"`
	DisplayName  string          `json:"displayName,omitempty"`
	Description  string          `json:"description,omitempty"`
	XDescriptors []string        `json:"x-descriptors,omitempty"`
	Value        json.RawMessage `json:"value,omitempty"`
}

// decoders decode properties as opm does.
var decoders = map[string]func([]byte) error{
	"olm.csv.metadata":  func(js []byte) error { return json.Unmarshal(js, new(metadata)) },
	"olm.bundle.object": func(js []byte) error { return json.Unmarshal(js, new(struct{ Data []byte })) },
	"olm.gvk":           func(js []byte) error { return json.Unmarshal(js, new(struct{ Group, Kind, Version string })) },
	"olm.channel": func(js []byte) error {
		return json.Unmarshal(js, new(struct {
			ChannelName string
			Priority    int
		}))
	},
}

// loaded returns JSON as a document holds it: compact, with numbers in float64 notation.
func loaded(js []byte) ([]byte, bool) {
	var v any
	if json.Unmarshal(js, &v) != nil {
		return nil, false
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err == nil
}

func checkShape(t *testing.T, typ string, js []byte) {
	t.Helper()
	js, ok := loaded(js)
	if !ok {
		return
	}
	err := decoders[typ](js)
	found := types["property/"+typ].Check(js, true)
	if (err == nil) != (len(found) == 0) {
		t.Fatalf("%s %s\nencoding/json says %v\nwe say %v", typ, js, err, found)
	}
}

func TestShapesAgreeWithEncodingJSON(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 4))
	var value func(depth int) any
	keys := []string{"annotations", "crdDescriptions", "apiServiceDefinitions", "owned", "required", "specDescriptors", "resources", "x-descriptors", "containerPort",
		"installModes", "supported", "type", "keywords", "links", "name", "NAME", "url", "provider", "data", "priority", "channelName", "group", "kind", "version", "value", "Kind", "labels", "ſupported"}
	scalars := []any{nil, true, "", "x", "e30=", "e30", "e3\n0=", 0, 1, -1, 1.5, 300, 1e9, 1e10, 1e18, 1e19, 1e20, 1e21, -2147483648, 2147483648, 1e300}
	value = func(depth int) any {
		switch n := r.IntN(6); {
		case n < 2 || depth == 0:
			return scalars[r.IntN(len(scalars))]
		case n < 3:
			l := []any{}
			for range r.IntN(3) {
				l = append(l, value(depth-1))
			}
			return l
		default:
			m := map[string]any{}
			for range r.IntN(4) {
				m[keys[r.IntN(len(keys))]] = value(depth - 1)
			}
			return m
		}
	}
	types := slices.Sorted(maps.Keys(decoders))
	n, fit := effort.Of(t, 5000, 20_000, 100_000), 0
	for range n {
		js, err := json.Marshal(value(5))
		if err != nil {
			t.Fatal(err)
		}
		typ := types[r.IntN(len(types))]
		checkShape(t, typ, js)
		if decoders[typ](js) == nil {
			fit++
		}
	}
	t.Logf("%d of %d values fit", fit, n)
}

func FuzzShapes(f *testing.F) {
	for _, seed := range []string{`{"annotations":{"a":1}}`, `{"data":"e30="}`, `{"data":[1,300]}`, `{"data":[-0]}`, `{"priority":1.0}`, `{"crdDescriptions":{"owned":[{"name":true}]}}`,
		`null`, `"x"`, `{"keyword\u0073":"x"}`, `{"installModes":[null,{"supported":"no"}]}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, js []byte) {
		for typ := range decoders {
			checkShape(t, typ, js)
		}
	})
}

// FuzzWalk checks that the walk finds what encoding/json finds, and that it stays inside text that is not JSON.
func FuzzWalk(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":"\\\""}],"c\u0064":null,"":{}}`))
	f.Add([]byte(`[[],"]",{"}":1}]`))
	f.Add([]byte(`{"a`))
	f.Add([]byte(`{"data":"eyJraW5kIjoiQ2x1c3RlclNlcnZpY2VWZXJzaW9uIn0=","installModes":[null,{"supported":true}],"apiServiceDefinitions":{"owned":[1]}}`))
	f.Fuzz(func(t *testing.T, js []byte) {
		for range value(js).Members() { // must end
		}
		for range value(js).Items() {
		}
		js, ok := loaded(js)
		if !ok {
			return
		}
		for _, typ := range []string{"olm.package.required", "olm.gvk.required", "olm.constraint", "olm.csv.metadata", "olm.bundle.object"} {
			new(bundleRead).readV1(typ, value(js)) // must not panic
		}
		var m map[string]json.RawMessage
		if json.Unmarshal(js, &m) == nil && m != nil {
			got := map[string]json.RawMessage{}
			for k, v := range value(js).Members() {
				got[k] = json.RawMessage(v)
			}
			if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", m) {
				t.Fatalf("%s: fields %q, want %q", js, got, m)
			}
		}
		var l []json.RawMessage
		if json.Unmarshal(js, &l) == nil && l != nil {
			var got []json.RawMessage
			for _, v := range value(js).Items() {
				got = append(got, json.RawMessage(v))
			}
			if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", l) {
				t.Fatalf("%s: items %q, want %q", js, got, l)
			}
		}
	})
}

func TestMisfitsNameTheirPlace(t *testing.T) {
	found := types["property/olm.csv.metadata"].Check(value(`{"annotations":{"a":1},"crdDescriptions":{"owned":[{"name":"x"},{"kind":[]}]},"installModes":3}`), true)
	var got []string
	for _, m := range found {
		got = append(got, m.Path.String()+" "+misfit(m))
	}
	want := "annotations.a must be a string, not a number; crdDescriptions.owned[1].kind must be a string, not a list; installModes must be a list, not a number"
	if strings.Join(got, "; ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "; "), want)
	}
}
