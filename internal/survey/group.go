package survey

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/template/kind"
)

// targets converts templates, and catalogs without a template, to targets. Sources that differ only in their
// platform become one target.
func targets(list []*source, written map[string]string, fsys fs.FS) []Target {
	n := newNews(list)
	var out []Target
	for _, group := range groups(list, n) {
		for _, part := range globs(group, fsys) {
			out = append(out, target(part.pattern, part.of, list, n, written))
		}
	}
	slices.SortStableFunc(out, func(a, b Target) int { return strings.Compare(a.Templates[0], b.Templates[0]) })
	return out
}

// groups returns the sources that a configuration would treat as copies of each other.
func groups(list []*source, n *news) [][]*source {
	var keys []string
	byKey := map[string][]*source{}
	for _, t := range list {
		k := t.path
		if t.platform != nil {
			k = strings.Join([]string{shape(t.path, t.platform), t.kind, t.pkg, n.said(t)}, "\x00")
		}
		if byKey[k] == nil {
			keys = append(keys, k)
		}
		byKey[k] = append(byKey[k], t)
	}
	var out [][]*source
	for _, k := range keys {
		group := byKey[k]
		slices.SortFunc(group, byPlatform)
		out = append(out, group)
	}
	return out
}

// shape returns a path with a placeholder for its platform.
func shape(p string, platform *plan.Platform) string {
	for _, form := range platformForms(*platform) {
		if before, after, ok := cutLast(p, form.text); ok {
			return before + form.placeholder + after
		}
	}
	return p
}

type form struct{ text, placeholder string }

func platformForms(p plan.Platform) []form {
	return []form{{p.String(), "{platform}"}, {strings.ReplaceAll(p.String(), ".", "-"), "{platformDashed}"}}
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// glob is a pattern with the sources that it matches.
type glob struct {
	pattern string
	of      []*source
}

// globs returns patterns that match exactly the group, or paths if no pattern does.
func globs(group []*source, fsys fs.FS) []glob {
	if len(group) > 1 {
		if g, ok := widest(group, fsys); ok {
			return []glob{g}
		}
		if parts := byFirstDigits(group); len(parts) > 1 {
			var out []glob
			for _, part := range parts {
				out = append(out, globs(part, fsys)...)
			}
			return out
		}
		if g, ok := oneOf(group, fsys); ok {
			return []glob{g}
		}
	}
	var out []glob
	for _, t := range group {
		out = append(out, glob{t.path, []*source{t}})
	}
	return out
}

// varying splits the paths of a group into their common start, the differing parts and their common end.
func varying(group []*source) (before string, middle []string, after string) {
	before, after = group[0].path, group[0].path
	for _, t := range group[1:] {
		for !strings.HasPrefix(t.path, before) {
			before = before[:len(before)-1]
		}
		for !strings.HasSuffix(t.path, after) {
			after = after[1:]
		}
	}
	shortest := slices.MinFunc(group, func(a, b *source) int { return len(a.path) - len(b.path) })
	if over := len(before) + len(after) - len(shortest.path); over > 0 {
		after = after[over:]
	}
	for _, t := range group {
		middle = append(middle, t.path[len(before):len(t.path)-len(after)])
	}
	return before, middle, after
}

func widest(group []*source, fsys fs.FS) (glob, bool) {
	before, _, after := varying(group)
	// All versions of the platform must match, even if all have the same length now: v4.1* also matches v4.19.
	before = strings.TrimRight(before, "0123456789")
	if i := strings.IndexByte(after, '/'); i > 0 && strings.Trim(after[:i], "0123456789") == "" {
		after = after[i:]
	}
	return exact(glob{escape(before) + "*" + escape(after), group}, fsys)
}

// byFirstDigits divides a group by all but the last character of the platform.
func byFirstDigits(group []*source) [][]*source {
	var keys []string
	parts := map[string][]*source{}
	for _, t := range group {
		version := t.platform.String()
		k := version[:len(version)-1]
		if parts[k] == nil {
			keys = append(keys, k)
		}
		parts[k] = append(parts[k], t)
	}
	var out [][]*source
	for _, k := range keys {
		out = append(out, parts[k])
	}
	return out
}

// oneOf returns a pattern for paths that differ in a single character.
func oneOf(group []*source, fsys fs.FS) (glob, bool) {
	before, middle, after := varying(group)
	if slices.ContainsFunc(middle, func(m string) bool { return len(m) != 1 }) {
		return glob{}, false
	}
	if g, ok := exact(glob{escape(before) + "*" + escape(after), group}, fsys); ok {
		return g, true
	}
	first, last := middle[0], middle[len(middle)-1]
	class := strings.Join(middle, "")
	if len(middle) > 2 && int(last[0]-first[0]) == len(middle)-1 {
		class = first + "-" + last
	}
	return exact(glob{escape(before) + "[" + class + "]" + escape(after), group}, fsys)
}

func escape(s string) string {
	return strings.NewReplacer(`*`, `[*]`, `?`, `[?]`, `[`, `[[]`).Replace(s)
}

// exact reports whether the pattern matches exactly the group.
func exact(g glob, fsys fs.FS) (glob, bool) {
	matches, err := fs.Glob(fsys, g.pattern)
	if err != nil || len(matches) != len(g.of) {
		return g, false
	}
	for _, t := range g.of {
		if !slices.Contains(matches, t.path) {
			return g, false
		}
	}
	return g, true
}

// target builds the target of a group.
func target(pattern string, group, all []*source, n *news, written map[string]string) Target {
	last := group[len(group)-1]
	out := Target{Template: pattern, About: about(group), Kind: last.kind, Package: last.pkg}
	for _, t := range group {
		out.Templates = append(out.Templates, t.path)
		for _, r := range t.facts.repositories {
			out.Repositories = append(out.Repositories, t.facts.anyVersion(r))
		}
		if t.aside != "" {
			out.Notes = append(out.Notes, t.aside+", but no other file has the package.", "Remove its targets if they belong to a tool or a test.")
		}
		if t.facts.placeholder != "" {
			out.Notes = append(out.Notes, "Its image "+t.facts.placeholder+" is a placeholder for another program. Graft keeps it, and inserts new bundles beside it.")
		}
		if by := written[t.path]; by != "" {
			out.Notes = append(out.Notes, by+" overwrites "+path.Base(t.path)+", and loses bundles that its own source does not have.")
		}
	}
	out.Notes, out.Repositories = kind.Unique(out.Notes), kind.Unique(out.Repositories)
	for _, t := range group {
		if n.of[t].known {
			last = t // a source with its own bundles decides
		}
	}
	out.Rules = n.rules(last)
	out.Edges, out.EdgesWhy = n.edges(last)
	out.DefaultChannel, out.NewChannel = n.defaultChannel(last), n.newChannel(last)
	out.Rewrites = rewrites(group)
	out.Catalogs = catalogs(group, all)
	out.Newest = n.bundle(last)
	return out
}

// about describes the sources of a target, unless it is one template.
func about(group []*source) string {
	last := group[len(group)-1]
	switch {
	case len(group) > 1 && last.catalog:
		return fmt.Sprintf("%d catalogs without templates, for the platforms %s to %s. Graft edits the catalogs themselves.", len(group), group[0].platform, last.platform)
	case len(group) > 1:
		return fmt.Sprintf("%d templates with the same settings, for the platforms %s to %s.", len(group), group[0].platform, last.platform)
	case last.catalog:
		return "A catalog without a template. Graft edits the catalog itself."
	}
	return ""
}
