package explorer

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
)

func catalogOf(t *testing.T, text string) *graph.Catalog {
	t.Helper()
	docs, err := fbc.Read("catalog.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return graph.FromDocs(docs)
}

// chain returns a package with a channel in which each version replaces the previous one.
func chain(pkg, channel string, versions ...string) string {
	var b strings.Builder
	quoted := func(s string) string { text, _ := json.Marshal(s); return string(text) }
	b.WriteString("---\nschema: olm.package\nname: " + quoted(pkg) + "\ndefaultChannel: " + quoted(channel) + "\n")
	b.WriteString("---\nschema: olm.channel\npackage: " + quoted(pkg) + "\nname: " + quoted(channel) + "\nentries:\n")
	for i, v := range versions {
		b.WriteString("- name: " + quoted(pkg+".v"+v) + "\n")
		if i > 0 {
			b.WriteString("  replaces: " + quoted(pkg+".v"+versions[i-1]) + "\n")
		}
	}
	for _, v := range versions {
		b.WriteString("---\nschema: olm.bundle\npackage: " + quoted(pkg) + "\nname: " + quoted(pkg+".v"+v) + "\nimage: quay.io/example/op:v" + v +
			"\nproperties:\n- {type: olm.package, value: {packageName: " + quoted(pkg) + ", version: " + v + "}}\n")
	}
	return b.String()
}

var blocks = regexp.MustCompile(`<script type="application/json" id="([a-z0-9-]+)">([A-Za-z0-9+/=]*)</script>`)

// unpacked returns the blocks of a page by their ids.
func unpacked(t *testing.T, page []byte) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, m := range blocks.FindAllSubmatch(page, -1) {
		packed, err := base64.StdEncoding.DecodeString(string(m[2]))
		if err != nil {
			t.Fatal(err)
		}
		r, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		if all[string(m[1])], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func read[T any](t *testing.T, text []byte) (v T) {
	t.Helper()
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

func TestPage(t *testing.T) {
	old, now := catalogOf(t, chain("op", "stable", "1.0.0", "1.1.0")), catalogOf(t, chain("op", "stable", "1.1.0", "1.2.0")+chain("other", "fast", "2.0.0"))
	page := Page([]Platform{{Name: "4.19", Catalog: now, Base: old}, {Name: "4.20", Catalog: now, Base: now}}, Options{})
	if again := Page([]Platform{{Name: "4.19", Catalog: now, Base: old}, {Name: "4.20", Catalog: now, Base: now}}, Options{}); !bytes.Equal(page, again) {
		t.Error("the same catalogs give another page")
	}
	all := unpacked(t, page)
	index := read[indexData](t, all["index"])
	if index.Title != "Upgrade graphs of 2 packages" || !slices.Equal(index.Compares, []bool{true, true}) || !slices.Equal(index.Platforms, []string{"4.19", "4.20"}) || len(index.Packages) != 2 {
		t.Fatalf("the index is %+v", index)
	}
	if p := index.Packages[0]; p.Name != "op" || p.Default != "stable" || p.Head != "op.v1.2.0" || !p.Changed || p.Errors == 0 || !slices.Equal(p.Bundles, []string{"op.v1.0.0", "op.v1.1.0", "op.v1.2.0"}) || p.Versions != 2 {
		t.Errorf("op is %+v", p)
	}
	op := read[packageData](t, all["package-0"])
	if op.Stages[0].After < 0 || op.Stages[0].Before < 0 || op.Stages[1].After < 0 || len(op.Views) != 4 {
		t.Errorf("%d views, %+v", len(op.Views), op.Stages)
	}
	if before := op.Views[op.Stages[0].Before].Lanes[0]; before.Nodes[0].Flags&64 == 0 {
		t.Errorf("1.0.0 is not removed: %+v", before.Nodes)
	}
	if after := op.Views[op.Stages[0].After]; after.Images[2] != "quay.io/example/op:v1.2.0" || after.Lanes[0].Olm[0].Offers[0][0] != 2 {
		t.Errorf("after is %+v", after)
	}
	if !slices.ContainsFunc(op.Findings, func(f graphFinding) bool { return f.Stage == 0 && f.ID == "upgrade-path-lost" }) {
		t.Errorf("the findings are %+v", op.Findings)
	}
	other := read[packageData](t, all["package-1"])
	if other.Stages[0].Before != -1 || other.Stages[1].Before < 0 {
		t.Errorf("other is in %+v", other.Stages)
	}
}

// Any text from catalogs stays text. The policy names the page's own script and style, so that a browser runs
// nothing else.
func TestPageOfHostileNames(t *testing.T) {
	const evil = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"
	page := string(Page([]Platform{{Catalog: catalogOf(t, chain(evil, evil, "1.0.0"))}}, Options{}))
	if strings.Contains(page, "alert(1)</script>") || strings.Contains(page, "<img") {
		t.Error("a name is markup")
	}
	if n := strings.Count(page, "<script"); n != 3 {
		t.Errorf("%d scripts", n)
	}
	_, rest, _ := strings.Cut(page, "<script>")
	script, _, _ := strings.Cut(rest, "</script>")
	_, rest, _ = strings.Cut(page, "<style>")
	style, _, _ := strings.Cut(rest, "</style>")
	for _, want := range []string{"default-src 'none'; script-src '" + hashOf(script) + "'; style-src '" + hashOf(style) + "'; img-src data:; base-uri 'none'", "<title>Upgrade graph of &lt;/script&gt;"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(page, "connect-src") {
		t.Error("a page that is not served may connect")
	}
}

func TestPageOfOddCatalogs(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":          "",
		"no channel":       "schema: olm.package\nname: op\ndefaultChannel: stable\n",
		"no bundles":       "schema: olm.channel\npackage: op\nname: stable\nentries: [{name: op.v1.0.0}, {name: op.v1.1.0, skips: [op.v1.0.0]}]\n",
		"a circle":         "schema: olm.channel\npackage: op\nname: stable\nentries: [{name: a, replaces: b}, {name: b, replaces: a}]\n",
		"no names":         "schema: olm.channel\npackage: op\nname: \"\"\nentries: [{name: \"\"}, {name: \"\", replaces: \"\"}]\n",
		"an empty channel": "schema: olm.channel\npackage: op\nname: stable\nentries: []\n",
	} {
		docs, _ := fbc.Read("catalog.yaml", []byte(text))
		c := graph.FromDocs(docs)
		page := Page([]Platform{{Name: "4.19", Catalog: c}, {Name: "4.20", Catalog: catalogOf(t, chain("op", "stable", "1.0.0")), Base: c}}, Options{})
		if len(unpacked(t, page)) < 2 {
			t.Errorf("%s: no package", name)
		}
	}
	nothing := []Platform{{Catalog: catalogOf(t, "")}}
	if !Empty(nothing, Options{}) || len(unpacked(t, Page(nothing, Options{}))) != 1 {
		t.Error("nothing is not empty")
	}
	if !Empty([]Platform{{Catalog: catalogOf(t, chain("op", "stable", "1.0.0"))}}, Options{Package: "other"}) {
		t.Error("a package that is not there is there")
	}
}

// The page's program creates no markup from text and contains no outside address.
func TestPageProgram(t *testing.T) {
	entries, err := files.ReadDir("page")
	if err != nil || len(entries) != len(scripts)+2 {
		t.Errorf("%d files, %d of them scripts: %v", len(entries), len(scripts), err)
	}
	for _, e := range entries {
		text := file(e.Name())
		if lines := strings.Count(text, "\n"); lines > 400 {
			t.Errorf("%s has %d lines", e.Name(), lines)
		}
		if m := regexp.MustCompile(`(?i)innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|new Function|fetch\(|import\(|@import|url\((?:[^#$)]|"[^#])`).FindString(text); m != "" {
			t.Errorf("%s has %s", e.Name(), m)
		}
		if path.Ext(e.Name()) != ".js" {
			continue
		}
		for _, m := range regexp.MustCompile(`https?://[^'"\s]*`).FindAllString(text, -1) {
			if m != "http://www.w3.org/2000/svg" {
				t.Errorf("%s has %s", e.Name(), m)
			}
		}
	}
}
