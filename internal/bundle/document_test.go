package bundle

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/olmgraft/graft/internal/fbc"
)

func TestDocument(t *testing.T) {
	tests := map[string]fbc.Bundle{
		"empty": {},
		"bare":  {Schema: "olm.bundle", Image: "<&>\u2028\xff"},
		"lists": {
			Schema: "olm.bundle", Name: "a", Package: "b", Image: "c",
			Properties: []fbc.Property{
				{Type: "none"},
				{Type: "<", Value: json.RawMessage(" {\"a\" : [ 1,\n\"\\u003c < \\/\" ] }")},
				{Type: typeBundleObject, Value: json.RawMessage(`{"data":"YWJj"}`)},
				{Type: typeBundleObject, Value: json.RawMessage(`{"data":"a","b":"c"}`)},
			},
			RelatedImages: []fbc.RelatedImage{{Name: "x", Image: "y"}, {Image: "z"}},
		},
	}
	for name, doc := range tests {
		t.Run(name, func(t *testing.T) {
			var want bytes.Buffer
			enc := json.NewEncoder(&want)
			enc.SetEscapeHTML(false)
			if err := enc.Encode(doc); err != nil {
				t.Fatal(err)
			}
			got, err := Document(doc)
			if err != nil || !bytes.Equal(append(got, '\n'), want.Bytes()) {
				t.Errorf("%v\n got %s\nwant %s", err, got, want.Bytes())
			}
		})
	}
}

func TestDocumentRefusesWhatIsNotJSON(t *testing.T) {
	for _, value := range []string{"", "{", `{"data":"`, `{"data":"a"b"}`, `{"data":"\"}`} {
		doc := fbc.Bundle{Properties: []fbc.Property{{Type: typeBundleObject, Value: json.RawMessage(value)}}}
		if out, err := Document(doc); err == nil {
			t.Errorf("%q returns %s", value, out)
		}
	}
}
