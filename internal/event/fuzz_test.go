package event

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Any input yields images that parse to themselves, or one failure.
func FuzzParseAny(f *testing.F) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		body := testdata(f, filepath.Base(file))
		f.Add("", body)
		form, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".json"), "-")
		f.Add(form, body)
	}
	schema := payloadSchema(f)
	f.Fuzz(func(t *testing.T, event string, body []byte) {
		got, err := ParseAny(event, body, nil)
		if err != nil {
			isOneFault(t, err)
			if len(got.Publications)+len(got.Skipped) != 0 {
				t.Errorf("a failure announces %+v", got)
			}
			return
		}
		seen := map[string]bool{}
		for _, p := range got.Publications {
			if key := p.Repository + ":" + p.Tag; p.Tag != "" && seen[key] {
				t.Errorf("%s is announced twice", key)
			} else {
				seen[key] = true
			}
			readsAsItself(t, p)
			payload, err := p.Payload().Marshal()
			if err != nil {
				t.Fatalf("%+v cannot be passed on: %v", p, err)
			}
			if err := holds(t, schema, payload); err != nil {
				t.Errorf("%s: %v", payload, err)
			}
			again, err := ParseAny("", payload, nil)
			if err != nil || len(again.Publications) != 1 || !reflect.DeepEqual(again.Publications[0], p) {
				t.Errorf("%s is read as %+v, %v, want %+v", payload, again, err, p)
			}
			if !Allowed([]string{p.Repository}, p.Repository) {
				t.Errorf("%s does not allow itself", p.Repository)
			}
		}
		for _, s := range got.Skipped {
			if s.Reason == "" || strings.ContainsFunc(s.Reason+s.Publication.Image(), func(r rune) bool { return r < ' ' }) {
				t.Errorf("skipped %+v", s)
			}
		}
		if got.Form == ClientPayload {
			if err := holds(t, schema, body); err != nil {
				t.Errorf("read, but against the schema: %v", err)
			}
		}
	})
}

// FuzzParse reads any body as each form.
func FuzzParse(f *testing.F) {
	for _, e := range examples {
		for i, form := range names() {
			if form == e.form {
				f.Add(uint8(i), testdata(f, e.file))
			}
		}
	}
	f.Fuzz(func(t *testing.T, form uint8, body []byte) {
		got, err := Parse(names()[int(form)%len(names())], body, []string{})
		if err != nil {
			isOneFault(t, err)
			return
		}
		for _, p := range got.Publications {
			readsAsItself(t, p)
		}
	})
}

// FuzzTexts replaces one text of an example.
func FuzzTexts(f *testing.F) {
	for i, e := range examples {
		for place := range texts(decoded(f, testdata(f, e.file))) {
			for _, text := range []string{"", "../x\n::error::", "a.b/c:latest"} {
				f.Add(uint8(i), uint8(place), text)
			}
		}
	}
	schema := payloadSchema(f)
	f.Fuzz(func(t *testing.T, i, place uint8, text string) {
		e := examples[int(i)%len(examples)]
		value, left := decoded(t, testdata(t, e.file)), int(place)
		body, err := json.Marshal(replaceText(value, text, &left))
		if err != nil {
			t.Fatal(err)
		}
		got, err := ParseAny(e.event, body, []string{})
		if err != nil {
			isOneFault(t, err)
		}
		for _, p := range got.Publications {
			readsAsItself(t, p)
			if payload, err := p.Payload().Marshal(); err != nil {
				t.Errorf("%+v cannot be passed on: %v", p, err)
			} else if err := holds(t, schema, payload); err != nil {
				t.Errorf("%s: %v", payload, err)
			}
		}
	})
}

// texts counts the texts in a value.
func texts(value any) int {
	const most = 1 << 10
	left := most
	replaceText(value, "", &left)
	return most - left
}

func decoded(t testing.TB, body []byte) any {
	t.Helper()
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		t.Fatal(err)
	}
	return value
}

// replaceText replaces the text with index left. It counts left down, to -1 at that text.
func replaceText(value any, text string, left *int) any {
	switch v := value.(type) {
	case string:
		if *left--; *left == -1 {
			return text
		}
	case []any:
		for i := 0; i < len(v) && *left >= 0; i++ {
			v[i] = replaceText(v[i], text, left)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if *left >= 0 {
				v[key] = replaceText(v[key], text, left)
			}
		}
	}
	return value
}

func FuzzParseReference(f *testing.F) {
	for _, image := range []string{"quay.io/x/y:v1", "localhost:5000/x@" + digest1, "[::1]:80/x:v1@" + digest1, "foo__bar.baz/x:v1", "Docker.IO/x:1"} {
		f.Add(image)
	}
	f.Fuzz(func(t *testing.T, image string) {
		p, err := ParseReference(image)
		if err != nil {
			isOneFault(t, err)
			return
		}
		readsAsItself(t, p)
	})
}

func readsAsItself(t *testing.T, p Publication) {
	t.Helper()
	whole, err := ParseReference(p.Image())
	if err != nil || whole.Repository != p.Repository || whole.Tag != p.Tag || whole.Digest != p.Digest {
		t.Errorf("%s reads as %+v, %v", p.Image(), whole, err)
	}
	pulled, err := ParseReference(p.Reference())
	if err != nil || pulled.Reference() != p.Reference() || pulled.Repository != p.Repository {
		t.Errorf("%s reads as %+v, %v", p.Reference(), pulled, err)
	}
	if len(p.Repository) > 255 || len(p.Tag) > 128 || !strings.Contains(p.Repository, "/") {
		t.Errorf("%+v is out of bounds", p)
	}
}

func BenchmarkParseAny(b *testing.B) {
	pull := `{"action":"pull","target":{"repository":"x/y"},"request":{"host":"r.example.com"}},`
	for name, body := range map[string][]byte{
		"package": testdata(b, "package.json"),
		"payload": testdata(b, "client_payload.json"),
		"hostile": []byte(`{"events":[` + strings.Repeat("[],", maxValues-3) + `[]]}`),
		"pulls":   []byte(`{"events":[` + strings.TrimSuffix(strings.Repeat(pull, 10_000), ",") + `]}`),
		"tags":    []byte(`{"docker_url":"quay.io/x/y","updated_tags":["v` + strings.Repeat(`1","v1`, 999) + `"]}`),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				_, _ = ParseAny("", body, nil)
			}
		})
	}
}
