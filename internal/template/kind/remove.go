package kind

import (
	"maps"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
)

// A Remover is a kind from whose templates bundles and channels can be removed.
type Remover interface {
	// Remove works out the edits. It never gets a template in which Describe finds problems.
	Remove(s *Source, r Removal) (*Outcome, error)
}

// A Removal says what to remove: bundles, from all channels or the named ones, or whole channels.
type Removal struct {
	Package  string
	Bundles  []string
	Channels []string
	// DefaultChannel is the package's new default channel, "" to leave it as it is.
	DefaultChannel string
	// Tombstone leaves the entries of the bundles in place as tombstones. It is passed only to a kind whose
	// Traits have Tombstones.
	Tombstone bool
	// AllowStranded allows installed versions to lose their way to the head.
	AllowStranded bool
	// Names and NamesOf are as in Request.
	Names   map[string]string
	NamesOf func(images []string) (names map[string]string, asked string)
	// SemverSkips applies to the catalogs of a semver template.
	SemverSkips SemverSkips
}

// Doing returns the words for the operation in a failure.
func (r Removal) Doing() string {
	channels := strings.Join(r.Channels, ", ")
	switch {
	case r.Tombstone:
		return "making tombstones of " + strings.Join(r.Bundles, ", ")
	case len(r.Bundles) == 0:
		return "removing channel " + channels
	case channels != "":
		return "removing " + strings.Join(r.Bundles, ", ") + " from " + channels
	}
	return "removing " + strings.Join(r.Bundles, ", ")
}

// From reports whether the bundles are removed from a channel.
func (r Removal) From(channel string) bool {
	return len(r.Bundles) > 0 && (len(r.Channels) == 0 || slices.Contains(r.Channels, channel))
}

// Whole reports whether a channel is removed.
func (r Removal) Whole(channel string) bool {
	return len(r.Bundles) == 0 && slices.Contains(r.Channels, channel)
}

// Rest returns the entries that a channel has after the removal. An entry that replaced a removed one replaces
// that one's predecessor, or nothing if that is not an entry. What it skips stays, so that clusters with the
// removed version can upgrade.
func (r Removal) Rest(channel string, entries []fbc.Entry) []fbc.Entry {
	if r.Whole(channel) {
		return nil
	}
	if !r.From(channel) {
		return entries
	}
	replaces := make(map[string]string, len(entries))
	for _, e := range entries {
		replaces[e.Name] = e.Replaces
	}
	var rest []fbc.Entry
	for _, e := range entries {
		if slices.Contains(r.Bundles, e.Name) {
			continue
		}
		to := e.Replaces
		for range entries {
			if _, stands := replaces[to]; !stands || !slices.Contains(r.Bundles, to) {
				break
			}
			to = replaces[to]
		}
		if _, stands := replaces[to]; to != e.Replaces && (!stands || slices.Contains(r.Bundles, to) || to == e.Name) {
			to = ""
		}
		e.Replaces = to
		rest = append(rest, e)
	}
	return rest
}

// Strands refuses to remove the way to the head from versions that may be installed. The failure has no place
// yet.
func (r Removal) Strands(channel string, before, after []fbc.Entry, versions graph.Versions) *failure.Error {
	if r.AllowStranded {
		return nil
	}
	return Stranded(r.Doing(), channel, graph.Stranded(before, after, versions), len(after))
}

// Stranded refuses an edit after which the lost entries of a channel no longer reach its head; left is the number
// of entries that stay. The failure has no place yet.
func Stranded(doing, channel string, lost []string, left int) *failure.Error {
	if len(lost) == 0 {
		return nil
	}
	who := strings.Join(lost[:min(len(lost), 5)], ", ")
	if len(lost) > 5 {
		who += " and others"
	}
	to := "could no longer reach the head of channel " + channel
	if left == 0 {
		to = "would have no channel any more, as " + channel + " goes"
	}
	return failure.New(failure.UpgradePathLost, "%s: who has %s %s", doing, who, to).
		Fix("Give --allow-stranded if nobody has them installed.")
}

