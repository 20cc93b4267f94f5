package forge_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/forge"
)

func TestMarker(t *testing.T) {
	want := forge.Marker{Key: "etcd/0.9.4", Request: json.RawMessage(`{"image":"a@sha256:1"}`), Labels: []string{"x"}}
	text, err := forge.FormatMarker(want)
	if err != nil {
		t.Fatal(err)
	}
	if text != `<!-- graft: {"key":"etcd/0.9.4","request":{"image":"a@sha256:1"},"labels":["x"]} -->` {
		t.Errorf("%s", text)
	}
	for name, body := range map[string]string{
		"alone":             text,
		"at the end":        "body\n\n" + text,
		"line ends of DOS":  "body\r\n\r\n" + text + "\r\n",
		"a person's after":  text + "\n\nThank you!",
		"an older one":      `<!-- graft: {"key":"other"} -->` + "\n" + text,
		"a broken one last": text + "\n<!-- graft: {nonsense} -->",
		"an empty one last": text + "\n<!-- graft: {} -->",
	} {
		got, ok := forge.ParseMarker(body)
		if !ok || got.Key != want.Key || string(got.Request) != string(want.Request) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for _, body := range []string{"", "<!-- graft: -->", "<!-- graft: {\"key\":\n\"x\"} -->", "graft: {\"key\":\"x\"}", "<!-- other: {\"key\":\"x\"} -->"} {
		if got, ok := forge.ParseMarker(body); ok {
			t.Errorf("%q: %+v", body, got)
		}
	}
	if _, err := forge.FormatMarker(forge.Marker{Key: "x", Request: json.RawMessage("{")}); err == nil {
		t.Error("broken JSON was written")
	}
}

// A marker leaves out requests and content that are too long for it.
func TestMarkerOfMuch(t *testing.T) {
	short, long := []string{"a"}, []string{strings.Repeat("a", 12<<10)}
	for _, tt := range []struct {
		requests, content []string
		want              string
	}{
		{short, nil, `{"key":"k","request":["a"]}`},
		{short, short, `{"key":"k","request":["a"],"content":["a"]}`},
		{short, long, `{"key":"k","request":["a"]}`},
		{long, short, `{"key":"k","content":["a"]}`},
	} {
		m, err := forge.MarkerOf(forge.Change{Key: "k", Requests: tt.requests, Content: tt.content})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(m); err != nil || string(got) != tt.want {
			t.Errorf("got %.80s, want %s, %v", got, tt.want, err)
		}
	}
}

func FuzzMarker(f *testing.F) {
	for _, s := range []string{"etcd", "-->", "--!>", "<!--", "a--b---c", "\n", "\"}", "-\\u002d", "\\", "--\\", "\u2028", "} --> {"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, k, v string) {
		k, v = strings.ToValidUTF8(k, "?"), strings.ToValidUTF8(v, "?")
		if k == "" || len(k)+len(v) > 300 { // escaped twice, they must fit into a marker
			return
		}
		request, err := json.Marshal(map[string]string{v: v})
		if err != nil {
			t.Fatal(err)
		}
		text, err := forge.FormatMarker(forge.Marker{Key: k, Request: request, Labels: []string{v}})
		if err != nil {
			t.Fatal(err)
		}
		inner := strings.TrimSuffix(strings.TrimPrefix(text, "<!-- "), " -->")
		if strings.ContainsAny(inner, "<>\r\n") || strings.Contains(inner, "--") {
			t.Fatalf("%q can end the comment", text)
		}
		got, ok := forge.ParseMarker("before\n" + text + "\nafter")
		var back map[string]string
		if !ok || got.Key != k || got.Labels[0] != v || json.Unmarshal(got.Request, &back) != nil || back[v] != v {
			t.Fatalf("%q came back as %+v", text, got)
		}
	})
}
