package plan

import (
	"path"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/reference"
	"github.com/olmgraft/graft/internal/template/kind"
)

// Setup is a repository's configuration of its templates and catalogs, from graft.yaml or the layout of the
// community catalogs. The zero Setup configures nothing.
type Setup struct {
	File       string // the configuring file
	Package    string // package of the targets; empty: any
	Targets    []TargetSetup
	Edges      EdgeRule
	Rebuild    string // of a bundle in the template with another image: replace; otherwise refuse
	Published  []PublishedSetup
	InsteadOf  string            // HeadUnpublished; otherwise only a requested bundle
	Registries map[string]string // staging repository to production repository
	Sum        string            // path of catalog.sum; empty: no such file
	Community  *Community        // nil: not the community's repository
	// VersionsLabel is IgnoreLabel if com.redhat.openshift.versions does not exclude bundles from catalogs.
	VersionsLabel string
	// SemverSkips is the setting for catalogs of semver templates; empty: not set.
	SemverSkips kind.SemverSkips
	After       AfterSetup
}

// Community names the files of an operator in the community catalogs, whose pipelines have their own rules.
type Community struct {
	CI      string
	Release string // empty: none for the version
	// Name and Version are the folder names that the pipelines use.
	Name, Version string
	// ByHand is the file that contains merge: false; empty: none.
	ByHand string
}

// AfterSetup are commands to run on a change, and patterns of the files that they may change. File, Line and Col
// are the place of the setting.
type AfterSetup struct {
	File         string
	Line, Col    int
	Run, Changes []string
}

// IgnoreLabel is the setting that ignores the label com.redhat.openshift.versions.
const IgnoreLabel = "ignore"

// TargetSetup is a template with the catalogs rendered from it. Template and the catalogs' paths may be patterns.
// Line and Col are the place in File.
type TargetSetup struct {
	Line, Col int

	Package  string // like Package of Setup, for this target
	Template Pattern
	Create   string // kind of a template to create if there is none; empty: none
	// Rules choose the channels by version; the first matching rule counts. Without rules, the inputs or the
	// template decide, and with FromBundle first the bundle's annotations.
	Rules          []ChannelRule
	FromBundle     bool
	DefaultChannel Pattern // for rules without one; empty: unchanged
	// OnlyAsked leaves the target out unless the inputs name channels; Unless is the reason.
	OnlyAsked bool
	Unless    string
	// Said are explicit edges.
	Said    Edges
	Edges   *EdgeRule // nil: as in Setup
	Rebuild string    // empty: as in Setup
	// VersionsLabel overrides that of Setup unless empty.
	VersionsLabel string
	// NewChannel decides how a new channel begins: LikePrevious, or otherwise with only the bundle.
	NewChannel string
	// SemverSkips overrides that of Setup unless empty.
	SemverSkips kind.SemverSkips
	// Published overrides that of Setup unless nil; empty means none.
	Published []PublishedSetup
	InsteadOf string // empty: as in Setup
	Catalogs  []CatalogSetup

	// Rewrite renames images in the catalogs. Files are values in other files.
	Rewrite reference.Rewrites
	Files   []FileSetup
}

// Names reports whether the path is that of a template of the target, for any bundle.
func (t TargetSetup) Names(template string) bool {
	ok, err := path.Match(path.Clean(string(t.Template.ofAny())), template)
	return ok && err == nil
}

// OperandSetup is an image that is not a bundle. When a version of it is published, an entry for that version is
// added to files.
type OperandSetup struct {
	Image    string // its repository
	Schema   string // of the entry
	Name     string // of the operand, or of the set of related images
	As       string // name of the image in the entry
	Package  string // package whose bundles it is for; empty: any
	Files    []string
	Catalogs []string // catalogs with bundles that use it; empty: Files
}

