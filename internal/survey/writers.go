package survey

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// maxScript is the largest script, in bytes, that is examined.
const maxScript = 256 << 10

// writers returns which scripts overwrite which sources, by a redirection to a file with that name or to a
// variable that holds it.
func writers(fsys fs.FS, list []*source) (map[string]string, error) {
	bases := map[string]bool{}
	for _, t := range list {
		if !t.directory && t.kind != "raw" {
			bases[path.Base(t.path)] = true
		}
	}
	by := map[string]string{} // by base name
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // ignore what cannot be read
		case d.IsDir() && (skipped(d.Name()) || aside(name+"/x") != ""):
			return fs.SkipDir
		case !d.Type().IsRegular() || !isScript(d.Name()):
			return nil
		}
		if info, err := d.Info(); err != nil || info.Size() > maxScript {
			return nil //nolint:nilerr // as above
		}
		src, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil //nolint:nilerr // as above
		}
		for base := range bases {
			if line := writes(src, base); line > 0 && by[base] == "" {
				by[base] = fmt.Sprintf("%s:%d", name, line)
			}
		}
		return nil
	})
	written := map[string]string{}
	for _, t := range list {
		if !t.directory && t.kind != "raw" && by[path.Base(t.path)] != "" {
			written[t.path] = by[path.Base(t.path)]
		}
	}
	return written, err
}

func isScript(name string) bool {
	return !ofTests(name) && (slices.Contains([]string{".sh", ".bash", ".mk"}, path.Ext(name)) || strings.HasPrefix(name, "Makefile"))
}

// writes returns the line of a script that overwrites a file with that name, or 0.
func writes(src []byte, base string) int {
	if !bytes.Contains(src, []byte(base)) {
		return 0
	}
	target := regexp.QuoteMeta(base)
	named := regexp.MustCompile(`(?m)\b([A-Za-z_]\w*)=\S*` + target + `["']?(?:\s|$)`)
	for _, m := range named.FindAllSubmatch(src, -1) {
		target += `|\$\{?` + regexp.QuoteMeta(string(m[1])) + `\}?`
	}
	redirected := regexp.MustCompile(`(?:^|[^>&0-9])>\s*["']?(?:[^\s"'|;&>]|["'][^\s"']*["'])*?(?:` + target + `)["']?(?:\s|$)`)
	if at := redirected.FindIndex(src); at != nil {
		return 1 + bytes.Count(src[:at[1]-1], []byte("\n"))
	}
	return 0
}
