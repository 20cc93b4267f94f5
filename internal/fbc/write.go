package fbc

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"sort"

	"github.com/olmgraft/graft/internal/failure"
)

// Write writes blobs in opm's order with opm's separators for the format: packages by name; in each package its
// olm.package, channels by name, bundles by name, other documents by schema, deprecations; at the end the
// documents of other schemas without a package. It converts blobs of the other format. It does not change the
// order of the slice.
//
// opm silently drops channels, bundles, deprecations and packages that name no package; Write refuses them.
func Write(w io.Writer, format Format, blobs []Blob) error {
	packages := map[string][]Blob{}
	var rest []Blob
	for _, b := range blobs {
		name := b.Package
		if b.Schema == SchemaPackage {
			name = b.Name
		}
		switch {
		case name != "":
			packages[name] = append(packages[name], b)
		case rank(b.Schema) == rankOther:
			rest = append(rest, b)
		default:
			return failure.New(failure.RenderFailed, "writing the catalog: the %s %q names no package", b.Schema, b.Name).
				Fix("Give the document the name of its package.")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		if err := writePackage(w, format, packages[name]); err != nil {
			return err
		}
	}
	return writeAll(w, format, rest)
}

const (
	rankPackage = iota
	rankChannel
	rankBundle
	rankOther
	rankDeprecation
	ranks
)

func rank(schema string) int {
	switch schema {
	case SchemaPackage:
		return rankPackage
	case SchemaChannel:
		return rankChannel
	case SchemaBundle:
		return rankBundle
	case SchemaDeprecation:
		return rankDeprecation
	}
	return rankOther
}

func writePackage(w io.Writer, format Format, blobs []Blob) error {
	var kinds [ranks][]Blob
	for _, b := range blobs {
		kinds[rank(b.Schema)] = append(kinds[rank(b.Schema)], b)
	}
	for _, r := range []int{rankChannel, rankBundle} {
		// opm also uses this unstable sort, so equal names come out in the same order.
		sort.Slice(kinds[r], func(i, j int) bool { return kinds[r][i].Name < kinds[r][j].Name })
	}
	slices.SortStableFunc(kinds[rankOther], func(a, b Blob) int { return cmp.Compare(a.Schema, b.Schema) })
	for _, k := range kinds {
		if err := writeAll(w, format, k); err != nil {
			return err
		}
	}
	return nil
}

func writeAll(w io.Writer, format Format, blobs []Blob) error {
	before, after := "---\n", ""
	if format == JSON {
		before, after = "", "\n"
	}
	for _, b := range blobs {
		body := b.Body
		if b.Format != format {
			var err error
			if body, err = recode(b, format); err != nil {
				return err
			}
		}
		for _, part := range [][]byte{[]byte(before), body, []byte(after)} {
			if _, err := w.Write(part); err != nil {
				return failure.New(failure.RenderFailed, "writing the catalog: %w", err)
			}
		}
	}
	return nil
}

// recode converts a blob to another format.
func recode(b Blob, format Format) ([]byte, error) {
	docs, err := Read(b.Name, b.Body)
	if err != nil {
		return nil, err
	}
	if len(docs) != 1 {
		return nil, failure.New(failure.Internal, "writing the catalog: the %s %q consists of %d documents", b.Schema, b.Name, len(docs))
	}
	other, err := docs[0].Blob(format)
	return other.Body, err
}
