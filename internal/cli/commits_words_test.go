package cli

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/graph"
)

func versionOf(name string) string {
	if v, ok := graph.VersionOf(name); ok {
		return v.String()
	}
	return "0.0.0"
}

func (c *commit) insert(image, name string, more ...string) []string {
	all := append([]string{"insert", "--image", image, "--name", name, "--version", versionOf(name), "--package", c.Package}, more...)
	if c.isPart() {
		file := filepath.Join(c.dir, name+".yaml")
		if os.WriteFile(file, []byte(c.bundle(name)), 0o600) == nil {
			all = append(all, "--bundle-file", file)
		}
	}
	return all
}

// images returns the commands for new images, and for images that are now another bundle.
func (c *commit) images() (all [][]string) {
	removed := slices.Clone(c.Removed)
	for _, a := range c.Added {
		same := slices.IndexFunc(removed, func(r commitImage) bool { return r.Name == a.Name })
		other := slices.IndexFunc(removed, func(r commitImage) bool { return c.takesPlace(a.Name, r.Name) })
		switch {
		case same >= 0:
			all = append(all, c.inChannels(c.insert(a.Image, a.Name, "--rebuild", "replace"), c.standsIn(a.Name, removed[same].Image)))
			removed = slices.Delete(removed, same, same+1)
		case other >= 0:
			all = append(all, c.inChannels(c.insert(a.Image, a.Name, "--instead-of", removed[other].Name), c.standsIn(removed[other].Name, removed[other].Image)))
			removed = slices.Delete(removed, other, other+1)
		case c.Kind == "olm.semver":
			all = append(all, c.inChannels(c.insert(a.Image, a.Name), archetypesWith(c.after, a.Image)))
		}
	}
	// Entries that changed their name without their image.
	for _, gone := range c.GoneEntries {
		for _, e := range c.NewEntries {
			image := c.imageOf(gone.Name)
			if c.isPart() {
				image = partImage + e.Name
			}
			if e.Name == "" || e.Channel != gone.Channel || c.listed(c.after)[gone.Name] || c.listed(c.before)[e.Name] || image == "" || c.comesOrGoes(e.Name, gone.Name) {
				continue
			}
			edit := c.inChannels(c.insert(image, e.Name, "--instead-of", gone.Name), c.standsIn(gone.Name, ""))
			if !slices.ContainsFunc(all, func(o []string) bool { return slices.Equal(o, edit) }) {
				c.names[image] = e.Name
				all = append(all, edit)
			}
		}
	}
	return all
}

// comesOrGoes reports whether an image of one of the bundles came or went, or another entry takes the place of
// a removed one.
func (c *commit) comesOrGoes(name, old string) bool {
	if slices.ContainsFunc(slices.Concat(c.Added, c.Removed), func(i commitImage) bool { return i.Name == name || i.Name == old }) {
		return true
	}
	var come, gone []string
	for _, e := range c.NewEntries {
		come = append(come, e.Name)
	}
	for _, e := range c.GoneEntries {
		gone = append(gone, e.Name)
	}
	slices.Sort(come)
	slices.Sort(gone)
	return len(slices.Compact(come)) != 1 || len(slices.Compact(gone)) != 1
}

// takesPlace reports whether a bundle enters a channel that another one leaves.
func (c *commit) takesPlace(name, old string) bool {
	return slices.ContainsFunc(c.GoneEntries, func(gone commitEntry) bool {
		return gone.Name == old && old != "" && slices.ContainsFunc(c.NewEntries, func(e commitEntry) bool { return e.Name == name && e.Channel == gone.Channel })
	})
}

// inChannels adds the channels to a command.
func (c *commit) inChannels(command, channels []string) []string {
	if len(channels) == 0 {
		return command
	}
	return append(command, "--channel", strings.Join(channels, ","))
}

// standsIn returns the channels that list a bundle, or the archetypes that have its image.
func (c *commit) standsIn(name, image string) (channels []string) {
	for channel, entries := range channelsOf(c.now) {
		if slices.ContainsFunc(entries, func(e commitEntry) bool { return e.Name == name }) {
			channels = append(channels, channel)
		}
	}
	slices.Sort(channels)
	return append(channels, archetypesWith(c.now, image)...)
}

