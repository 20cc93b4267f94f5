package hostile

import (
	"fmt"
	"strings"

	"github.com/olmgraft/graft/internal/testkit/registry"
)

// documents returns attacks on parsing and writing: YAML, JSON and the parts of a bundle.
func documents() []Bomb {
	text := func(name string, make func(scale float64) string) Bomb {
		return of(name, registry.Plain, func(scale float64) []registry.Entry {
			return bundle(file("manifests/z.yaml", make(scale)))
		})
	}
	filled := func(name, before, unit string, mib float64, after string) Bomb {
		return text(name, func(scale float64) string { return before + fill(unit, mib, scale) + after })
	}
	csv := func(name string, make func(scale float64) string) Bomb {
		return of(name, registry.Plain, func(scale float64) []registry.Entry {
			return append(bundle(), file("manifests/csv.yaml", make(scale)))
		})
	}
	return []Bomb{
		filled("dense YAML", object+"data:\n", "- a\n", 0.9, ""),
		filled("very dense YAML", object+"data:\n", "- a\n", 90, ""),
		filled("dense mappings", object+"data:\n", "- a: b\n", 1.2, ""),
		filled("dashes in lines", object+"data:\n", "- - - - a\n", 0.5, ""),
		filled("question marks", object+"data:\n", "  ? - a\n  : b\n", 15, ""),
		filled("dense flow style", object+"data: [", "a,", 0.45, "]\n"),
		text("300,000 keys", func(scale float64) string { return object + numbered("k%d: v\n", some(300_000, scale)) }),
		text("240,000 keys", func(scale float64) string { return object + numbered("k%d: v\n", some(240_000, scale)) }),
		text("deep nesting", func(scale float64) string {
			n := some(9900, scale)
			return object + "data: " + strings.Repeat("[", n) + strings.Repeat("]", n) + "\n"
		}),
		text("aliases that multiply", aliases),
		of("aliases in 9,000 files", registry.Plain, aliasesInFiles),
		filled("anchors", object+"data:\n", "- &a b\n", 1.5, "- *a\n"),
		filled("comments with an alias", object+"data: [&a b, *a]\n", "# c\n", 15, ""),
		filled("a huge string", object+"data:\n  a: ", "x", 15.9, "\n"),
		filled("a huge string of escapes", object+"data:\n  a: \"", `\x3c`, 15.9, "\"\n"),
		filled("a huge block", object+"data:\n  a: |\n", "    <\n", 15.9, ""),
		filled("a string of 90 MiB", object+"data:\n  a: ", "x", 90, "\n"),
		filled("many documents", object, "---\n"+object, 15.9, ""),
		filled("lines between documents", "", "\n", 15.9, object),
		filled("JSON nesting", `{"kind":"A","a":`, "[", 15, ""),
		text("deep JSON", func(scale float64) string {
			n := some(9900, scale)
			return `{"kind":"A","a":` + strings.Repeat("[", n) + strings.Repeat("]", n) + "}"
		}),
		filled("dense JSON", `{"kind":"A","a":[1`, ",1", 0.47, "]}"),
		filled("JSON that is YAML after all", `{"kind":"A","a":[1`, ",1", 0.47, "]} # c\n"),
		of("faults in all files", registry.Plain, faults),
		of("large files with a fault", registry.Plain, largeFaults),
		of("channels", registry.Plain, func(scale float64) []registry.Entry {
			list := numbered("c%d,", some(240_000, scale))
			return append(bundle(), file("metadata/annotations.yaml", annotations+"  operators.operatorframework.io.bundle.channels.v1: "+list+"\n"))
		}),
		csv("properties by escapes", func(scale float64) string {
			return csvHead + "  annotations:\n    olm.properties: \"[" + fill(`\x7b\x7d\x2c`, 15, scale) + "{}]\"\n" + csvSpec
		}),
		csv("a long version", func(scale float64) string {
			return csvHead + "spec:\n  version: 1.0.0-a" + fill(".a", 15, scale) + "\n"
		}),
		csv("keys of a spec", func(scale float64) string {
			return csvHead + csvSpec + numbered("  k%d: v\n", some(240_000, scale))
		}),
		csv("images", func(scale float64) string {
			return csvHead + csvSpec + "  relatedImages:\n" + numbered("  - image: i%d\n", some(120_000, scale))
		}),
		csv("required APIs", func(scale float64) string {
			return csvHead + csvSpec + "  customresourcedefinitions:\n    required:\n" + numbered("    - name: a.b%d\n", some(120_000, scale))
		}),
		of("wrong types far inside", registry.Plain, wrongTypes),
	}
}

func aliases(scale float64) string {
	var b strings.Builder
	b.WriteString(object + "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := range some(6, scale) {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 10))
	}
	return b.String()
}

func aliasesInFiles(scale float64) []registry.Entry {
	all := bundle()
	for i := range some(9000, scale) {
		all = append(all, file(fmt.Sprintf("manifests/%d.yaml", i), aliases(0.5)))
	}
	return all
}

func faults(scale float64) []registry.Entry {
	all := bundle()
	for i := range some(9000, scale) {
		all = append(all, file(fmt.Sprintf("manifests/%d.yaml", i), object+strings.Repeat("# comment\n", 150)+"a: b: c\n"))
	}
	return all
}

// largeFaults has its fault at the very end.
func largeFaults(scale float64) []registry.Entry {
	all := bundle()
	for i := range some(15, scale) {
		all = append(all, file(fmt.Sprintf("manifests/%d.yaml", i), object+strings.Repeat("- a: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\n", 15_000)))
	}
	return all
}

// wrongTypes has a schema whose fields are all wrong, below many others.
func wrongTypes(scale float64) []registry.Entry {
	deep := some(2000, scale)
	crd := `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"a.b"},"spec":{"group":"b","names":{"kind":"A","plural":"a"},"versions":[{"name":"v1","schema":{"openAPIV3Schema":` +
		strings.Repeat(`{"properties":{"a":`, deep) + `{"required":[1` + strings.Repeat(",1", some(100_000, scale)) + `]}` + strings.Repeat(`}}`, deep) + `}}]}}`
	return bundle(file("manifests/crd.yaml", crd))
}
