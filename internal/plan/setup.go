package plan

import (
	"path"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/reference"
	"github.com/olmgraft/graft/internal/template/kind"
)

// Setup is what a repository says of its templates and catalogs, in graft.yaml or by the
// layout of the community catalogs. The zero Setup says nothing.
type Setup struct {
	File       string // that says it
	Package    string // that the targets are for; empty: any
	Targets    []TargetSetup
	Edges      EdgeRule
	Rebuild    string // of a bundle that stands there with another image: replace; else refuse
	Published  []PublishedSetup
	InsteadOf  string            // HeadUnpublished; else none but the one that is asked for
	Registries map[string]string // repository of a stage to that of production
	Sum        string            // path of catalog.sum; empty: none is kept
	Community  *Community        // nil: the repository is another one
	// VersionsLabel is IgnoreLabel where com.redhat.openshift.versions keeps no bundle out of a
	// catalog.
	VersionsLabel string
	// SemverSkips are those of the catalogs of semver templates; empty: nobody says.
	SemverSkips kind.SemverSkips
	After       AfterSetup
}

// Community are the files of an operator in the community catalogs, whose pipelines have rules of
// their own.
type Community struct {
	CI      string
	Release string // empty: there is none for the version
	// Name and Version are the folders, as the pipelines speak of them.
	Name, Version string
	// ByHand names the file that says merge: false; empty: none does.
	ByHand string
}

// AfterSetup are commands that run upon a change, and patterns of the files that they may change.
// File, Line and Col are where that is said.
type AfterSetup struct {
	File         string
	Line, Col    int
	Run, Changes []string
}

// IgnoreLabel passes over the label com.redhat.openshift.versions, by which bundles go otherwise.
const IgnoreLabel = "ignore"

// TargetSetup is a template with the catalogs that are made of it. Patterns may stand in
// Template and in the catalogs' paths. Line and Col are where File says it.
type TargetSetup struct {
	Line, Col int

	Package  string // as of Setup, for this target
	Template Pattern
	Create   string // kind of template to begin where none stands; empty: none
	// Rules tell the channels by version, the first that fits. Without rules, the inputs or
	// the template tell them; where FromBundle is set, the bundle's own annotations first.
	Rules          []ChannelRule
	FromBundle     bool
	DefaultChannel Pattern // where the rule has none; empty: stays as it is
	// OnlyAsked leaves the target out unless the inputs name channels; Unless says why.
	OnlyAsked bool
	Unless    string
	// Said are edges that are taken as they are.
	Said    Edges
	Edges   *EdgeRule // nil: as of Setup
	Rebuild string    // empty: as of Setup
	// VersionsLabel is empty for that of Setup.
	VersionsLabel string
	// NewChannel says how a channel begins that the template does not have: LikePrevious, else
	// with the bundle alone.
	NewChannel string
	// SemverSkips are as of Setup where empty.
	SemverSkips kind.SemverSkips
	// Published are as of Setup where nil, none where empty.
	Published []PublishedSetup
	InsteadOf string // empty: as of Setup
	Catalogs  []CatalogSetup

	// Rewrite names images otherwise in the catalogs, and Files are values elsewhere.
	Rewrite reference.Rewrites
	Files   []FileSetup
}

// Names reports whether a template of that path is one of the target's, for whatever bundle.
func (t TargetSetup) Names(template string) bool {
	pattern := strings.ReplaceAll(string(t.Template.ofAll()), "{package}", "*")
	ok, err := path.Match(path.Clean(pattern), template)
	return ok && err == nil
}

// OperandSetup is an image that is no bundle: when a version of it is published, an entry
// for that is added to files.
type OperandSetup struct {
	Image    string // its repository
	Schema   string // of the entry
	Name     string // of the operand, or of the set of related images
	As       string // name of the image in the entry
	Package  string // whose bundles alone it serves; empty: any
	Files    []string
	Catalogs []string // whose bundles may take it; empty: Files
}

// CatalogSourceSetup is the manifest of a CatalogSource, and the catalog image that it names.
type CatalogSourceSetup struct {
	Path            string
	Repository, Tag string // of the image
	Template        string // by which the cluster decides the image; empty: it is named by digest
	Kind            string // CatalogSource or ClusterCatalog; empty: CatalogSource
	Form            string // of the spec: new or legacy; empty: as it stands
	Poll            *int   // minutes between looks at the tag, which is named then, of a ClusterCatalog
	Priority        *int
	Labels          [][2]string // in their order
	Name            string      // empty: the only one of the file
	Namespace       string      // of one that does not stand yet
	Catalogs        []string    // that the image holds; empty: all
}

// CatalogSetup is a catalog that is rendered from a template.
type CatalogSetup struct {
	Path     Pattern
	Name     string // in a composite template; empty: the template makes this one only
	Platform string // such as 4.20; empty: a folder of Path tells
	Metadata MetadataRule
	// Create begins the catalog where it does not stand; one that nobody meant to begin is
	// misspelt. With a template that is begun its catalogs are.
	Create  bool
	Rewrite reference.Rewrites // empty: as of the target
	// Include, Exclude and Heads say which bundles of the template it holds, and
	// DanglingReplaces what becomes of edges to the others: RemoveDangling, else they stay.
	Include, Exclude []BundleRule
	Heads            map[string]string // bundle at which a channel ends, by channel
	DanglingReplaces string
}

// RemoveDangling takes the edges away that lead to bundles which a catalog does not hold.
const RemoveDangling = "remove"

// ChannelRule puts the versions that it fits into channels.
type ChannelRule struct {
	Versions       VersionRule
	Channels       []Pattern
	DefaultChannel Pattern
}

// Edges of a bundle in its channels.
type Edges struct {
	Replaces  string
	Skips     []string
	SkipRange string
}

// Said reports whether there are any.
func (e Edges) Said() bool { return e.Replaces != "" || len(e.Skips) > 0 || e.SkipRange != "" }

func (e Edges) inWords() string {
	return fbc.Entry{Replaces: e.Replaces, Skips: e.Skips, SkipRange: e.SkipRange}.InWords()
}

// Where edges can come from.
const (
	FromCSV      = "from-csv"      // as the bundle's ClusterServiceVersion says
	LikeSiblings = "like-siblings" // as the newest entries of the channel have them
)

// EdgeRule tells the edges of bundles for which none are said. The zero rule puts them
// into their natural place by version.
type EdgeRule struct {
	From                    string  // FromCSV or LikeSiblings; empty: the patterns
	Explicit                bool    // refuse a bundle for which none are said
	Replaces                Pattern // empty: the natural place
	SkipRange               Pattern // empty: none
	NoRewire                bool
	AllowMissingPredecessor bool
}

// MetadataRule says how a catalog holds its bundles' metadata.
type MetadataRule string

// The rules. Auto goes by the platform version, else by what stands in the catalog.
const (
	Auto         MetadataRule = "auto"
	BundleObject MetadataRule = "bundle-object"
	CSVMetadata  MetadataRule = "csv-metadata"
)

// VersionRule picks versions: prerelease, release, or a range as skipRange has it. The
// empty rule picks all.
type VersionRule string

// The rules that are no ranges.
const (
	Prerelease VersionRule = "prerelease"
	Release    VersionRule = "release"
)

// Check reports what is wrong with the rule.
func (r VersionRule) Check() error {
	_, err := r.fits()
	return err
}

// Fits reports whether the rule picks the version; one that is malformed picks none.
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
