package semver

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/template/documents"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/yamledit"
)

var channelPattern = regexp.MustCompile(`^(candidate|fast|stable)-v\d+(\.\d+)?$`)

// Convert implements kind.Converter. It refuses a catalog if no semver template generates exactly its graph.
func (Kind) Convert(docs []fbc.Doc, _ fbc.Format, skips kind.SemverSkips) ([]byte, error) {
	g, err := documents.ReadGiven(docs)
	if err != nil {
		return nil, err
	}
	images := map[string][]string{}
	streams := map[stream]bool{}
	for _, ch := range g.Channels {
		m := channelPattern.FindStringSubmatch(ch.Name)
		if m == nil {
			return nil, failure.New(failure.EdgeConflict, "converting the catalog: no semver template makes a channel named %s", ch.Name).
				Fix("Convert to a basic template.")
		}
		streams[map[bool]stream{true: minor, false: major}[m[2] != ""]] = true
		for _, e := range ch.Entries {
			image, ok := g.Image(e.Name)
			if !ok {
				return nil, failure.New(failure.RenderFailed, "converting the catalog: there is no bundle for the entry %s of channel %s", e.Name, ch.Name)
			}
			images[m[1]] = append(images[m[1]], image)
		}
	}
	return firstSame(g, images, streams, skips)
}

// firstSame tries the options that the graph does not show: which kind of channel is preferred as the default.
func firstSame(g *documents.Given, images map[string][]string, streams map[stream]bool, skips kind.SemverSkips) ([]byte, error) {
	var first error
	for _, prefer := range []stream{"", minor, major} {
		if prefer != "" && !streams[prefer] {
			continue
		}
		text := write(g, images, streams, prefer)
		file, err := yamledit.Open("the converted template", text)
		if err != nil {
			return nil, err
		}
		made, err := Kind{}.Expand(&kind.Source{Name: file.Name, File: file, SemverSkips: skips}, g, nil)
		if err == nil {
			err = g.Same(made)
		}
		if err == nil {
			return text, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

func write(g *documents.Given, images map[string][]string, streams map[stream]bool, prefer stream) []byte {
	var b documents.Text
	fmt.Fprintf(&b, "---\nschema: %s\ngenerateMajorChannels: %t\ngenerateMinorChannels: %t\n", Schema, streams[major], streams[minor])
	if prefer != "" {
		b.WriteString("defaultChannelTypePreference: " + string(prefer) + "\n")
	}
	for _, a := range Archetypes {
		list := kind.Unique(images[strings.ToLower(a)])
		if len(list) == 0 {
			continue
		}
		slices.SortStableFunc(list, func(x, y string) int {
			f, _ := g.Bundle(x)
			h, _ := g.Bundle(y)
			v, _ := graph.VersionOf(f.Version)
			w, _ := graph.VersionOf(h.Version)
			return v.Compare(w)
		})
		b.WriteString(strings.ToLower(a) + ":\n  bundles:\n")
		for _, image := range list {
			b.Line("  - image: ", image)
		}
	}
	return []byte(b.String())
}
