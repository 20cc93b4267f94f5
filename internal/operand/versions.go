package operand

import "slices"

// Takes tells whether a bundle's claims take an entry: of an operand one of those that
// support it, of a set of related images all on it.
func Takes(claims []Claim, e *Entry) bool {
	b := Bundle{Claims: claims}
	if e.Schema == SchemaRelatedImages {
		own := b.about(TypeRelatedImageBundle, e.Name)
		return len(own) > 0 && allHold(own, e.Version)
	}
	return anyHolds(b.about(TypeSupported, e.Name), e.Version)
}

// Versions are the entries of a name that serve a package, "" for any, each version once, the
// lowest first: those of an operand, or where there is none, of a set of related images. What
// occurs twice must be the same.
func Versions(entries []*Entry, name, pkg string) ([]*Entry, error) {
	for _, schema := range []string{SchemaOperand, SchemaRelatedImages} {
		var all, own []*Entry // own are those of a bundle's graph, beside which others go on to count
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
