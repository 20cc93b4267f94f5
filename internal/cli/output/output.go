// Package output has the output that several verbs share.
package output

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/olmgraft/graft/internal/template/kind"
)

// Catalog is the result for one catalog.
type Catalog struct {
	File     string `json:"file"`
	Template string `json:"template,omitempty"`
	Platform string `json:"platform,omitempty"`
	Result   string `json:"result,omitempty"`
	Reused   int    `json:"reused"`
	Pulled   int    `json:"pulled"`
}

// Copied reports how many bundles were copied and pulled.
func Copied(reused, pulled int) string {
	if reused == 1 {
		return fmt.Sprintf("1 bundle copied, %d pulled", pulled)
	}
	return fmt.Sprintf("%d bundles copied, %d pulled", reused, pulled)
}

// Named is the number of names that a line lists. Of more, it lists these and an ellipsis.
const Named = 3

// Some names a few things, or the first of many with their number.
func Some(names []string, noun string) string {
	if len(names) <= Named {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%d %ss (%s)", len(names), noun, First(names))
}

// In returns a line such as "in 2 templates: a, b".
func In(names []string, noun string) string {
	return fmt.Sprintf("in %d %ss: %s", len(names), noun, First(names))
}

// First returns the first names of a list.
func First(names []string) string {
	text := strings.Join(names[:min(len(names), Named)], ", ")
	if len(names) > Named {
		text += ", …"
	}
	return text
}

// Printable returns a line without control characters, so that foreign text starts no new line and controls no
// terminal.
func Printable(line string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return '?'
		}
		return c
	}, line)
}

// Sentence describes a change.
func Sentence(c kind.Change) string {
	in := ""
	if c.Channel != "" {
		in = c.Channel + ": "
	}
	switch c.What {
	case kind.BundleAdded:
		return in + "added bundle " + c.To
	case kind.BundlePromoted:
		return in + "promoted " + c.From + " to " + c.To
	case kind.BundleRebuilt:
		return in + "rebuilt " + c.Name + ": " + c.To + " instead of " + c.From
	case kind.BundleReplaced:
		return in + "put " + c.Name + " with " + c.To + " in the place of " + c.From
	case kind.EntryReplaced:
		return in + strings.TrimSpace("put entry "+c.Name+" in the place of "+c.From+" "+c.To)
	case kind.EntryAdded:
		return in + strings.TrimSpace("added entry "+c.Name+" "+c.To)
	case kind.EdgesSet:
		return in + c.Name + " " + c.To + " instead of: " + c.From
	case kind.TombstoneAdded:
		return in + "made " + c.Name + " a tombstone"
	case kind.EntryRemoved:
		return in + "removed entry " + c.Name
	case kind.BundleRemoved:
		return in + "removed bundle " + c.Name + " with " + c.From
	case kind.ChannelRemoved:
		return in + "removed the channel"
	case kind.DeprecationGone:
		return in + strings.TrimSpace("removed the deprecation "+c.Name)
	case kind.DeprecationAdded:
		if c.From != "" {
			return in + strings.TrimSpace("deprecated "+c.Name) + ": " + c.To + " instead of: " + c.From
		}
		return in + strings.TrimSpace("deprecated "+c.Name) + ": " + c.To
	case kind.EntryRewired:
		if c.To == "" {
			return in + "rewired " + c.Name + " to replace nothing instead of " + c.From
		}
		if c.From == "" {
			return in + "rewired " + c.Name + " to replace " + c.To
		}
		return in + "rewired " + c.Name + " to replace " + c.To + " instead of " + c.From
	case kind.ChannelCreated:
		if c.From != "" {
			return in + "created the channel with the entries of channel " + c.From
		}
		return in + "created the channel"
	case kind.DefaultChannelSet:
		return "moved the default channel from " + c.From + " to " + c.To
	case kind.OperandAdded:
		return "added operand " + c.Name + " " + c.To
	case kind.CatalogSourceSet, kind.ClusterCatalogSet:
		object := "CatalogSource "
		if c.What == kind.ClusterCatalogSet {
			object = "ClusterCatalog "
		}
		if c.From != "" {
			return "set " + object + c.Name + " to " + c.To + " instead of " + c.From
		}
		return "set " + object + c.Name + " to " + c.To
	case kind.FieldSet:
		if c.From == "" {
			return "set " + c.Name + " to " + c.To
		}
		return "set " + c.Name + " to " + c.To + " instead of " + c.From
	case kind.SubstitutionAdded:
		return "substituted " + c.To + " for " + c.From
	}
	return "created a " + c.To + " template with " + c.Name
}
