package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/graph"
)

var sample = []graph.Finding{
	{ID: "document-unreadable", Level: graph.Error, File: "c.yaml", Line: 9, Message: "the document has no schema", Remedy: "Add the schema."},
	{ID: "channel-two-heads", Level: graph.Error, Package: "p", Channel: "stable", Bundle: "p.v2", File: "dir/c d.yaml", Line: 3, Message: "two heads: a, b", Remedy: "Skip one."},
	{ID: "skip-unknown", Level: graph.Warning, Package: "p", Channel: "stable", Bundle: "p.v2", File: "dir/c d.yaml", Line: 4, Message: "odd \x1b[31m name\nhere", Remedy: "Correct it."},
	{ID: "package-pruned", Level: graph.Error, Package: "q", Message: "package q is gone", Remedy: "Put it back."},
}

func TestText(t *testing.T) {
	var b bytes.Buffer
	if err := Text(&b, sample, Style{}); err != nil {
		t.Fatal(err)
	}
	want := `catalog
  c.yaml:9: error document-unreadable: the document has no schema
package p, channel stable
  dir/c d.yaml:3: error channel-two-heads: two heads: a, b
  dir/c d.yaml:4: warning skip-unknown: odd \u001b[31m name\u000ahere
package q
  error package-pruned: package q is gone
what to do
  document-unreadable: Add the schema.
  channel-two-heads: Skip one.
  skip-unknown: Correct it.
  package-pruned: Put it back.
3 errors, 1 warning
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	b.Reset()
	if err := Text(&b, nil, Style{}); err != nil || b.String() != "no findings\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
}

func TestTextIsColouredOnlyWhenAsked(t *testing.T) {
	var plain, coloured bytes.Buffer
	_ = Text(&plain, sample, Style{})
	_ = Text(&coloured, sample, Style{Color: true})
	if strings.Contains(plain.String(), "\x1b") {
		t.Error("plain text has escapes")
	}
	if !strings.Contains(coloured.String(), "\x1b[31merror\x1b[0m") {
		t.Errorf("no red error in %q", coloured.String())
	}
	if strings.Contains(coloured.String(), "odd \x1b[31m") {
		t.Error("an escape of the catalog reaches the terminal")
	}
}

func TestJSON(t *testing.T) {
	var b bytes.Buffer
	if err := JSON(&b, sample); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		SchemaVersion    int
		OK               bool
		Errors, Warnings int
		Findings         []map[string]any
	}
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.SchemaVersion != 1 || doc.OK || doc.Errors != 3 || doc.Warnings != 1 || len(doc.Findings) != 4 {
		t.Errorf("%+v", doc)
	}
	if f := doc.Findings[3]; f["class"] != "catalog-pruned" || f["code"] != 43.0 || f["id"] != "package-pruned" {
		t.Errorf("%v", f)
	}
	b.Reset()
	if err := JSON(&b, nil); err != nil || !strings.Contains(b.String(), `"ok": true`) || !strings.Contains(b.String(), `"findings": []`) {
		t.Errorf("%s, %v", b.String(), err)
	}
}

func TestSARIF(t *testing.T) {
	var b bytes.Buffer
	if err := SARIF(&b, sample, Tool{Version: "1.2.3", Catalog: "catalog.yaml"}); err != nil {
		t.Fatal(err)
	}
	var log struct {
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct {
					Rules []struct {
						ID                   string
						DefaultConfiguration struct{ Level string }
					}
				}
			}
			Results []struct {
				RuleID              string
				RuleIndex           int
				Level               string
				PartialFingerprints map[string]string
				Locations           []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine int }
					}
					LogicalLocations []struct{ FullyQualifiedName string }
				}
			}
		}
	}
	if err := json.Unmarshal(b.Bytes(), &log); err != nil {
		t.Fatal(err)
	}
	if log.Version != "2.1.0" || len(log.Runs) != 1 || len(log.Runs[0].Results) != len(sample) {
		t.Fatalf("%+v", log)
	}
	run := log.Runs[0]
	prints := map[string]bool{}
	for i, r := range run.Results {
		if rule := run.Tool.Driver.Rules[r.RuleIndex]; rule.ID != r.RuleID || r.RuleID != sample[i].ID {
			t.Errorf("result %d: rule %s, index of %s", i, r.RuleID, rule.ID)
		}
		if len(r.Locations) != 1 || r.Locations[0].PhysicalLocation.Region.StartLine < 1 {
			t.Errorf("result %d has no place", i)
		}
		prints[r.PartialFingerprints["graftFinding/v1"]] = true
	}
	if len(prints) != len(sample) {
		t.Error("fingerprints are not distinct")
	}
	if uri := run.Results[1].Locations[0].PhysicalLocation.ArtifactLocation.URI; uri != "dir/c%20d.yaml" {
		t.Errorf("uri %q", uri)
	}
	if uri := run.Results[3].Locations[0].PhysicalLocation.ArtifactLocation.URI; uri != "catalog.yaml" {
		t.Errorf("a finding without a file is at %q", uri)
	}
	if name := run.Results[1].Locations[0].LogicalLocations[0].FullyQualifiedName; name != "p/stable/p.v2" {
		t.Errorf("logical name %q", name)
	}
	moved := sample[1]
	moved.Line = 99
	if sarifResultOf(moved, nil, Tool{}).Fingerprints["graftFinding/v1"] != sarifResultOf(sample[1], nil, Tool{}).Fingerprints["graftFinding/v1"] {
		t.Error("a finding that moves is another finding")
	}
}

var sampleChanges = graph.Changes{Packages: []graph.PackageChanges{
	{Name: "p", Change: graph.Changed, DefaultChannel: &graph.Move{From: "fast", To: "stable"},
		Bundles: []graph.BundleChange{
			{Name: "p.v1.4.0", Change: graph.Added, Version: "1.4.0"},
			{Name: "p.v1.3.0", Change: graph.Changed, Version: "1.3.0", Image: &graph.Move{From: "a", To: "b"}}},
		Channels: []graph.ChannelChanges{
			{Name: "stable", Change: graph.Changed, Head: &graph.Move{From: "p.v1.3.0", To: "p.v1.4.0"},
				Entries: []graph.NameChange{{Name: "p.v1.4.0", Change: graph.Added}},
				Edges: []graph.EdgeChange{
					{Bundle: "p.v1.4.0", Kind: "replaces", Change: graph.Added, To: "p.v1.3.0"},
					{Bundle: "p.v1.3.0", Kind: "replaces", Change: graph.Changed, To: "p.v1.2.0", Was: "p.v1.1.0"}},
				Paths: []graph.PathChange{
					{Bundle: "p.v1.0.0", Change: graph.Direct, Rules: both, Next: &graph.Move{From: "p.v1.1.0", To: "p.v1.4.0"}},
					{Bundle: "p.v1.2.3", Change: graph.Direct, Rules: both, Next: &graph.Move{From: "p.v1.3.0", To: "p.v1.4.0"}},
					{Bundle: "p.v0.9.0", Change: graph.Lost, Rules: []graph.Generation{graph.V0}, Next: &graph.Move{From: "p.v1.0.0"}, Before: []string{"p.v0.9.0", "p.v1.0.0", "p.v1.3.0"}},
					{Bundle: "p.v1.1.0", Change: graph.Longer, Rules: both, Next: &graph.Move{From: "p.v1.3.0", To: "p.v1.2.0"}},
				}},
			{Name: "a`b|c", Change: graph.Removed, Head: &graph.Move{From: "p.v1.0.0"}, Entries: []graph.NameChange{{Name: "p.v1.0.0", Change: graph.Removed}}},
		}},
	{Name: "q", Change: graph.Added},
}}

