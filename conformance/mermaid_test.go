package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/olmgraft/graft/internal/testkit/corpus"

	"github.com/operator-framework/operator-registry/alpha/declcfg"

	"github.com/olmgraft/graft/internal/draw"
	"github.com/olmgraft/graft/internal/fbc"
)

// opmMermaid returns the output of opm alpha render-template -o mermaid for a catalog. The render-graph command
// prints the same with --draw-v0-semantics.
func opmMermaid(src []byte) ([]byte, error) {
	cfg, err := declcfg.LoadFS(context.Background(), fstest.MapFS{"catalog.yaml": {Data: src}})
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = declcfg.NewMermaidWriter().WriteChannels(*cfg, &b)
	return b.Bytes(), err
}

func graftMermaid(src []byte) ([]byte, error) {
	docs, err := fbc.Read("catalog.yaml", src)
	if err != nil {
		return nil, err
	}
	var d draw.Documents
	for i := range docs {
		switch docs[i].Schema {
		case fbc.SchemaChannel:
			ch, err := docs[i].Channel()
			if err != nil {
				return nil, err
			}
			d.Channels = append(d.Channels, ch)
		case fbc.SchemaBundle:
			b, err := docs[i].BundleLight()
			if err != nil {
				return nil, err
			}
			d.Bundles = append(d.Bundles, b)
		case fbc.SchemaDeprecation:
			dep, err := docs[i].Deprecation()
			if err != nil {
				return nil, err
			}
			d.Deprecations = append(d.Deprecations, dep)
		}
	}
	return draw.OpmMermaid(d)
}

func compareMermaid(t *testing.T, what string, src []byte) (drawn bool) {
	t.Helper()
	want, wantErr := opmMermaid(src)
	got, err := graftMermaid(src)
	switch {
	case (err == nil) != (wantErr == nil):
		t.Errorf("%s: we say %v, opm says %v\n%s", what, err, wantErr, src)
	case err == nil && !bytes.Equal(got, want):
		t.Errorf("%s: got\n%s\nwant\n%s\nof\n%s", what, got, want, src)
	}
	return wantErr == nil
}

func TestMermaidOfRandomCatalogs(t *testing.T) {
	drawn, n := 0, rounds(2000)
	for seed := range n {
		r := rand.New(rand.NewPCG(uint64(seed), 44))
		if compareMermaid(t, fmt.Sprint("seed ", seed), randomUpgrades(r)) {
			drawn++
		}
		if t.Failed() {
			return
		}
	}
	if drawn < n/2 {
		t.Errorf("opm draws %d of %d", drawn, n)
	}
}

func TestMermaidOfTheCorpus(t *testing.T) {
	corpus.Each(t, func(t *testing.T, c corpus.Corpus) {
		var all []byte
		for _, f := range c.Files(t, "validate/real/*.yaml", "render/oracle/none/*.yaml") {
			src := c.Read(t, f)
			compareMermaid(t, corpus.Name(f), src)
			if strings.Contains(f, "real") {
				all = append(append(all, src...), '\n')
			}
		}
		compareMermaid(t, "all catalogs in one", all)
	})
}

// randomUpgrades returns a catalog with channels, bundles that have only a version, and deprecations, of any
// shape that is not refused at once. Many channels have the same name, and many entries the same version, so
// that the order of equals is visible.
func randomUpgrades(r *rand.Rand) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	write := func(doc object) {
		if err := enc.Encode(doc); err != nil {
			panic(err)
		}
	}
	sizes := []int{1, 3, 8, 40}
	names := make([]string, 1+r.IntN(sizes[r.IntN(4)]))
	for i := range names {
		names[i] = fmt.Sprintf("p.v%d", i)
		switch r.IntN(12) {
		case 0:
			names[i] = []string{`quo"te`, "new\nline", "ünï", "back\\slash", "a b", "", "<b>"}[r.IntN(7)]
		case 1:
			continue // has no bundle
		}
		write(randomVersion(r, names[i]))
	}
	name := func() string { return names[r.IntN(len(names))] }
	packages := 1 + r.IntN(4)
	pkg := func() string { return fmt.Sprintf("pkg%d", r.IntN(packages)) }
	ranges := []string{">=1.0.0", ">=0.1.0 <2.0.0", "<1.0.0 || >2.0.0", "!1.1.1", "1.x", "1.0.0"}
	for range 1 + r.IntN(sizes[r.IntN(4)]) {
		var entries []object
		for range r.IntN(sizes[r.IntN(4)]) {
			e := object{"name": name()}
			if r.IntN(2) == 0 {
				e["replaces"] = name()
			}
			for r.IntN(3) == 0 {
				skips, _ := e["skips"].([]string)
				e["skips"] = append(skips, name())
			}
			if r.IntN(4) == 0 {
				e["skipRange"] = ranges[r.IntN(len(ranges))]
			}
			if r.IntN(5000) == 0 { // opm warns of each
				e["skipRange"] = "nonsense"
			}
			entries = append(entries, e)
		}
		write(object{"schema": "olm.channel", "package": pkg(), "name": fmt.Sprintf("c%d", r.IntN(5)), "entries": entries})
	}
	for range r.IntN(3) {
		var entries []object
		for range r.IntN(6) {
			ref := object{"schema": "olm.package"}
			switch r.IntN(3) {
			case 0:
				ref = object{"schema": "olm.channel", "name": fmt.Sprintf("c%d", r.IntN(6))}
			case 1:
				ref = object{"schema": "olm.bundle", "name": name()}
			}
			entries = append(entries, object{"reference": ref, "message": "m"})
		}
		write(object{"schema": "olm.deprecations", "package": pkg(), "entries": entries})
	}
	return out.Bytes()
}

// randomVersion returns a bundle document. One in a few hundred has a fault that opm does not draw.
func randomVersion(r *rand.Rand, name string) object {
	version := fmt.Sprintf("%d.%d.%d", r.IntN(3), r.IntN(2), r.IntN(2))
	switch r.IntN(20) {
	case 0:
		version += "-rc.1"
	case 1:
		version += "+build"
	}
	properties := []object{{"type": "olm.package", "value": object{"packageName": "p", "version": version}}}
	switch r.IntN(500) {
	case 0:
		properties = nil
	case 1:
		properties = append(properties, properties[0])
	case 2:
		properties[0]["value"] = object{"packageName": "p", "version": "v1"}
	}
	return object{"schema": "olm.bundle", "package": "p", "name": name, "image": "example.com/p@sha256:" + strings.Repeat("0", 64), "properties": properties}
}

// The opm command gives the same.
func TestMermaidOfTheCommand(t *testing.T) {
	opm, err := opmBinary()
	if err != nil {
		t.Fatal(err)
	}
	for seed := range rounds(40) {
		src := randomUpgrades(rand.New(rand.NewPCG(uint64(seed), 45)))
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "catalog.json"), src, 0o600); err != nil {
			t.Fatal(err)
		}
		want, err := exec.Command(opm, "alpha", "render-graph", "--draw-v0-semantics", dir).Output()
		if err != nil {
			continue // opm does not draw the catalog's fault
		}
		if got, err := graftMermaid(src); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("seed %d: %v: got\n%s\nwant\n%s\nof\n%s", seed, err, got, want, src)
		}
	}
}
