package plan

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/testkit/corpus"
)

// entriesOf parses entries such as "1.1.0 <1.0.0 (>=1.0.0 <1.1.0) -0.9.0".
func entriesOf(text string) (all []fbc.Entry) {
	for line := range strings.SplitSeq(text, ";") {
		line, skips, _ := strings.Cut(line, " -")
		head, ranged, _ := strings.Cut(strings.TrimSpace(line), " (")
		name, replaces, _ := strings.Cut(head, " <")
		e := fbc.Entry{Name: "op.v" + name, SkipRange: strings.TrimSuffix(ranged, ")")}
		if replaces != "" {
			e.Replaces = "op.v" + replaces
		}
		if skips != "" {
			e.Skips = []string{"op.v" + skips}
		}
		all = append(all, e)
	}
	return all
}

func TestLikeSiblings(t *testing.T) {
	for _, tt := range []struct {
		name, entries, version string
		replaces, skipRange    string
		why                    string
	}{
		{"after what it replaces", "1.20.0; 1.21.0 <1.20.0 (>1.20.0 <1.21.0)", "1.22.0", "op.v1.21.0", ">1.21.0 <1.22.0", "the range >{version of what it replaces} <{version}"},
		{"after the first", "1.0.0 (>=0.4.0 <1.0.0)", "1.0.1", "op.v1.0.0", ">=0.4.0 <1.0.1", "it replaces the entry below it"},
		{"a range that was forgotten", "0.4.1; 0.4.2 <0.4.1 (>=0.1.0 <0.2.0); 1.0.0 <0.4.2 (>=0.1.0 <1.0.0)", "1.1.0", "op.v1.0.0", ">=0.1.0 <1.1.0", "the range >=0.1.0 <{version}"},
		{"a chain alone", "1.0.0; 1.1.0 <1.0.0", "1.2.0", "op.v1.1.0", "", "no range"},
		{"up to the version", "1.0.0 (<1.0.0); 1.1.0 <1.0.0 (<1.1.0)", "1.2.0", "op.v1.1.0", "<1.2.0", "the range <{version}"},
		{"up to the version, nothing replaced", "1.0.0 (<1.0.0); 1.1.0 (<1.1.0)", "1.2.0", "", "<1.2.0", "it replaces nothing"},
		{"from what it replaces", "1.20.0; 1.21.0 <1.20.0 (>=1.20.0 <1.21.0); 1.22.1 <1.21.0 (>=1.21.0 <1.22.1)", "1.23.0", "op.v1.22.1", ">=1.22.1 <1.23.0", "the range >={version of what it replaces} <{version}"},
		{"within the minor version", "1.2.0 (>=1.2.0 <1.2.0); 1.2.1 <1.2.0 (>=1.2.0 <1.2.1); 1.2.2 <1.2.1 (>=1.2.0 <1.2.2)", "1.3.0", "op.v1.2.2", ">=1.3.0 <1.3.0", "the range >={major}.{minor}.0 <{version}"},
		{"two minor versions back", "0.17.4 (>=0.15.0 <0.17.4); 0.17.5 <0.17.4 (>=0.15.0 <0.17.5)", "0.18.0", "op.v0.17.5", ">=0.16.0 <0.18.0", "{minor-2}"},
		{"from a version that stays", "0.13.0 (>=0.4.0 <0.13.0); 0.13.1 <0.13.0 (>=0.4.0 <0.13.1)", "0.13.2", "op.v0.13.1", ">=0.4.0 <0.13.2", "the range >=0.4.0 <{version}"},
		{"a backport follows the entries below it", "1.0.0 (<1.0.0); 1.1.0 <1.0.0 (>=1.0.0 <1.1.0)", "1.0.1", "op.v1.0.0", "<1.0.1", "op.v1.0.0"},
		{"the newest has none", "1.0.0 (<1.0.0); 1.1.0 <1.0.0", "1.2.0", "op.v1.1.0", "", "no range"},
		{"ranges of no pattern", "1.0.0; 1.1.0 <1.0.0 (>=0.3.0 <1.1.0); 1.2.0 <1.1.0 (>=0.4.0 <1.2.0)", "1.3.0", "op.v1.2.0", "", "no range"},
		{"with blanks", "1.1.0 (>= 1.0.0 < 1.1.0); 1.2.0 <1.1.0 (>= 1.1.0 < 1.2.0)", "1.2.1", "op.v1.2.0", ">= 1.1.0 < 1.2.1", "the range >={major}.{minor-1}.0 <{version}"},
		{"with blanks in the older ones", "1.1.0 (>= 1.0.0 < 1.1.0); 1.2.0 <1.1.0 (>=1.1.0 <1.2.0)", "1.2.1", "op.v1.2.0", ">=1.1.0 <1.2.1", "the range >={major}.{minor-1}.0 <{version}"},
		{"an empty channel", "", "1.0.0", "", "", "nothing is below it"},
		{"below all", "1.1.0 (<1.1.0)", "1.0.0", "", "", "nothing is below it"},
	} {
		var entries []fbc.Entry
		if tt.entries != "" {
			entries = entriesOf(tt.entries)
		}
		e, why, err := likeSiblings(entries, "op.v"+tt.version, semver.MustParse(tt.version))
		if err != nil || e.Replaces != tt.replaces || e.SkipRange != tt.skipRange || !strings.Contains(why, tt.why) {
			t.Errorf("%s: got %q %q (%s) %v", tt.name, e.Replaces, e.SkipRange, why, err)
		}
	}
}