// Default refuses to remove a package's default channel. The failure has no place yet.
func (r Removal) Default(channel string) *failure.Error {
	return failure.New(failure.EditRefused, "%s: channel %s would go, and it is the package's default", r.Doing(), channel).
		Fix("Choose another default channel with --default-channel.")
}

// Nothing returns the note that a bundle or channel does not exist.
func (r Removal) Nothing(what, name string) string {
	return "there is no " + what + " " + name + " to remove"
}

// Find looks for a bundle among the existing ones; the same image may occur in several places. entries holds the
// names that the template's channels list, nil if the template lists images only. Find asks for unknown names if
// no bundle is known to be it but doubtful says that there should be one, or if several tags match it. untold
// names the images that are still unknown and may be the bundle.
func (r Removal) Find(standing []Standing, name string, entries []string, doubtful bool) (at []int, untold string, err *failure.Error) {
	known := Request{Names: r.Names, NamesOf: r.NamesOf}
	at = r.match(known, standing, name)
	several := different(standing, at)
	if len(at) > 0 && !several || !doubtful && !several {
		return at, "", nil
	}
	found := Found{Unknown: r.unknown(known, standing, entries)}
	if several {
		for _, i := range at {
			found.Unknown = append(found.Unknown, standing[i].Image)
		}
	}
	if len(found.Unknown) > 0 && r.NamesOf != nil {
		names := map[string]string{}
		maps.Copy(names, r.Names)
		var told map[string]string
		told, found.asked = r.NamesOf(found.Unknown)
		maps.Copy(names, told)
		known.Names = names
		at = r.match(known, standing, name)
		found.Unknown = r.unknown(known, standing, entries)
	}
	if different(standing, at) {
		return nil, "", failure.New(failure.BundleConflict, "removing %s: both %s and %s may be its image", name, standing[at[0]].Image, standing[at[1]].Image).
			Fix("Give a rendered catalog: with graft insert --base or graft remove --base, or in catalogs of graft.yaml.")
	}
	if len(at) == 0 && len(found.Unknown) > 0 {
		untold = found.Untold()
	}
	return at, untold, nil
}

// Conflict refuses to guess which image belongs to a bundle.
func (r Removal) Conflict(name, untold string) *failure.Error {
	return failure.New(failure.BundleConflict, "removing %s: the template has an entry of that name, and %s", name, untold).
		Fix("Give a rendered catalog: with graft insert --base or graft remove --base, or in catalogs of graft.yaml.")
}

func (r Removal) match(known Request, standing []Standing, name string) (at []int) {
	v, versioned := graph.VersionOf(name)
	for i, s := range standing {
		is := known.nameOf(s)
		tag, tagged := ImageVersion(s.Image)
		if is == name || is == "" && tagged && versioned && tag.String() == v.String() {
			at = append(at, i)
		}
	}
	return at
}

// unknown returns the images that neither a name nor the version of an entry identifies.
func (r Removal) unknown(known Request, standing []Standing, entries []string) (images []string) {
	for _, s := range standing {
		tag, tagged := ImageVersion(s.Image)
		told := tagged && entries == nil || tagged && slices.ContainsFunc(entries, func(name string) bool {
			v, ok := graph.VersionOf(name)
			return ok && v.String() == tag.String()
		})
		if s.Image != "" && !told && known.nameOf(s) == "" {
			images = append(images, s.Image)
		}
	}
	return Unique(images)
}

func different(standing []Standing, at []int) bool {
	return slices.ContainsFunc(at, func(i int) bool { return standing[i].Image != standing[at[0]].Image })
}

// NameOf returns the name of an image's bundle, empty if it is unknown.
func (r Removal) NameOf(image string) string {
	return Request{Names: r.Names}.nameOf(Standing{Image: image})
}
