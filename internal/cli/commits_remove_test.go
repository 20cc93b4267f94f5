package cli

import (
	"maps"
	"slices"
	"strings"
)

// takesPlace reports whether a bundle comes into a channel that another one leaves.
func (c *commit) takesPlace(name, old string) bool {
	return slices.ContainsFunc(c.GoneEntries, func(gone commitEntry) bool {
		return gone.Name == old && slices.ContainsFunc(c.NewEntries, func(e commitEntry) bool { return e.Name == name && e.Channel == gone.Channel })
	})
}

// removals take out what goes: channels, bundles, and bundles out of some of their channels.
func (c *commit) removals(removed []commitImage, replaced []string) (all [][]string) {
	before, after := channelsOf(c.before), channelsOf(c.after)
	var channels, bundles []string
	partly := map[string][]string{}
	stays := func(name string) bool {
		return slices.ContainsFunc(slices.Collect(maps.Values(after)), func(names []string) bool { return slices.Contains(names, name) })
	}
	for _, channel := range slices.Sorted(maps.Keys(before)) {
		if after[channel] == nil {
			channels = append(channels, channel)
			continue
		}
		for _, name := range without(before[channel], after[channel]) {
			switch {
			case slices.Contains(replaced, name):
			case stays(name):
				partly[channel] = append(partly[channel], name)
			default:
				bundles = append(bundles, name)
			}
		}
	}
	for _, r := range removed {
		if !stays(r.Name) {
			bundles = append(bundles, r.Name)
		}
	}
	remove := func(args ...string) { all = append(all, append([]string{"remove", "--allow-stranded"}, args...)) }
	for _, channel := range slices.Sorted(maps.Keys(partly)) {
		remove("--bundle", strings.Join(partly[channel], ","), "--channel", channel)
	}
	if len(channels) > 0 {
		remove("--channel", strings.Join(channels, ","))
	}
	if len(bundles) > 0 {
		remove("--bundle", strings.Join(bundles, ","))
	}
	return all
}

// channelsOf are the names that each channel of a template lists.
func channelsOf(text []byte) map[string][]string {
	all := map[string][]string{}
	for _, doc := range documents(text) {
		if name, _ := doc["name"].(string); doc["schema"] == "olm.channel" {
			all[name] = []string{}
			entries, _ := doc["entries"].([]any)
			for _, e := range entries {
				if e, ok := e.(map[string]any); ok {
					entry, _ := e["name"].(string)
					all[name] = append(all[name], entry)
				}
			}
		}
	}
	return all
}
