package template

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/template/kind"
)

const emptyBasic = `---
schema: olm.template.basic
entries:
- schema: olm.package
  name: op
  defaultChannel: stable
- schema: olm.channel
  package: op
  name: stable
  entries:
  - name: op.v0.0.1
- schema: olm.bundle
  image: quay.io/example/op:v0.0.1
`

func requestFor(v semver.Version, channels ...string) kind.Request {
	return kind.Request{
		Bundle:   kind.Bundle{Name: "op.v" + v.String(), Version: v, Package: "op", Image: "quay.io/example/op:v" + v.String()},
		Channels: channels,
	}
}

// TestAnyOrder checks that every order of a set of plain inserts gives the same bytes, and that inserting all of
// them again in another order changes nothing.
func TestAnyOrder(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for kindName, empty := range map[string]string{
		"basic":     emptyBasic,
		"stream":    strings.NewReplacer("schema: olm.template.basic\nentries:\n", "", "\n- schema", "\n---\nschema", "- schema", "schema", "\n  ", "\n").Replace(emptyBasic),
		"semver":    "Schema: olm.semver\nStable:\n  Bundles:\n  - Image: quay.io/example/op:v0.0.1\n",
		"goodstuff": "schema: olm.template.goodstuff\npackage:\n  name: op\n  defaultChannel: stable\nbundles:\n  images:\n  - quay.io/example/op:v0.0.1\ngraph-description:\n  package: op\n  name: stable\n  entries:\n  - op.v0.0.1\n",
	} {
		for range 25 {
			versions := randomVersions(rnd, 1+rnd.IntN(12))
			var first string
			for range 4 {
				rnd.Shuffle(len(versions), func(i, j int) { versions[i], versions[j] = versions[j], versions[i] })
				text := insertAll(t, kindName, []byte(empty), versions)
				if first == "" {
					first = text
				}
				if text != first {
					t.Fatalf("%s, order %v gives\n%s\nanother gave\n%s", kindName, versions, text, first)
				}
				rnd.Shuffle(len(versions), func(i, j int) { versions[i], versions[j] = versions[j], versions[i] })
				if again := insertAll(t, kindName, []byte(text), versions); again != text {
					t.Fatalf("%s: once more is not the same:\n%s\n%s", kindName, text, again)
				}
			}
			if kindName == "basic" {
				checkOneHead(t, first, len(versions)+1)
			}
		}
	}
}

func randomVersions(rnd *rand.Rand, n int) []semver.Version {
	var out []semver.Version
	for len(out) < n {
		v := semver.Version{Major: uint64(rnd.IntN(3)), Minor: uint64(rnd.IntN(12)), Patch: uint64(1 + rnd.IntN(3))}
		if rnd.IntN(4) == 0 {
			v.Pre = []semver.PRVersion{{VersionStr: "rc"}, {VersionNum: uint64(rnd.IntN(12)), IsNum: true}}
		}
		if v.GT(semver.Version{Patch: 1}) && !slices.ContainsFunc(out, v.EQ) {
			out = append(out, v)
		}
	}
	return out
}

func insertAll(t *testing.T, name string, text []byte, versions []semver.Version) string {
	t.Helper()
	for _, v := range versions {
		var err error
		if text, _, err = insert(t, name, text, requestFor(v, "stable")); err != nil {
			t.Fatalf("%s: %v\n%s", v, err, text)
		}
	}
	return string(text)
}

