package hostile

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/olmgraft/graft/internal/testkit/registry"
)

// archives returns attacks on unpacking: tar, gzip, zstd, links and layers.
func archives() []Bomb {
	return []Bomb{
		links("symbolic links to 100 KiB", 100<<10, tar.TypeSymlink, 9900),
		links("hard links to 100 KiB", 100<<10, tar.TypeLink, 9900),
		links("symbolic links to 5 MiB", 5<<20, tar.TypeSymlink, 9900),
		links("hard links to 5 MiB", 5<<20, tar.TypeLink, 9900),
		links("symbolic links within the limits", 10<<10, tar.TypeSymlink, 1500),
		of("links along long paths", registry.Gzip, longTargets),
		of("links to links", registry.Gzip, chains),
		of("9,000 files", registry.Gzip, manyFiles),
		of("files that replace each other", registry.Gzip, replaced),
		of("whiteouts of a full directory", registry.Gzip, whiteouts),
		of("zeros that nothing needs", registry.Gzip, zeros("usr/zeros")),
		of("zeros of a manifest", registry.Gzip, zeros("manifests/zeros.yaml")),
		of("zeros of a manifest by zstd", registry.Zstd, zeros("manifests/zeros.yaml")),
		of("noise that nothing needs", registry.Plain, noise("usr/noise")),
		of("noise of a manifest", registry.Gzip, noise("manifests/noise.yaml")),
		{"empty zstd frames", emptyFrames},
		{"empty gzip members", emptyMembers},
		{"headers of one layer 400 times", layersAgain},
	}
}

// longTargets uses link targets that go down and up as often as fits. Each link leads to the next.
func longTargets(scale float64) []registry.Entry {
	target := strings.Repeat("d/../", 800)
	all := bundle(registry.Entry{Name: "manifests/d/"}, file("manifests/l0", object))
	for i := range 38 {
		all = append(all, registry.Entry{Name: fmt.Sprintf("manifests/l%d", i+1), Link: target + fmt.Sprintf("l%d", i)})
	}
	for i := range some(9000, scale) {
		all = append(all, registry.Entry{Name: fmt.Sprintf("manifests/%d.yaml", i), Link: target + "l38"})
	}
	return all
}

// chains builds chains with the largest permitted number of links.
func chains(scale float64) []registry.Entry {
	all := bundle(file("manifests/l0", object))
	for i := range some(9000, scale) {
		all = append(all, registry.Entry{Name: fmt.Sprintf("manifests/l%d", i+1), Link: fmt.Sprintf("l%d", max(i-38, 0))})
	}
	return all
}

func manyFiles(scale float64) []registry.Entry {
	all := bundle()
	for i := range some(9000, scale) {
		all = append(all, file(fmt.Sprintf("manifests/%d.yaml", i), object))
	}
	return all
}

func replaced(scale float64) []registry.Entry {
	all := bundle()
	for range some(90, scale) {
		all = append(all, file("manifests/a.yaml", strings.Repeat("a", 1<<20)))
	}
	return all
}

func whiteouts(scale float64) []registry.Entry {
	all := bundle()
	n := some(4900, scale)
	for i := range n {
		all = append(all, file(fmt.Sprintf("manifests/%d.yaml", i), object))
	}
	for range n {
		all = append(all, file("manifests/.wh..wh..opq", ""))
	}
	return all
}

func zeros(name string) func(float64) []registry.Entry {
	return func(scale float64) []registry.Entry {
		return bundle(file(name, strings.Repeat("\x00", some(99<<20, scale))))
	}
}

func noise(name string) func(float64) []registry.Entry {
	return func(scale float64) []registry.Entry {
		data := make([]byte, some(95<<20, scale))
		_, _ = rand.NewChaCha8([32]byte{1}).Read(data) // it never fails
		return bundle(registry.Entry{Name: name, Data: data})
	}
}

// padded puts the layer of a small bundle after as many bytes as a packed layer may have.
func padded(c registry.Compression, empty []byte, scale float64) (registry.Image, error) {
	img, err := image(c, bundle())
	if err == nil {
		img.Layers[0].Blob = append(bytes.Repeat(empty, some(60<<20, scale)/len(empty)), img.Layers[0].Blob...)
	}
	return img, err
}

func emptyFrames(scale float64) (registry.Image, error) {
	// A zstd frame of a single segment without content: magic, descriptor, size, one empty block.
	return padded(registry.Zstd, []byte{0x28, 0xb5, 0x2f, 0xfd, 0x20, 0, 1, 0, 0}, scale)
}

func emptyMembers(scale float64) (registry.Image, error) {
	var empty bytes.Buffer
	if err := gzip.NewWriter(&empty).Close(); err != nil {
		return registry.Image{}, err
	}
	return padded(registry.Gzip, empty.Bytes(), scale)
}

// layersAgain has a layer of headers only, which is sent once and read each time that the manifest names it.
func layersAgain(scale float64) (registry.Image, error) {
	img, err := image(registry.Gzip, bundle())
	if err != nil {
		return img, err
	}
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for i := range 20 {
		records := map[string]string{"GRAFT.a": strings.Repeat("a", 900<<10)}
		if err := w.WriteHeader(&tar.Header{Name: fmt.Sprintf("usr/%d", i), Typeflag: tar.TypeReg, PAXRecords: records}); err != nil {
			return img, err
		}
	}
	if err := w.Close(); err != nil {
		return img, err
	}
	layer, err := registry.Pack(out.Bytes(), registry.Gzip, true)
	for range some(400, scale) {
		img.Layers = append(img.Layers, layer)
	}
	return img, err
}
