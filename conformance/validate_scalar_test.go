package conformance

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/operator-framework/operator-registry/alpha/declcfg"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
)

// TestValidateAgreesOnScalars compares which texts are a valid image, version, release, range or package name,
// over many texts that nearly are.
func TestValidateAgreesOnScalars(t *testing.T) {
	kinds := []struct {
		name  string
		parts []string
		put   func(docs []object, text string)
	}{
		{"image", []string{"quay.io", "localhost", "a", "b", "_", "__", "___", ".", "..", "-", "--", "/", "/", ":", ":5000", "@", "sha256:", "sha384:", "sha512:", "md5:",
			strings.Repeat("0", 64), strings.Repeat("a", 32), strings.Repeat("a", 96), strings.Repeat("b", 128), strings.Repeat("A", 64), "A", "v1.0", "docker.io/", "index.docker.io/", " ", "é", "\n", strings.Repeat("x", 120)},
			func(d []object, s string) { d[2]["image"] = s }},
		{"related image", []string{"quay.io/", "a", "/", ":", "@sha256:" + strings.Repeat("0", 64), "T", "_", "-", "."},
			func(d []object, s string) { d[2]["relatedImages"] = []any{object{"image": s}} }},
		{"version", []string{"1.0.0", "0.10.2", "1.2.3-rc.1", "1.2.3+b", "0", "1", "01", "10", "18446744073709551615", "18446744073709551616", ".", ".", "-", "+", "rc", "alpha", "v", " ", "é", "_"},
			func(d []object, s string) { packageProperty(d)["version"] = s }},
		{"release", []string{"0", "1", "01", "alpha", ".", "-", "+", "_", "99999999999999999999", "12345678901"},
			func(d []object, s string) {
				name := "p-v1.0.0-" + s
				if s == "" {
					name = "p.v1.0.0"
				}
				d[1]["entries"] = []any{object{"name": name}}
				d[2]["name"] = name
				packageProperty(d)["release"] = s
			}},
		{"range", []string{"0", "1", "10", "01", ".", ".", ".x", "x", " ", " ", ">", "<", ">=", "<=", "=", "==", "!", "!=", "||", " || ", "1.0.0", ">=1.2.3", "<2.0.0", "-rc", "+b", "^", "~", ",", "*"},
			func(d []object, s string) { d[1]["entries"] = []any{object{"name": "p.v1.0.0", "skipRange": s}} }},
		{"package name", []string{"p", "P", "0", "-", ".", "_", strings.Repeat("a", 60), "é", " "},
			func(d []object, s string) {
				d[0]["name"], d[1]["package"], d[2]["package"] = s, s, s
				packageProperty(d)["packageName"] = s
			}},
	}
	for _, k := range kinds {
		r := breaker{rand.New(rand.NewPCG(74, uint64(len(k.name))))}
		accepted, total := 0, 4000
		for range total {
			var text strings.Builder
			for range r.IntN(8) {
				text.WriteString(k.parts[r.IntN(len(k.parts))])
			}
			docs := smallest()
			k.put(docs, text.String())
			want, got := verdictsOf(t, docs)
			if (want == nil) != (len(got) == 0) {
				t.Errorf("%s %q: opm says %v; we find %v", k.name, text.String(), want, got)
			}
			if want == nil {
				accepted++
			}
		}
		t.Logf("%s: %d of %d accepted", k.name, accepted, total)
	}
}

func smallest() []object {
	return []object{
		{"schema": "olm.package", "name": "p", "defaultChannel": "c"},
		{"schema": "olm.channel", "package": "p", "name": "c", "entries": []any{object{"name": "p.v1.0.0"}}},
		{"schema": "olm.bundle", "package": "p", "name": "p.v1.0.0", "image": "a",
			"properties": []any{object{"type": "olm.package", "value": object{"packageName": "p", "version": "1.0.0"}}}},
	}
}

func packageProperty(docs []object) object {
	return docs[2]["properties"].([]any)[0].(object)["value"].(object)
}

func verdictsOf(t *testing.T, docs []object) (opm error, errs []string) {
	t.Helper()
	var src strings.Builder
	for _, d := range docs {
		js, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		src.Write(js)
		src.WriteByte('\n')
	}
	cfg, opm := declcfg.LoadReader(strings.NewReader(src.String()))
	if opm == nil {
		_, opm = declcfg.ConvertToModel(*cfg)
	}
	read, err := fbc.Read("c.json", []byte(src.String()))
	if err != nil {
		return opm, []string{err.Error()}
	}
	for _, f := range graph.Verify(graph.FromDocs(read), nil, graph.Levels{}) {
		if f.Level == graph.Error {
			errs = append(errs, fmt.Sprintf("%s: %s", f.ID, f.Message))
		}
	}
	return opm, errs
}
