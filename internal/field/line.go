package field

import (
	"bytes"
	"errors"
	"regexp"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
)

// assignment matches the start of a line that sets a variable, as shells and container engines read it.
// Everything around the value stays.
var assignment = regexp.MustCompile(`^(?:\x{FEFF})?[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.-]*)[ \t]*=`)

// comment matches the start of a comment, which ends an unquoted value.
var comment = regexp.MustCompile(`[ \t]#`)

// setLine sets the variable in the only line that assigns it.
func setLine(name string, src []byte, key, value string) (string, []byte, error) {
	at, line := -1, 0
	var begin int
	for number, start := 1, 0; start < len(src); number++ {
		end := start + len(src[start:])
		if i := bytes.IndexByte(src[start:], '\n'); i >= 0 {
			end = start + i + 1
		}
		if m := assignment.FindSubmatchIndex(src[start:end]); m != nil && string(src[start+m[2]:start+m[3]]) == key {
			if at >= 0 {
				return "", nil, failure.New(failure.EditRefused, "setting %s: it is set here and at line %d", key, line).At(name, number, m[2]+1).Fix("Keep one of the lines.")
			}
			at, line, begin = start+m[1], number, start
		}
		start = end
	}
	if at < 0 {
		return "", nil, failure.New(failure.EditRefused, "setting %s: no line begins with %s=", key, key).At(name, 1, 1).
			Fix("Correct the name in files of graft.yaml, or add the line by hand.")
	}
	text, _, _ := bytes.Cut(src[at:], []byte("\n"))
	from, to, err := valueIn(string(text))
	if err == nil {
		err = fits(value, strings.TrimLeft(string(text[:from]), " \t"))
	}
	if err != nil {
		return "", nil, failure.New(failure.EditRefused, "setting %s: %w", key, err).At(name, line, at-begin+1).Fix("Write it as one plain value, in quotes if it has blanks or characters special to a shell.")
	}
	before := string(text[from:to])
	return before, bytes.Join([][]byte{src[:at+from], []byte(value), src[at+to:]}, nil), nil
}

// valueIn returns the bounds of the value after the equals sign: inside the quotes, or up to a comment or the
// end.
func valueIn(line string) (from, to int, err error) {
	text := strings.TrimLeft(line, " \t")
	from = len(line) - len(text)
	if text != "" && (text[0] == '"' || text[0] == '\'') {
		end := strings.IndexByte(text[1:], text[0]) + 1
		rest := strings.TrimLeft(text[end+1:], " \t\r")
		switch {
		case end == 0:
			return 0, 0, errors.New("the quote is not closed on its line")
		case strings.HasSuffix(text[:end], `\`) || rest != "" && rest[0] != '#':
			return 0, 0, errors.New("its value is put together of parts")
		}
		return from + 1, from + end, nil
	}
	if comment.MatchString(line) {
		line = line[:comment.FindStringIndex(line)[0]]
	}
	line = strings.TrimRight(line, " \t\r")
	switch from = min(from, len(line)); {
	case strings.HasSuffix(line, `\`):
		return 0, 0, errors.New("its value goes on in the next line")
	case strings.ContainsAny(line, "\"'"):
		return 0, 0, errors.New("its value is put together of parts")
	}
	return from, len(line), nil
}

// fits reports an error if a value, placed unchanged between these quotes, would be read as another value.
func fits(value, quote string) error {
	special := " \t#;&|<>()*?[]{}~!\"'\\$`"
	switch quote {
	case "'":
		special = "'"
	case `"`:
		special = "\"\\$`"
	}
	if strings.ContainsAny(value, special+"\r\n") {
		return errors.New("the new value would be read as something else there")
	}
	return nil
}