var both = []graph.Generation{graph.V0, graph.V1}

func TestChangesText(t *testing.T) {
	var b bytes.Buffer
	if err := ChangesText(&b, sampleChanges, Style{}); err != nil {
		t.Fatal(err)
	}
	want := `package p
  default channel fast → stable
  bundle p.v1.4.0 added
  bundle p.v1.3.0: image a → b
  channel stable
    head p.v1.3.0 → p.v1.4.0
    entry p.v1.4.0 added
    p.v1.4.0 replaces p.v1.3.0 added
    p.v1.3.0 replaces p.v1.2.0 instead of p.v1.1.0
    v0.9.0 no longer reaches the head; its path was v0.9.0 → v1.0.0 → v1.3.0 (OLM v0)
    v1.0.0, v1.2.3 → v1.4.0 now direct
    v1.1.0 → v1.3.0 now through v1.2.0
  channel a` + "`" + `b|c removed
    no head; it was p.v1.0.0
    entry p.v1.0.0 removed
package q added
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	b.Reset()
	if err := ChangesText(&b, graph.Changes{}, Style{}); err != nil || b.String() != "no changes\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
}

func TestChangesMarkdown(t *testing.T) {
	var b bytes.Buffer
	if err := ChangesMarkdown(&b, sampleChanges); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"### `p`\n",
		"- default channel `fast` → `stable`\n",
		"**`stable`**\n",
		"- `v1.0.0, v1.2.3` → `v1.4.0` now direct\n",
		"**`` a`b|c ``** removed\n",
		"### `q` added\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	long := graph.Changes{Packages: []graph.PackageChanges{{Name: "p", Change: graph.Changed,
		Bundles: make([]graph.BundleChange, foldAbove+1)}}}
	for i := range long.Packages[0].Bundles {
		long.Packages[0].Bundles[i] = graph.BundleChange{Name: "b", Change: graph.Added}
	}
	b.Reset()
	if err := ChangesMarkdown(&b, long); err != nil || !strings.Contains(b.String(), "<details><summary>13 changes</summary>\n\n- bundle") || !strings.Contains(b.String(), "\n\n</details>\n") {
		t.Errorf("%s, %v", b.String(), err)
	}
}

func TestChangesJSON(t *testing.T) {
	var b bytes.Buffer
	if err := ChangesJSON(&b, sampleChanges); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"schemaVersion": 1`, `"rules": [` + "\n" + `                "v0",`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in\n%s", want, b.String())
		}
	}
	b.Reset()
	if err := ChangesJSON(&b, graph.Changes{}); err != nil || !strings.Contains(b.String(), `"packages": []`) {
		t.Errorf("%s, %v", b.String(), err)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestWritersTellOfAFullDisk(t *testing.T) {
	for name, err := range map[string]error{
		"text":     Text(broken{}, sample, Style{}),
		"json":     JSON(broken{}, sample),
		"sarif":    SARIF(broken{}, sample, Tool{}),
		"changes":  ChangesText(broken{}, sampleChanges, Style{}),
		"markdown": ChangesMarkdown(broken{}, sampleChanges),
		"cjson":    ChangesJSON(broken{}, sampleChanges),
	} {
		if err == nil {
			t.Errorf("%s says nothing", name)
		}
	}
}