func archetypesWith(text []byte, image string) (all []string) {
	for _, doc := range documents(text) {
		for key, value := range doc {
			if slices.Contains([]string{"candidate", "fast", "stable"}, strings.ToLower(key)) && image != "" && strings.Contains(jsonOf(value), image) {
				all = append(all, strings.ToLower(key))
			}
		}
	}
	slices.Sort(all)
	return all
}

// entries returns the commands that add bundles to channels. Bundles with the same edges share one.
func (c *commit) entries() (all [][]string) {
	type key struct{ name, edges string }
	channels := map[key][]string{}
	flags := map[key][]string{}
	var order []key
	for _, e := range c.missing() {
		edges := edgeFlags(e)
		if c.beginsLikePrevious(e.Channel) {
			edges = append(edges, "--new-channel", "like-previous")
		}
		k := key{e.Name, strings.Join(edges, " ")}
		if channels[k] == nil {
			order = append(order, k)
		}
		flags[k], channels[k] = edges, append(channels[k], e.Channel)
	}
	for _, k := range order {
		image := c.imageOf(k.name)
		for _, a := range c.Added {
			if a.Name == k.name {
				image = a.Image
			}
		}
		if image != "" {
			all = append(all, c.inChannels(c.insert(image, k.name, flags[k]...), channels[k]))
		}
	}
	if to := c.newDefault(); to != "" && len(all) > 0 {
		all[len(all)-1] = append(all[len(all)-1], "--default-channel", to)
	}
	return all
}

// missing returns the entries that the template still lacks, lower versions first. For a new channel that
// begins like the previous one, it returns the bundles that no channel lists yet.
func (c *commit) missing() (all []commitEntry) {
	now := channelsOf(c.now)
	for channel, entries := range channelsOf(c.after) {
		var lacks []commitEntry
		for _, e := range entries {
			if !slices.ContainsFunc(now[channel], func(o commitEntry) bool { return o.Name == e.Name }) {
				lacks = append(lacks, e)
			}
		}
		if c.beginsLikePrevious(channel) {
			fresh := slices.DeleteFunc(slices.Clone(lacks), func(e commitEntry) bool { return c.listed(c.before)[e.Name] })
			if lacks = lacks[len(lacks)-1:]; len(fresh) > 0 {
				lacks = fresh
			}
		}
		all = append(all, lacks...)
	}
	slices.SortFunc(all, func(a, b commitEntry) int {
		v, _ := graph.VersionOf(a.Name)
		w, _ := graph.VersionOf(b.Name)
		if n := v.Compare(w); n != 0 {
			return n
		}
		return strings.Compare(a.Channel, b.Channel)
	})
	return all
}

// beginsLikePrevious reports whether a new channel has entries that others already list, and there is a
// previous channel.
func (c *commit) beginsLikePrevious(channel string) bool {
	before := channelsOf(c.before)
	_, stood := before[channel]
	return !stood && graph.PreviousChannel(channel, slices.Collect(maps.Keys(before))) != "" &&
		slices.ContainsFunc(channelsOf(c.after)[channel], func(e commitEntry) bool { return c.listed(c.before)[e.Name] })
}

func edgeFlags(e commitEntry) (flags []string) {
	if e.Replaces != "" {
		flags = append(flags, "--replaces", e.Replaces, "--allow-missing-predecessor")
	}
	if len(e.Skips) > 0 {
		flags = append(flags, "--skips", strings.Join(e.Skips, ","))
	}
	if e.SkipRange != "" {
		flags = append(flags, "--skip-range", e.SkipRange)
	}
	return flags
}

// newDefault returns the default channel if it still has to change.
func (c *commit) newDefault() string {
	for i, doc := range of(c.after, "olm.package") {
		if now := of(c.now, "olm.package"); i < len(now) && word(doc, "defaultChannel") != word(now[i], "defaultChannel") {
			return word(doc, "defaultChannel")
		}
	}
	return ""
}

