package kind

import (
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/operand"
	"github.com/olmgraft/graft/internal/yamledit"
)

// Traits describe a kind to the rest of Graft. The zero values fit a kind with edges of its own and freely named
// channels.
type Traits struct {
	// Name is the noun that users see: semver, basic, ...
	Name string
	// Schema is the schema of the first document of such a template, if it has a schema of its own. It
	// distinguishes a file from a catalog before it is read.
	Schema string
	// IsCatalog marks a kind that is itself a catalog and is not rendered.
	IsCatalog bool
	// Substitutes marks a kind in which a bundle may substitute for another one.
	Substitutes bool
	// Tombstones marks a kind that can keep the entry of a removed bundle, so that clusters with that bundle can
	// upgrade.
	Tombstones bool
	// OfTemplates marks a kind that is made of other templates. The channels in its Description are catalogs; its
	// channels, default channel and substitutions are those of its parts.
	OfTemplates bool
	// Archetypes, the least stable first, are the lists of images that such a template has in place of channels.
	// The kind generates the channels and the default channel itself.
	Archetypes []string
}

// ChannelNoun returns the noun that users know for the channels of a Description.
func (t Traits) ChannelNoun() string {
	switch {
	case len(t.Archetypes) > 0:
		return "archetype"
	case t.OfTemplates:
		return "catalog"
	}
	return "channel"
}

// HasEdges is implemented by kinds whose templates hold entries with their edges.
type HasEdges interface {
	// Documents returns the documents of the catalog, unchanged.
	Documents(s *Source) ([]fbc.Doc, error)
}

// HasUnlisted is implemented by kinds whose templates name bundles without listing their images.
type HasUnlisted interface {
	// Unlisted returns the names of such bundles: the image is found in a registry, or the bundle is withdrawn
	// and named only so that clusters with it can upgrade.
	Unlisted(s *Source) []string
}

// HasLists is implemented by kinds whose images can be pinned.
type HasLists interface {
	// Lists returns the lists of images in the document at a node.
	Lists(root *yamledit.Node) operand.Lists
}
