package explorer

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/explorer"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
)

// A lineage describes a package: its bundles by version, and the entries of its channels.
type lineage struct {
	name, usual string
	channels    []string            // in order
	entries     map[string][]string // of each channel, as YAML in braces
	bundles     []string            // versions
	image       func(version string) string
	properties  map[string]string // further properties of a version, as the content of a YAML list
	deprecated  []string          // versions
}

func (l *lineage) add(channel, entry string) {
	if l.entries == nil {
		l.entries = map[string][]string{}
	}
	if l.entries[channel] == nil {
		l.channels = append(l.channels, channel)
	}
	l.entries[channel] = append(l.entries[channel], entry)
}

func (l *lineage) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "---\nschema: olm.package\nname: %q\ndefaultChannel: %q\n", l.name, l.usual)
	for _, ch := range l.channels {
		fmt.Fprintf(&b, "---\nschema: olm.channel\npackage: %q\nname: %q\nentries:\n- %s\n", l.name, ch, strings.Join(l.entries[ch], "\n- "))
	}
	for _, v := range l.bundles {
		image := "quay.io/example/" + l.name + ":v" + v
		if l.image != nil {
			image = l.image(v)
		}
		fmt.Fprintf(&b, "---\nschema: olm.bundle\npackage: %q\nname: %q\nimage: %q\nproperties:\n- {type: olm.package, value: {packageName: %q, version: %q}}\n",
			l.name, l.name+".v"+v, image, l.name, v)
		if more := l.properties[v]; more != "" {
			fmt.Fprintf(&b, "- %s\n", more)
		}
	}
	if len(l.deprecated) > 0 {
		fmt.Fprintf(&b, "---\nschema: olm.deprecations\npackage: %q\nentries:\n", l.name)
		for _, v := range l.deprecated {
			fmt.Fprintf(&b, "- {reference: {schema: olm.bundle, name: %q}, message: it is old}\n", l.name+".v"+v)
		}
	}
	return b.String()
}

func catalogOf(t *testing.T, texts ...string) *graph.Catalog {
	t.Helper()
	docs, err := fbc.Read("catalog.yaml", []byte(strings.Join(texts, "")))
	if err != nil {
		t.Fatal(err)
	}
	return graph.FromDocs(docs)
}

// chain returns a package with one channel of versions, each of which replaces the one before it.
func chain(name, channel string, versions ...string) *lineage {
	l := &lineage{name: name, usual: channel, bundles: versions}
	for i, v := range versions {
		if i == 0 {
			l.add(channel, fmt.Sprintf("{name: %q}", name+".v"+v))
			continue
		}
		l.add(channel, fmt.Sprintf("{name: %q, replaces: %q}", name+".v"+v, name+".v"+versions[i-1]))
	}
	return l
}

// releases returns a package with channels for minor versions and one for all, with images by digest, as public
// operators have them.
func releases(name string, r *rand.Rand, versions, minors int) *lineage {
	digest := func(string) string {
		return fmt.Sprintf("quay.io/example/%s@sha256:%016x%016x%016x%016x", name, r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64())
	}
	l := &lineage{name: name, usual: "stable", image: digest}
	last := ""
	for i := range versions {
		minor, patch := i*minors/versions, i-(i*minors/versions*versions+minors-1)/minors
		v := fmt.Sprintf("3.%d.%d", minor, max(patch, 0))
		l.bundles = append(l.bundles, v)
		entry := fmt.Sprintf("{name: %q, skipRange: %q", name+".v"+v, fmt.Sprintf(">=3.%d.0 <%s", max(minor-3, 0), v))
		if last != "" {
			entry += fmt.Sprintf(", replaces: %q", last)
		}
		for _, ch := range []string{"stable", fmt.Sprintf("stable-3.%d", minor), fmt.Sprintf("stable-3.%d", min(minor+1, minors-1))} {
			if n := len(l.entries[ch]); n == 0 || !strings.HasPrefix(l.entries[ch][n-1], fmt.Sprintf("{name: %q", name+".v"+v)) {
				l.add(ch, entry+"}")
			}
		}
		last = name + ".v" + v
	}
	return l
}

// index returns a catalog of 300 packages, with 1 to 152 versions each.
func index(t *testing.T) *graph.Catalog {
	r := rand.New(rand.NewPCG(1, 2))
	texts := []string{releases("quay", r, 152, 13).text()}
	for i := range 299 {
		versions := 1 + int(60*r.Float64()*r.Float64())
		texts = append(texts, releases(fmt.Sprintf("operator-%03d", i), r, versions, 1+versions/9).text())
	}
	return catalogOf(t, texts...)
}

// stored writes a page and returns its address.
func stored(t *testing.T, platforms ...explorer.Platform) (url string, size int) {
	t.Helper()
	page := explorer.Page(platforms, explorer.Options{})
	file := filepath.Join(t.TempDir(), "graph.html")
	if err := os.WriteFile(file, page, 0o600); err != nil {
		t.Fatal(err)
	}
	return "file://" + file, len(page)
}
