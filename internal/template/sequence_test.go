package template

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/testkit/effort"
)

// sequence is a template that is edited at random, with its expected contents.
type sequence struct {
	kind   string
	text   []byte
	images map[string]string // by name
	built  int
	log    []string
}

// TestSequences adds, rebuilds, replaces, deprecates and removes bundles in random order: a bundle has one image,
// each entry has its bundle, and every edge has a target.
func TestSequences(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	made := map[string]int{}
	for kindName, empty := range map[string]string{
		"basic":     emptyBasic,
		"stream":    strings.NewReplacer("schema: olm.template.basic\nentries:\n", "", "\n- schema", "\n---\nschema", "- schema", "schema", "\n  ", "\n").Replace(emptyBasic),
		"semver":    "Schema: olm.semver\nStable:\n  Bundles:\n  - Image: quay.io/example/op:v0.0.1\n",
		"goodstuff": "schema: olm.template.goodstuff\npackage:\n  name: op\n  defaultChannel: stable\nbundles:\n  images:\n  - quay.io/example/op:v0.0.1\ngraph-description:\n  package: op\n  name: stable\n  entries:\n  - op.v0.0.1\n",
	} {
		for range effort.Of(t, 10, 60, 1000) {
			s := &sequence{kind: kindName, text: []byte(empty), images: map[string]string{"op.v0.0.1": "quay.io/example/op:v0.0.1"}}
			for range 20 {
				what := s.step(t, rnd)
				made[kindName+" "+what]++
			}
		}
	}
	for _, what := range []string{"add", "rebuild", "replace", "remove"} {
		for _, kindName := range []string{"basic", "stream", "semver", "goodstuff"} {
			if made[kindName+" "+what] == 0 {
				t.Errorf("of %s there was no %s", kindName, what)
			}
		}
	}
	t.Log(made)
}

// step makes one edit twice and checks the contents of the template. A refused edit changes nothing.
func (s *sequence) step(t *testing.T, rnd *rand.Rand) string {
	t.Helper()
	names := slices.Sorted(maps.Keys(s.images))
	some := names[rnd.IntN(len(names))]
	v := semver.Version{Major: 1, Minor: uint64(rnd.IntN(6)), Patch: uint64(rnd.IntN(3))}
	fresh := "op.v" + v.String()
	s.built++
	image := fmt.Sprintf("quay.io/example/op@sha256:%064d", s.built)
	r := kind.Request{Bundle: kind.Bundle{Name: fresh, Version: v, Package: "op", Image: image}, Channels: []string{"stable"}, Names: s.names()}
	after := maps.Clone(s.images)
	what := []string{"add", "rebuild", "replace", "deprecate", "remove"}[rnd.IntN(5)]
	edit := func(tmpl *Template) (*kind.Outcome, error) { return tmpl.Insert(r) }
	_, stands := s.images[fresh]
	switch {
	case what == "rebuild":
		r.Bundle.Name, r.Bundle.Version, r.Rebuild = some, semver.MustParse(strings.TrimPrefix(some, "op.v")), true
		after[some] = image
	case what == "deprecate":
		d := kind.Deprecation{Bundles: []string{some}, Message: "Take another one than " + some + "."}
		edit = func(tmpl *Template) (*kind.Outcome, error) { return tmpl.Deprecate(d) }
	case what == "remove":
		delete(after, some)
		removal := kind.Removal{Bundles: []string{some}, AllowStranded: true, Names: s.names()}
		edit = func(tmpl *Template) (*kind.Outcome, error) { return tmpl.Remove(removal) }
	case stands:
		return "nothing"
	case what == "replace":
		r.InsteadOf = some
		delete(after, some)
		after[fresh] = image
	default:
		after[fresh] = image
	}
	s.log = append(s.log, what+" "+some+" "+fresh)
	text, err := s.edited(t, edit)
	if err != nil {
		s.refused(t, err)
		return what + " refused"
	}
	s.text, s.images = text, after
	s.check(t)
	r.Names = s.names()
	if again, err := s.edited(t, edit); err != nil || string(again) != string(text) {
		t.Fatalf("%s, %v: once more gives %v\n%s", s.kind, s.log, err, again)
	}
	return what
}

// names returns the names as a rendered catalog has them.
func (s *sequence) names() map[string]string {
	names := map[string]string{}
	for name, image := range s.images {
		names[image] = name
	}
	return names
}

func (s *sequence) edited(t *testing.T, edit func(*Template) (*kind.Outcome, error)) ([]byte, error) {
	t.Helper()
	tmpl, err := Parse("t.yaml", s.text)
	if err != nil {
		t.Fatalf("%s, %v: %v\n%s", s.kind, s.log, err, s.text)
	}
	o, err := edit(tmpl)
	if err != nil {
		return nil, err
	}
	for _, f := range o.Files {
		return f.After, nil
	}
	return s.text, nil
}

// refused checks that the failure of a refused edit has one of the expected codes.
func (s *sequence) refused(t *testing.T, err error) {
	t.Helper()
	for _, code := range []failure.Code{failure.EdgeConflict, failure.VersionUnordered, failure.EditRefused, failure.TemplateUnsupported, failure.BundleConflict, failure.UpgradePathLost} {
		if failure.Is(err, code) {
			return
		}
	}
	t.Fatalf("%s, %v: %v\n%s", s.kind, s.log, err, s.text)
}

func (s *sequence) check(t *testing.T) {
	t.Helper()
	tmpl, err := Parse("t.yaml", s.text)
	if err != nil {
		t.Fatalf("%s, %v: %v\n%s", s.kind, s.log, err, s.text)
	}
	d := tmpl.Describe()
	var images []string
	for _, b := range d.Bundles {
		images = append(images, b.Image)
	}
	slices.Sort(images)
	if want := slices.Sorted(maps.Values(s.images)); len(d.Problems)+len(d.Warnings) > 0 || !slices.Equal(images, want) {
		t.Fatalf("%s, %v: %v %v, images %v, want %v\n%s", s.kind, s.log, d.Problems, d.Warnings, images, want, s.text)
	}
	if s.kind == "semver" {
		return
	}
	var names []string
	for _, c := range d.Channels {
		names = append(names, c.Entries...)
	}
	slices.Sort(names)
	if want := slices.Sorted(maps.Keys(s.images)); !slices.Equal(names, want) {
		t.Fatalf("%s, %v: entries %v, want %v\n%s", s.kind, s.log, names, want, s.text)
	}
	has, ok := tmpl.Kind.(kind.HasEdges)
	if !ok {
		return
	}
	docs, err := has.Documents(&tmpl.Source)
	if err != nil {
		t.Fatal(err)
	}
	for i := range docs {
		if docs[i].Schema != fbc.SchemaChannel {
			continue
		}
		c, err := docs[i].Channel()
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range c.Entries {
			if e.Replaces != "" && !slices.Contains(names, e.Replaces) || e.Replaces == e.Name {
				t.Fatalf("%s, %v: %s replaces %s\n%s", s.kind, s.log, e.Name, e.Replaces, s.text)
			}
		}
	}
}
