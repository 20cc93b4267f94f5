package bundle

import (
	"slices"
	"sort"

	"github.com/olmgraft/graft/internal/fbc"
)

// collectImages builds the related images: those that the CSV lists, the bundle's own image, and those of the
// operator's containers. It adds the last two without a name, and only if the CSV does not list them. It ignores
// environment variables.
func (b *Bundle) collectImages() {
	images := slices.Clone(b.csv.related)
	listed := map[string]bool{}
	for _, i := range images {
		listed[i.Image] = true
	}
	if ref := b.image.Ref; ref != "" && !listed[ref] {
		images = append(images, fbc.RelatedImage{Image: ref})
	}
	operators := slices.Clone(b.csv.operators)
	slices.Sort(operators) // opm adds them in random order and sorts below
	for _, i := range slices.Compact(operators) {
		if !listed[i] {
			images = append(images, fbc.RelatedImage{Image: i})
		}
	}
	sortImages(images)
	b.images = images
}

// sortImages uses the same unstable sort as opm, which decides the order of repeated images.
func sortImages(images []fbc.RelatedImage) {
	sort.Slice(images, func(i, j int) bool { return images[i].Image < images[j].Image })
}
