// Package kind is the contract between the kinds of catalog templates and their users. Each kind is a folder
// beside this one.
package kind

import (
	"cmp"
	"fmt"
	"io/fs"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/yamledit"
)

// A Kind is one kind of template.
type Kind interface {
	Traits() Traits
	// Describe returns the contents of the template, and all problems in it.
	Describe(s *Source) Description
	// Insert works out the edits that insert a bundle into the template. It never gets a template in which
	// Describe finds problems. It gets a request without channels only for a rebuild, a substitution, or taking
	// the place of another bundle.
	Insert(s *Source, r Request) (*Outcome, error)
}

// A Matcher is a kind that is recognized by more than the schema of its Traits.
type Matcher interface {
	// Match reports whether the content of a source is of this kind.
	Match(s *Source) bool
}

// A Creator is a kind that can write a new template.
type Creator interface {
	Kind
	Create(r Request) ([]byte, error)
}

// A Source is the template to work on. Path is a file or directory within FS, the repository; Name is the user's
// name for it. File is nil for a directory.
type Source struct {
	FS   fs.FS
	Path string
	Name string
	File *yamledit.File
	// Docs reads the source as documents of a catalog; a file is read once.
	Docs func() ([]fbc.Doc, error)
	// Entries reads the documents under its entries once; nil for a directory.
	Entries func() ([]fbc.Doc, error)
	// Open opens another template of the repository, for kinds that are made of templates.
	Open func(path string) (Part, error)
	// Depth counts the templates above this one.
	Depth int
	// Catalogs names the requested catalogs of a composite template; empty means all.
	Catalogs    []string
	SemverSkips SemverSkips
	// Strays says what rendering does with bundles that the template finds in a registry and that no entry names:
	// RefuseStrays or IncludeStrays. Otherwise rendering omits them and adds a note.
	Strays string
}

// The values of Source.Strays.
const (
	RefuseStrays  = "refuse"
	IncludeStrays = "include" // into the default channel, at their places by version
)

// SemverSkips says what the head of a minor version skips in the channels of a semver template. The answer has
// changed between versions of opm, and the documentation of opm shows an outdated one.
type SemverSkips string

// The values of SemverSkips; empty means SkipMajor.
const (
	// SkipMajor skips everything below the head in its major version, as opm does since v1.61.
	SkipMajor SemverSkips = "major"
	// SkipMinor skips everything below the head in its minor version, as in the published documentation.
	SkipMinor SemverSkips = "minor"
	// SkipChannel skips as SkipMinor does, and no entry replaces one of another channel, as opm did from v1.37 to
	// v1.60.
	SkipChannel SemverSkips = "channel"
)

// AllSemverSkips holds all values of SemverSkips.
var AllSemverSkips = []SemverSkips{SkipMajor, SkipMinor, SkipChannel}

// Root returns the top node of a file's first document, nil if it has none.
func (s *Source) Root() *yamledit.Node {
	if s.File == nil || len(s.File.Docs) == 0 {
		return nil
	}
	root, err := s.File.Docs[0].Root()
	if err != nil {
		return nil
	}
	return root
}

// Schema returns the schema of a file's first document; the key matches in any case.
func (s *Source) Schema() string {
	root := s.Root()
	if root == nil {
		return ""
	}
	_, v := root.Fold("schema")
	return v.Text()
}

// A Bundle is the bundle to insert. Name is its CSV's name; Digest may be empty.
type Bundle struct {
	Name    string
	Version semver.Version
	Package string
	Image   string
	Digest  string
	// Document returns the rendered olm.bundle (YAML or JSON) under the name of an image, for templates that hold
	// it. With csvMetadata it holds the description of the CSV in place of the manifests. Document is nil if no
	// rendered bundle is available.
	Document func(image string, csvMetadata bool) ([]byte, error)
}

// A Request says which bundle to insert where.
type Request struct {
	Bundle         Bundle
	Channels       []string
	Replaces       string
	Skips          []string
	SkipRange      string
	DefaultChannel string
	SubstitutesFor string

	// Rebuild makes the bundle take the place of an image with the same name and other content; without it such
	// an image is bundle-conflict.
	Rebuild bool
	// LikePrevious gives a new channel the entries of the channel before it, by the version in their names.
	LikePrevious bool
	// InsteadOf is a bundle that is not installed anywhere; the requested bundle takes its place.
	InsteadOf string

	NoRewire                bool
	AllowMissingPredecessor bool
	Promote                 bool
	// DigestOf returns the digest of an image in the template, "" if it is unknown; nil if no digests are known.
	DigestOf func(image string) string
	// AsNamed keeps the name of the bundle's image, even if all others are named by digest.
	AsNamed bool
	// Beside holds the bundles of the package's other templates. Their images show the form in which a
	// template without bundles names its first one.
	Beside []BundleRef
	// Tag is the tag of the bundle's image before the digest replaced it.
	Tag string
	// Resolve asks for the digest of the bundle's image, "" if it is unknown; nil if it cannot be asked for.
	Resolve func(image string) string
	// Names holds the known names of bundles, by the image or its digest.
	Names map[string]string
	// NamesOf asks for the names of images that an edit depends on, and returns the sources that it asked;
	// unknown names are omitted. nil if names cannot be asked for.
	NamesOf func(images []string) (names map[string]string, asked string)
	// Published holds the bundles that users may have, nil if unknown. A published bundle is neither rebuilt nor
	// replaced.
	Published *Published
}

