// Package formulary holds recipes for people who edit catalogs with yq and jq. Each is
// a page of Markdown beside this file, and a test in conformance/formulary runs every
// command in it.
package formulary

import (
	"embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

//go:embed *.md
var pages embed.FS

// Recipe is a page.
type Recipe struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	When  string `json:"when"`
	// Kinds are empty where recipes are only listed.
	Kinds []Kind `json:"kinds,omitempty"`
	// Wrong is what the commands get wrong.
	Wrong string `json:"wrong,omitempty"`
	// Page is the Markdown.
	Page string `json:"-"`
}

// Kind is a section of a recipe: semver, basic, goodstuff or fbc. One to which the recipe does
// not apply has no blocks, and its text says why.
type Kind struct {
	Name   string  `json:"kind"`
	Text   string  `json:"text,omitempty"`
	Blocks []Block `json:"blocks"`
}

// Block is a fenced block. Its info string is LANGUAGE ROLE [WORD...]: a yaml block is
// the input file that its role names; an sh block is a command for the tool of its role
// (yq, jq, graft; shell for plain commands, naive for one that does harm, check for
// what follows the command before it, variables for what all of them read), and the
// diff and text blocks of that role are what it does and prints.
type Block struct {
	Language string   `json:"language"`
	Role     string   `json:"role"`
	Words    []string `json:"words,omitempty"`
	Text     string   `json:"text"`
	// Begin and End are where the text stands in the page.
	Begin int `json:"-"`
	End   int `json:"-"`
}

// Is reports whether a word stands in the block's info string, after the role.
func (b Block) Is(word string) bool { return slices.Contains(b.Words, word) }

// order is the order of the index: from the first bundle to the next platform.
var order = []string{
	"add-to-channel", "add-replaces", "add-bundle", "backport", "remove", "remove-below", "substitute", "move-replaces",
	"property", "promote", "default-channel", "deprecate", "convert-to-basic", "new-catalog",
}

// All gives the recipes in the order of the index.
func All() ([]Recipe, error) {
	var all []Recipe
	for _, name := range order {
		page, err := pages.ReadFile(name + ".md")
		if err != nil {
			return nil, fmt.Errorf("reading the formulary: %w", err)
		}
		r, err := Parse(name, string(page))
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

var fence = regexp.MustCompile("(?ms)^```([a-z]+)( [^\n]+)?\n(.*?)^```$")

// Parse reads a page. It refuses what the fixed structure does not have: a title, When,
// the four kinds, What it gets wrong, and nothing else.
func Parse(name, page string) (Recipe, error) {
	r := Recipe{Name: name, Page: page}
	refuse := func(what string) (Recipe, error) {
		return r, fmt.Errorf("reading recipe %s: %s", name, what)
	}
	title, _, _ := strings.Cut(page, "\n")
	if !strings.HasPrefix(title, "# ") {
		return refuse("it has no title")
	}
	r.Title = strings.TrimPrefix(title, "# ")
	headings := regexp.MustCompile(`(?m)^## (.*)\n`).FindAllStringSubmatchIndex(page, -1)
	var names []string
	for i, h := range headings {
		end := len(page)
		if i+1 < len(headings) {
			end = headings[i+1][0]
		}
		heading := page[h[2]:h[3]]
		names = append(names, heading)
		text, blocks, err := section(page, h[1], end)
		if err != nil {
			return refuse(heading + ": " + err.Error())
		}
		switch {
		case text == "" && len(blocks) == 0:
			return refuse(heading + " says nothing")
		case heading == "When":
			r.When = text
		case heading == "What it gets wrong":
			r.Wrong = text
		default:
			r.Kinds = append(r.Kinds, Kind{heading, text, blocks})
			continue
		}
		if len(blocks) > 0 {
			return refuse(heading + " has a command")
		}
	}
	if want := []string{"When", "semver", "basic", "goodstuff", "fbc", "What it gets wrong"}; !slices.Equal(names, want) {
		return refuse(fmt.Sprintf("its sections are %q, not %q", names, want))
	}
	return r, nil
}

// section gives the prose and the blocks between two places of a page.
func section(page string, begin, end int) (string, []Block, error) {
	blocks := []Block{}
	var prose strings.Builder
	at := begin
	for _, m := range fence.FindAllStringSubmatchIndex(page[begin:end], -1) {
		prose.WriteString(page[at : begin+m[0]])
		at = begin + m[1]
		var words []string
		if m[4] >= 0 {
			words = strings.Fields(page[begin+m[4] : begin+m[5]])
		}
		if len(words) == 0 {
			return "", nil, fmt.Errorf("a block says no role")
		}
		b := Block{Language: page[begin+m[2] : begin+m[3]], Role: words[0], Begin: begin + m[6], End: begin + m[7]}
		if len(words) > 1 {
			b.Words = words[1:]
		}
		b.Text = page[b.Begin:b.End]
		blocks = append(blocks, b)
	}
	prose.WriteString(page[at:end])
	if strings.Contains(prose.String(), "```") {
		return "", nil, fmt.Errorf("a block is not closed")
	}
	return strings.TrimSpace(regexp.MustCompile(`\n{3,}`).ReplaceAllString(prose.String(), "\n\n")), blocks, nil
}
