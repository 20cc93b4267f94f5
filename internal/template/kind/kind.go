// Package kind is the contract between the kinds of catalog templates and those who
// use them. A kind is one folder beside this one.
package kind

import (
	"cmp"
	"io/fs"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/yamledit"
)

// Kind is one kind of template.
type Kind interface {
	Traits() Traits
	// Describe says what stands in the template, and all that is wrong with it.
	Describe(s *Source) Description
	// Insert works out the edits that put a bundle into the template. A template
	// in which Describe finds problems is never passed to it, nor a request without channels,
	// unless it asks for a rebuild, a substitution or another bundle's place.
	Insert(s *Source, r Request) (*Outcome, error)
}

// Matcher is a kind that is told by more than the schema of its Traits.
type Matcher interface {
	// Match tells by content whether a source is of this kind.
	Match(s *Source) bool
}

// Creator is a kind of which a new template can be written.
type Creator interface {
	Kind
	Create(r Request) ([]byte, error)
}

// Source is the template to work on. Path is a file or a directory within FS, the
// repository; Name is how its user calls it. File is nil for a directory.
type Source struct {
	FS   fs.FS
	Path string
	Name string
	File *yamledit.File
	// Docs reads it as the documents of a catalog; a file is read once.
	Docs func() ([]fbc.Doc, error)
	// Entries reads the documents under its entries, once; nil for a directory.
	Entries func() ([]fbc.Doc, error)
	// Open opens another template of the repository, for kinds that are made of
	// templates.
	Open func(path string) (Part, error)
	// Depth counts the templates that led here.
	Depth int
	// Catalogs are the catalogs of a composite template that are asked for; empty:
	// all.
	Catalogs    []string
	SemverSkips SemverSkips
	// Strays is what a rendering does with bundles that the template finds in a registry and
	// that no entry names: RefuseStrays, IncludeStrays, else it leaves them out and says so.
	Strays string
}

// What may be done with bundles that no entry names.
const (
	RefuseStrays  = "refuse"
	IncludeStrays = "include" // in the default channel, at their places by version
)

// SemverSkips says what the head of a minor version skips in the channels of a semver
// template. opm has had several answers, and its documentation shows one that it has no more.
type SemverSkips string

// The answers; none is SkipMajor.
const (
	// SkipMajor is all below it in its major version, as opm does since v1.61.
	SkipMajor SemverSkips = "major"
	// SkipMinor is what is below it in its minor version, as the published documentation has it.
	SkipMinor SemverSkips = "minor"
	// SkipChannel is as SkipMinor, and no entry replaces one of another channel, as opm did from
	// v1.37 to v1.60.
	SkipChannel SemverSkips = "channel"
)

// AllSemverSkips are the answers.
var AllSemverSkips = []SemverSkips{SkipMajor, SkipMinor, SkipChannel}

// Root is the top node of a file's first document, nil where there is none.
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

// Schema is the schema of a file's first document, its key in any case.
func (s *Source) Schema() string {
	root := s.Root()
	if root == nil {
		return ""
	}
	_, v := root.Fold("schema")
	return v.Text()
}

// Bundle is the bundle that is to be inserted. Name is its CSV's; Digest may be empty.
type Bundle struct {
	Name    string
	Version semver.Version
	Package string
	Image   string
	Digest  string
	// Document gives the rendered olm.bundle (YAML or JSON) under the name of an image,
	// for templates that hold it; with csvMetadata where they want its CSV's description
	// in place of its manifests. nil where there is none to be had.
	Document func(image string, csvMetadata bool) ([]byte, error)
}