// Explicit reports whether the request sets edges of its own.
func (r Request) Explicit() bool {
	return r.Replaces != "" || len(r.Skips) > 0 || r.SkipRange != ""
}

// FirstChannels returns the channels and the default channel of a new template that starts with the bundle.
func (r Request) FirstChannels() (channels []string, defaultChannel string, err error) {
	channels = Unique(r.Channels)
	if len(channels) == 0 {
		return nil, "", UnknownChannel(r, nil)
	}
	return channels, cmp.Or(r.DefaultChannel, channels[0]), nil
}

// A Channel is a channel or archetype of a template.
type Channel struct {
	Name    string   `json:"name"`
	Line    int      `json:"line,omitempty"`
	Entries []string `json:"entries"`
}

// A BundleRef is a bundle that a template lists.
type BundleRef struct {
	Image string `json:"image"`
	Name  string `json:"name,omitempty"`
	File  string `json:"file,omitempty"`
	Line  int    `json:"line,omitempty"`
}

// A Description holds the contents of a template.
type Description struct {
	Kind           string           `json:"kind"`
	Form           string           `json:"form,omitempty"` // for kinds that have several
	Package        string           `json:"package,omitempty"`
	DefaultChannel string           `json:"defaultChannel,omitempty"`
	Channels       []Channel        `json:"channels"`
	Bundles        []BundleRef      `json:"bundles"`
	Inputs         []string         `json:"inputs,omitempty"` // of a template that is made of templates
	Problems       []*failure.Error `json:"problems"`
	// Warnings holds problems that do not block other edits: only an edit of the bundle itself is refused.
	Warnings []*failure.Error `json:"warnings,omitempty"`
	// Auxiliary marks a file that belongs to templates but is not a template: bundles cannot be inserted into it.
	Auxiliary bool `json:"-"`
}

// Problem records a problem.
func (d *Description) Problem(err *failure.Error) { d.Problems = append(d.Problems, err) }

// mostWarnings bounds the warnings about a hostile template.
const mostWarnings = 200

// Warn records a warning.
func (d *Description) Warn(err *failure.Error) {
	if len(d.Warnings) < mostWarnings {
		d.Warnings = append(d.Warnings, err)
	}
}

// Notes returns the warnings for a person: the first few, and the number of the others.
func (d *Description) Notes() (notes []string) {
	const few = 5
	for i, w := range d.Warnings {
		if i == few {
			return append(notes, fmt.Sprintf("more faults like these (%d): graft detect lists them", len(d.Warnings)-few))
		}
		notes = append(notes, w.Error())
	}
	return notes
}

// A Change is one change that an edit makes.
type Change struct {
	What    string `json:"what"`
	Channel string `json:"channel,omitempty"`
	Name    string `json:"name,omitempty"`
	From    string `json:"from,omitempty"`
	To      string `json:"to,omitempty"`
}

// The values of Change.What.
const (
	BundleAdded       = "bundle-added"
	BundlePromoted    = "bundle-promoted"
	BundleRebuilt     = "bundle-rebuilt"
	BundleReplaced    = "bundle-replaced"
	EntryAdded        = "entry-added"
	EntryRewired      = "entry-rewired"
	EntryReplaced     = "entry-replaced"
	ChannelCreated    = "channel-created"
	DefaultChannelSet = "default-channel-set"
	EdgesSet          = "edges-set"
	SubstitutionAdded = "substitution-added"
	TemplateCreated   = "template-created"
	BundleRemoved     = "bundle-removed"
	EntryRemoved      = "entry-removed"
	TombstoneAdded    = "tombstone-added"
	ChannelRemoved    = "channel-removed"
	DeprecationAdded  = "deprecated"
	DeprecationGone   = "deprecation-removed"
	OperandAdded      = "operand-added"
	CatalogSourceSet  = "catalogsource-set"
	ClusterCatalogSet = "clustercatalog-set"
	FieldSet          = "field-set"
)

// Written holds the contents of a file before and after an edit.
type Written struct {
	Path   string // within the repository
	Before []byte
	After  []byte
	New    bool
	Gone   bool // the file is deleted
}

// An Outcome is the result of an edit. It holds no files if the template already has everything.
type Outcome struct {
	Files   []Written
	Changes []Change
	Notes   []string
}

// Add adds the outcome of the edit of another template.
func (o *Outcome) Add(part *Outcome) {
	o.Files = append(o.Files, part.Files...)
	o.Changes = append(o.Changes, part.Changes...)
	o.Notes = append(o.Notes, part.Notes...)
}

// Edited applies edits to one file of the repository and adds the file to the outcome.
func (o *Outcome) Edited(path string, file *yamledit.File, e *yamledit.Edits) error {
	if e.Empty() {
		return nil
	}
	after, err := e.Apply()
	if err != nil {
		return err
	}
	o.Files = append(o.Files, Written{Path: path, Before: file.Src, After: after})
	return nil
}
