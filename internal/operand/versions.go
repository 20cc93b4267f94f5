package operand

import "slices"

// Takes reports whether a bundle's claims accept an entry: for an operand at least one claim must, for a set of
// related images all claims.
func Takes(claims []Claim, e *Entry) bool {
	b := Bundle{Claims: claims}
	if e.Schema == SchemaRelatedImages {
		own := b.about(TypeRelatedImageBundle, e.Name)
		return len(own) > 0 && allHold(own, e.Version)
	}
	return anyHolds(b.about(TypeSupported, e.Name), e.Version)
}

// Versions returns the entries of a name that apply to a package ("" for any), one for each version, lowest
// first: those of an operand, or if there is none, of a set of related images. Repeated versions must have the
// same images.
func Versions(entries []*Entry, name, pkg string) ([]*Entry, error) {
	for _, schema := range []string{SchemaOperand, SchemaRelatedImages} {
		var all, own []*Entry // own holds the entries of bundles' graphs, which do not override others here
		for _, e := range entries {
			if e.Schema == schema && e.Name == name && (pkg == "" || e.Package == "" || e.Package == pkg) {
				if e.Bundle != "" {
					own = append(own, e)
					continue
				}
				all = append(all, e)
			}
		}
		if pkg != "" {
			all = shadowed(all)
		}
		all = append(all, own...)
		slices.SortStableFunc(all, func(a, b *Entry) int { return compareEntries(*a, *b) })
		for _, e := range all {
			if err := unambiguous(e, all); err != nil {
				return nil, err
			}
		}
		if len(all) > 0 {
			return slices.CompactFunc(all, func(a, b *Entry) bool { return Compare(a.Version, b.Version) == 0 }), nil
		}
	}
	return nil, nil
}
