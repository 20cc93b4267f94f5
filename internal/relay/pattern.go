package relay

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/reference"
)

// A part of a pattern in braces is a capture: text without a slash, at least one character, which the names of
// repositories can repeat. To make a match unique,
//
// 1. a part between slashes has at most one capture and then no *; 2. a pattern with captures has at most one
// **, as a whole part; 3. a pattern has each capture once.
var captureGrammar = regexp.MustCompile(`\{[^{}]*\}`)

var captureName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// capturesOf returns the names in braces in a pattern or in the name of a repository.
func capturesOf(text string) (names []string) {
	for _, one := range captureGrammar.FindAllString(text, -1) {
		names = append(names, strings.Trim(one, "{}"))
	}
	return names
}

// checkCaptures returns the fault in a pattern's braces, or "".
func checkCaptures(pattern string) string {
	names := capturesOf(pattern)
	if strings.ContainsAny(captureGrammar.ReplaceAllString(pattern, ""), "{}") {
		return "a brace has no counterpart"
	}
	if len(names) == 0 {
		return ""
	}
	deep := 0
	for part := range strings.SplitSeq(pattern, "/") {
		n := len(capturesOf(part))
		switch {
		case n > 1 || n == 1 && strings.Contains(part, "*"):
			return fmt.Sprintf("%s is ambiguous", part)
		case part == "**":
			deep++
		case strings.Contains(part, "**"):
			return fmt.Sprintf("%s has ** beside other text; with captures, ** must be a whole part", part)
		}
	}
	if deep > 1 {
		return "** occurs twice, so the captures are ambiguous"
	}
	for i, name := range names {
		if !captureName.MatchString(name) {
			return fmt.Sprintf("{%s} is not a valid capture", name)
		}
		if slices.Contains(names[:i], name) {
			return fmt.Sprintf("{%s} occurs twice", name)
		}
	}
	return ""
}

// match reports whether a pattern matches a repository, and returns its captures.
func match(pattern, repository string) (captures map[string]string, ok bool) {
	if !strings.Contains(pattern, "{") {
		return nil, reference.Matches(pattern, repository)
	}
	wanted, given := strings.Split(pattern, "/"), strings.Split(repository, "/")
	if i := slices.Index(wanted, "**"); i >= 0 && len(given) >= len(wanted) {
		deep := len(given) - len(wanted) + 1
		given = slices.Replace(slices.Clone(given), i, i+deep, strings.Join(given[i:i+deep], "/"))
	}
	if len(wanted) != len(given) {
		return nil, false
	}
	captures = map[string]string{}
	for i, part := range wanted {
		before, rest, found := strings.Cut(part, "{")
		if !found {
			if !reference.Matches(part, given[i]) {
				return nil, false
			}
			continue
		}
		name, after, _ := strings.Cut(rest, "}")
		text, begins := strings.CutPrefix(given[i], before)
		text, ends := strings.CutSuffix(text, after)
		if !begins || !ends || text == "" {
			return nil, false
		}
		captures[name] = text
	}
	return captures, true
}

// fill replaces the captures in the name of a repository.
func fill(repository string, captures map[string]string) string {
	return captureGrammar.ReplaceAllStringFunc(repository, func(one string) string { return captures[strings.Trim(one, "{}")] })
}

// step is a part of a pattern that matches characters: one, or any number.
type step struct {
	many  bool
	slash bool // also a slash
	only  byte // this character only; 0: any
}

func (s step) takes(c byte) bool {
	if s.only != 0 {
		return s.only == c
	}
	return c != '/' || s.slash
}

func stepsOf(pattern string) (steps []step) {
	for pattern != "" {
		switch {
		case strings.HasPrefix(pattern, "**"):
			steps, pattern = append(steps, step{many: true, slash: true}), pattern[2:]
		case pattern[0] == '*':
			steps, pattern = append(steps, step{many: true}), pattern[1:]
		case pattern[0] == '{':
			_, pattern, _ = strings.Cut(pattern, "}")
			steps = append(steps, step{}, step{many: true})
		default:
			steps, pattern = append(steps, step{only: pattern[0]}), pattern[1:]
		}
	}
	return steps
}

// reach marks the steps of a pattern that a text can have reached, with a byte of 1 for each.
type reach string

func outset(steps []step) reach {
	at := make([]byte, len(steps)+1)
	at[0] = 1
	return pass(steps, at)
}

// pass also marks the steps behind those that may match nothing.
func pass(steps []step, at []byte) reach {
	for i, s := range steps {
		if s.many {
			at[i+1] |= at[i]
		}
	}
	return reach(at)
}

func (r reach) after(steps []step, c byte) reach {
	at := make([]byte, len(r))
	for i, s := range steps {
		if r[i] == 0 || !s.takes(c) {
			continue
		}
		if s.many {
			at[i] = 1
		} else {
			at[i+1] = 1
		}
	}
	return pass(steps, at)
}

func (r reach) ends() bool { return r[len(r)-1] == 1 }

func (r reach) lost() bool { return strings.Trim(string(r), "\x00") == "" }

// mostReached limits the search of overlap. Patterns beyond it count as overlapping.
const mostReached = 20_000

// overlap reports whether two patterns match a common name that none of the exceptions matches, and returns the
// shortest such name.
func overlap(a, b string, except []string) (example string, overlaps bool) {
	var all [][]step
	letters := "x/"
	for _, p := range append([]string{a, b}, except...) {
		all = append(all, stepsOf(p))
		for _, s := range all[len(all)-1] {
			if s.only != 0 && !strings.Contains(letters, string(s.only)) {
				letters += string(s.only)
			}
		}
	}
	type state struct {
		text string
		at   []reach
	}
	first := state{}
	for _, steps := range all {
		first.at = append(first.at, outset(steps))
	}
	seen, next := map[string]bool{}, []state{first}
	for len(next) > 0 {
		now := next[0]
		next = next[1:]
		if now.at[0].ends() && now.at[1].ends() && !slices.ContainsFunc(now.at[2:], reach.ends) {
			return now.text, true
		}
		if len(seen) > mostReached {
			return "", true
		}
		for _, c := range []byte(letters) {
			then, key := state{text: now.text + string(c)}, ""
			for i, r := range now.at {
				then.at = append(then.at, r.after(all[i], c))
				key += string(then.at[i])
			}
			if !then.at[0].lost() && !then.at[1].lost() && !seen[key] {
				seen[key] = true
				next = append(next, then)
			}
		}
	}
	return "", false
}
