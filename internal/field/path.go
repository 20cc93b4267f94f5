package field

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/olmgraft/graft/internal/yamledit"
)

// step leads from a value to one inside it: by the key of a mapping, or by the index or a field of a list's item.
type step struct {
	text     string // as written
	key      string
	index    int
	field    string // of the item; its text must equal is
	is       string
	brackets bool
}

// variable matches the name of a variable in a file of KEY=VALUE lines.
var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

// Check reports an error if a place is not valid in a file with this name.
func Check(name, at string) error {
	if !structured(name) {
		if !variable.MatchString(at) {
			return fmt.Errorf("%s is not the name of a variable, and the file has KEY=VALUE lines", at)
		}
		return nil
	}
	_, err := parse(at)
	return err
}

// parse splits a path into its steps.
func parse(at string) (steps []step, err error) {
	rest := strings.TrimPrefix(at, ".")
	for first := true; rest != ""; first = false {
		var s step
		switch {
		case rest[0] == '[':
			end := strings.IndexByte(rest, ']')
			if end < 0 {
				return nil, fmt.Errorf("%s has a bracket that is not closed", at)
			}
			s, rest = bracket(rest[1:end]), rest[end+1:]
		case !first && rest[0] != '.':
			return nil, fmt.Errorf("%s lacks a dot before %s", at, rest)
		default:
			if !first {
				rest = rest[1:]
			}
			if strings.HasPrefix(rest, "[") {
				continue
			}
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			s, rest = step{text: rest[:end], key: rest[:end], index: -1}, rest[end:]
			if i, err := strconv.Atoi(s.key); err == nil && i >= 0 {
				s.index = i
			}
		}
		if s.key == "" && s.field == "" && s.index < 0 {
			return nil, fmt.Errorf("%s has an empty part", at)
		}
		steps = append(steps, s)
	}
	if len(steps) == 0 {
		return nil, errors.New("it is empty")
	}
	return steps, nil
}

// bracket parses the text of [0], [key=value] or [a key with dots].
func bracket(text string) step {
	s := step{text: "[" + text + "]", index: -1, brackets: true}
	if i, err := strconv.Atoi(text); err == nil && i >= 0 {
		s.index = i
		return s
	}
	if field, is, ok := strings.Cut(text, "="); ok && field != "" {
		s.field, s.is = field, unquoted(is)
		return s
	}
	s.key = unquoted(text)
	return s
}

func unquoted(text string) string {
	if n := len(text); n > 1 && (text[0] == '"' || text[0] == '\'') && text[n-1] == text[0] {
		return text[1 : n-1]
	}
	return text
}

// from returns the values that the step leads to.
func (s step) from(n *yamledit.Node) []*yamledit.Node {
	items := n.Items()
	switch {
	case s.field != "":
		var found []*yamledit.Node
		for _, item := range items {
			if f := item.Resolve().Get(s.field); f != nil && f.Text() == s.is {
				found = append(found, item)
			}
		}
		return found
	case s.index >= 0 && n.Resolve().Kind == yamledit.Sequence:
		if s.index < len(items) {
			return items[s.index : s.index+1]
		}
	default:
		if v := n.Get(s.key); v != nil {
			return []*yamledit.Node{v}
		}
	}
	return nil
}
