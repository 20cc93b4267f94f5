package plan

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
)

// place is the place of an existing or future catalog.
type place struct {
	path     string
	platform *Platform // nil if the path's placeholders do not determine it
}

// Marks for an unknown platform until the folders determine it. No path contains them.
const (
	anyPlatform       = "\x01"
	anyPlatformDashed = "\x02"
)

// places returns the places of a catalog's setup for one template: the place that its path names, or, if the path
// contains {platform} and the template's own path names no platform, those of all existing catalogs, sorted by
// platform.
func (p *planner) places(setup CatalogSetup, c candidate) ([]place, error) {
	if setup.Path == "" {
		return []place{{}}, nil
	}
	platform, known := ParsePlatform(setup.Platform)
	if !known {
		platform, known = PlatformOf(c.path)
	}
	facts := map[string]string{templateName: stem(c.path), templateFolder: path.Dir(c.path), platformName: anyPlatform, platformDashed: anyPlatformDashed}
	if known {
		facts[platformName], facts[platformDashed] = platform.String(), platform.dashed()
	}
	named, err := setup.Path.with(p.in.Bundle, facts)
	if err == nil {
		err = CheckPath(named)
	}
	if err == nil && isPattern(named) {
		err = errors.New(named + " is no name of a file or folder")
	}
	if err != nil {
		return nil, p.misconfigured(c.TargetSetup, "finding a catalog: %w", err)
	}
	named, _ = localPath(named)
	uses := setup.Path.platformed()
	if info, err := fs.Stat(p.files, named); err == nil && !info.IsDir() && !isFileName(named) {
		return nil, p.misconfigured(c.TargetSetup, "finding a catalog: %s is no folder, and no name of a .yaml, .yml or .json file", named).
			Fix("Correct the path.")
	}
	switch {
	case !uses:
		return []place{{path: named}}, nil
	case known:
		return []place{{named, &platform}}, nil
	}
	var found []place
	if err := p.spread(".", strings.Split(named, "/"), &found); err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, p.misconfigured(c.TargetSetup, "finding catalogs: there is none at %s", setup.Path).
			Fix("Correct the path, or name each catalog to create.")
	}
	slices.SortFunc(found, func(a, b place) int { return a.platform.Compare(*b.platform) })
	return found, nil
}

// platformed reports whether a path depends on the platform.
func (p Pattern) platformed() bool { return p.Uses(platformName) || p.Uses(platformDashed) }

// spread finds the catalogs below a folder whose paths match rest.
func (p *planner) spread(folder string, rest []string, found *[]place) error {
	i := slices.IndexFunc(rest, func(part string) bool { return strings.ContainsAny(part, anyPlatform+anyPlatformDashed) })
	folder = path.Join(folder, path.Join(rest[:i]...))
	entries, err := fs.ReadDir(p.files, folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failure.New(failure.EditRefused, "finding catalogs in %s: %w", folder, err).At(folder, 0, 0).Fix("Make the folder readable.")
	}
	grammar := platformsIn(rest[i])
	for _, e := range entries {
		m := grammar.FindStringSubmatch(e.Name())
		if m == nil {
			continue
		}
		platform, ok := ParsePlatform(m[1] + m[3] + "." + m[2] + m[4])
		named := path.Join(rest[i:]...)
		named = strings.NewReplacer(anyPlatform, platform.String(), anyPlatformDashed, platform.dashed()).Replace(named)
		if first, _, _ := strings.Cut(named, "/"); !ok || first != e.Name() {
			continue
		}
		named = path.Join(folder, named)
		if _, err := fs.Stat(p.files, named); err == nil {
			*found = append(*found, place{named, &platform})
		}
	}
	return nil
}

// platformsIn matches the names of files and folders that fit a part of a path. Two of its four groups are
// filled.
func platformsIn(part string) *regexp.Regexp {
	const dotted, dashed = `([0-9]{1,4})\.([0-9]{1,4})`, `([0-9]{1,4})-([0-9]{1,4})`
	at := strings.IndexAny(part, anyPlatform+anyPlatformDashed)
	first := dotted + `()()`
	if part[at:at+1] == anyPlatformDashed {
		first = `()()` + dashed
	}
	rest := strings.NewReplacer(anyPlatform, `[0-9]{1,4}\.[0-9]{1,4}`, anyPlatformDashed, `[0-9]{1,4}-[0-9]{1,4}`).Replace(regexp.QuoteMeta(part[at+1:]))
	return regexp.MustCompile(`^` + regexp.QuoteMeta(part[:at]) + first + rest + `$`)
}

func (p Platform) dashed() string { return fmt.Sprintf("%d-%d", p.Major, p.Minor) }
