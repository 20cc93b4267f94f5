package graph

import (
	"regexp"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
)

// advise reports what opm accepts but users suffer from.
func (v *verifier) advise() {
	p := v.pkg
	v.adviseVersions()
	for _, ch := range p.Channels {
		head := ch.Bundle(ch.Head())
		tail := ""
		if way, _ := ch.chain(head.Name, ch.skipped(), nil); len(way) > 0 {
			tail = way[len(way)-1]
		}
		lowest := ch.lowest()
		for i := range ch.Entries {
			v.adviseEntry(ch, &ch.Entries[i], tail, lowest)
		}
		v.adviseCircle(ch, head.Name)
		if strings.HasPrefix(strings.ToLower(ch.Name), "stable") && head.HasVersion && prerelease(head.Version) {
			v.add("stable-head-prerelease", ch.at(ch.Entry(head.Name)), ch.Name, head.Name, "the head of channel %q is the pre-release %s", ch.Name, head.Version)
		}
	}
	stable := func(ch *Channel) bool { return !prereleaseChannel(ch.Name) }
	if ch := p.Channel(p.DefaultChannel); ch != nil && !stable(ch) && slices.ContainsFunc(p.Channels, stable) {
		v.add("default-channel-prerelease", p.Pos, ch.Name, "", "the default channel %q is one for pre-releases", ch.Name)
	}
	v.adviseAgreement()
}

// adviseCircle looks for cycles that opm misses: opm follows replaces only to the first skipped entry, OLM v0 to
// the end.
func (v *verifier) adviseCircle(ch *Channel, head string) {
	if _, circle := ch.chain(head, ch.skipped(), nil); circle != "" {
		return
	}
	if way, circle := ch.chain(head, nil, nil); circle != "" {
		v.add("skipped-cycle", ch.at(ch.Entry(way[len(way)-1])), ch.Name, circle, "replaces goes in a circle behind a skipped entry: %s", circleText(way, circle))
	}
}

func (v *verifier) adviseVersions() {
	byVersion := map[string]*Bundle{}
	for _, b := range v.pkg.Bundles {
		if !b.HasVersion {
			continue
		}
		if named, ok := versionInName(b.Name); ok && !namesVersion(named, b.Version) {
			v.add("name-version-mismatch", b.Pos, "", b.Name, "bundle %q has version %s", b.Name, b.Version)
		}
		plain := b.Version
		plain.Build = nil
		first := byVersion[plain.String()]
		if first == nil {
			byVersion[plain.String()] = b
		} else if first.Version.String() != b.Version.String() {
			v.add("version-build-only", b.Pos, "", b.Name, "the versions of %q and %q, %s and %s, differ only in build metadata", first.Name, b.Name, first.Version, b.Version)
		}
	}
}

// adviseEntry checks one entry. tail is the last entry on the chain of replaces from the head. In opm's minor
// channels it replaces the head of the previous channel, which is not in this channel. lowest is the lowest bundle
// of the channel, or nil.
func (v *verifier) adviseEntry(ch *Channel, e *Entry, tail string, lowest *Bundle) {
	at, b := ch.at(e), ch.Bundle(e.Name)
	if below := ch.Bundle(e.Replaces); e.Replaces != "" && b.HasVersion && below.HasVersion && b.Version.LT(below.Version.Version) {
		v.add("replaces-higher", at, ch.Name, e.Name, "%s %s replaces the higher %s", e.Name, b.Version, below.Version)
	}
	if e.Replaces != "" && ch.Entry(e.Replaces) == nil && b.HasVersion && lowest.Version.Compare(b.Version) < 0 && (e.Name != tail || !v.stood(e.Replaces)) {
		v.add("replaces-dangling", at, ch.Name, e.Name, "%q replaces %q, which is not in the channel, though lower versions are", e.Name, e.Replaces)
	}
	for _, s := range e.Skips {
		if s != "" && !v.everWas(s) && !release(s, b) {
			v.add("skip-unknown", at, ch.Name, e.Name, "%q skips %q, which is no bundle of the package", e.Name, s)
		}
	}
	if r, ok := parseRange(e.SkipRange); ok && b.HasVersion {
		if r.Holds(b.Version.Version) {
			v.add("skip-range-covers-self", at, ch.Name, e.Name, "skipRange %q holds the version %s of the bundle itself", e.SkipRange, b.Version)
		}
		if !r.holdsBelow(b.Version.Version) {
			v.add("skip-range-covers-nothing", at, ch.Name, e.Name, "skipRange %q holds no version below %s", e.SkipRange, b.Version)
		}
	}
}