// Request says which bundle goes where.
type Request struct {
	Bundle         Bundle
	Channels       []string
	Replaces       string
	Skips          []string
	SkipRange      string
	DefaultChannel string
	SubstitutesFor string

	// Rebuild has the bundle take the place of an image of the same name with other
	// content; without it such an image is bundle-conflict.
	Rebuild bool
	// LikePrevious has a channel that is begun have the entries of the one that comes before
	// it by the version in its name.
	LikePrevious bool
	// InsteadOf is a bundle that nobody has installed, whose place the bundle takes.
	InsteadOf string

	NoRewire                bool
	AllowMissingPredecessor bool
	Promote                 bool
	// DigestOf tells the digest of an image that stands in a template, as far as
	// known; nil where nothing is.
	DigestOf func(image string) string
	// AsNamed keeps the name of the bundle's image, also where all others are by digest.
	AsNamed bool
	// Tag is the tag of the bundle's image where the digest took its place.
	Tag string
	// Resolve asks for the digest of the bundle's image, "" where nobody tells; nil where
	// nobody can be asked.
	Resolve func(image string) string
	// Names tells which bundle an image is, by the image or its digest, as far as known.
	Names map[string]string
	// NamesOf asks for the names of images that an edit depends on, and tells whom it
	// asked; those that nobody tells are left out. nil where nobody can be asked.
	NamesOf func(images []string) (names map[string]string, asked string)
	// Published is what users can have, nil where nobody told. What is there is neither
	// rebuilt nor replaced.
	Published *Published
}

// Explicit reports whether the request says edges of its own.
func (r Request) Explicit() bool {
	return r.Replaces != "" || len(r.Skips) > 0 || r.SkipRange != ""
}

// FirstChannels are the channels of a template that begins with the bundle, and its
// default channel.
func (r Request) FirstChannels() (channels []string, defaultChannel string, err error) {
	channels = Unique(r.Channels)
	if len(channels) == 0 {
		return nil, "", UnknownChannel(r, nil)
	}
	return channels, cmp.Or(r.DefaultChannel, channels[0]), nil
}

// Channel is a channel or archetype as it stands in a template.
type Channel struct {
	Name    string   `json:"name"`
	Line    int      `json:"line,omitempty"`
	Entries []string `json:"entries"`
}

// BundleRef is a bundle as it stands in a template.
type BundleRef struct {
	Image string `json:"image"`
	Name  string `json:"name,omitempty"`
	File  string `json:"file,omitempty"`
	Line  int    `json:"line,omitempty"`
}

// Description is what stands in a template.
type Description struct {
	Kind           string           `json:"kind"`
	Form           string           `json:"form,omitempty"` // of kinds that have several
	Package        string           `json:"package,omitempty"`
	DefaultChannel string           `json:"defaultChannel,omitempty"`
	Channels       []Channel        `json:"channels"`
	Bundles        []BundleRef      `json:"bundles"`
	Inputs         []string         `json:"inputs,omitempty"` // of a template made of templates
	Problems       []*failure.Error `json:"problems"`
	// Warnings are what is wrong and stands in nobody's way: only an edit of that very
	// bundle is refused.
	Warnings []*failure.Error `json:"warnings,omitempty"`
	// Auxiliary is a file that belongs to templates and is none: no bundle goes into it.
	Auxiliary bool `json:"-"`
}

// Problem records what is wrong.
func (d *Description) Problem(err *failure.Error) { d.Problems = append(d.Problems, err) }

// Change is one thing that an edit does.
type Change struct {
	What    string `json:"what"`
	Channel string `json:"channel,omitempty"`
	Name    string `json:"name,omitempty"`
	From    string `json:"from,omitempty"`
	To      string `json:"to,omitempty"`
}

// What a change can be.
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

// Written is a file before and after.
type Written struct {
	Path   string // within the repository
	Before []byte
	After  []byte
	New    bool
	Gone   bool // there is to be none
}

// Outcome is what an edit comes to. No files: the template has it all already.
type Outcome struct {
	Files   []Written
	Changes []Change
	Notes   []string
}

// Add takes what the edit of another template comes to.
func (o *Outcome) Add(part *Outcome) {
	o.Files = append(o.Files, part.Files...)
	o.Changes = append(o.Changes, part.Changes...)
	o.Notes = append(o.Notes, part.Notes...)
}

// Edited applies edits to one file of the repository and adds it to the outcome.
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
