package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/operator-framework/operator-registry/alpha/action"
	"github.com/operator-framework/operator-registry/alpha/action/migrations"
	"github.com/operator-framework/operator-registry/alpha/declcfg"
	opmtemplate "github.com/operator-framework/operator-registry/alpha/template"
	"github.com/operator-framework/operator-registry/pkg/image"
	"github.com/sirupsen/logrus"

	"github.com/olmgraft/graft/internal/testkit/corpus"
	"github.com/olmgraft/graft/internal/testkit/registry"
)

var update = flag.Bool("update", false, "write opm's answers into testdata/corpus instead of comparing them")

const (
	ownCorpus  = "../testdata/corpus"
	corpusHost = "127.0.0.1:5555/"
)

// levels maps the folders of opm's renderings to their migrations.
var levels = map[string]string{"none": "none", "migr": "bundle-object-to-csv-metadata"}

// opm renders each template of a corpus to the corpus' stored result.
func TestStoredRenderings(t *testing.T) {
	corpus.Each(t, func(t *testing.T, c corpus.Corpus) {
		own := c == corpus.Own(t)
		shelf := newShelf(t, c)
		names := map[string]bool{}
		for _, file := range c.Files(t, "render/templates/*.yaml") {
			name := corpus.Name(file)
			names[name] = true
			for level, migrate := range levels {
				cfg, err := opmCatalog(t, shelf, c.Read(t, file), migrate)
				if err != nil {
					t.Errorf("opm refuses %s: %v", name, err)
					continue
				}
				got := opmWrites(t, *cfg)
				if own {
					holdStored(t, filepath.Join("render/oracle", level, name), got)
				} else if want := c.Read(t, c.Files(t, "render/oracle/"+level+"/"+name)[0]); !bytes.Equal(got, want) {
					t.Errorf("%s/%s: opm renders it in other bytes", level, name)
				}
			}
		}
		if own {
			for level := range levels {
				nothingElse(t, filepath.Join("render/oracle", level), names)
			}
		}
	})
}

// published lists the sound catalogs of the project's own corpus: opm's renderings of some of its templates,
// together.
var published = map[string]struct {
	level     string
	templates []string
}{
	"tidewatch-operator.yaml": {"migr", []string{"tidewatch-operator__basic-commented"}},
	"quillback-operator.yaml": {"none", []string{"quillback-operator__basic-flow"}},
	"shore.yaml": {"migr", []string{"tidewatch-operator__basic-deprecations", "lanternfish__basic-json",
		"quillback-operator__substitutes", "mudlark__semver-prefer-major"}},
	"shore-objects.yaml": {"none", []string{"mudlark__basic-two-packages", "lanternfish__semver-lowercase"}},
}

// opm renders and accepts the sound catalogs as stored.
func TestStoredCatalogs(t *testing.T) {
	const folder = "validate/real"
	c := corpus.Own(t)
	s := newShelf(t, c)
	names := map[string]bool{}
	for name, p := range published {
		var all declcfg.DeclarativeConfig
		for _, template := range p.templates {
			cfg, err := opmCatalog(t, s, c.Read(t, c.Files(t, "render/templates/"+template+".yaml")[0]), levels[p.level])
			if err != nil {
				t.Fatalf("%s: %v", template, err)
			}
			all.Merge(cfg)
		}
		got := opmWrites(t, all)
		if err := opmValidates(fstest.MapFS{name: {Data: got}}); err != nil {
			t.Errorf("opm rejects %s: %v", name, err)
		}
		holdStored(t, folder+"/"+name, got)
		names[name] = true
	}
	nothingElse(t, folder, names)
}

