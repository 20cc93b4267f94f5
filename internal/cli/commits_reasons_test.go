package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/template"
)

// reason explains from the texts before and after why a change cannot be made: mistakes, and unrelated changes.
func (c *commit) reason(err error) string {
	switch a, b := differences(meaning(c.before), meaning(c.after)); {
	case errors.As(err, &nameless{}), strings.Contains(err.Error(), "nobody tells which bundle"):
		return "nothing tells the name of an image"
	case len(a)+len(b) == 0:
		return "nothing changes but the order of skips, which has no meaning"
	case !slices.Equal(withoutSchema(c.before), withoutSchema(c.after)):
		return "a slip: a bundle loses its schema, or gets it back"
	case c.entryAfter(func(e commitEntry) bool { return e.Replaces == e.Name }):
		return "a slip: an entry replaces itself"
	case c.faulty(c.before):
		return "the template is none before: it has placeholders that another program fills in"
	case hasTag(c.before) && len(c.Added) == 1 && len(c.Removed) == 0:
		return "two in one: what a tag was gets a digest, and the tag is another bundle"
	case strings.Contains(err.Error(), "deprecating "):
		return "a slip: it deprecates what the package does not have"
	case c.twice():
		return "a slip: an image occurs twice afterwards, as that of two bundles"
	case slices.ContainsFunc(c.Removed, func(r commitImage) bool { return c.listed(c.after)[r.Name] }) && len(c.Added) == 0:
		return "an image goes whose entry stays: a slip, or the bundle goes to another file"
	case len(c.Added) == 0 && slices.ContainsFunc(c.NewEntries, func(e commitEntry) bool { return !c.listed(c.before)[e.Name] && c.imageOf(e.Name) == "" }):
		return "a slip: an entry comes whose bundle has no image"
	case len(c.Removed) == 0 && len(c.GoneEntries) > 0 && len(c.NewEntries) == 0:
		return "a slip: an entry goes whose image stays"
	}
	return "other"
}

// withoutSchema returns the images of documents without a schema.
func withoutSchema(text []byte) (images []string) {
	for _, doc := range documents(text) {
		if doc["schema"] == nil && word(doc, "image") != "" {
			images = append(images, word(doc, "image"))
		}
	}
	return images
}

func (c *commit) entryAfter(is func(commitEntry) bool) bool {
	for _, entries := range channelsOf(c.after) {
		if slices.ContainsFunc(entries, is) {
			return true
		}
	}
	return false
}

func (c *commit) faulty(text []byte) bool {
	t, err := template.Parse("t.yaml", text)
	return err != nil || len(t.Describe().Problems) > 0
}

// twice reports whether the template has an image twice, checking the text after the commit first.
func (c *commit) twice() bool {
	count := func(text []byte) (n int) {
		for _, image := range bundlesOf(text) {
			n += strings.Count(string(text), image.Image) - 1
		}
		return n
	}
	return count(c.after) > count(c.before)
}
