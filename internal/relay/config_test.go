package relay

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"github.com/olmgraft/graft/internal/event"
	"github.com/olmgraft/graft/internal/failure"
)

var update = flag.Bool("update", false, "rewrite the table in docs/relay-reference.md")

const schemaFile = "relay.schema.json"

// Each fault has its place and a remedy.
func TestFaults(t *testing.T) {
	for _, tt := range []struct {
		key, value, says string
		line             int
	}{
		{"listen", "here", "not an address to listen on", 1},
		{"listen", `""`, "not an address to listen on", 1},
		{"adminListen", "9090", "not an address to listen on", 1},
		{"lisen", "x", "there is no key lisen", 1},
		{"replayWindow", "72", "is not a time", 1},
		{"replayWindow", "1s", "too short", 1},
		{"queue", "{items: 0}", "are out of range", 1},
		{"queue", "{bytes: 65535}", "are out of range", 1},
		{"queue", "{bytes: 1073741825}", "are out of range", 1},
		{"limits", "{body: 0}", "a limit is out of range", 1},
		{"limits", "{connections: 0}", "a limit is out of range", 1},
		{"limits", "{timeout: 0s}", "a limit is out of range", 1},
		{"github", "{giveUpAfter: 9m}", "out of order", 1},
		{"github", "{pace: -1s}", "out of order", 1},
		{"targets", "[{images: ['op'], repositories: [o/r]}]", "not a pattern of a repository", 1},
		{"queue", "{items: many}", "must be a whole number", 1},
		{"limits", "{body: 99999999}", "a limit is out of range", 1},
		{"github", "{apiURL: nowhere}", "not an address of an API", 1},
		{"github", "{apiURL: 'https://user:pass@api.github.com'}", "not an address of an API", 1},
		{"github", "{longestRetry: 1ms}", "out of order", 1},
		{"github", "{tokenFile: /t, app: {id: '1', installation: '2', keyFile: /k}}", "app is set too", 1},
		{"github", "{app: {id: '1', installation: x, keyFile: /k}}", "not the number of an installation", 1},
		{"routes", "[]", "it has no entry", 1},
		{"routes", "[{path: quay, from: quay, secretEnv: S}]", "not a valid path", 1},
		{"tracing", "{endpoint: 'localhost:4318'}", "reading tracing.endpoint: it is not an address of a collector", 1},
		{"tracing", "{endpoint: 'http://a:b@c'}", "it is not an address of a collector", 1},
		{"routes", "[{path: /quay/, from: quay, secretEnv: S}]", "not a valid path", 1},
		{"routes", "[{path: /a/../b, from: quay, secretEnv: S}]", "not a valid path", 1},
		{"routes", "[{path: /metrics, from: quay, secretEnv: S}]", "not a valid path", 1},
		{"routes", "[{path: /quay, from: gitlab, secretEnv: S}]", "not a known sender", 1},
		{"routes", "[{path: /quay, from: quay, proof: signature, secretEnv: S}]", "quay has no proof", 1},
		{"routes", "[{path: /quay, from: quay}]", "it needs exactly one of secretFile and secretEnv", 1},
		{"routes", "[{path: /quay, from: quay, secretEnv: S, secretFile: /s}]", "it needs exactly one of secretFile and secretEnv", 1},
		{"routes", "[{path: /quay, from: quay, secretEnv: S, audience: x}]", "audience, account and keysURL need proof: google", 1},
		{"routes", "[{path: /g, from: google, secretEnv: S}]", "needs audience and account", 1},
		{"routes", "[{path: /a, from: quay, secretEnv: S}, {path: /a, from: quay, secretEnv: S}]", "occurs twice", 1},
		{"routes", "\n  - {path: /a, from: quay, secretEnv: S}\n  - {path: b, from: quay, secretEnv: S}", "reading routes[1].path", 3},
		{"targets", "[]", "it has no entry", 1},
		{"targets", "[{images: [], repositories: [o/r]}]", "it has no entry", 1},
		{"targets", "[{images: ['quay.io/x@y'], repositories: [o/r]}]", "not a pattern of a repository", 1},
		{"targets", "[{images: ['quay.io/x'], repositories: []}]", "it has no entry", 1},
		{"targets", "[{images: ['quay.io/x'], repositories: [o]}]", "not a GitHub repository", 1},
		{"targets", "[{images: ['quay.io/x'], repositories: [o/..]}]", "not a GitHub repository", 1},
		{"targets", "[{images: ['quay.io/{a}{b}'], repositories: ['o/{a}{b}']}]", "{a}{b} is ambiguous", 1},
		{"targets", "[{images: ['quay.io/{a'], repositories: [o/r]}]", "a brace has no counterpart", 1},
		{"targets", "[{images: ['quay.io/{a}'], repositories: [o/r]}]", "captures {a}, which repositories does not use", 1},
		{"targets", "[{images: ['quay.io/{a}', 'quay.io/x'], repositories: ['o/{a}']}]", "reading targets[0].images[1]: quay.io/x captures no {a}", 1},
		{"targets", "[{images: ['quay.io/{a}'], repositories: ['o/{a}/{a}']}]", "not a GitHub repository", 1},
		{"targets", "[{images: ['quay.io/x/{a}'], repositories: ['o/{a}'], except: ['quay.io/{b}']}]", "has a capture, and exclusions cannot use captures", 1},
		{"targets", "[{images: ['quay.io/x'], repositories: [o/r], except: [x]}]", "reading targets[0].except[0]: \"x\" is not a pattern", 1},
		{"targets", "[{images: ['quay.io/{a}/{b}'], repositories: ['{a}/{b}']},\n  {images: ['quay.io/x/{b}'], repositories: ['x/{b}']}]",
			"reading targets[1].images[0]: quay.io/x/{b} and quay.io/{a}/{b} of targets[0].images[0] both match images such as quay.io/x/x", 2},
		{"targets", "[{images: ['quay.io/x'], repositories: [o/r], eventType: " + strings.Repeat("x", 101) + "}]", "longer than", 1},
	} {
		holdFault(t, tt.key, tt.value, tt.says, tt.line)
	}
	whole := setup{}.yaml(t, "https://api.github.com")
	if _, err := Parse("relay.yaml", []byte(whole+"---\n"+whole)); err == nil || !strings.Contains(err.Error(), "a second document follows") {
		t.Errorf("a second document: %v", err)
	}
	for name, text := range map[string]string{"a second document": "listen: ':1'\n---\na: b\n", "no YAML": "a: [", "twice": "listen: ':1'\nlisten: ':2'\n", "nothing": ""} {
		if _, err := Parse("relay.yaml", []byte(text)); !failure.Is(err, failure.Config) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Read("missing.yaml"); !failure.Is(err, failure.Usage) {
		t.Errorf("%v", err)
	}
}

// holdFault checks that a value of a key is a fault and that the failure has its line.
func holdFault(t *testing.T, key, value, says string, line int) {
	t.Helper()
	all := usual()
	all[key] = value
	text := key + ": " + value + "\n"
	for other, value := range all {
		if other != key {
			text += other + ": " + value + "\n"
		}
	}
	_, err := Parse("relay.yaml", []byte(text))
	f := failure.Of(err)
	if err == nil || f.Code != failure.Config || !strings.Contains(err.Error(), says) || f.Line != line || f.File != "relay.yaml" || f.Remedy == "" {
		t.Errorf("%s: %s: %v (%+v), want %q in line %d", key, value, err, f, says, line)
	}
}

// The schema has exactly the keys that the program reads.
func TestSchemaHasTheKeys(t *testing.T) {
	var schema map[string]any
	text, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	compare(t, "", schema, reflect.TypeFor[Config]())
	senderNames, proofNames := event.Senders(), []string(nil)
	for _, f := range event.Forms() {
		for _, p := range f.Proofs {
			if !slices.Contains(proofNames, string(p)) {
				proofNames = append(proofNames, string(p))
			}
		}
	}
	route := inside(schema, "properties", "routes", "items", "properties")
	for key, want := range map[string][]string{"from": senderNames, "proof": proofNames} {
		var got []string
		for _, one := range inside(route, key)["enum"].([]any) {
			got = append(got, one.(string))
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s can be %v, and the schema says %v", key, want, got)
		}
	}
}

// The defaults in the schema are the program's defaults.
func TestSchemaHasTheDefaults(t *testing.T) {
	var schema, does map[string]any
	text, err := os.ReadFile(schemaFile)
	if err == nil {
		err = json.Unmarshal(text, &schema)
	}
	if err != nil {
		t.Fatal(err)
	}
	remarshal(t, defaults(), &does)
	var hold func(where string, schema, does map[string]any) int
	hold = func(where string, schema, does map[string]any) (n int) {
		for key := range inside(schema, "properties") {
			one := inside(schema, "properties", key)
			if inner, ok := does[key].(map[string]any); ok {
				n += hold(where+key+".", one, inner)
			}
			want, ok := one["default"]
			if !ok {
				continue
			}
			n++
			got := fmt.Sprint(does[key])
			if d, err := time.ParseDuration(got); err == nil {
				if said, err := time.ParseDuration(fmt.Sprint(want)); err == nil && said == d {
					continue
				}
			}
			if f, ok := want.(float64); ok {
				want = int64(f)
			}
			if got != fmt.Sprint(want) {
				t.Errorf("%s%s is %s, and the schema says %v", where, key, got, want)
			}
		}
		return n
	}
	if n := hold("", schema, does); n < 10 {
		t.Errorf("only %d defaults were compared", n)
	}
}

func inside(v map[string]any, keys ...string) map[string]any {
	for _, key := range keys {
		v, _ = v[key].(map[string]any)
	}
	return v
}

func compare(t *testing.T, where string, schema map[string]any, of reflect.Type) {
	t.Helper()
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if of.Kind() == reflect.Slice {
		schema, of = inside(schema, "items"), of.Elem()
	}
	if of.Kind() != reflect.Struct {
		return
	}
	known := inside(schema, "properties")
	if schema["additionalProperties"] != false || len(known) != of.NumField() {
		t.Errorf("%s: %d keys, and the schema has %d", where, of.NumField(), len(known))
	}
	for i := range of.NumField() {
		key := of.Field(i).Tag.Get("yaml")
		if known[key] == nil || inside(known, key)["description"] == nil {
			t.Errorf("%s.%s is not described in the schema", where, key)
			continue
		}
		compare(t, where+"."+key, inside(known, key), of.Field(i).Type)
	}
}

// The examples in the documentation and in deploy are valid for the program and for the schema.
func TestExamples(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	examples := map[string]string{}
	for _, file := range []string{"docs/relay.md", "docs/relay-reference.md"} {
		page, err := os.ReadFile("../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(page), -1)
		if len(found) == 0 {
			t.Errorf("%s has no example", file)
		}
		for i, m := range found {
			examples[file+", example "+strconv.Itoa(i+1)] = m[1]
		}
	}
	for file, text := range configurations(t) {
		examples[file] = text
	}
	for name, text := range examples {
		if _, err := Parse(name, []byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var value any
		if err := yaml.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// configurations returns those in deploy: a file, and one in a ConfigMap.
func configurations(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, file := range []string{"relay/base/relay.yaml", "relay/nats/configuration.patch.yaml"} {
		for _, doc := range documents(t, file) {
			if doc["kind"] == "ConfigMap" {
				found["deploy/"+file], _ = inside(doc, "data")["relay.yaml"].(string)
			}
		}
	}
	text, err := os.ReadFile("../../deploy/compose/relay.yaml")
	if err != nil {
		t.Fatal(err)
	}
	found["deploy/compose/relay.yaml"] = string(text)
	return found
}

func documents(t *testing.T, name string) (all []map[string]any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var doc map[string]any
		if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, doc)
	}
}

// The table of the configuration is generated from the schema.
func TestReference(t *testing.T) {
	var schema map[string]any
	text, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	const file, begin, end = "../../docs/relay-reference.md", "<!-- relay -->\n", "<!-- /relay -->"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(page), begin)
	_, tail, ok := strings.Cut(rest, end)
	want := head + begin + "\n| Key | Default | Meaning |\n|---|---|---|\n" + rows("", schema) + "\n" + end + tail
	if !ok || string(page) != want {
		if *update {
			if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
		t.Errorf("%s is stale: go test ./internal/relay -update rewrites it", file)
	}
}

func rows(where string, schema map[string]any) string {
	var out strings.Builder
	known := inside(schema, "properties")
	for _, key := range slices.Sorted(maps.Keys(known)) {
		value := inside(known, key)
		fallback := ""
		if d, ok := value["default"]; ok {
			fallback = "`" + fmt.Sprint(d) + "`"
			if n, ok := d.(float64); ok {
				fallback = "`" + strconv.Itoa(int(n)) + "`"
			}
		}
		meaning := strings.ReplaceAll(value["description"].(string), "*", `\*`)
		if list, _ := schema["required"].([]any); slices.Contains(list, any(key)) {
			meaning += " Required."
		}
		fmt.Fprintf(&out, "| `%s%s` | %s | %s |\n", where, key, fallback, meaning)
		inner, mark := value, ""
		if items := inside(value, "items"); items != nil {
			inner, mark = items, "[]"
		}
		out.WriteString(rows(where+key+mark+".", inner))
	}
	return out.String()
}
