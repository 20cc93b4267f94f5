package publish

import (
	"context"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/olmgraft/graft/internal/config"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/template/kind"
)

// counted counts the reads of each file.
type counted struct {
	fs.FS
	reads map[string]int
}

func (c counted) Open(name string) (fs.File, error) {
	f, err := c.FS.Open(name)
	if dir, ok := f.(fs.ReadDirFile); ok {
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return dir, nil
		}
	}
	return &countedFile{File: f, count: func() { c.reads[name]++ }}, err
}

type countedFile struct {
	fs.File
	count func()
}

func (f *countedFile) Read(b []byte) (int, error) {
	if f.count != nil {
		f.count()
		f.count = nil
	}
	return f.File.Read(b)
}

type countedRepository struct {
	*memory
	reads map[string]int
}

func (r countedRepository) Base(ctx context.Context) (fs.FS, string, error) {
	content, commit, err := r.memory.Base(ctx)
	return counted{content, r.reads}, commit, err
}

// Configuration, templates and catalogs are read and parsed once for all bundles of a change. Without a
// configuration, the repository is searched for each bundle.
func TestEachFileIsReadOnce(t *testing.T) {
	const ci = "fbc:\n  enabled: true\n  catalog_mapping:\n  - {template_name: basic.yaml, catalog_names: [v4.20], type: olm.template.basic}\n"
	const release = "catalog_templates:\n- {template_name: basic.yaml, channels: [stable]}\n"
	for name, more := range map[string]fstest.MapFS{
		"graft.yaml": {".github/graft.yaml": {Data: []byte("targets:\n- {template: one.yaml, catalogs: [{path: one/catalog.yaml}]}\n- {template: raw.yaml}\nsum: catalog.sum\n")}},
		"community": {
			"operators/op/ci.yaml":                      {Data: []byte(ci)},
			"operators/op/1.1.0/release-config.yaml":    {Data: []byte(release)},
			"operators/op/1.2.0/release-config.yaml":    {Data: []byte(release)},
			"operators/op/catalog-templates/basic.yaml": {},
			"catalogs/v4.20/op/catalog.yaml":            {},
		},
		"nobody": {"one/catalog.yaml": {}, "raw.yaml": nil, "other.yaml": {Data: []byte("schema: olm.package\nname: other\n")}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newSetup(t)
			w.rolling()
			basic, raw := strings.ReplaceAll(basicTemplate, "REGISTRY", w.Addr), strings.ReplaceAll(rawCatalog, "REGISTRY", w.Addr)
			w.repo.files = fstest.MapFS{"one.yaml": {Data: []byte(basic)}, "one/catalog.yaml": {Data: []byte(raw)}, "raw.yaml": {Data: []byte(raw)}, "catalog.sum": {}}
			for file, f := range more {
				switch {
				case f == nil:
					delete(w.repo.files, file)
				case len(f.Data) > 0:
					w.repo.files[file] = f
				case strings.Contains(file, "templates"):
					w.repo.files[file] = &fstest.MapFile{Data: []byte(basic)}
				default:
					w.repo.files[file] = &fstest.MapFile{Data: []byte(raw)}
				}
			}
			reads := map[string]int{}
			configs := config.Commits{}
			w.o.Repository = countedRepository{w.repo, reads}
			w.o.Setup = func(base Base, b kind.Bundle) (*plan.Setup, error) {
				c, err := configs.At(base, base.Commit)
				if err != nil {
					return nil, err
				}
				setup, _, err := c.Setup(base, b.Package, b.Version.String())
				return setup, err
			}
			requests := []Request{{Publication: w.push(t, "1.1.0")}, {Publication: w.push(t, "1.2.0")}}
			if name == "nobody" {
				requests = requests[:1]
			}
			results, err := Publish(t.Context(), requests, w.o)
			if err != nil || len(results) != 1 || len(results[0].Subjects) != len(requests) {
				t.Fatalf("%+v %v", results, err)
			}
			for file, n := range reads {
				if n != 1 {
					t.Errorf("%s is read %d times", file, n)
				}
			}
			for file, f := range more {
				if f != nil && reads[file] == 0 {
					t.Errorf("%s is not read at all", file)
				}
			}
		})
	}
}
