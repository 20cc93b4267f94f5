// Package hostile makes bundle images that cost a reader as much as possible: small to send, but large or slow
// to unpack, to parse or to write again.
package hostile

import (
	"archive/tar"
	"fmt"
	"strings"

	"github.com/olmgraft/graft/internal/testkit/registry"
)

// Bomb is one attack.
type Bomb struct {
	Name string
	// Make returns the image, which unpacks to at most 100 MiB. Scale is the size of the attack; 1 is the whole
	// attack.
	Make func(scale float64) (registry.Image, error)
}

// Bombs returns all attacks, those on archives first.
func Bombs() []Bomb {
	return append(archives(), documents()...)
}

// labels are the labels of every bomb. Graft reads no layer of an image without them.
var labels = map[string]string{
	"operators.operatorframework.io.bundle.package.v1":   "bomb",
	"operators.operatorframework.io.bundle.manifests.v1": "manifests/",
	"operators.operatorframework.io.bundle.metadata.v1":  "metadata/",
}

const (
	annotations = "annotations:\n  operators.operatorframework.io.bundle.package.v1: bomb\n"
	csvHead     = "apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata:\n  name: bomb.v1.0.0\n"
	csvSpec     = "spec:\n  version: 1.0.0\n"
	object      = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n"
)

func file(name, text string) registry.Entry { return registry.Entry{Name: name, Data: []byte(text)} }

// bundle returns a small bundle with more files in it.
func bundle(more ...registry.Entry) []registry.Entry {
	return append([]registry.Entry{
		file("manifests/csv.yaml", csvHead+csvSpec),
		file("metadata/annotations.yaml", annotations),
	}, more...)
}

// image packs entries into an image with one layer.
func image(c registry.Compression, entries []registry.Entry) (registry.Image, error) {
	archive, err := registry.Tar(entries...)
	if err != nil {
		return registry.Image{}, err
	}
	layer, err := registry.Pack(archive, c, true)
	return registry.Image{OCI: true, Labels: labels, Layers: []registry.Layer{layer}}, err
}

// of makes a bomb from entries.
func of(name string, c registry.Compression, entries func(scale float64) []registry.Entry) Bomb {
	return Bomb{name, func(scale float64) (registry.Image, error) { return image(c, entries(scale)) }}
}

// some scales a number.
func some(n int, scale float64) int { return max(1, int(float64(n)*scale)) }

// fill repeats a text up to a size in MiB.
func fill(text string, mib, scale float64) string {
	return strings.Repeat(text, some(int(mib*(1<<20))/len(text), scale))
}

// numbered repeats a form with increasing numbers.
func numbered(form string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, form, i)
	}
	return b.String()
}

// links makes many names for one file, which each link leads to.
func links(name string, size int, kind byte, n int) Bomb {
	return of(name, registry.Gzip, func(scale float64) []registry.Entry {
		target := file("shared.yaml", object+"data:\n  a: "+strings.Repeat("x", size)+"\n")
		to := "../shared.yaml"
		if kind == tar.TypeLink {
			to = "shared.yaml"
		}
		all := append([]registry.Entry{target}, bundle()...)
		for i := range some(n, scale) {
			all = append(all, registry.Entry{Name: fmt.Sprintf("manifests/%d.yaml", i), Link: to, Type: kind})
		}
		return all
	})
}
