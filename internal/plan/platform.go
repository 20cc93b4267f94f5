package plan

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/olmgraft/graft/internal/bundle"
)

// Platform is the version of the platform that a catalog is for.
type Platform struct{ Major, Minor int }

var (
	platformGrammar = regexp.MustCompile(`^v?([0-9]{1,4})\.([0-9]{1,4})$`)
	// labelGrammar also allows a patch, which labels may have but catalogs do not.
	labelGrammar = regexp.MustCompile(`^v?([0-9]{1,4})\.([0-9]{1,4})(?:\.[0-9]+)?$`)
)

// ParsePlatform reads a version such as v4.20 or 4.20.
func ParsePlatform(s string) (Platform, bool) { return parsePlatform(platformGrammar, s) }

func parsePlatform(grammar *regexp.Regexp, s string) (Platform, bool) {
	m := grammar.FindStringSubmatch(s)
	if m == nil {
		return Platform{}, false
	}
	major, _ := strconv.Atoi(m[1]) // a few digits
	minor, _ := strconv.Atoi(m[2])
	return Platform{major, minor}, true
}

// PlatformOf returns the platform in a path: that of its file or innermost folder named by a version, as in
// catalogs/v4.20/op/catalog.yaml. Otherwise it looks for a version inside a name, as in op-product-v4.17 and
// catalog-4-14.
func PlatformOf(p string) (Platform, bool) {
	names := strings.Split(path.Join(path.Dir(p), stem(p)), "/")
	slices.Reverse(names)
	for _, name := range names {
		if found, ok := ParsePlatform(name); ok {
			return found, true
		}
	}
	for _, name := range names {
		if found, ok := platformWithin(name); ok {
			return found, true
		}
	}
	return Platform{}, false
}

var (
	withinGrammar = regexp.MustCompile(`[0-9]+(?:[.-][0-9]+)*`)
	dashedGrammar = regexp.MustCompile(`^([0-9]{1,4})-([0-9]{1,4})$`)
	// beforeGrammar matches the text that may precede a platform in a name.
	beforeGrammar = regexp.MustCompile(`(?i)(?:^|[-_.])(?:v|ocp-?v?|openshift-?v?)?$`)
)

// firstWithin is the first OpenShift with file-based catalogs. Lower versions in a name belong to the operator,
// and so do majors that OpenShift does not have.
var firstWithin, lastWithin = Platform{4, 9}, Platform{5, 99}

// platformWithin returns the last version of OpenShift in a longer name. It ignores longer versions such as
// 4.17.1.
func platformWithin(name string) (found Platform, ok bool) {
	for _, at := range withinGrammar.FindAllStringIndex(name, -1) {
		one, fits := ParsePlatform(name[at[0]:at[1]])
		if !fits {
			one, fits = parsePlatform(dashedGrammar, name[at[0]:at[1]])
		}
		if fits && beforeGrammar.MatchString(name[:at[0]]) && (at[1] == len(name) || strings.ContainsRune("-_.", rune(name[at[1]]))) &&
			one.Compare(firstWithin) >= 0 && one.Compare(lastWithin) <= 0 {
			found, ok = one, true
		}
	}
	return found, ok
}

// String returns the version in the form 4.20.
func (p Platform) String() string { return fmt.Sprintf("%d.%d", p.Major, p.Minor) }

// Compare orders platforms by version.
func (p Platform) Compare(o Platform) int {
	if p.Major != o.Major {
		return p.Major - o.Major
	}
	return p.Minor - o.Minor
}

// OpenShift reports whether it is a version of OpenShift. Lower versions are those of Kubernetes, higher ones an
// operator's. Neither OpenShift's label nor its rule for metadata applies to them.
func (p Platform) OpenShift() bool {
	return p.Major >= firstWithin.Major && p.Major <= lastWithin.Major
}

// wantsObjects reports whether the platform requires olm.bundle.object in its catalogs. All current platforms
// require olm.csv.metadata.
func (p Platform) wantsObjects() bool { return p.Major == 4 && p.Minor <= 16 }

// Metadata returns the form of metadata that the platform requires.
func (p Platform) Metadata() bundle.MetadataFormat {
	if p.wantsObjects() {
		return bundle.BundleObjects
	}
	return bundle.CSVMetadata
}

// Support is the set of OpenShift versions in a bundle's label com.redhat.openshift.versions.
//
//  1. v4.12 means this version and all later ones, whatever their major number.
//  2. =v4.12 means only this version.
//  3. v4.12-v4.15 means both and all versions between them.
//  4. v4.5,v4.6 and v4.6,v4.5 mean v4.5 and all later versions. The certified catalogs refuse a
//     bundle with any other list; the checks of the community catalogs read it as its lowest
//     version and all later ones. Support does the latter, with a Warning.
//  5. No label means every version.
//
// The letter v is optional, because published bundles omit it.
type Support struct {
	Label    string
	Warning  string
	from, to *Platform
}

// ParseSupport reads the label.
func ParseSupport(label string) (Support, error) {
	s := Support{Label: strings.TrimSpace(label)}
	if s.Label == "" {
		return s, nil
	}
	var ok bool
	switch from, to, isRange := strings.Cut(s.Label, "-"); {
	case strings.HasPrefix(s.Label, "="):
		s.from, ok = labelled(s.Label[1:])
		s.to = s.from
	case isRange:
		var upper bool
		s.from, ok = labelled(from)
		s.to, upper = labelled(to)
		ok = ok && upper && s.from.Compare(*s.to) <= 0
	default:
		ok = s.list(strings.Split(s.Label, ","))
	}
	if !ok {
		return Support{}, fmt.Errorf("invalid value %q, want such as v4.12, =v4.12 or v4.12-v4.15", s.Label)
	}
	return s, nil
}

// allowedLists are the lists that the label's rules allow.
var allowedLists = []string{"v4.5,v4.6", "v4.6,v4.5"}

func (s *Support) list(versions []string) bool {
	for _, v := range versions {
		one, ok := labelled(v)
		if !ok {
			return false
		}
		if s.from == nil || one.Compare(*s.from) < 0 {
			s.from = one
		}
	}
	if len(versions) > 1 && !slices.Contains(allowedLists, s.Label) {
		s.Warning = fmt.Sprintf("the label %s is a list, which OpenShift's certified catalogs refuse; it is taken as v%s and later", s.Label, s.from)
	}
	return true
}

func labelled(s string) (*Platform, bool) {
	p, ok := parsePlatform(labelGrammar, strings.TrimSpace(s))
	return &p, ok
}

// Holds reports whether the set contains the platform.
func (s Support) Holds(p Platform) bool {
	return (s.from == nil || p.Compare(*s.from) >= 0) && (s.to == nil || p.Compare(*s.to) <= 0)
}
