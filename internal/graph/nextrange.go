package graph

import (
	"cmp"
	"slices"
)

// NextRange is a stretch of the versions that stood in a channel, all of which have the same
// next version now, and had the same before. Versions are named by the bundle's name where
// the bundle has none.
type NextRange struct {
	Package, Channel string
	First, Last      string       // the same where the stretch is one version
	Next             Move         // a side is empty where there is no upgrade
	Rules            []Generation // those for which it holds
}

// NextRanges groups the installed versions whose next version differs. A stretch ends where
// a version stood that is not concerned, or goes elsewhere.
func (c Changes) NextRanges() (all []NextRange) {
	for _, p := range c.Packages {
		for _, ch := range p.Channels {
			all = append(all, nextRanges(p.Name, ch)...)
		}
	}
	return all
}

func nextRanges(pkg string, ch ChannelChanges) (all []NextRange) {
	var last []int // of each stretch, the place of its last version
	for _, p := range ch.Paths {
		if p.Next.From == p.Next.To {
			continue // the same step, which leads further or less far
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
		all = append(all, NextRange{pkg, ch.Name, installed, installed, p.versions, p.Rules})
		last = append(last, p.at)
	}
	return all
}
