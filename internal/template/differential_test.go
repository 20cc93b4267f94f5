package template

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/fstest"

	"gopkg.in/yaml.v3"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/testkit/effort"
)

// readBy returns the meaning of documents as an independent reader sees it, ignoring the order of lists.
func readBy(src []byte, isJSON bool) (string, error) {
	next := yaml.NewDecoder(bytes.NewReader(src)).Decode
	if isJSON {
		next = json.NewDecoder(bytes.NewReader(src)).Decode
	}
	var docs []any
	for {
		var doc any
		err := next(&doc)
		if errors.Is(err, io.EOF) {
			return meant(docs)
		}
		if err != nil {
			return "", err
		}
		docs = append(docs, doc)
	}
}

func meant(docs []any) (string, error) {
	out, err := json.MarshalIndent(sorted(docs), "", " ")
	return string(out), err
}

func (g *generated) meant() (string, error) {
	var docs []any
	for _, d := range g.documents() {
		docs = append(docs, d.plainly())
	}
	return meant(docs)
}

const compositeOf = "schema: olm.composite\ncomponents:\n- name: v4.20 # why\n  destination: {path: catalog}\n  strategy:\n    name: basic\n    template:\n      schema: olm.builder.basic\n      config: {input: part.yaml, output: catalog.yaml}\n"

// edit edits a template, returns its text, and fails if the edit writes any other file.
func (g *generated) edit(src []byte, do func(*Template) (*kind.Outcome, error)) ([]byte, *kind.Outcome, error) {
	fsys, name := fstest.MapFS{"part.yaml": {Data: src}}, "part.yaml"
	if g.kind == "composite" {
		name = "composite.yaml"
		fsys[name] = &fstest.MapFile{Data: []byte(compositeOf)}
	}
	tmpl, err := Open(fsys, name, name)
	if err != nil {
		return nil, nil, fmt.Errorf("opening: %w", err)
	}
	o, err := do(tmpl)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range o.Files {
		if f.Path != "part.yaml" || f.New || f.Gone {
			return nil, nil, fmt.Errorf("it writes %s", f.Path)
		}
		src = f.After
	}
	return src, o, nil
}

func inserting(r kind.Request) func(*Template) (*kind.Outcome, error) {
	return func(t *Template) (*kind.Outcome, error) { return t.Insert(r) }
}

// try inserts a bundle twice, and another bundle before and after it. refused is the reason why nothing was
// inserted.
func (g *generated) try(rnd *rand.Rand) (refused *failure.Error, err error) {
	isJSON := g.style.json != ""
	if err := g.holds("the template itself", g.src, isJSON); err != nil {
		return nil, err
	}
	r := g.request(rnd)
	got, o, err := g.edit(g.src, inserting(r))
	if f := (*failure.Error)(nil); errors.As(err, &f) {
		return f, nil
	}
	if err != nil {
		return nil, err
	}
	after := g.with(r)
	if err := errors.Join(after.holds("inserting "+r.Bundle.Name, got, isJSON), g.keeps(got, o)); err != nil {
		return nil, err
	}
	if again, _, err := g.edit(got, inserting(r)); err != nil || !bytes.Equal(again, got) {
		return nil, fmt.Errorf("once more: %w\n%s", err, again)
	}
	s := after.request(rnd)
	other, _, err := after.edit(got, inserting(s))
	first, _, refusal := g.edit(g.src, inserting(s))
	if err != nil || refusal != nil {
		return nil, nil //nolint:nilerr // if a text is shared, one of the two orders may be refused
	}
	reversed, _, err := g.edit(first, inserting(r))
	if err != nil {
		return nil, fmt.Errorf("in the other order: %w", err)
	}
	err = after.with(s).holds("inserting "+s.Bundle.Name+" first", reversed, isJSON)
	if err == nil && !bytes.Equal(reversed, other) {
		err = after.with(s).holds("inserting "+s.Bundle.Name+" as well", other, isJSON)
	}
	return nil, err
}

// holds compares the meaning of a text with the expected one.
func (g *generated) holds(doing string, src []byte, isJSON bool) error {
	want, err := g.meant()
	got, failed := readBy(src, isJSON)
	if err := errors.Join(err, failed); err != nil {
		return fmt.Errorf("%s: %w\n%s", doing, err, src)
	}
	if got != want {
		return fmt.Errorf("%s: the meaning is not the expected one:\n%s\n%s", doing, lineDiff(want, got), src)
	}
	return nil
}

var mark = regexp.MustCompile(`<\d+>`)

// keeps checks that every byte of the template stays, except for names in rewired entries, and that all comments
// stay in their order.
func (g *generated) keeps(got []byte, o *kind.Outcome) error {
	if marks := mark.FindAllString(string(got), -1); !slices.Equal(marks, mark.FindAllString(string(g.src), -1)) {
		return fmt.Errorf("of the comments are left %v:\n%s", marks, got)
	}
	rest := g.src
	changes := slices.Clone(o.Changes)
	slices.SortFunc(changes, func(a, b kind.Change) int { return len(b.From) - len(a.From) }) // one name may be the start of another one
	for _, c := range changes {
		if c.What == kind.EntryRewired && c.From != "" {
			escaped := fmt.Sprintf(`%c\x%02x%s`, c.From[0], c.From[1], c.From[2:])
			rest = bytes.ReplaceAll(bytes.ReplaceAll(rest, []byte(c.From), nil), []byte(escaped), nil)
		}
	}
	if !isSubsequence(rest, got) {
		return fmt.Errorf("bytes are gone:\n%s", lineDiff(string(g.src), string(got)))
	}
	return nil
}

// TestGeneratedInserts inserts into templates of all kinds and styles: an insert adds the requested bundle and
// changes no other byte, a second one changes nothing, and the order of two inserts has no effect.
func TestGeneratedInserts(t *testing.T) {
	of, refusals := map[string]int{}, map[string]int{}
	eachGenerated(t, 350, 1400, 200_000, func(g *generated, rnd *rand.Rand) (string, *failure.Error, error) {
		refused, err := g.try(rnd)
		return g.kind, refused, err
	}, of, refusals)
	for name, n := range of {
		if refusals[name]*3 > n {
			t.Errorf("%s: %d of %d are refused", name, refusals[name], n)
		}
	}
}

// eachGenerated runs try on many templates and counts the results. An edit may be refused only if an anchor
// shares a text between several places.
func eachGenerated(t *testing.T, short, usual, whole int, try func(*generated, *rand.Rand) (string, *failure.Error, error), of, refusals map[string]int) {
	t.Helper()
	n := effort.Of(t, short, usual, whole)
	var mu sync.Mutex
	var wg sync.WaitGroup
	bad := 0
	for worker := range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for seed := uint64(worker); seed < uint64(n); seed += uint64(runtime.GOMAXPROCS(0)) {
				g := generate(seed)
				what, refused, err := try(g, rand.New(rand.NewPCG(seed, 20)))
				mu.Lock()
				of[what]++
				if refused != nil {
					refusals[what]++
					if !g.style.aliases {
						err = refused
					}
				}
				if err != nil && bad < 5 {
					bad++
					t.Errorf("template %d, %s: %v\n--- was\n%s", seed, g.kind, err, g.src)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	t.Logf("%d templates: %v; refused are %v", n, of, refusals)
}