// lowest returns the bundle with the lowest version in the channel, or nil if no bundle has a version.
func (ch *Channel) lowest() (lowest *Bundle) {
	for i := range ch.Entries {
		b := ch.Bundle(ch.Entries[i].Name)
		if b.HasVersion && (lowest == nil || b.Version.Compare(lowest.Version) < 0) {
			lowest = b
		}
	}
	return lowest
}

// everWas reports whether a name is or was that of a bundle: it is in the package, it was in the published
// package, or an entry replaces it.
func (v *verifier) everWas(name string) bool { return v.stood(name) || v.pkg.replaced[name] }

// release reports whether a name belongs to a lower release of a bundle's operator. A withdrawn release leaves no
// other trace, and only such a skip upgrades its users.
func release(name string, b *Bundle) bool {
	v, ok := VersionOf(name)
	if !ok || !b.HasVersion || v.GTE(b.Version.Version) {
		return false
	}
	stem := func(name string) string { return versionSuffix.ReplaceAllString(name, "") }
	return versionSuffix.MatchString(name) && stem(name) == stem(b.Name)
}

// stood reports whether a name is in the package, or was in the published one.
func (v *verifier) stood(name string) bool {
	in := func(p *Package) bool { return p != nil && (p.Bundle(name) != nil || p.listed[name]) }
	return in(v.pkg) || v.published != nil && in(v.published.Package(v.pkg.Name))
}

var versionSuffix = regexp.MustCompile(`[.-]v?([0-9]+\.[0-9]+\.[0-9]+.*)$`)

// versionInName returns the version at the end of a bundle's name.
func versionInName(name string) (string, bool) {
	m := versionSuffix.FindStringSubmatch(name)
	if m == nil {
		return "", false
	}
	return m[1], true
}

// namesVersion reports whether the end of a name can mean a version. Names cannot contain a plus sign, so build
// metadata is written in several ways or omitted.
func namesVersion(named string, v Version) bool {
	plain := strings.NewReplacer("+", "-", "_", "-").Replace
	if strings.EqualFold(plain(named), plain(v.String())) {
		return true
	}
	n, err := semver.Parse(named)
	return err != nil || SameVersion(n, v.Version)
}

// SameVersion reports whether a version in a name is a bundle's. A name may omit build metadata, and must not have
// other.
func SameVersion(named, v semver.Version) bool {
	return named.EQ(v) && (len(named.Build) == 0 || slices.Equal(named.Build, v.Build))
}

var prereleaseWord = regexp.MustCompile(`^(?i:a|alpha|b|beta|c|rc|cr|pre|prerelease|preview|dev|devel|snapshot|nightly|canary|ea|m|milestone|test)[0-9-]*$`)

// prerelease reports whether a version is a pre-release. A hyphen alone is not enough, because many operators put
// build numbers after one.
func prerelease(v Version) bool {
	return slices.ContainsFunc(v.Pre, func(p semver.PRVersion) bool {
		return !p.IsNum && prereleaseWord.MatchString(p.VersionStr)
	})
}

var prereleaseChannels = regexp.MustCompile(`^(?i:candidates?|alpha|beta|rc|pre|prerelease|preview|dev|devel|development|snapshot|nightly|canary|edge|unstable|testing|test|experimental|ea)$`)

// prereleaseChannel reports whether a channel's name contains a word for pre-releases.
func prereleaseChannel(name string) bool {
	words := strings.FieldsFunc(name, func(c rune) bool { return c == '-' || c == '_' || c == '.' })
	return slices.ContainsFunc(words, prereleaseChannels.MatchString)
}
