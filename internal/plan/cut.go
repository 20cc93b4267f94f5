package plan

import (
	"slices"

	"github.com/olmgraft/graft/internal/graph/cut"
)

// BundleRule selects bundles of a template for the catalogs of some platforms.
type BundleRule struct {
	Versions  VersionRule // empty: all
	Channels  []string    // names or patterns; empty: all
	Platforms PlatformRange
}

// PlatformRange is an inclusive range of platforms, without those in Drop. Without bounds it contains all
// catalogs, even those without a known platform.
type PlatformRange struct {
	Min, Max string
	Drop     []string
}

// Holds reports whether the range contains a catalog's platform; nil means unknown.
func (r PlatformRange) Holds(p *Platform) bool {
	if p == nil {
		return r.Min == "" && r.Max == "" && len(r.Drop) == 0
	}
	lowest, hasLowest := ParsePlatform(r.Min)
	highest, hasHighest := ParsePlatform(r.Max)
	dropped := slices.ContainsFunc(r.Drop, func(s string) bool {
		one, ok := ParsePlatform(s)
		return ok && one == *p
	})
	return !dropped && (!hasLowest || p.Compare(lowest) >= 0) && (!hasHighest || p.Compare(highest) <= 0)
}

// cutFor returns what the catalog of a platform leaves out.
func (s CatalogSetup) cutFor(p *Platform) (c cut.Cut, err error) {
	c.Heads, c.Close = s.Heads, s.DanglingReplaces == RemoveDangling
	for _, rules := range []struct {
		from []BundleRule
		into *[]cut.Rule
	}{{s.Include, &c.Include}, {s.Exclude, &c.Exclude}} {
		for _, r := range rules.from {
			if !r.Platforms.Holds(p) {
				continue
			}
			one := cut.Rule{Channels: r.Channels}
			if r.Versions != "" {
				if one.Versions, err = r.Versions.fits(); err != nil {
					return c, err
				}
			}
			*rules.into = append(*rules.into, one)
		}
	}
	return c, nil
}
