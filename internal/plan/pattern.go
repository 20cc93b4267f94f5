package plan

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/olmgraft/graft/internal/template/kind"
)

// Pattern is a text with placeholders for facts of a bundle: {package}, {name}, {version}, {major}, {minor},
// {patch} and {previousPatch}, which is the patch minus one. In a catalog's path {template} is the template's
// file name without extension, {folder} is the template's folder, and {platform} and {platformDashed} are the
// catalog's platform as 4.20 and 4-20. Other braces are refused.
type Pattern string

// Placeholders are those that every bundle has a value for.
var Placeholders = []string{"package", "name", "version", "major", "minor", "patch"}

const (
	previousPatch  = "previousPatch"
	templateName   = "template"
	templateFolder = "folder"
	platformName   = "platform"
	platformDashed = "platformDashed"
)

// Constant reports whether the pattern is the same for all bundles.
func (p Pattern) Constant() bool { return !strings.ContainsAny(string(p), "{}") }

// Uses reports whether the pattern contains the placeholder.
func (p Pattern) Uses(placeholder string) bool {
	return strings.Contains(string(p), "{"+placeholder+"}")
}

// For fills in the facts of a bundle.
func (p Pattern) For(b kind.Bundle) (string, error) { return p.with(b, nil) }

func (p Pattern) with(b kind.Bundle, more map[string]string) (string, error) {
	return p.expand(func(name string) (string, bool) {
		switch name {
		case "package":
			return b.Package, true
		case "name":
			return b.Name, true
		case "version":
			return b.Version.String(), true
		case "major":
			return strconv.FormatUint(b.Version.Major, 10), true
		case "minor":
			return strconv.FormatUint(b.Version.Minor, 10), true
		case "patch":
			return strconv.FormatUint(b.Version.Patch, 10), true
		case previousPatch:
			return strconv.FormatUint(b.Version.Patch-1, 10), b.Version.Patch > 0
		}
		text, ok := more[name]
		return text, ok
	})
}

func (p Pattern) expand(value func(name string) (string, bool)) (string, error) {
	var out strings.Builder
	for rest := string(p); ; {
		before, after, opened := strings.Cut(rest, "{")
		if strings.Contains(before, "}") {
			return "", fmt.Errorf("%q has a closing brace without an opening one", string(p))
		}
		out.WriteString(before)
		if !opened {
			return out.String(), nil
		}
		name, after, closed := strings.Cut(after, "}")
		if !closed || strings.Contains(name, "{") {
			return "", fmt.Errorf("%q has an opening brace without a closing one", string(p))
		}
		text, ok := value(name)
		if !ok {
			return "", fmt.Errorf("%q: {%s} has no value here", string(p), name)
		}
		out.WriteString(text)
		rest = after
	}
}