// CatalogSourceSetup is the manifest of a CatalogSource and the catalog image in it.
type CatalogSourceSetup struct {
	Path            string
	Repository, Tag string // of the image
	Template        string // with which the cluster chooses the image; empty: a digest names it
	Kind            string // CatalogSource or ClusterCatalog; empty: CatalogSource
	Form            string // of the spec: new or legacy; empty: unchanged
	Poll            *int   // minutes between polls of the tag, which then names the image; for a ClusterCatalog
	Priority        *int
	Labels          [][2]string // in order
	Name            string      // empty: the only one of the file
	Namespace       string      // for a new object
	Catalogs        []string    // that the image contains; empty: all
}

// CatalogSetup is a catalog that is rendered from a template.
type CatalogSetup struct {
	Path     Pattern
	Name     string // in a composite template; empty: the template renders only this one
	Platform string // such as 4.20; empty: taken from a folder in Path
	Metadata MetadataRule
	// Create allows creating the catalog. Otherwise a missing catalog counts as misspelt, unless its template is
	// created as well.
	Create  bool
	Rewrite reference.Rewrites // empty: as in the target
	// Include, Exclude and Heads select the template's bundles for the catalog. DanglingReplaces decides about
	// edges to other bundles: RemoveDangling, or otherwise they stay.
	Include, Exclude []BundleRule
	Heads            map[string]string // bundle at which a channel ends, by channel
	DanglingReplaces string
}

// RemoveDangling removes the edges to bundles that a catalog leaves out.
const RemoveDangling = "remove"

// ChannelRule assigns matching versions to channels.
type ChannelRule struct {
	Versions       VersionRule
	Channels       []Pattern
	DefaultChannel Pattern
}

// Edges are a bundle's edges in its channels.
type Edges struct {
	Replaces  string
	Skips     []string
	SkipRange string
}

// Said reports whether there are any edges.
func (e Edges) Said() bool { return e.Replaces != "" || len(e.Skips) > 0 || e.SkipRange != "" }

func (e Edges) inWords() string {
	return fbc.Entry{Replaces: e.Replaces, Skips: e.Skips, SkipRange: e.SkipRange}.InWords()
}

// Sources of edges.
const (
	FromCSV      = "from-csv"      // from the bundle's ClusterServiceVersion
	LikeSiblings = "like-siblings" // like the newest entries of the channel
)

// EdgeRule decides the edges of bundles without explicit ones. The zero rule uses the natural place by version.
type EdgeRule struct {
	From                    string  // FromCSV or LikeSiblings; empty: the patterns
	Explicit                bool    // refuse a bundle without explicit edges
	Replaces                Pattern // empty: the natural place
	SkipRange               Pattern // empty: none
	NoRewire                bool
	AllowMissingPredecessor bool
}

// MetadataRule decides the form of a catalog's metadata.
type MetadataRule string

// The rules. Auto uses the platform's version, or else the form in the existing catalog.
const (
	Auto         MetadataRule = "auto"
	BundleObject MetadataRule = "bundle-object"
	CSVMetadata  MetadataRule = "csv-metadata"
)

// VersionRule selects versions: prerelease, release, or a range as in skipRange. The empty rule selects all.
type VersionRule string

// The rules other than ranges.
const (
	Prerelease VersionRule = "prerelease"
	Release    VersionRule = "release"
)

// Check reports what is wrong with the rule.
func (r VersionRule) Check() error {
	_, err := r.fits()
	return err
}

// Fits reports whether the rule selects the version. A malformed rule selects none.
func (r VersionRule) Fits(v semver.Version) bool {
	fits, err := r.fits()
	return err == nil && fits(v)
}

func (r VersionRule) fits() (semver.Range, error) {
	switch r {
	case "":
		return func(semver.Version) bool { return true }, nil
	case Prerelease:
		return func(v semver.Version) bool { return len(v.Pre) > 0 }, nil
	case Release:
		return func(v semver.Version) bool { return len(v.Pre) == 0 }, nil
	}
	return semver.ParseRange(strings.TrimSpace(string(r)))
}
