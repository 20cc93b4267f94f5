package fbc

import (
	"io/fs"
	"path"
	"strings"
)

const ignoreFile = ".indexignore"

// ignores holds the patterns of all .indexignore files of a catalog, in the order in which a walk finds the
// files. They mean what opm's library makes them mean, which differs from git in places: see pattern.
type ignores []pattern

// pattern is one line of an .indexignore file.
//
//  1. It applies below the directory of its file. The last matching pattern decides. A
//     pattern with ! includes a file again, even from an excluded directory.
//  2. A pattern without a slash is compared with each element of the path. A slash at the
//     end requires a directory.
//  3. A pattern with a slash is compared with the path from its beginning, element by
//     element; the rest of the path may be anything. The element ** skips any number of
//     directories; at the end of a pattern it has no effect.
type pattern struct {
	dir     []string // directory of its file
	parts   []string
	include bool
	dirOnly bool
	rooted  bool // it contains a slash
}

func readIgnores(fsys fs.FS, root string) (ignores, error) {
	var all ignores
	err := fs.WalkDir(fsys, root, func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return unreadable(file, err)
		}
		if e.IsDir() || e.Name() != ignoreFile {
			return nil
		}
		text, err := fs.ReadFile(fsys, file)
		if err != nil {
			return unreadable(file, err)
		}
		dir := within(root, file)
		all = append(all, parseIgnores(string(text), dir[:len(dir)-1])...)
		return nil
	})
	return all, err
}

// within returns the elements of a path below root.
func within(root, file string) []string {
	if root = path.Clean(root); root != "." {
		file = strings.TrimPrefix(file, root+"/")
	}
	return strings.Split(file, "/")
}

func parseIgnores(text string, dir []string) ignores {
	var found ignores
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		p := pattern{dir: dir}
		line, p.include = strings.CutPrefix(line, "!")
		line, p.dirOnly = strings.CutSuffix(line, "/")
		p.rooted = strings.Contains(line, "/")
		p.parts = strings.Split(line, "/")
		found = append(found, p)
	}
	return found
}

// match reports whether the patterns exclude the file with this path.
func (all ignores) match(file []string) bool {
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].matches(file) {
			return !all[i].include
		}
	}
	return false
}

func (p *pattern) matches(file []string) bool {
	if len(file) <= len(p.dir) {
		return false
	}
	for i, d := range p.dir {
		if file[i] != d {
			return false
		}
	}
	file = file[len(p.dir):]
	if p.rooted {
		return p.matchesFrom(file)
	}
	for i, name := range file {
		if ok, err := path.Match(p.parts[0], name); err != nil {
			return false
		} else if ok {
			return !p.dirOnly || i < len(file)-1
		}
	}
	return false
}

// matchesFrom implements rule 3 of pattern.
func (p *pattern) matchesFrom(file []string) bool {
	matched, skipping := false, false
	for i, part := range p.parts {
		switch {
		case part == "":
			skipping = false
		case part == "**":
			skipping = i < len(p.parts)-1
		case strings.Contains(part, "**") || len(file) == 0:
			return false
		case skipping:
			skipping = false
			n := 0
			for n < len(file) {
				ok, err := path.Match(part, file[n])
				if err != nil {
					return false
				}
				n++
				if matched = ok || matched && n < len(file); ok {
					break
				}
			}
			file = file[n:]
		default:
			if ok, err := path.Match(part, file[0]); err != nil || !ok {
				return false
			}
			matched = true
			file = file[1:]
		}
	}
	return matched && (!p.dirOnly || len(file) > 0)
}

// Ignored reports whether the .indexignore files of a catalog directory exclude a file. The file need not exist.
func Ignored(fsys fs.FS, root, file string) (bool, error) {
	ignored, err := readIgnores(fsys, root)
	return err == nil && ignored.match(within(root, file)), err
}
