package bundle

import (
	"slices"
	"sort"

	"github.com/olmgraft/graft/internal/fbc"
)

// collectImages makes the related images: those that the CSV lists, the bundle's own,
// and those of the operator's containers, the last two without a name and where the
// CSV does not list them. Environment variables are not looked at.
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
	slices.Sort(operators) // opm takes them in random order, and sorts below
	for _, i := range slices.Compact(operators) {
		if !listed[i] {
			images = append(images, fbc.RelatedImage{Image: i})
		}
	}
	sortImages(images)
	b.images = images
}

// sortImages takes opm's own choice of sort, which leaves images that occur twice in
// an order of its own.
func sortImages(images []fbc.RelatedImage) {
	sort.Slice(images, func(i, j int) bool { return images[i].Image < images[j].Image })
}
