// Package catalogsource handles CatalogSources: image references with templates that follow the cluster, the
// conditions that report their result, and the two forms of the spec.
package catalogsource

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/olmgraft/graft/internal/budget"
)

// ImageTemplate is the annotation that holds an image reference with templates.
const ImageTemplate = "olm.catalogImageTemplate"

// The well-known templates without their braces.
const (
	KubeMajor = "kube_major_version"
	KubeMinor = "kube_minor_version"
	KubePatch = "kube_patch_version"
	OCPMajor  = "ocp_major_version"
	OCPMinor  = "ocp_minor_version"
)

// Template is one template of a reference: a well-known variable or a Lookup.
type Template struct {
	Text     string // as written, with braces
	Variable string
	Lookup   Lookup
}

// Lookup is the place of a value in the cluster.
type Lookup struct {
	Group     string `json:"group"`
	Version   string `json:"version"`
	Kind      string `json:"kind"`
	Name      string `json:"name,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	JSONPath  string `json:"jsonpath"` // with braces
}

// Part is a piece of a reference: a template, text that resembles one and is Broken, or other text.
type Part struct {
	Text     string
	Template *Template
	Broken   *Broken
}

// Parse splits a reference into parts, which joined again are the reference. Text that breaks the grammar stays
// unchanged, and its part holds the reason:
//
//  1. {kube_major_version}, {kube_minor_version}, {kube_patch_version}, {ocp_major_version} and
//     {ocp_minor_version}, in lower case.
//  2. {group:G,version:V,kind:K,name:N,namespace:NS,jsonpath:{.path}}, complete and in this
//     order. Name and namespace may be empty; the path begins with { and ends with }.
//  3. Neither contains white space.
//
// A reference that is too long becomes one Broken part.
func Parse(reference string) []Part {
	if len(reference) > budget.TemplateText {
		return []Part{{Text: reference, Broken: tooLong}}
	}
	var parts []Part
	from := 0
	for at := 0; at < len(reference); {
		t := templateAt(reference[at:])
		if t == nil {
			at++
			continue
		}
		if from < at {
			parts = append(parts, brokenIn(reference[from:at])...)
		}
		parts = append(parts, Part{Text: t.Text, Template: t})
		at += len(t.Text)
		from = at
	}
	if from < len(reference) {
		parts = append(parts, brokenIn(reference[from:])...)
	}
	return parts
}

// Shown returns the part's text for people, shortened if it is too long.
func (p Part) Shown() string {
	if len(p.Text) <= budget.TemplateText {
		return p.Text
	}
	return strings.ToValidUTF8(p.Text[:60], "") + "..."
}

// templateAt returns the template at the start of s, or nil.
func templateAt(s string) *Template {
	if s[0] != '{' {
		return nil
	}
	for _, v := range variables {
		if text := "{" + v + "}"; strings.HasPrefix(s, text) {
			return &Template{Text: text, Variable: v}
		}
	}
	return lookupAt(s)
}

var lookupGrammar = regexp.MustCompile(`^\{group:([^,{]*),version:([^,{]*),kind:([^,{]*),name:([^,{]*),namespace:([^,{]*),jsonpath:`)

func lookupAt(s string) *Template {
	m := lookupGrammar.FindStringSubmatch(s)
	if m == nil || !isSubdomain(m[1]) || !isLabel(m[2]) || !kindGrammar.MatchString(m[3]) || !isName(m[4]) || m[5] != "" && !isLabel(m[5]) {
		return nil
	}
	path := s[len(m[0]):]
	n := pathLen(path)
	if n == 0 {
		return nil
	}
	return &Template{Text: s[:len(m[0])+n+1], Lookup: Lookup{m[1], m[2], m[3], m[4], m[5], path[:n]}}
}

// pathLen returns the length of the path at the start of s, if } follows it, or 0. Braces inside quotes do not
// count.
func pathLen(s string) int {
	if s == "" || s[0] != '{' {
		return 0
	}
	depth, quote := 0, rune(0)
	escaped := false
	for i, r := range s {
		switch {
		case unicode.IsSpace(r) || unicode.IsControl(r):
			return 0
		case escaped:
			escaped = false
		case depth > 0 && r == '\\':
			escaped = true
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case depth > 0 && (r == '\'' || r == '"'):
			quote = r
		case r == '{':
			depth++
		case r == '}' && depth == 0:
			if s[i-1] == '}' {
				return i
			}
			return 0
		case r == '}':
			depth--
		}
	}
	return 0
}

var (
	labelGrammar = regexp.MustCompile(`^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$`)
	kindGrammar  = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)
)

func isLabel(s string) bool { return len(s) <= 63 && labelGrammar.MatchString(s) }

func isSubdomain(s string) bool {
	for label := range strings.SplitSeq(s, ".") {
		if !labelGrammar.MatchString(label) {
			return false
		}
	}
	return len(s) <= 253
}

// isName reports whether s can be a segment of an API path, or is empty. Kinds restrict names further.
func isName(s string) bool {
	return s != "." && s != ".." && len(s) <= 253 && !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune("/%{}", r)
	})
}