// removals returns the commands that remove channels, bundles, and bundles from some of their channels.
func (c *commit) removals() (all [][]string) {
	now, after := channelsOf(c.now), channelsOf(c.after)
	var channels, bundles []string
	partly := map[string][]string{}
	for channel, entries := range now {
		if after[channel] == nil {
			channels = append(channels, channel)
			continue
		}
		for _, e := range entries {
			switch {
			case slices.ContainsFunc(after[channel], func(o commitEntry) bool { return o.Name == e.Name }):
			case c.listed(c.after)[e.Name]:
				partly[e.Name] = append(partly[e.Name], channel)
			default:
				bundles = append(bundles, e.Name)
			}
		}
	}
	for _, r := range c.Removed {
		if strings.Contains(string(c.now), r.Image) && !c.listed(c.after)[r.Name] && r.Name != "" {
			bundles = append(bundles, r.Name)
		}
	}
	remove := func(args ...string) { all = append(all, append([]string{"remove", "--allow-stranded"}, args...)) }
	for name, in := range partly {
		slices.Sort(in)
		remove("--bundle", name, "--channel", strings.Join(in, ","))
	}
	if slices.Sort(channels); len(channels) > 0 {
		remove("--channel", strings.Join(channels, ","))
	}
	if slices.Sort(bundles); len(bundles) > 0 {
		remove("--bundle", strings.Join(slices.Compact(bundles), ","))
	}
	if to := c.newDefault(); to != "" && len(all) > 0 {
		all[0] = append(all[0], "--default-channel", to)
	}
	return all
}

// edges returns the commands that change replaces and skips of existing entries. Entries with the same edges
// share one.
func (c *commit) edges() (all [][]string) {
	now := channelsOf(c.now)
	channels := map[string][]string{}
	flags := map[string][]string{}
	var order []string
	for channel, entries := range channelsOf(c.after) {
		for _, e := range entries {
			i := slices.IndexFunc(now[channel], func(o commitEntry) bool { return o.Name == e.Name })
			if i < 0 {
				continue
			}
			set := setFlags(now[channel][i], e)
			if key := strings.Join(set, " "); len(set) > 2 {
				if channels[key] == nil {
					order = append(order, key)
				}
				flags[key], channels[key] = set, append(channels[key], channel)
			}
		}
	}
	slices.Sort(order)
	for _, key := range order {
		slices.Sort(channels[key])
		all = append(all, c.inChannels(append([]string{"edges", "--allow-stranded", "--allow-missing-predecessor"}, flags[key]...), channels[key]))
	}
	return all
}

// setFlags returns the flags that change an entry into another.
func setFlags(is, to commitEntry) []string {
	flags := []string{"--bundle", to.Name}
	if is.Replaces != to.Replaces {
		flags = append(flags, "--replaces", to.Replaces)
	}
	if a, b := slices.Sorted(slices.Values(is.Skips)), slices.Sorted(slices.Values(to.Skips)); !slices.Equal(a, b) {
		flags = append(flags, "--skips", strings.Join(to.Skips, ","))
	}
	if is.SkipRange != to.SkipRange {
		flags = append(flags, "--skip-range", to.SkipRange)
	}
	return flags
}

// deprecations returns the commands for new or changed deprecations.
func (c *commit) deprecations() (all [][]string) {
	messages := func(text []byte) map[[2]string]string {
		found := map[[2]string]string{}
		for _, doc := range of(text, "olm.deprecations") {
			list, _ := doc["entries"].([]any)
			for _, e := range list {
				e, _ := e.(map[string]any)
				ref, _ := e["reference"].(map[string]any)
				found[[2]string{word(ref, "schema"), word(ref, "name")}] = word(e, "message")
			}
		}
		return found
	}
	now := messages(c.now)
	for ref, message := range messages(c.after) {
		if message == "" || now[ref] == message {
			continue
		}
		flag := map[string]string{"olm.bundle": "--bundle", "olm.channel": "--channel"}[ref[0]]
		if flag != "" {
			all = append(all, []string{"deprecate", "--message", message, flag, ref[1]})
		}
	}
	return all
}