// checkOneHead checks the channel against opm's rules: one head, from which every entry is reached through
// replaces.
func checkOneHead(t *testing.T, text string, want int) {
	t.Helper()
	tmpl, err := Parse("t.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	entries := tmpl.Describe().Channels[0].Entries
	if len(entries) != want || !slices.IsSortedFunc(entries, func(a, b string) int {
		v, _ := graph.VersionOf(a)
		w, _ := graph.VersionOf(b)
		return v.Compare(w)
	}) {
		t.Fatalf("entries %v", entries)
	}
	for i := 1; i < len(entries); i++ {
		if !strings.Contains(text, "name: "+entries[i]+"\n    replaces: "+entries[i-1]+"\n") {
			t.Fatalf("%s does not replace %s:\n%s", entries[i], entries[i-1], text)
		}
	}
}

// FuzzInsert checks the promises of an insert on any text that the fuzzer finds, for every kind.
func FuzzInsert(f *testing.F) {
	f.Add([]byte(emptyBasic))
	f.Add([]byte("schema: ! olm.template.basic\nentries:\n- {schema: ! olm.package, name: ! op}\n- schema: olm.channel\n  package: ! op\n  name: ! stable\n  entries:\n  - name: ! op.v0.0.1\n"))
	f.Add([]byte("Schema: olm.semver\nCandidate:\n  Bundles:\n  - Image: a/b:v1.0.0\n"))
	f.Add([]byte("schema: olm.template.goodstuff\npackage: {name: op}\nbundles: {images: [a/b:v1]}\ngraph-description:\n- {name: stable, entries: [op.v0.0.1], tombstones: []}\n"))
	f.Add([]byte(`{"schema":"olm.template.substitutes","entries":[{"schema":"olm.bundle","name":"op.v1.0.0","image":"x"}],"substitutions":[]}`))
	f.Add([]byte("schema: olm.composite\ncomponents:\n- name: c\n  strategy: {template: {schema: olm.builder.custom}}\n"))
	f.Add([]byte("---\nschema: olm.package\nname: op\n---\nschema: olm.channel\nname: stable\npackage: op\nentries: [{name: op.v0.0.1}]\n---\nschema: olm.bundle\nimage: x\n"))
	r := requestFor(semver.MustParse("1.2.3"), "stable")
	f.Fuzz(func(t *testing.T, src []byte) {
		tmpl, err := Parse("t.yaml", src)
		if err != nil {
			return
		}
		o, err := tmpl.Insert(r)
		if err != nil || len(o.Files) == 0 {
			return
		}
		got := o.Files[0].After
		if !rewires(o) && !isSubsequence(src, got) && !strings.Contains(string(src), "[]") && !strings.Contains(string(src), "{}") && !strings.Contains(string(src), "null") && !strings.Contains(string(src), "~") {
			t.Fatalf("bytes are gone: %q\n%q", src, got)
		}
		again, err := Parse("t.yaml", got)
		if err != nil {
			t.Fatalf("the result is not a template: %v\n%q", err, got)
		}
		o, err = again.Insert(r)
		if err != nil || len(o.Files) > 0 {
			t.Fatalf("the second run: %v %+v\n%q\n%q", err, o, src, got)
		}
	})
}

// largest returns a template of the size of the largest real one, made of its parts.
func largest(entries int) []byte {
	var b strings.Builder
	b.WriteString("---\nschema: olm.template.basic\nentries:\n- schema: olm.package\n  name: op\n  defaultChannel: stable\n- schema: olm.channel\n  package: op\n  name: stable\n  entries:\n")
	for i := range entries {
		fmt.Fprintf(&b, "  - name: op.v1.%d.0\n", i)
		if i > 0 {
			fmt.Fprintf(&b, "    replaces: op.v1.%d.0\n    skipRange: '>=1.0.0 <1.%d.0'\n", i-1, i)
		}
	}
	for i := range entries {
		fmt.Fprintf(&b, "- schema: olm.bundle\n  image: quay.io/community-operator-pipeline-prod/op@sha256:%064d\n", i)
	}
	return []byte(b.String())
}

// BenchmarkInsert inserts into a template of 781 lines, the size of the largest real one, and into one with a
// hundred times as many entries, to show that the cost is linear.
func BenchmarkInsert(b *testing.B) {
	for _, entries := range []int{154, 100, 1000, 10000} {
		src := largest(entries)
		r := requestFor(semver.MustParse("2.0.0"), "stable")
		b.Run(fmt.Sprintf("entries=%d/lines=%d", entries, strings.Count(string(src), "\n")), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				if _, _, err := insert(b, "t.yaml", src, r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
