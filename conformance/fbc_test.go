package conformance

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/olmgraft/graft/internal/testkit/corpus"

	"github.com/joelanford/ignore"
	"github.com/operator-framework/operator-registry/alpha/declcfg"

	"github.com/olmgraft/graft/internal/fbc"
)

// render reads and writes a catalog with Graft.
func render(src []byte, format fbc.Format) ([]byte, error) {
	docs, err := fbc.Read("catalog", src)
	if err != nil {
		return nil, err
	}
	return write(docs, format)
}

func write(docs []fbc.Doc, format fbc.Format) ([]byte, error) {
	var blobs []fbc.Blob
	for i := range docs {
		b, err := docs[i].Blob(format)
		if err != nil {
			return nil, err
		}
		blobs = append(blobs, b)
	}
	var out bytes.Buffer
	err := fbc.Write(&out, format, blobs)
	return out.Bytes(), err
}

var formats = []struct {
	format fbc.Format
	write  declcfg.WriteFunc
}{{fbc.YAML, declcfg.WriteYAML}, {fbc.JSON, declcfg.WriteJSON}}

// compareCatalog checks that Graft refuses the same catalogs as opm, and writes the others in the same bytes.
func compareCatalog(t *testing.T, src []byte) (ok bool) {
	t.Helper()
	cfg, wantErr := declcfg.LoadReader(bytes.NewReader(src))
	for _, f := range formats {
		got, err := render(src, f.format)
		if wantErr == nil && dropped(cfg) && err != nil {
			return false // opm silently drops documents
		}
		var want bytes.Buffer
		writeErr := wantErr
		if writeErr == nil {
			writeErr = f.write(*cfg, &want)
		}
		if (err == nil) != (writeErr == nil) {
			t.Fatalf("%q\nGraft: %v\nopm:   %v", src, err, writeErr)
		}
		if err == nil && !bytes.Equal(got, want.Bytes()) {
			t.Fatalf("%q\nGraft: %s\nopm:   %s", src, got, want.Bytes())
		}
	}
	return wantErr == nil
}

func dropped(cfg *declcfg.DeclarativeConfig) bool {
	return slices.ContainsFunc(cfg.Packages, func(p declcfg.Package) bool { return p.Name == "" }) ||
		slices.ContainsFunc(cfg.Channels, func(c declcfg.Channel) bool { return c.Package == "" }) ||
		slices.ContainsFunc(cfg.Bundles, func(b declcfg.Bundle) bool { return b.Package == "" }) ||
		slices.ContainsFunc(cfg.Deprecations, func(d declcfg.Deprecation) bool { return d.Package == "" })
}

var catalogPieces = []string{
	"schema: olm.package\nname: p\ndefaultChannel: c\n", "schema: olm.package\nname: q\nicon: {base64data: PHN2Zz4=, mediatype: image/svg+xml}\ndescription: |\n  text\n\n  <b>&\nextra: 1\n",
	"schema: olm.channel\npackage: p\nname: c\nentries:\n- name: b.v1\n- name: b.v2\n  replaces: b.v1\n  skips: []\n  skipRange: <2\n", "schema: olm.channel\npackage: p\nname: b\nEntries: [{Name: x, name: y}]\n", "Schema: olm.channel\nPackage: q\nNAME: a\n",
	"schema: olm.bundle\npackage: p\nname: b.v2\nimage: i\nproperties:\n- type: olm.package\n  value: {version: 1.0.0, packageName: p, n: 12345678901234567890, f: 1.0, e: 1e-7, z: -0}\n- type: x\nrelatedImages:\n- {name: '', image: z}\n",
	"schema: olm.bundle\npackage: p\nname: b.v1\nimage: i\nproperties:\n- type: olm.bundle.object\n  value: {data: e30=}\n- type: olm.bundle.object\n  value: {}\n", "schema: olm.bundle\npackage: p\nname: b.v0\nproperties:\n- type: olm.bundle.object\n  value: {data: YTogYg==}\n",
	"schema: olm.deprecations\npackage: p\nentries:\n- reference: {schema: olm.bundle, name: b.v1}\n  message: gone\n", "schema: x\npackage: p\nz: [1, 2.50, {b: 1, a: 2}]\na10: 1\na9: 2\n", "schema: y\nwords: a long text that goes on beyond the column where lines are folded, as opm does, at its spaces\n", "schema: y\nname: n\n",
	`{"schema":"olm.bundle","package":"q","name":"j","image":"i","properties":[{"value":{"b":-0,"a":1E400},"type":"t"}]}` + "\n", `{"schema":"z","package":"p","big":12345678901234567890,"f":1.50,"s":"\ud83d\ude00\/<"}`, `{"name":"j","schema":"olm.channel","package":"p","entries":[{"name":"a"}]}` + "\n", `{"schema":"z", "n": -0, "n": [1e2]} `,
}

