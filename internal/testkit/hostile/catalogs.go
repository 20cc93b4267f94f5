package hostile

import (
	"fmt"
	"strings"
)

// Catalog is an attack on the reader and the verification of catalogs.
type Catalog struct {
	Name string
	// Make returns the catalog, and the published one or the one of the next platform version, which may be
	// empty.
	Make func(scale float64) (text, published, next string)
}

// Catalogs returns all attacks on catalogs.
func Catalogs() []Catalog {
	alone := func(name string, text func(scale float64) string) Catalog {
		return Catalog{name, func(scale float64) (string, string, string) { return text(scale), "", "" }}
	}
	return []Catalog{
		alone("channels", func(scale float64) string {
			return pkg + channels(some(40_000, scale), "- name: op.v1.0.0\n", false)
		}),
		alone("channels with edges of their own", func(scale float64) string {
			return pkg + channels(some(40_000, scale), "- name: op.v1.0.0\n  replaces: op.v0.%d.0\n- name: op.v0.%[1]d.0\n", true)
		}),
		alone("ranges of their own in a channel", func(scale float64) string {
			return pkg + channel("stable", numbered("- name: op.v1.%[1]d.0\n  skipRange: <1.%[1]d.0\n", some(40_000, scale)))
		}),
		alone("bundles without a channel", func(scale float64) string {
			n := some(20_000, scale)
			return pkg + channels(n, "- name: op.v1.0.0\n", false) + numbered(small, n)
		}),
		alone("skips of unknown names", func(scale float64) string {
			return pkg + channel("stable", numbered("- name: op.v1.%[1]d.0\n  skips:\n  - gone%[1]d\n", some(40_000, scale)))
		}),
		alone("missing predecessors", func(scale float64) string {
			n := some(20_000, scale)
			return pkg + channel("stable", numbered("- name: op.v1.%[1]d.0\n  replaces: gone%[1]d\n", n)) + numbered(small, n)
		}),
		alone("many skips in two channels", func(scale float64) string {
			n := some(40_000, scale)
			return pkg + channels(2, "- name: op.v2.0.0\n  skips:\n"+numbered("  - op.v1.%d.0\n", n)+numbered("- name: op.v1.%d.0\n", n), false)
		}),
		alone("packages with a fault", func(scale float64) string {
			return numbered("---\nschema: olm.package\nname: P%d\n", some(20_000, scale))
		}),
		alone("JSON on one line", func(scale float64) string {
			return strings.Repeat(`{"schema":"olm.package"}`, some(50_000, scale))
		}),
		alone("numbers with many digits", func(scale float64) string {
			return `{"schema":"olm.package","name":"op","properties":[0` + strings.Repeat(","+strings.Repeat("1", 299), some(10_000, scale)) + "]}"
		}),
		alone("wrong related images", func(scale float64) string {
			return pkg + fmt.Sprintf(small, 0) + "relatedImages:\n" + numbered("- image: ':%d'\n  name: a\n", some(20_000, scale))
		}),
		alone("wrong entries", func(scale float64) string {
			return pkg + channel("stable", strings.Repeat("- name: []\n", some(100_000, scale)))
		}),
		alone("operands", func(scale float64) string {
			n := some(2000, scale)
			return pkg + channel("stable", "- name: op.v1.0.0\n") +
				numbered("---\nschema: olm.operand.image\nname: o%d\nversion: 1.0.0\n", n) + fmt.Sprintf(small, 0) +
				numbered("- type: olm.operand.required\n  value:\n    name: o%d\n    versionRange: '>=1.0.0'\n", n)
		}),
		alone("flow style", func(scale float64) string {
			return pkg + "---\n{schema: olm.channel, package: op, name: stable, entries: [" + numbered("{name: op.v1.%d.0},", some(40_000, scale)) + "]}\n"
		}),
		{"a long chain that is gone", func(scale float64) (string, string, string) {
			n := some(20_000, scale)
			return pkg + channel("stable", numbered("- name: op.v2.%[1]d.0\n  skips:\n  - op.v3.%[1]d.0\n", 1)), pkg + channel("stable", chain(n)), ""
		}},
		{"channels of the next version", func(scale float64) (string, string, string) {
			n := some(20_000, scale)
			return pkg + channels(n, "- name: op.v1.%d.0\n", true), "", pkg + channels(n, "- name: op.v2.%[1]d.0\n  skipRange: <1.0.0\n", true)
		}},
	}
}

const (
	pkg = "---\nschema: olm.package\nname: op\ndefaultChannel: stable\n"
	// small is a bundle for each number. It ends within its properties.
	small = "---\nschema: olm.bundle\nname: op.v1.%[1]d.0\npackage: op\nimage: quay.io/example/op:v1.%[1]d.0\nproperties:\n- type: olm.package\n  value:\n    packageName: op\n    version: 1.%[1]d.0\n"
)

func channel(name, entries string) string {
	return "---\nschema: olm.channel\npackage: op\nname: " + name + "\nentries:\n" + entries
}

// channels returns channels with the same entries, or with entries that contain the channel's number.
func channels(n int, entries string, counted bool) string {
	var b strings.Builder
	for i := range n {
		own := entries
		if counted {
			own = fmt.Sprintf(entries, i)
		}
		b.WriteString(channel(fmt.Sprintf("c%d", i), own))
	}
	return b.String()
}

// chain returns entries of which each replaces the one before it.
func chain(n int) string {
	var b strings.Builder
	b.WriteString("- name: op.v1.0.0\n")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, "- name: op.v1.%d.0\n  replaces: op.v1.%d.0\n", i, i-1)
	}
	return b.String()
}
