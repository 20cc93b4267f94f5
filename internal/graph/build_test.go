package graph

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/testkit/corpus"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
)

// build reads a catalog with a builder that the caller has set up.
func build(t testing.TB, b Builder, src []byte) *Catalog {
	t.Helper()
	docs, err := fbc.Read("c.yaml", src)
	if err != nil {
		t.Fatal(err)
	}
	b.Add(docs)
	return b.Catalog()
}

func TestKnownDocumentsGiveTheSameFindings(t *testing.T) {
	broken := strings.NewReplacer("kind: Thing", "kind: 1", "- image: example.com/p:1.1.0", "- image: BAD").Replace(soundCatalog)
	known := build(t, Builder{}, []byte(broken))
	moved := "---\nname: q\nschema: olm.package\n" + broken
	want := fmt.Sprint(Verify(build(t, Builder{}, []byte(moved)), nil, Levels{}))
	if got := fmt.Sprint(Verify(build(t, Builder{Known: known}, []byte(moved)), nil, Levels{})); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestALightCatalogHasTheSameGraph(t *testing.T) {
	eachCatalog(t, func(t *testing.T, name string, src []byte) {
		light, full := build(t, Builder{Light: true}, src), build(t, Builder{}, src)
		if d := Diff(light, full); !d.Empty() {
			t.Errorf("%s: %+v", name, d)
		}
		unread := Levels{Of: map[string]Level{}}
		for _, r := range v1Refusals {
			unread.Of[r.id] = Off
		}
		if a, b := fmt.Sprint(Verify(light, nil, unread)), fmt.Sprint(Verify(full, nil, unread)); a != b {
			t.Errorf("%s:\n%s\n%s", name, a, b)
		}
	})
}

// A light read must not invent facts in odd documents.
func TestALightReadOfOddDocuments(t *testing.T) {
	for _, change := range []struct{ old, new string }{
		{"packageName: p\n    version: 1.2.0", "packageName: q\n    version: 1.2.0"},
		{"packageName: p\n    version: 1.2.0", "packageName: p\n    release: \"2\"\n    version: 1.2.0"},
		{"packageName: p\n    version: 1.2.0", "packageName: p\n    version: 1.2.0\n    zzz: 1"},
		{"packageName: p\n    version: 1.2.0", "packageName: p\n    version: 1.2"},
		{"packageName: p\n    version: 1.2.0", "packageName: p\n    version: \"1.2.0\""},
		{"packageName: p\n    version: 1.2.0", "version: 1.2.0\n    packageName: p"},
		{"- type: olm.gvk\n", "- type: olm.package\n  value:\n    packageName: p\n    version: 3.0.0\n- type: olm.gvk\n"},
		{"image: example.com/p:1.2.0\n", ""},
		{"image: example.com/p:1.2.0\n", "image: 3\n"},
		{"name: p.v1.2.0\npackage", "Name: p.v1.2.0\npackage"},
		{"    annotations:\n      a: b\n", "    annotations:\n      a: |-\n        x\n        - type: olm.package\n"},
	} {
		if !strings.Contains(soundCatalog, change.old) {
			t.Fatalf("the catalog has no %q", change.old)
		}
		src := []byte(strings.ReplaceAll(soundCatalog, change.old, change.new))
		full, light := build(t, Builder{}, src), build(t, Builder{Light: true}, src)
		if d := Diff(full, light); !d.Empty() {
			t.Errorf("%q: %+v", change.new, d)
		}
		if a, b := fmt.Sprint(Verify(full, nil, Levels{})), fmt.Sprint(Verify(light, nil, Levels{})); a != b {
			t.Errorf("%q: light finds\n%s\nand not\n%s", change.new, b, a)
		}
	}
}

func TestJSONAndYAMLGiveTheSameCatalog(t *testing.T) {
	docs, err := fbc.Read("c.yaml", []byte(soundCatalog))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for i := range docs {
		js, err := docs[i].JSON()
		if err != nil {
			t.Fatal(err)
		}
		b.Write(js)
		b.WriteByte('\n')
	}
	if d := Diff(load("c.yaml", []byte(soundCatalog)), load("c.json", b.Bytes())); !d.Empty() {
		t.Errorf("%+v", d)
	}
	if found := Verify(load("c.json", b.Bytes()), nil, Levels{}); len(found) > 0 {
		t.Errorf("%v", found)
	}
}

func TestWhatCannotBeReadIsAFinding(t *testing.T) {
	var b Builder
	docs, err := fbc.Read("sound.yaml", []byte(strings.Replace(soundCatalog, "defaultChannel: stable\n", "", 1)))
	if err != nil {
		t.Fatal(err)
	}
	b.Add(docs)
	b.Fail(failure.New(failure.TemplateMalformed, "reading: %s", "a quote is missing").At("bad.yaml", 7, 3))
	found := Verify(b.Catalog(), nil, Levels{})
	if len(found) != 1 || found[0].ID != "document-unreadable" || found[0].File != "bad.yaml" || found[0].Line != 7 {
		t.Errorf("%v", found)
	}
	if len(Unreadable(nil)) != 0 || len(Unreadable(fmt.Errorf("no failure"))) != 1 {
		t.Error("Unreadable is not one finding for an error")
	}
}

func TestACatalogKeepsNothingOfTheText(t *testing.T) {
	var b Builder
	for i := range 50 {
		pad := bytes.Repeat([]byte("x"), 1<<20)
		src := []byte(strings.ReplaceAll(soundCatalog, ": p\n", fmt.Sprintf(": p%d\n", i)))
		src = append(append(src, "---\nschema: example.pad\nname: pad\nvalue: "...), append(pad, '\n')...)
		docs, err := fbc.Read("c.yaml", src)
		if err != nil {
			t.Fatal(err)
		}
		b.Add(docs)
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	if c := b.Catalog(); len(c.Packages) != 50 {
		t.Fatalf("%d packages", len(c.Packages))
	}
	if m.HeapAlloc > 25<<20 {
		t.Errorf("%d MiB are kept of 50 MiB of text", m.HeapAlloc>>20)
	}
}

func BenchmarkVerify(b *testing.B) {
	var all [][]byte
	size := 0
	c := corpus.Shared(b)
	for _, file := range c.Files(b, "validate/real/*.yaml") {
		all = append(all, c.Read(b, file))
		size += len(all[len(all)-1])
	}
	read := func(builder Builder) *Catalog {
		for _, src := range all {
			docs, err := fbc.Read("c.yaml", src)
			if err != nil {
				b.Fatal(err)
			}
			builder.Add(docs)
		}
		return builder.Catalog()
	}
	b.Run("alone", func(b *testing.B) {
		b.SetBytes(int64(size))
		for range b.N {
			Verify(read(Builder{}), nil, Levels{})
		}
	})
	b.Run("with a base", func(b *testing.B) {
		b.SetBytes(int64(size))
		for range b.N {
			base := read(Builder{Light: true})
			c := read(Builder{Known: base})
			Verify(c, base, Levels{})
			CompareBase(base, c, Levels{})
		}
	})
}

// Versions are sorted by semantic version and then by release: the bundle's own, or else the one in its build
// metadata.
func TestVersionOrder(t *testing.T) {
	version := func(v, release string) Version {
		out := Version{Version: semver.MustParse(v)}
		if release != "" {
			r, fault := parseRelease(release)
			if fault != "" {
				t.Fatal(fault)
			}
			out.Release = r
		}
		return out
	}
	ascending := [][2]string{{"1.0.0-rc.1", ""}, {"1.0.0", ""}, {"1.0.0", "1"}, {"1.0.0", "1.1"}, {"1.0.0", "2"}, {"1.0.0+3", ""}, {"1.0.0", "10"}, {"1.0.0", "a"}, {"1.0.1", ""}}
	for i, a := range ascending {
		for j, b := range ascending {
			if got, want := version(a[0], a[1]).Compare(version(b[0], b[1])), min(max(i-j, -1), 1); got != want {
				t.Errorf("%v compared with %v is %d, want %d", a, b, got, want)
			}
		}
	}
	for _, tt := range [][3]string{{"1.0.0", "", "1.0.0"}, {"1.0.0", "1.a", "1.0.0-1.a"}, {"1.0.0-rc.1+b", "2", "1.0.0-rc.1+b-2"}} {
		if got := version(tt[0], tt[1]).String(); got != tt[2] {
			t.Errorf("%v is written %s", tt, got)
		}
	}
}

// A misspelt schema is reported with the one that is probably meant.
func TestMeantSchema(t *testing.T) {
	for schema, want := range map[string]string{
		"olm.bundles": "olm.bundle", "bundle": "olm.bundle", "olm.Channel": "olm.channel", "OLM_PACKAGE": "olm.package", "olm.deprecation": "olm.deprecations", "deprecations": "olm.deprecations",
		"olm.something": "", "acme.bundle": "", "": "",
	} {
		if want != "" {
			want = "; is " + want + " meant?"
		}
		if got := meant(schema); got != want {
			t.Errorf("%q: got %q, want %q", schema, got, want)
		}
	}
}