// TestLikeSiblingsSkip checks that a bundle skips what all of its siblings skip.
func TestLikeSiblingsSkip(t *testing.T) {
	for entries, want := range map[string]string{
		"1.1.0 -0.9.0; 1.2.0 <1.1.0 -0.9.0": "replaces op.v1.2.0, skips op.v0.9.0",
		"1.1.0 -0.8.0; 1.2.0 <1.1.0 -0.9.0": "replaces op.v1.2.0",
		"1.1.0; 1.2.0 <1.1.0 -0.9.0":        "replaces op.v1.2.0",
		"1.2.0 <1.1.0 -0.9.0":               "replaces op.v1.2.0",
	} {
		e, _, err := likeSiblings(entriesOf(entries), "op.v1.3.0", semver.MustParse("1.3.0"))
		if err != nil || e.inWords() != want {
			t.Errorf("%s: %s, want %s (%v)", entries, e.inWords(), want, err)
		}
	}
}

// In public histories the newest entries usually predict the edges of the next one.
func TestLikeSiblingsOfHistories(t *testing.T) {
	c := corpus.Large(t)
	blobs := c.Archive(t, "histories/blobs")
	tried, right := 0, 0
	for line := range bytes.Lines(c.Read(t, c.Files(t, "histories/cases.jsonl")[0])) {
		var commit struct {
			Change, Kind, Package, Before string
			NewEntries                    []struct {
				Channel string
				fbc.Entry
			}
		}
		if err := json.Unmarshal(line, &commit); err != nil {
			t.Fatal(err)
		}
		if commit.Change != "add" || commit.Kind != "olm.template.basic" {
			continue
		}
		tmpl, err := template.Parse("t.yaml", blobs["blobs/"+commit.Before].Data)
		if err != nil {
			t.Fatal(err)
		}
		channels, err := channelEntries(tmpl, commit.Package)
		if err != nil {
			continue // a form that opm does not read
		}
		for _, e := range commit.NewEntries {
			version, ok := graph.VersionOf(e.Name)
			standing := channels[e.Channel]
			if !ok || len(newestBelow(standing, version)) == 0 {
				continue
			}
			tried++
			got, _, err := likeSiblings(standing, e.Name, version)
			if err == nil && got.Replaces == e.Replaces && got.SkipRange == e.SkipRange {
				right++
			}
		}
	}
	t.Logf("%d of %d entries have the edges that their siblings show", right, tried)
	if right < leastLikeSiblings {
		t.Errorf("they were %d", leastLikeSiblings)
	}
}

const leastLikeSiblings = 168
