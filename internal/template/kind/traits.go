package kind

import (
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/operand"
	"github.com/olmgraft/graft/internal/yamledit"
)

// Traits are what the rest of Graft asks of a kind. Those of which nothing is said are right
// for one that makes edges of its own for channels that anybody may name.
type Traits struct {
	// Name is the noun that users see: semver, basic, ...
	Name string
	// Schema is that of the first document of such a template, where that has one of its
	// own: by it a file is told from a catalog before it is read.
	Schema string
	// IsCatalog: it is a catalog itself, of which nothing is rendered.
	IsCatalog bool
	// Substitutes: a bundle may substitute another one.
	Substitutes bool
	// Tombstones: an entry may stand there whose bundle is gone, so that who has it is upgraded.
	Tombstones bool
	// OfTemplates: it is made of other templates. What it describes as channels are
	// catalogs; channels, default channel and substitutions are those of its parts.
	OfTemplates bool
	// Archetypes, the least stable first, are lists of images that such a template has in
	// place of channels; it makes the channels and the default one itself.
	Archetypes []string
}

// ChannelNoun is what users know the channels of a Description as.
func (t Traits) ChannelNoun() string {
	switch {
	case len(t.Archetypes) > 0:
		return "archetype"
	case t.OfTemplates:
		return "catalog"
	}
	return "channel"
}

// HasEdges is a kind in whose templates entries stand with the edges that they have.
type HasEdges interface {
	// Documents are those of the catalog, as they stand.
	Documents(s *Source) ([]fbc.Doc, error)
}

// HasUnlisted is a kind whose templates name bundles of which they list no image.
type HasUnlisted interface {
	// Unlisted are their names: the image is found in a registry, or the bundle is withdrawn and
	// named for those who have it.
	Unlisted(s *Source) []string
}

// HasLists is a kind whose images can be pinned. Without it they cannot.
type HasLists interface {
	// Lists are those in the document at a node.
	Lists(root *yamledit.Node) operand.Lists
}