var breaks = []string{"---\n", "--- # c\n", "---", "...\n", "# c\n", "\n", " ", "\t", "\r\n", "\r", ":", "- ", "'", "\"", "{", "}", "[", "]", ",", "&a ", "*a", "<<: ", "!!str ", "name: z\n", "Name: z\n", "image: 1\n", "schema: olm.bundle\n", "~", "null", "true", "1", ".inf", "\\", "é", "\u0085", "\x00", "\xff"}

func TestRandomCatalogs(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, uint64(rounds(1))))
	n, valid := rounds(10000), 0
	for range n {
		var src []byte
		for i := range 1 + rng.IntN(5) {
			piece := catalogPieces[rng.IntN(len(catalogPieces))]
			if i > 0 && (piece[0] != '{' || rng.IntN(3) == 0) {
				src = append(src, "---\n"...)
			}
			src = append(src, piece...)
		}
		for range rng.IntN(3) {
			at := rng.IntN(len(src) + 1)
			if rng.IntN(2) == 0 {
				at = bytes.LastIndexByte(src[:at], '\n') + 1
			}
			switch rng.IntN(3) {
			case 0:
				src = append(src[:at:at], src[min(len(src), at+1+rng.IntN(3)):]...)
			default:
				src = append(src[:at:at], append([]byte(breaks[rng.IntN(len(breaks))]), src[at:]...)...)
			}
		}
		if compareCatalog(t, src) {
			valid++
		}
	}
	t.Logf("%d of %d were valid", valid, n)
}

func TestCorpusCatalogs(t *testing.T) {
	corpus.Each(t, func(t *testing.T, c corpus.Corpus) {
		for _, name := range c.Files(t, "render/oracle/*/*.yaml", "validate/real/*.yaml") {
			src := c.Read(t, name)
			compareCatalog(t, src)
			// The same from JSON.
			out, err := render(src, fbc.JSON)
			if err != nil {
				t.Fatal(err)
			}
			compareCatalog(t, out)
		}
	})
}

// Graft walks directories as opm does.
func TestDirectories(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, uint64(rounds(1))))
	names := []string{"a", "b", "ab", "a.yaml", "README.md", ".x", "c[d"}
	parts := []string{"a", "b", "*", "**", "a*", "?", "!", "/", "/", "*.md", "[ab]", "[", ".x", " ", "#", "\\", ".", "***"}
	path := func() string {
		p := make([]string, 1+rng.IntN(3))
		for i := range p {
			p[i] = names[rng.IntN(len(names))] + []string{"", "", "1"}[rng.IntN(3)]
		}
		return strings.Join(p, "/")
	}
	for range rounds(3000) {
		dir := fstest.MapFS{}
		for i := range 8 {
			dir[path()] = &fstest.MapFile{Data: fmt.Appendf(nil, "schema: s\nname: n%d\n", i)}
		}
		for range 1 + rng.IntN(3) {
			var text strings.Builder
			for range rng.IntN(4) {
				for range 1 + rng.IntN(5) {
					text.WriteString(parts[rng.IntN(len(parts))])
				}
				text.WriteString("\n")
			}
			at := ".indexignore"
			if rng.IntN(2) == 0 {
				at = path() + "/" + at
			}
			dir[at] = &fstest.MapFile{Data: []byte(text.String())}
		}
		if fs.WalkDir(dir, ".", func(_ string, _ fs.DirEntry, err error) error { return err }) != nil {
			continue // a name that is a file and a directory
		}
		compareDirectory(t, dir)
	}
}

func compareDirectory(t *testing.T, dir fstest.MapFS) {
	t.Helper()
	matcher, err := ignore.NewMatcher(dir, ".indexignore")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	if err := fs.WalkDir(dir, ".", func(p string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && e.Name() != ".indexignore" && !matcher.Match(p, false) {
			want = append(want, p)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	docs, err := fbc.ReadFS(dir, ".")
	if _, wantErr := declcfg.LoadFS(context.Background(), dir); (err == nil) != (wantErr == nil) {
		t.Fatalf("%v and %v for %v", err, wantErr, dir)
	}
	var got []string
	for _, d := range docs {
		got = append(got, d.File)
	}
	if err == nil && !slices.Equal(got, want) {
		for p, f := range dir {
			t.Logf("%s: %s", p, f.Data)
		}
		t.Fatalf("got %v\nwant %v", got, want)
	}
}
