package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// documents returns the documents of a template, from a stream or from entries.
func documents(text []byte) (all []map[string]any) {
	for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var doc map[string]any
		if d.Decode(&doc) != nil {
			return all
		}
		all = append(all, doc)
		list, _ := doc["entries"].([]any)
		for _, item := range list {
			if item, ok := item.(map[string]any); ok && doc["schema"] == "olm.template.basic" {
				all = append(all, item)
			}
		}
	}
}

// of returns the documents of a schema.
func of(text []byte, schema string) []map[string]any {
	return slices.DeleteFunc(documents(text), func(doc map[string]any) bool { return doc["schema"] != schema })
}

func word(doc map[string]any, key string) string {
	v, _ := doc[key].(string)
	return v
}

// channelsOf returns the entries of each channel of a template.
func channelsOf(text []byte) map[string][]commitEntry {
	all := map[string][]commitEntry{}
	for _, doc := range of(text, "olm.channel") {
		name := word(doc, "name")
		all[name] = []commitEntry{}
		list, _ := doc["entries"].([]any)
		for _, e := range list {
			if e, ok := e.(map[string]any); ok {
				one := commitEntry{Channel: name, Name: word(e, "name"), Replaces: word(e, "replaces"), SkipRange: word(e, "skipRange")}
				skips, _ := e["skips"].([]any)
				for _, s := range skips {
					one.Skips = append(one.Skips, fmt.Sprint(s))
				}
				all[name] = append(all[name], one)
			}
		}
	}
	return all
}

// listed returns the names in a template's channels. It parses each text once.
func (c *commit) listed(text []byte) map[string]bool {
	if all := c.lists[string(text)]; all != nil {
		return all
	}
	all := map[string]bool{}
	if c.lists == nil {
		c.lists = map[string]map[string]bool{}
	}
	c.lists[string(text)] = all
	for _, entries := range channelsOf(text) {
		for _, e := range entries {
			all[e.Name] = true
		}
	}
	return all
}

// bundlesOf returns the images of a template with the names that the template gives.
func bundlesOf(text []byte) []commitImage {
	var all []commitImage
	named := map[string]string{}
	for _, doc := range documents(text) {
		if image, name := word(doc, "image"), word(doc, "name"); image != "" && name != "" {
			named[image] = name
		}
	}
	for _, image := range imagesIn(string(text)) {
		if i := (commitImage{image, named[image]}); !slices.Contains(all, i) {
			all = append(all, i)
		}
	}
	return all
}

// meaning returns the content of a template as lines in a fixed order.
func meaning(text []byte) []string {
	var all []string
	for _, doc := range documents(text) {
		about := fmt.Sprint(doc["schema"], " ", doc["name"])
		list, _ := doc["entries"].([]any)
		switch doc["schema"] {
		case "olm.template.basic":
		case "olm.channel":
			for _, e := range list {
				sortSkips(e)
				all = append(all, about+" "+jsonOf(e))
			}
			delete(doc, "entries")
			all = append(all, jsonOf(doc))
		default:
			if image, name := word(doc, "image"), word(doc, "name"); len(doc) == 3 && doc["schema"] == "olm.bundle" && image != "" && name != "" {
				delete(doc, "name")
				all = append(all, theName+image+" is "+name)
			}
			all = append(all, jsonOf(sortedLists(doc)))
		}
	}
	slices.Sort(all)
	return all
}

// theName starts a line with the name of an image, which opm reads from the image.
const theName = "the name of "

// differences returns the lines that only one side has. A name counts only if both sides give one.
func differences(a, b []string) (onlyA, onlyB []string) {
	optional := func(lines, others []string) []string {
		return slices.DeleteFunc(without(lines, others), func(line string) bool {
			image, name, _ := strings.Cut(line, " is ")
			return strings.HasPrefix(line, theName) && name != "" && !slices.ContainsFunc(others, func(o string) bool { return strings.HasPrefix(o, image+" is ") })
		})
	}
	return optional(a, b), optional(b, a)
}

// sortSkips sorts the skips of an entry, which are a set.
func sortSkips(entry any) {
	e, _ := entry.(map[string]any)
	skips, _ := e["skips"].([]any)
	slices.SortFunc(skips, func(a, b any) int { return bytes.Compare([]byte(fmt.Sprint(a)), []byte(fmt.Sprint(b))) })
}

func jsonOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// without returns the lines that the others lack.
func without(lines, others []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return slices.Contains(others, line) })
}
