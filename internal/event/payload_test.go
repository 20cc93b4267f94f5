package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func payloadSchema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(PayloadSchema))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("client-payload.schema.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("client-payload.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func holds(t testing.TB, schema *jsonschema.Schema, body []byte) error {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

// The examples fit the schema, and the schema fits the code.
func TestPayloadSchema(t *testing.T) {
	schema := payloadSchema(t)
	for _, file := range []string{"client_payload.json", "client_payload-minimal.json"} {
		if err := holds(t, schema, testdata(t, file)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	var dispatch struct {
		Payload json.RawMessage `json:"client_payload"`
	}
	if err := json.Unmarshal(testdata(t, "repository_dispatch.json"), &dispatch); err != nil {
		t.Fatal(err)
	}
	if err := holds(t, schema, dispatch.Payload); err != nil {
		t.Errorf("repository_dispatch.json: %v", err)
	}

	var stated struct {
		Properties map[string]struct{ Enum []any }
	}
	if err := json.Unmarshal(PayloadSchema, &stated); err != nil {
		t.Fatal(err)
	}
	for _, name := range payloadProperties {
		if _, ok := stated.Properties[name]; !ok {
			t.Errorf("the schema lacks %s", name)
		}
	}
	if len(stated.Properties) != len(payloadProperties) || reflect.TypeFor[Payload]().NumField() != len(payloadProperties) {
		t.Errorf("%d properties in the schema, %d in Payload, %d are read", len(stated.Properties), reflect.TypeFor[Payload]().NumField(), len(payloadProperties))
	}
	if len(payloadProperties) > maxProperties {
		t.Errorf("GitHub does not take %d properties", len(payloadProperties))
	}
	for _, form := range names() {
		if !slices.Contains(stated.Properties["source"].Enum, any(string(form))) {
			t.Errorf("the schema knows no source %s", form)
		}
	}
}

// Schema and reader accept and refuse the same payloads.
func TestSchemaAndReaderAgree(t *testing.T) {
	schema := payloadSchema(t)
	const image = `"image":"quay.io/x/y:v1"`
	for _, tt := range []struct {
		body string
		ok   bool
	}{
		{`{` + image + `}`, true},
		{`{"schemaVersion":1,` + image + `}`, true},
		{`{"schemaVersion":1.0,` + image + `}`, true},
		{`{"schemaVersion":null,` + image + `,"digest":"","name":"","package":null,"version":"","channels":null,"source":"","id":""}`, true},
		{`{"image":"x:v1"}`, true},
		{`{"image":"x/y:v1"}`, true},
		{`{"image":"foo.bar:v1"}`, true},
		{`{"image":"Registry.example.com:5000/x/y:v1"}`, true},
		{`{"image":"registry:5000/x:v1"}`, true},
		{`{"image":"localhost/x:v1"}`, true},
		{`{"image":"localhost:5000"}`, true},
		{`{"image":"[::1]:5000/x:v1"}`, true},
		{`{"image":"quay.io/x/y@` + digest1 + `"}`, true},
		{`{"image":"quay.io/x/y:v1@` + digest1 + `","digest":"` + digest1 + `"}`, true},
		{`{"image":"quay.io/x/y","digest":"` + digest1 + `"}`, true},
		{`{` + image + `,"version":"1.2.3-rc.1+build.5"}`, true},
		{`{` + image + `,"channels":["stable-v1.2","4.12"]}`, true},
		{`{` + image + `,"channels":"stable, fast"}`, true},
		{`{` + image + `,"channels":" , "}`, true},
		{`{` + image + `,"channels":[]}`, true},
		{`{` + image + `,"x-build":{"deep":[1]}}`, true},
		{`{` + image + `,"source":"docker-hub","id":"7f3a:1"}`, true},

		{`{}`, false},
		{`[]`, false},
		{`null`, false},
		{`{"image":null}`, false},
		{`{"image":""}`, false},
		{`{"image":7}`, false},
		{`{"image":"quay.io/x/y"}`, false},
		{`{"image":"quay.io/x/y","digest":""}`, false},
		{`{"image":"quay.io/x/y","digest":null}`, false},
		{`{"image":"registry:5000/x"}`, false},
		{`{"image":"foo__bar.baz/x:v1"}`, false},
		{`{"image":"X/y:v1"}`, false},
		{`{"image":"quay.io/x/y:v1\n"}`, false},
		{`{"image":"quay.io/x/y:v1","digest":"sha256:00"}`, false},
		{`{"schemaVersion":2,` + image + `}`, false},
		{`{"schemaVersion":"1",` + image + `}`, false},
		{`{"schemaVersion":true,` + image + `}`, false},
		{`{` + image + `,"channel":"stable"}`, false},
		{`{` + image + `,"tag":"v1"}`, false},
		{`{` + image + `,"X-build":1}`, false},
		{`{` + image + `,"name":"a b"}`, false},
		{`{` + image + `,"name":["a"]}`, false},
		{`{` + image + `,"version":"v1.2.3"}`, false},
		{`{` + image + `,"version":"1.2"}`, false},
		{`{` + image + `,"channels":[""]}`, false},
		{`{` + image + `,"channels":[null]}`, false},
		{`{` + image + `,"channels":{"a":1}}`, false},
		{`{` + image + `,"channels":"a;b"}`, false},
		{`{` + image + `,"source":"ecr"}`, false},
		{`{` + image + `,"id":"-"}`, false},
		{`{` + image + `,"images":["quay.io/x/z:v1","quay.io/x/z@` + digest1 + `","quay.io/x/y:v2@` + digest1 + `"]}`, true},
		{`{` + image + `,"images":[]}`, true},
		{`{` + image + `,"images":null}`, true},
		{`{` + image + `,"images":["quay.io/x/y"]}`, false},
		{`{` + image + `,"images":["X/y:v1"]}`, false},
		{`{` + image + `,"images":[null]}`, false},
		{`{` + image + `,"images":"quay.io/x/y:v2"}`, false},
		{`{` + image + `,"images":[` + strings.Repeat(`"quay.io/x/y:v2",`, MaxImages) + `"quay.io/x/y:v2"]}`, false},
		{`{"images":["quay.io/x/y:v2"]}`, false},
		{`{` + image + `,"x-1":1,"x-2":1,"x-3":1,"x-4":1,"x-5":1,"x-6":1,"x-7":1,"x-8":1,"x-9":1,"x-0":1}`, false},
	} {
		_, err := Parse(ClientPayload, []byte(tt.body), nil)
		if bySchema := holds(t, schema, []byte(tt.body)); (err == nil) != tt.ok || (bySchema == nil) != tt.ok {
			t.Errorf("%s: the reader says %v, the schema says %v", tt.body, err, bySchema)
		}
	}
}

// The payload of a publication, also inside a dispatch, reads back as the same publication.
func TestPayloadRoundTrip(t *testing.T) {
	for _, e := range examples {
		for _, p := range e.want {
			body, err := p.Payload().Marshal()
			if err != nil {
				t.Errorf("%s: %v", e.file, err)
				continue
			}
			for _, body := range []string{string(body), fmt.Sprintf(`{"action":"x","client_payload":%s}`, body)} {
				got, err := ParseAny("", []byte(body), nil)
				if err != nil || len(got.Publications) != 1 || !reflect.DeepEqual(got.Publications[0], p) {
					t.Errorf("%s: %s is read as %+v, %v, want %+v", e.file, body, got.Publications, err, p)
				}
			}
		}
	}
	body, err := Payload{Image: "quay.io/x/y:v1"}.Marshal()
	if want := `{"schemaVersion":1,"image":"quay.io/x/y:v1"}`; err != nil || string(body) != want {
		t.Errorf("%s, %v, want %s", body, err, want)
	}
}

// Each further image of an event is a publication. Claims concern only the first.
func TestPayloadOfManyImages(t *testing.T) {
	body, err := Payload{Image: "quay.io/x/y:v1", Name: "y.v1", Source: "quay", ID: "7", Images: []string{"quay.io/x/z:v2@" + digest1, "quay.io/x/y:v1", "quay.io/x/y:latest"}}.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse(ClientPayload, body, nil)
	want := []Publication{
		{Repository: "quay.io/x/y", Tag: "v1", Source: "quay", ID: "7", Said: Said{Name: "y.v1"}},
		{Repository: "quay.io/x/z", Tag: "v2", Digest: digest1, Source: "quay", ID: "7"},
	}
	if err != nil || !reflect.DeepEqual(got.Publications, want) || len(got.Skipped) != 1 {
		t.Errorf("%+v, %v, want %+v", got.Publications, err, want)
	}
}

func TestMarshalRefuses(t *testing.T) {
	var many []string
	for i := range 65 {
		many = append(many, fmt.Sprint("c", i))
	}
	for _, p := range []Payload{
		{},
		{Image: "quay.io/x/y"},
		{Image: "quay.io/x/y:v1", Digest: "sha256:1"},
		{Image: "quay.io/x/y:v1", Channels: []string{"a,b"}},
		{Image: "quay.io/x/y:v1", Channels: many},
		{Image: "quay.io/x/y:v1", Source: "ecr"},
		{Image: "quay.io/x/y:v1", Name: strings.Repeat("a", maxPayload)},
	} {
		if body, err := p.Marshal(); err == nil || body != nil {
			t.Errorf("%+v is written as %s", p, body)
		} else {
			isOneFault(t, err)
		}
	}
}
