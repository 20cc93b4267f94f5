package catalogsource

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/olmgraft/graft/internal/budget"
	"github.com/olmgraft/graft/internal/schema"
)

// variables are the well-known templates without their braces.
var variables = []string{KubeMajor, KubeMinor, KubePatch, OCPMajor, OCPMinor}

const lookupForm = "{group:G,version:V,kind:K,name:N,namespace:NS,jsonpath:{.path}}"

// Broken is text that resembles a template but is not one. Because of its braces the reference is not an image.
type Broken struct {
	Why string // one sentence without a full stop
	Fix string // a sentence with a valid alternative
}

func (b *Broken) Error() string { return b.Why }

var tooLong = &Broken{fmt.Sprintf("it is longer than %d KiB", budget.TemplateText>>10), "Write a shorter one."}

// brokenIn splits text without valid templates into pieces with braces and the text between them.
func brokenIn(text string) []Part {
	var parts []Part
	for text != "" {
		at := strings.IndexAny(text, "{}")
		if at < 0 {
			at = len(text)
		}
		if at > 0 {
			parts = append(parts, Part{Text: text[:at]})
		}
		n := bracedLen(text[at:])
		if n > 0 {
			piece := text[at : at+n]
			parts = append(parts, Part{Text: piece, Broken: diagnose(piece)})
		}
		text = text[at+n:]
	}
	return parts
}

// bracedLen returns the length of s up to the closing brace of its first brace, or the length of s if that brace
// is not closed.
func bracedLen(s string) int {
	depth := 0
	for i, r := range s {
		switch r {
		case '{':
			depth++
		case '}':
			depth--
		}
		if depth <= 0 {
			return i + 1
		}
	}
	return len(s)
}

// diagnose explains what is wrong with a piece that is not a template.
func diagnose(piece string) *Broken {
	inner := strings.TrimSuffix(strings.TrimPrefix(piece, "{"), "}")
	switch {
	case piece == "}":
		return &Broken{"a closing brace has no opening brace", "Remove it, or write a whole template: " + valid() + "."}
	case strings.Count(piece, "{") != strings.Count(piece, "}"):
		return &Broken{"a brace is not closed", "Close it, or write a whole template: " + valid() + "."}
	case strings.Contains(inner, ":") || strings.Contains(inner, "=") || strings.Contains(inner, ","):
		why, fix := diagnoseLookup(inner)
		return &Broken{why, fix}
	case strings.ContainsFunc(inner, unicode.IsSpace):
		if name := strings.Join(strings.Fields(inner), ""); slices.Contains(variables, name) {
			return &Broken{"it has white space", "Write {" + name + "}."}
		}
	}
	if name := nearest(inner); name != "" {
		return &Broken{fmt.Sprintf("there is no variable %q", inner), "Write {" + name + "}; valid templates are " + valid() + "."}
	}
	return &Broken{fmt.Sprintf("there is no variable %q", inner), "Write " + valid() + "."}
}

func valid() string {
	return "{" + strings.Join(variables, "}, {") + "} or " + lookupForm
}

// nearest returns the variable that a name in another case or with a few wrong letters probably means. Both must
// begin with the same word, because olm_major_version resembles ocp_major_version.
func nearest(name string) string {
	best := schema.Nearest(name, variables)
	if of, _, _ := strings.Cut(best, "_"); !strings.HasPrefix(strings.ToLower(name), of) {
		return ""
	}
	return best
}

var lookupParts = []string{"group", "version", "kind", "name", "namespace", "jsonpath"}

// diagnoseLookup returns the first rule that a lookup breaks.
func diagnoseLookup(inner string) (why, fix string) {
	fix = "Write " + lookupForm + "."
	head, path, _ := strings.Cut(inner, "jsonpath:")
	var keys []string
	values := map[string]string{}
	for pair := range strings.SplitSeq(strings.TrimSuffix(head, ","), ",") {
		key, value, _ := strings.Cut(pair, ":")
		keys, values[key] = append(keys, key), value
	}
	if strings.Contains(inner, "jsonpath:") {
		keys = append(keys, "jsonpath")
	}
	for _, key := range keys {
		if !slices.Contains(lookupParts, key) {
			return fmt.Sprintf("%q is not a part of a lookup", key), fix
		}
	}
	for _, part := range lookupParts {
		if !slices.Contains(keys, part) {
			return part + " is missing", fix
		}
	}
	switch {
	case !slices.Equal(keys, lookupParts):
		return "its parts are in the order " + strings.Join(keys, ", "), "Write them in the order " + strings.Join(lookupParts, ", ") + ": " + lookupForm + "."
	case strings.ContainsFunc(inner, unicode.IsSpace):
		return "it has white space", "Remove all spaces: " + lookupForm + "."
	case !isSubdomain(values["group"]):
		return fmt.Sprintf("group %q is not a DNS subdomain", values["group"]), "Write the group of an API, such as foo.example.com; the core API, whose group is empty, has no lookups."
	case !isLabel(values["version"]):
		return fmt.Sprintf("version %q is not a DNS label", values["version"]), "Write a version such as v1."
	case !kindGrammar.MatchString(values["kind"]):
		return fmt.Sprintf("kind %q is not a kind in CamelCase", values["kind"]), "Write a kind such as Sample."
	case !isName(values["name"]):
		return fmt.Sprintf("%q is not a valid name", values["name"]), "Write a name, or nothing for the only object of the kind."
	case values["namespace"] != "" && !isLabel(values["namespace"]):
		return fmt.Sprintf("namespace %q is not a DNS label", values["namespace"]), "Write a namespace, or nothing for a kind that has none."
	}
	return fmt.Sprintf("jsonpath %q does not begin with { and end with }", path), "Write a path such as {.spec.foo.bar}."
}
