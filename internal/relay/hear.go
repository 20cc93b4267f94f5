package relay

import (
	"fmt"
	"strings"

	"github.com/olmgraft/graft/internal/event"
	"github.com/olmgraft/graft/internal/reference"
)

// place identifies a pattern of a target.
type place struct{ target, pattern int }

func (p place) String() string { return fmt.Sprintf("targets[%d].images[%d]", p.target, p.pattern) }

// hearing is a repository that receives an image.
type hearing struct {
	to, eventType string
	by            place
}

// hear returns the receivers of an image repository, each once, in the order of the targets.
func (c *Config) hear(repository string) (all []hearing) {
	told := map[string]bool{}
	for i := range c.Targets {
		t := &c.Targets[i]
		n, captures := t.matching(repository)
		if n < 0 {
			continue
		}
		for _, name := range t.Repositories {
			to := fill(name, captures)
			key := to + " " + t.EventType
			if told[key] || !isRepository(to) {
				continue
			}
			told[key] = true
			all = append(all, hearing{to, t.EventType, place{i, n}})
		}
	}
	return all
}

// matching returns the first pattern that matches the repository, with its captures, or -1. A repository that
// matches an exception matches no pattern.
func (t *Target) matching(repository string) (pattern int, captures map[string]string) {
	if event.Allowed(t.Except, repository) {
		return -1, nil
	}
	for i, pattern := range t.Images {
		if captures, ok := match(pattern, repository); ok {
			return i, captures
		}
	}
	return -1, nil
}

// isRepository reports whether a name is a valid repository of GitHub. A name with captures from an image may
// be invalid.
func isRepository(name string) bool {
	return repositoryGrammar.MatchString(name) && strings.Trim(name[strings.Index(name, "/")+1:], ".") != ""
}

// miss is the pattern of a target that is nearest to a repository, and the reason why it does not match.
type miss struct {
	near    int // number of matching parts, from the registry on
	pattern int
	reason  string
}

// miss finds the nearest pattern: the one with the most matching parts.
func (t *Target) miss(repository string) miss {
	best := miss{near: -1}
	for i, pattern := range t.Images {
		if captures, ok := match(pattern, repository); ok {
			reason := fmt.Sprintf("images[%d] is %s, which gives %s, and that is not a GitHub repository", i, pattern, fill(strings.Join(t.Repositories, ", "), captures))
			for n, out := range t.Except {
				if reference.Matches(out, repository) {
					reason = fmt.Sprintf("images[%d] is %s, and except[%d] is %s", i, pattern, n, out)
					break
				}
			}
			return miss{strings.Count(repository, "/") + 1, i, reason}
		}
		if near, reason := apart(pattern, repository); near > best.near {
			best = miss{near, i, fmt.Sprintf("images[%d] is %s, and %s", i, pattern, reason)}
		}
	}
	return best
}

// apart returns how many parts of a pattern match a repository that the pattern does not match, and the first
// part that differs.
func apart(pattern, repository string) (near int, reason string) {
	wanted, given := strings.Split(pattern, "/"), strings.Split(repository, "/")
	for near < min(len(wanted), len(given)) && !strings.Contains(wanted[near], "**") {
		if _, agrees := match(wanted[near], given[near]); !agrees {
			break
		}
		near++
	}
	rest := strings.Join(given[near:], "/")
	switch {
	case pattern != strings.ToLower(pattern):
		return near, "names of images are in lower case"
	case near == len(wanted):
		return near, fmt.Sprintf("the image continues with %s, and only ** matches slashes", rest)
	case near == len(given):
		return near, "the image has fewer parts"
	case near == 0:
		return near, "the image is in " + given[0]
	case strings.Contains(wanted[near], "**"):
		return near, fmt.Sprintf("%s is not %s", rest, strings.Join(wanted[near:], "/"))
	}
	return near, fmt.Sprintf("%s is not %s", given[near], wanted[near])
}

// announcing returns the routes whose senders can announce images of a registry.
func (c *Config) announcing(repository string) (all []Route) {
	host, _, _ := strings.Cut(repository, "/")
	for _, r := range c.Routes {
		for _, f := range event.FormsOf(r.From) {
			if f.Registry == "" || f.Registry == host {
				all = append(all, r)
				break
			}
		}
	}
	return all
}
