package graph

import (
	"cmp"
	"slices"
)

// NextRange is a range of versions of a channel that all have the same next version, and had the same one before.
// A bundle without a version is named by its name.
type NextRange struct {
	Package, Channel string
	First, Last      string       // equal for a single version
	Next             Move         // one side is empty if there is no upgrade
	Rules            []Generation // generations that it applies to
	// Lowest reports that no version of the channel is lower than First.
	Lowest bool
}

// NextRanges groups the installed versions whose next version differs. A range ends at a version that does not
// change, or changes in another way.
func (c Changes) NextRanges() (all []NextRange) {
	for _, p := range c.Packages {
		for _, ch := range p.Channels {
			all = append(all, nextRanges(p.Name, ch)...)
		}
	}
	return all
}

func nextRanges(pkg string, ch ChannelChanges) (all []NextRange) {
	var last []int // for each range, the position of its last version
	for _, p := range ch.Paths {
		if p.Next.From == p.Next.To {
			continue // the same step, with a different continuation
		}
		installed := cmp.Or(p.Version, p.Bundle)
		i := len(all) - 1
		for i >= 0 && (last[i] != p.at-1 || all[i].Next != p.versions || !slices.Equal(all[i].Rules, p.Rules)) {
			i--
		}
		if i >= 0 {
			all[i].Last, last[i] = installed, p.at
			continue
		}
		all = append(all, NextRange{pkg, ch.Name, installed, installed, p.versions, p.Rules, p.at == 1})
		last = append(last, p.at)
	}
	return all
}
