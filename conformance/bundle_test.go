package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/operator-framework/operator-registry/alpha/action"
	"github.com/operator-framework/operator-registry/alpha/action/migrations"
	"github.com/operator-framework/operator-registry/alpha/declcfg"
	"github.com/sirupsen/logrus"
	"sigs.k8s.io/yaml"

	"github.com/olmgraft/graft/internal/bundle"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc/canonical"
)

const bundleRef = "registry.example.com/acme/widgets:v1.2.3"

// bundleFiles holds the files of a bundle by path.
type bundleFiles map[string]string

// with returns a copy with other files. An empty text removes a file.
func (f bundleFiles) with(pairs ...string) bundleFiles {
	out := maps.Clone(f)
	for i := 0; i < len(pairs); i += 2 {
		if out[pairs[i]] = pairs[i+1]; pairs[i+1] == "" {
			delete(out, pairs[i])
		}
	}
	return out
}

// replaced returns a copy with texts of a file replaced.
func (f bundleFiles) replaced(t *testing.T, file string, pairs ...string) bundleFiles {
	t.Helper()
	text := f[file]
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("%s has no %q", file, pairs[i])
		}
		text = strings.Replace(text, pairs[i], pairs[i+1], 1)
	}
	return f.with(file, text)
}

func TestBundlesAreRenderedAsByOpm(t *testing.T) {
	var refused []string
	for name, files := range bundleCases(t) {
		t.Run(name, func(t *testing.T) {
			if !compareBundle(t, files) {
				refused = append(refused, name)
			}
		})
	}
	slices.Sort(refused)
	if !slices.Equal(refused, refusedCases) {
		t.Errorf("refused are %q", refused)
	}
}

// Graft refuses values of a wrong type anywhere in a CSV or a CRD exactly where opm does, and otherwise renders
// the same.
func TestBundlesWithRandomFaults(t *testing.T) {
	const bundles = 600
	rendered := 0
	for seed := range uint64(bundles) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			files := maps.Clone(richBundle)
			file := slices.Sorted(maps.Keys(files))[r.IntN(len(files))]
			var doc any
			if err := yaml.Unmarshal([]byte(files[file]), &doc); err != nil {
				t.Fatal(err)
			}
			for range 1 + r.IntN(2) {
				doc = mutate(r, doc)
			}
			text, err := json.MarshalIndent(doc, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			if r.IntN(2) == 0 {
				if text, err = yaml.JSONToYAML(text); err != nil {
					t.Fatal(err)
				}
			}
			files[file] = string(text)
			if compareBundle(t, files) {
				rendered++
			}
		})
	}
	if rendered < bundles/4 || rendered > bundles*9/10 {
		t.Errorf("%d of %d bundles can be rendered: the faults are badly chosen", rendered, bundles)
	}
}

// mutate replaces or removes one value of a tree, or renames one key.
func mutate(r *rand.Rand, doc any) any {
	var places []func()
	var visit func(v any, set func(any))
	visit = func(v any, set func(any)) {
		places = append(places, func() { set(oddities[r.IntN(len(oddities))]) })
		switch v := v.(type) {
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				places = append(places,
					func() { delete(v, k) },
					func() { v[strings.ToUpper(k[:1])+k[1:]] = v[k]; delete(v, k) },
					func() { v[strings.ToUpper(k)] = oddities[r.IntN(len(oddities))] })
				visit(v[k], func(x any) { v[k] = x })
			}
		case []any:
			for i := range v {
				visit(v[i], func(x any) { v[i] = x })
			}
		}
	}
	visit(doc, func(x any) { doc = x })
	places[r.IntN(len(places))]()
	return doc
}

var oddities = []any{
	nil, true, 0, 7, -1, 1.5, 3000000000, 1e30, "", "a.b", "1", "<&>\u2028", "2020-01-02T03:04:05Z", "10Mi", "YWJj",
	[]any{}, []any{"x"}, []any{1}, []any{nil}, []any{map[string]any{}}, map[string]any{}, map[string]any{"name": "x"}, map[string]any{"a": 1},
}

// compareBundle renders a bundle directory with opm and with Graft, in both metadata formats. It reports
// whether the bundle can be rendered in the first. Graft must refuse bundles without a name or a package, which
// opm renders.
func compareBundle(t *testing.T, files bundleFiles) (rendered bool) {
	t.Helper()
	dir := writeBundle(t, files)
	for format, level := range []string{"none", "bundle-object-to-csv-metadata"} {
		want, wantErr := opmBundle(dir, level)
		if wantErr == nil && (want.Name == "" || want.Package == "") {
			wantErr = errors.New("opm is silent about this")
		}
		got, err := graftBundle(dir, bundle.MetadataFormat(format))
		switch {
		case (err == nil) != (wantErr == nil):
			t.Errorf("%s:\n error: %v\n  want: %v", level, err, wantErr)
		case err == nil:
			rendered = rendered || level == "none"
			equalDocuments(t, level, got, want)
		case !failure.Is(err, failure.BundleInvalid):
			t.Errorf("%s: not a bundle-invalid: %v", level, err)
		}
	}
	return rendered
}

// equalDocuments compares the compact JSON with opm's, and the YAML made from it.
func equalDocuments(t *testing.T, level string, got []byte, want declcfg.Bundle) {
	t.Helper()
	var wantJSON, wantYAML bytes.Buffer
	enc := json.NewEncoder(&wantJSON)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(want); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(append(got, '\n'), wantJSON.Bytes()) {
		t.Errorf("%s:\n got %s\nwant %s", level, got, wantJSON.Bytes())
	}
	if err := declcfg.WriteYAML(declcfg.DeclarativeConfig{Bundles: []declcfg.Bundle{want}}, &wantYAML); err != nil {
		t.Fatal(err)
	}
	gotYAML, err := canonical.FromJSON(got)
	if err != nil {
		t.Fatal(err)
	}
	if gotYAML = append([]byte("---\n"), gotYAML...); !bytes.Equal(gotYAML, wantYAML.Bytes()) {
		t.Errorf("%s:\n got %s\nwant %s", level, gotYAML, wantYAML.Bytes())
	}
}

func writeBundle(t *testing.T, files bundleFiles) string {
	t.Helper()
	dir := t.TempDir()
	for _, sub := range []string{"manifests", "metadata"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func opmBundle(dir, level string) (b declcfg.Bundle, err error) {
	logrus.SetOutput(io.Discard)
	defer func() {
		if r := recover(); r != nil { // opm panics on empty entries in lists of CRDs
			err = fmt.Errorf("opm panics: %v", r)
		}
	}()
	m, err := migrations.NewMigrations(level)
	if err != nil {
		return b, err
	}
	render := action.Render{
		Refs:             []string{dir},
		AllowedRefMask:   action.RefBundleDir,
		ImageRefTemplate: template.Must(template.New("ref").Parse(bundleRef)),
		Migrations:       m,
	}
	cfg, err := render.Run(context.Background())
	if err != nil {
		return b, err
	}
	return cfg.Bundles[0], nil
}

func graftBundle(dir string, format bundle.MetadataFormat) ([]byte, error) {
	files, err := bundle.FilesOf(os.DirFS(dir))
	if err != nil {
		return nil, err
	}
	doc, err := bundle.Render(context.Background(), bundle.Image{Ref: bundleRef, Files: files, Dir: true}, format)
	if err != nil {
		return nil, err
	}
	return bundle.Document(doc)
}