// opmCatalog handles a template like opm alpha render-template, and a catalog like opm render.
func opmCatalog(t *testing.T, s shelf, src []byte, level string) (*declcfg.DeclarativeConfig, error) {
	t.Helper()
	logrus.SetOutput(io.Discard)
	migrate, err := migrations.NewMigrations(level)
	if err != nil {
		t.Fatal(err)
	}
	run := func(ctx context.Context, ref string, kind action.RefType) (*declcfg.DeclarativeConfig, error) {
		return action.Render{Refs: []string{ref}, Registry: s, AllowedRefMask: kind, Migrations: migrate}.Run(ctx)
	}
	ctx := context.Background()
	if !bytes.Contains(src, []byte("olm.template.")) && !bytes.Contains(src, []byte("olm.semver")) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "catalog.yaml"), src, 0o600); err != nil {
			t.Fatal(err)
		}
		return run(ctx, dir, action.RefDCDir)
	}
	tmpl, reader, err := opmtemplate.NewRegistry().CreateTemplateBySchema(bytes.NewReader(src), func(ctx context.Context, ref string) (*declcfg.DeclarativeConfig, error) {
		return run(ctx, ref, action.RefBundleImage)
	})
	if err != nil {
		return nil, err
	}
	return tmpl.Render(ctx, reader)
}

func opmWrites(t *testing.T, cfg declcfg.DeclarativeConfig) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := declcfg.WriteYAML(cfg, &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// shelf is opm's image registry with the bundles of a corpus. Their names are those in templates, because
// related images are sorted by name.
type shelf map[string]registry.Bundle

func newShelf(t *testing.T, c corpus.Corpus) shelf {
	t.Helper()
	s := shelf{}
	for ref, dir := range c.Bundles(t, "*") {
		b, err := registry.FromDir(dir)
		if err != nil {
			t.Fatalf("%s: %v", ref, err)
		}
		s[corpusHost+ref] = b
	}
	return s
}

func (s shelf) Pull(_ context.Context, ref image.Reference) error {
	if _, ok := s[ref.String()]; !ok {
		return fmt.Errorf("there is no %s", ref)
	}
	return nil
}

func (s shelf) Labels(_ context.Context, ref image.Reference) (map[string]string, error) {
	return s[ref.String()].Labels, nil
}

func (s shelf) Unpack(_ context.Context, ref image.Reference, dir string) error {
	files := fstest.MapFS{}
	for name, data := range s[ref.String()].Files {
		files[name] = &fstest.MapFile{Data: data, Mode: 0o644}
	}
	return os.CopyFS(dir, files)
}

func (shelf) Destroy() error { return nil }

// holdStored compares opm's output with a file below testdata/corpus, or stores it.
func holdStored(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join(ownCorpus, name)
	if *update {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, got, 0o644)); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is missing; -update writes it", file)
	} else if err != nil {
		t.Fatal(err)
	} else if !bytes.Equal(got, want) {
		t.Errorf("%s is stale: opm's output differs; -update rewrites it", file)
	}
}

// nothingElse refuses, or with -update removes, files of a folder that belong to no name of the corpus.
func nothingElse(t *testing.T, folder string, names map[string]bool) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(ownCorpus, folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if names[filepath.Base(file)] {
			continue
		}
		if !*update {
			t.Errorf("%s belongs to no name; -update removes it", file)
		} else if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
}

// opm's verdicts on the broken catalogs of the project's own corpus equal the stored ones. The description of
// what was broken in each comes from a person and is kept.
func TestStoredVerdicts(t *testing.T) {
	const folder = "validate/broken"
	stored := storedVerdicts(t, folder)
	all := map[string]verdict{}
	files, err := filepath.Glob(filepath.Join(ownCorpus, folder, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no catalogs (%v)", folder, err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		v := verdict{Ops: stored[name].Ops}
		if err := opmValidates(fstest.MapFS{filepath.Base(file): {Data: src}}); err != nil {
			v.Error = err.Error()
		}
		v.OK = v.Error == ""
		if all[name] = v; len(v.Ops) == 0 {
			t.Errorf("verdicts.json does not say what was broken in %s", name)
		}
	}
	holdStored(t, folder+"/verdicts.json", indented(t, all))
}

// verdict is a line of verdicts.json.
type verdict struct {
	Ops   []string `json:"ops"`
	OK    bool     `json:"ok"`
	Error string   `json:"error"`
}

func storedVerdicts(t *testing.T, folder string) map[string]verdict {
	t.Helper()
	var all map[string]verdict
	text, err := os.ReadFile(filepath.Join(ownCorpus, folder, "verdicts.json"))
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil && !(*update && errors.Is(err, fs.ErrNotExist)) {
		t.Fatal(err)
	}
	return all
}

// indented returns a value as indented JSON, which is easy to compare.
func indented(t *testing.T, v any) []byte {
	t.Helper()
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
