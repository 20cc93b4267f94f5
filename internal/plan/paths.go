package plan

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// localPath cleans a path and reports whether it stays within the repository. It refuses backslashes, because on
// systems where they separate folders they could leave the repository.
func localPath(p string) (string, bool) {
	if p == "" || strings.ContainsAny(p, "\\\x00\n\r") || path.IsAbs(p) || len(p) > 1 && p[1] == ':' {
		return "", false
	}
	for folder := range strings.SplitSeq(p, "/") {
		if folder == ".." {
			return "", false
		}
	}
	clean := path.Clean(p)
	return clean, clean != "." && fs.ValidPath(clean)
}

// CheckPath returns an error if a path in a configuration leaves the repository, or is not a valid pattern.
func CheckPath(p string) error {
	if _, ok := localPath(p); !ok {
		return fmt.Errorf("%s is not a path within the repository", p)
	}
	if _, err := path.Match(p, ""); err != nil {
		return fmt.Errorf("%s is no pattern: a bracket is not closed", p)
	}
	return nil
}

func isPattern(p string) bool { return strings.ContainsAny(p, "*?[") }

// isFileName reports whether a path names a file that can contain a catalog.
func isFileName(p string) bool {
	switch path.Ext(p) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

// stem returns the name of a file without extension, or the whole name of a folder such as v4.20.
func stem(p string) string {
	if isFileName(p) {
		return strings.TrimSuffix(path.Base(p), path.Ext(p))
	}
	return path.Base(p)
}

func (p *planner) reason(into *[]string, format string, args ...any) {
	*into = append(*into, fmt.Sprintf(format, args...))
}

func (p *planner) warn(format string, args ...any) {
	p.plan.Warnings = append(p.plan.Warnings, fmt.Sprintf(format, args...))
}

func (p *planner) leaveOut(template, catalog, format string, args ...any) {
	p.plan.LeftOut = append(p.plan.LeftOut, LeftOut{template, catalog, fmt.Sprintf(format, args...)})
}
