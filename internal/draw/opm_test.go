package draw

import (
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
)

func opmBundle(name, version string) fbc.Bundle {
	return fbc.Bundle{Name: name, Properties: []fbc.Property{{Type: "olm.package", Value: []byte(`{"packageName":"p","version":"` + version + `"}`)}}}
}

func reference(schema, name string) fbc.DeprecationEntry {
	return fbc.DeprecationEntry{Reference: fbc.Reference{Schema: schema, Name: name}}
}

// The conformance module compares many catalogs with opm. This test shows the rules of the doc comment on one.
func TestOpmMermaid(t *testing.T) {
	docs := Documents{
		Bundles: []fbc.Bundle{opmBundle("p.v1", "1.0.0"), opmBundle("p.v2", "2.0.0"), opmBundle("p.v3", "3.0.0"), opmBundle("p.v3", "0.0.1"), opmBundle("q.v1", "1.0.0")},
		Channels: []fbc.Channel{
			{Name: "b", Package: "p", Entries: []fbc.Entry{
				{Name: "p.v1"}, {Name: "p.v2", Replaces: "p.v1"},
				{Name: "p.v3", Replaces: "p.v1", Skips: []string{"p.v2"}, SkipRange: ">=1.0.0 <3.0.0"},
			}},
			{Name: "a", Package: "q", Entries: []fbc.Entry{{Name: "q.v1", SkipRange: "no range"}}},
		},
		Deprecations: []fbc.Deprecation{{Package: "p", Entries: []fbc.DeprecationEntry{
			reference(fbc.SchemaPackage, ""), reference(fbc.SchemaChannel, "a"), reference(fbc.SchemaBundle, "p.v1"), reference(fbc.SchemaBundle, "p.v2"),
		}}},
	}
	want := `graph LR
  classDef deprecated fill:#E8960F
  classDef skipped stroke:#FF0000,stroke-width:4px
  classDef deprecatedskipped fill:#E8960F,stroke:#FF0000,stroke-width:4px
  %% package "p"
  subgraph "p"
    %% channel "b"
    subgraph p-b["b"]
      p-b-p.v3["p.v3"]
      p-b-p.v2["p.v2"]-- skip --> p-b-p.v3["p.v3"]
      p-b-p.v1["p.v1"]-- "skipRange(>=1.0.0 <3.0.0)" --> p-b-p.v3["p.v3"]
      p-b-p.v2["p.v2"]-- "skipRange(>=1.0.0 <3.0.0)" --> p-b-p.v3["p.v3"]
      p-b-p.v1["p.v1"]-- replace --> p-b-p.v3["p.v3"]
      p-b-p.v2["p.v2"]
      p-b-p.v1["p.v1"]-- replace --> p-b-p.v2["p.v2"]
      p-b-p.v1["p.v1"]
    end
  end
  %% package "q"
  subgraph "q"
    %% channel "a"
    subgraph q-a["a"]
      q-a-q.v1["q.v1"]
    end
  end
style p fill:#989695
style q-a fill:#DCD0FF
class p-b-p.v1 deprecated
class p-b-p.v2 deprecatedskipped
linkStyle 4 stroke:#FF0000,stroke-width:3px,stroke-dasharray:5;
`
	got, err := OpmMermaid(docs)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if docs.Channels[0].Name != "b" || docs.Channels[0].Entries[0].Name != "p.v1" {
		t.Error("the documents were reordered")
	}
}

func TestOpmMermaidRefuses(t *testing.T) {
	two := opmBundle("p.v1", "1.0.0")
	two.Properties = append(two.Properties, two.Properties[0])
	for name, b := range map[string]fbc.Bundle{
		"bundle \"p.v1\": it has 0":                         {Name: "p.v1"},
		"bundle \"p.v1\": it has 2":                         two,
		"bundle \"p.v1\": reading its version \"1.0\"":      opmBundle("p.v1", "1.0"),
		"bundle \"p.v1\": reading its olm.package property": {Name: "p.v1", Properties: []fbc.Property{{Type: "olm.package", Value: []byte(`{"version":1}`)}}},
	} {
		_, err := OpmMermaid(Documents{Bundles: []fbc.Bundle{b}})
		if !failure.Is(err, failure.BundleInvalid) || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want %s", err, name)
		}
	}
}

// The library panics on a range with an empty alternative.
func TestOpmMermaidOfABrokenRange(t *testing.T) {
	docs := Documents{
		Bundles:  []fbc.Bundle{opmBundle("p.v1", "1.0.0")},
		Channels: []fbc.Channel{{Name: "a", Package: "p", Entries: []fbc.Entry{{Name: "p.v1", SkipRange: ">2.0.0 ||"}}}},
	}
	if _, err := OpmMermaid(docs); err != nil {
		t.Error(err)
	}
}
