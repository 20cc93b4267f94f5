package conformance

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/operator-framework/operator-registry/alpha/declcfg"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/testkit/corpus"
)

// opmValidates handles a directory like opm validate.
func opmValidates(dir fstest.MapFS) error {
	cfg, err := declcfg.LoadFS(context.Background(), dir)
	if err != nil {
		return err
	}
	_, err = declcfg.ConvertToModel(*cfg)
	return err
}

// graftFinds returns the findings of a directory that are errors.
func graftFinds(dir fstest.MapFS) (errs []graph.Finding) {
	var b graph.Builder
	docs, err := fbc.ReadFS(dir, ".")
	if err != nil {
		b.Fail(err)
	}
	b.Add(docs)
	for _, f := range graph.Verify(b.Catalog(), nil, graph.Levels{}) {
		if f.Level == graph.Error {
			errs = append(errs, f)
		}
	}
	return errs
}

// compareVerdicts reports whether opm accepts the directory, and fails the test if Graft disagrees. If Graft
// rejects it, the finding must be a rule of opm and have a place.
func compareVerdicts(t *testing.T, what string, dir fstest.MapFS) bool {
	t.Helper()
	want := opmValidates(dir)
	errs := graftFinds(dir)
	if (want == nil) != (len(errs) == 0) {
		t.Errorf("%s\nopm says %v\nwe find %v\n%s", what, want, errs, keep(t, dir))
	}
	for _, f := range errs {
		if r, ok := graph.RuleOf(f.ID); !ok || !r.Opm {
			t.Errorf("%s: %s is an error, and not a rule of opm", what, f.ID)
		}
		if f.File == "" || f.Line == 0 {
			t.Errorf("%s: %s has no place: %s", what, f.ID, f.Message)
		}
	}
	return want == nil
}

// keep writes a catalog to the folder that GRAFT_KEEP names.
func keep(t *testing.T, dir fstest.MapFS) string {
	to := os.Getenv("GRAFT_KEEP")
	if to == "" {
		return "set GRAFT_KEEP to a directory to keep the catalog"
	}
	where, err := os.MkdirTemp(to, "catalog")
	if err == nil {
		err = os.CopyFS(where, dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	return "kept in " + where
}

func TestValidateAgreesOnBrokenCatalogs(t *testing.T) {
	accepted, total := 0, 6000
	perKind := map[string][2]int{}
	for seed := range total {
		if t.Failed() && seed%100 == 0 {
			break
		}
		r := breaker{rand.New(rand.NewPCG(uint64(seed), 72))}
		docs := r.sound()
		what := fmt.Sprintf("seed %d:", seed)
		var kinds []string
		for range r.IntN(4) {
			b := breakages[r.IntN(len(breakages))]
			if len(docs) > 0 {
				docs = b.do(r, docs)
				kinds = append(kinds, b.name)
			}
		}
		ok := compareVerdicts(t, what+" "+strings.Join(kinds, ", "), r.write(t, docs))
		if ok {
			accepted++
		}
		if len(kinds) == 1 {
			c := perKind[kinds[0]]
			c[0]++
			if ok {
				c[1]++
			}
			perKind[kinds[0]] = c
		}
		if len(kinds) == 0 && !ok {
			t.Errorf("%s opm rejects a catalog that is meant to be sound: %v", what, opmValidates(r.write(t, docs)))
		}
	}
	t.Logf("opm accepts %d of %d", accepted, total)
	for _, k := range slices.Sorted(maps.Keys(perKind)) {
		t.Logf("%-22s alone: %d, of which accepted %d", k, perKind[k][0], perKind[k][1])
	}
}

// TestValidateAgreesOnBrokenText breaks the text itself.
func TestValidateAgreesOnBrokenText(t *testing.T) {
	accepted, total := 0, 3000
	for seed := range total {
		if t.Failed() && seed%100 == 0 {
			break
		}
		r := breaker{rand.New(rand.NewPCG(uint64(seed), 73))}
		dir := r.write(t, r.sound())
		for _, name := range slices.Sorted(maps.Keys(dir)) {
			lines := strings.SplitAfter(string(dir[name].Data), "\n")
			for range 1 + r.IntN(2) {
				lines = r.breakLine(lines)
			}
			dir[name].Data = []byte(strings.Join(lines, ""))
		}
		if compareVerdicts(t, fmt.Sprintf("seed %d", seed), dir) {
			accepted++
		}
	}
	t.Logf("opm accepts %d of %d", accepted, total)
}

func (r breaker) breakLine(lines []string) []string {
	i := r.IntN(len(lines))
	line := lines[i]
	switch r.IntN(7) {
	case 0:
		return slices.Delete(lines, i, i+1)
	case 1:
		return slices.Insert(lines, i, line)
	case 2:
		lines[i] = " " + line
	case 3:
		lines[i] = strings.TrimPrefix(line, "  ")
	case 4, 5:
		if key, _, ok := strings.Cut(line, ": "); ok {
			lines[i] = key + ": " + r.pick("no", "1e3", "0x10", "~", ".inf", "2020-01-01", `"`, "[", "{}", "*a", "&a x", "|", "1.10", "yes", "!!str 5", "'it''s'", "null", "1_000", "0o7", "a: b", "# c", "!!binary aGk=", "<<", "=", "@x", "`x", "012", "1:30") + "\n"
		}
	case 6:
		return slices.Insert(lines, i, r.pick("---\n", "--- # c\n", "--- x\n", "...\n", "\n", "# comment\n", "\t\n", "%YAML 1.1\n", "---\n---\n", "{}\n", "null\n", "-\n", "extra: 1\n", "name: x\n"))
	}
	return lines
}

func TestValidateAgreesOnTheCorpus(t *testing.T) {
	corpus.Each(t, func(t *testing.T, c corpus.Corpus) {
		for name, src := range corpusCatalogs(t, c) {
			compareVerdicts(t, name, fstest.MapFS{name: {Data: src}})
		}
	})
}
