package fbc

import (
	"io/fs"
	"math/rand/v2"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/olmgraft/graft/internal/failure"
)

func TestRead(t *testing.T) {
	const a, b = "schema: s\nname: a\n", "schema: s\npackage: b\n"
	type doc struct {
		name, pkg, raw string
		line, ignored  int
	}
	for _, c := range []struct {
		rule, src string
		docs      []doc
	}{
		{"nothing", "", nil},
		{"one document", a, []doc{{"a", "", a, 1, 0}}},
		{"a separator before the first and after the last", "---\n" + a + "---\n", []doc{{"a", "", a, 2, 0}}},
		{"two documents", a + "---\n" + b, []doc{{"a", "", a, 1, 0}, {"", "b", b, 4, 0}}},
		{"a separator that opens a document again", a + "---\n--- # c\n" + b, []doc{{"a", "", a, 1, 0}, {"", "b", b, 5, 0}}},
		{"comments belong to the document", "# c\n\n" + a, []doc{{"a", "", "# c\n\n" + a, 3, 0}}},
		{"no last line feed", "schema: s\nname: a", []doc{{"a", "", "schema: s\nname: a", 1, 0}}},
		{"CRLF", "schema: s\r\nname: a\r\n---\r\n" + b, []doc{{"a", "", "schema: s\r\nname: a\r\n", 1, 0}, {"", "b", b, 4, 0}}},
		{"a BOM", "\uFEFF" + a, []doc{{"a", "", "\uFEFF" + a, 1, 0}}},
		{"keys in any case", "Schema: s\nNAME: a\n", []doc{{"a", "", "Schema: s\nNAME: a\n", 1, 0}}},
		{"content that opm drops", a + "...\n\nname: z\n", []doc{{"a", "", a + "...\n\nname: z\n", 1, 5}}},
		{"separators count inside quotes as well", "schema: s\nname: a\nx: |\n  y\n---\n" + b, []doc{{"a", "", "schema: s\nname: a\nx: |\n  y\n", 1, 0}, {"", "b", b, 6, 0}}},
		{"a JSON stream", "{\"schema\":\"s\",\"name\":\"a\"}\n\n {\"package\":\"b\",\"schema\":\"s\"}{\"schema\":\"s\"}",
			[]doc{{"a", "", `{"schema":"s","name":"a"}`, 1, 0}, {"", "b", `{"package":"b","schema":"s"}`, 3, 0}, {"", "", `{"schema":"s"}`, 3, 0}}},
		{"JSON, then YAML", "{\"schema\":\"s\",\"name\":\"a\"}\n---\n" + b, []doc{{"a", "", `{"schema":"s","name":"a"}`, 1, 0}, {"", "b", b, 3, 0}}},
		{"braces that are YAML", "{schema: s, name: a}\n", []doc{{"a", "", "{schema: s, name: a}\n", 1, 0}}},
		{"a number too large for JSON is a text in YAML", `{"schema":"s","name":"a","x":1e999}`, []doc{{"a", "", `{"schema":"s","name":"a","x":1e999}`, 1, 0}}},
	} {
		docs, err := Read("f", []byte(c.src))
		if err != nil {
			t.Errorf("%s: %v", c.rule, err)
			continue
		}
		var got []doc
		for _, d := range docs {
			got = append(got, doc{d.Name, d.Package, string(d.Raw()), d.Line, d.Ignored})
			if d.File != "f" || d.Schema != "s" || c.src[d.Start:d.End] != string(d.Raw()) {
				t.Errorf("%s: %+v", c.rule, d)
			}
			if _, err := d.JSON(); err != nil {
				t.Errorf("%s: %v", c.rule, err)
			}
		}
		if !reflect.DeepEqual(got, c.docs) {
			t.Errorf("%s:\n got %+v\nwant %+v", c.rule, got, c.docs)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	for _, c := range []struct{ rule, src, place, says string }{
		{"no schema", "name: a\n", "f:1:1", "without a schema"},
		{"an empty document between separators", "schema: s\n---\n\n---\n", "f:3:1", "without a schema"},
		{"comments only", "# c\n", "f:1:1", "without a schema"},
		{"a list", "---\n- a\n", "f:2:1", "must be a mapping"},
		{"a key in two cases", "schema: s\nname: a\nName: b\n", "f:2:7", "the same to opm"},
		{"a schema that is no text", "name: a\nschema: 1\n", "f:2:9", "schema must be a text"},
		{"a name that is a boolean", "schema: s\n---\nschema: s\nname: y\n", "f:4:7", "name must be a text"},
		{"a separator with more on its line", "schema: s\n---a\n", "f:2:1", "begins with ---"},
		{"a value without a form in JSON", "schema: s\nx: .nan\n", "f:2:4", "NaN has no form"},
		{"YAML that does not parse", "schema: s\n---\nschema: t\nx: a: b\n", "f:4:5", "needs quotes"},
		{"JSON that does not parse", "{\"schema\":\"s\"}\n{\"schema\":\"s\"}\n{\"schema\":,}", "f:3:11", "looking for beginning of value"},
		{"JSON with a key in two cases", "{\"schema\":\"s\"}\n {\"schema\":\"s\",\n\"x\":1,\"X\":2}", "f:3:11", "the same to opm"},
		{"JSON that is no object", "{\"schema\":\"s\"}{\"schema\":\"s\"} 1", "f:1:30", "an object"},
	} {
		_, err := Read("f", []byte(c.src))
		f := failure.Of(err)
		if f == nil || f.Code != failure.TemplateMalformed || f.Place() != c.place || !strings.Contains(f.Message, c.says) || f.Remedy == "" {
			t.Errorf("%s: %v, want %s: ...%s...", c.rule, err, c.place, c.says)
		}
	}
}

func TestDecode(t *testing.T) {
	src := "schema: olm.package\nname: p\ndefaultChannel: c\nDescription: d\nicon:\n  base64data: YWI=\n  mediatype: m\n" +
		"---\nschema: olm.channel\nname: c\npackage: p\nentries:\n- {name: a, Skips: [b]}\n\n- name: b\n  skipRange: <1\n" +
		"---\nschema: olm.deprecations\npackage: p\nentries:\n# c\n-\n  reference: {schema: olm.channel, name: c}\n  message: m\n"
	docs, err := Read("f", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	p, err := docs[0].PackageDoc()
	if want := (Package{Schema: SchemaPackage, Name: "p", DefaultChannel: "c", Description: "d", Icon: &Icon{[]byte("ab"), "m"}}); err != nil || !reflect.DeepEqual(p, want) {
		t.Errorf("%+v, %v", p, err)
	}
	c, err := docs[1].Channel()
	if want := (Channel{Schema: SchemaChannel, Name: "c", Package: "p", Entries: []Entry{{Name: "a", Skips: []string{"b"}}, {Name: "b", SkipRange: "<1"}}}); err != nil || !reflect.DeepEqual(c, want) {
		t.Errorf("%+v, %v", c, err)
	}
	x, err := docs[2].Deprecation()
	if want := (Deprecation{Schema: SchemaDeprecation, Package: "p", Entries: []DeprecationEntry{{Reference{"olm.channel", "c"}, "m"}}}); err != nil || !reflect.DeepEqual(x, want) {
		t.Errorf("%+v, %v", x, err)
	}
	for i, want := range [][]int{nil, {13, 15}, {23}} {
		if got := docs[i].EntryLines(); len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("document %d: entries on lines %v, not %v", i, got, want)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, c := range []struct{ src, place, says string }{
		{"---\nschema: olm.channel\nname: c\nentries:\n- name: a\n  skips: b\n", "f:6:10", `the olm.channel "c": entries.skips cannot be a text`},
		{"{\"schema\":\"olm.channel\",\"package\":\"p\",\n \"entries\":{}}", "f:2:12", `the olm.channel of package "p": entries cannot be a mapping`},
		{"schema: olm.channel\nname: c\nentries: [{name: 1}]\n", "f:3:18", "entries.name cannot be a number"},
	} {
		docs, err := Read("f", []byte(c.src))
		if err != nil {
			t.Fatal(err)
		}
		_, err = docs[0].Channel()
		if f := failure.Of(err); f == nil || f.Code != failure.TemplateMalformed || f.Place() != c.place || !strings.Contains(f.Message, c.says) {
			t.Errorf("%q: %v", c.src, err)
		}
	}
}

func TestReadFS(t *testing.T) {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	dir := fstest.MapFS{
		"c/b.yaml":           file("schema: s\n---\nschema: s\n"),
		"c/a/catalog.json":   file(`{"schema":"s"}`),
		"c/a/README.md":      file("# not a catalog: \n"),
		"c/a/.indexignore":   file("# c\n\n*.md\n"),
		"c/.indexignore":     file("/old\n!old/kept\n"),
		"c/old/x":            file("- no\n"),
		"c/old/kept":         file("schema: s\n"),
		"c/z/.indexignore/x": file("schema: s\n"),
	}
	docs, err := ReadFS(dir, "c")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range docs {
		got = append(got, d.File)
	}
	if want := []string{"c/a/catalog.json", "c/b.yaml", "c/b.yaml", "c/old/kept", "c/z/.indexignore/x"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	// The remedy for a file that is no document differs by its name.
	for name, want := range map[string]string{"catalog.Dockerfile": ".indexignore", ".git/COMMIT_EDITMSG": ".indexignore", "catalog.yaml": "Correct the document"} {
		if _, err := ReadFS(fstest.MapFS{name: file("FROM scratch\n")}, "."); err == nil || !strings.Contains(failure.Of(err).Remedy, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if docs, err := ReadFS(dir, "c/old/kept"); err != nil || len(docs) != 1 {
		t.Errorf("a file: %v, %v", docs, err)
	}
	if _, err := ReadFS(dir, "d"); !failure.Is(err, failure.TemplateNotFound) {
		t.Errorf("no such directory: %v", err)
	}
	sub, err := fs.Sub(dir, "c/old")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFS(sub, "."); !failure.Is(err, failure.TemplateMalformed) || !strings.HasPrefix(err.Error(), "x:1:1") {
		t.Errorf("not a catalog file: %v", err)
	}
}

func TestIgnore(t *testing.T) {
	for _, c := range []struct {
		rule, text, path string
		ignored          bool
	}{
		{"a name anywhere", "a", "x/a/y", true},
		{"only whole names", "a", "ab", false},
		{"a wildcard within a name", "*.md", "x/a.md", true},
		{"a directory", "a/", "a/x", true},
		{"no file of that name", "a/", "x/a", false},
		{"from the root", "/a", "x/a", false},
		{"from the root, and what is below", "/a", "a/x", true},
		{"a path", "a/b", "a/b", true},
		{"a path is from the root", "a/b", "x/a/b", false},
		{"any directories", "**/b", "x/y/b", true},
		{"any directories between", "a/**/b", "a/x/y/b", true},
		{"or none", "a/**/b", "a/b", true},
		{"everything below", "a/**", "a/b", true},
		{"the last match decides", "*\n!a", "a", false},
		{"and again", "*\n!a\na", "a", true},
		{"a file may be let in from an excluded directory", "a\n!b", "a/b", false},
		{"a bad pattern matches nothing", "[", "[", false},
		{"comments", "# a\n#a", "#a", false},
		{"blanks around", " a \n", "a", true},
		{"stars within a name", "a**b/c", "aab/c", false},
	} {
		if got := parseIgnores(c.text, nil).match(strings.Split(c.path, "/")); got != c.ignored {
			t.Errorf("%s: %q on %q returns %v", c.rule, c.text, c.path, got)
		}
	}
	inside := parseIgnores("/a", []string{"d"})
	for path, want := range map[string]bool{"d/a": true, "a": false, "d": false, "e/a": false, "d/d/a": false} {
		if got := inside.match(strings.Split(path, "/")); got != want {
			t.Errorf("/a in d on %s returns %v", path, got)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{sample, `{"schema":"a"}` + "\n---\nschema: b\n", "{\"schema\":\"a\"}{}", "---\n---\n", "\uFEFFschema: a\r\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		docs, err := Read("f", src)
		if err != nil {
			if fault := failure.Of(err); fault.Code != failure.TemplateMalformed || fault.Line == 0 {
				t.Fatalf("%v", err)
			}
			return
		}
		end := 0
		for i := range docs {
			d := &docs[i]
			if d.Start < end || d.End < d.Start || d.Schema == "" {
				t.Fatalf("%+v", d)
			}
			end = d.End
			if _, err := d.JSON(); err != nil {
				t.Fatalf("the document cannot be written as JSON: %v", err)
			}
			d.EntryLines()
			light, lightErr := d.BundleLight()
			full, err := d.Bundle()
			if (err == nil) != (lightErr == nil) {
				t.Fatalf("light: %v, full: %v", lightErr, err)
			}
			for i := range full.Properties {
				if large(full.Properties[i].Type) {
					full.Properties[i].Value = nil
				}
			}
			if err == nil && !reflect.DeepEqual(light, full) {
				t.Fatalf("light: %+v\nfull: %+v", light, full)
			}
		}
	})
}

// Numbers that float64 may not hold are found as by a pattern, which costs too much for hostile input.
func TestMayOverflow(t *testing.T) {
	pattern := regexp.MustCompile(`\d[eE]\+?\d{3,}|\d{300,}`)
	rnd := rand.New(rand.NewPCG(2, 9))
	parts := []string{"1", "e", "E", "+", "-", ".", "e99", "e+100", "1e5", strings.Repeat("7", 299), strings.Repeat("7", 300), `"`, ","}
	found := 0
	for range 20_000 {
		var text []byte
		for range rnd.IntN(8) {
			text = append(text, parts[rnd.IntN(len(parts))]...)
		}
		want := pattern.Match(text)
		if got := mayOverflow(text) != nil; got != want {
			t.Fatalf("%q: %v, want %v", text, got, want)
		}
		if want {
			found++
		}
	}
	t.Logf("%d texts may overflow", found)
}
