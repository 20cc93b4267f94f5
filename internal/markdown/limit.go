package markdown

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// Limit shortens a Markdown body to at most most bytes, which are at least as many as characters. It first folds
// the longest details blocks: they keep their summary, and the pointer replaces their content. If that is not
// enough, it cuts the body at the end of a line, closes code fences and details, and appends the pointer.
func Limit(body string, most int, pointer string) string {
	if len(body) <= most {
		return body
	}
	lines := strings.SplitAfter(body, "\n")
	for length, saved := len(body), 1; length > most && saved > 0; length -= saved {
		lines, saved = foldLongest(lines, pointer)
	}
	body = strings.Join(lines, "")
	if len(body) <= most {
		return body
	}
	return cut(lines, most, pointer)
}

// foldLongest empties the longest details block and returns the number of bytes saved.
func foldLongest(lines []string, pointer string) (folded []string, saved int) {
	instead := "\n" + pointer + "\n\n"
	from, to := longestDetails(lines)
	saved = -len(instead)
	for _, line := range lines[from:to] {
		saved += len(line)
	}
	if saved <= 0 {
		return lines, 0
	}
	folded = append(append(folded, lines[:from]...), instead)
	return append(folded, lines[to:]...), saved
}

// longestDetails returns the lines between the summary and the end of the longest details block that is not
// inside another.
func longestDetails(lines []string) (from, to int) {
	var at place
	begin, length, longest := -1, 0, 0
	for i, line := range lines {
		was := at.details
		at = at.after(line)
		if was == 0 {
			begin, length = -1, 0
		}
		switch {
		case at.details == 0:
			if was > 0 && begin >= 0 && length > longest {
				from, to, longest = begin, i, length
			}
		case begin >= 0:
			length += len(line)
		case strings.Contains(strings.ToLower(line), "</summary>"):
			begin = i + 1
		}
	}
	return from, to
}

// cut keeps as many lines as fit together with the closing text.
func cut(lines []string, most int, pointer string) string {
	var at place
	keep, closing, length := 0, "", 0
	for i, line := range lines {
		length += len(line)
		at = at.after(line)
		fits := length+len(at.closing())+1+len(pointer) <= most
		if fits && !at.comment && strings.HasSuffix(line, "\n") {
			keep, closing = i+1, at.closing()
		}
	}
	if keep > 0 {
		return strings.Join(lines[:keep], "") + closing + "\n" + pointer
	}
	if len(pointer) <= most {
		return pointer
	}
	most = max(most, 0)
	for most > 0 && !utf8.RuneStart(pointer[most]) {
		most--
	}
	return pointer[:most]
}

// place is the state of a body at the end of a line.
type place struct {
	// fence holds the characters that opened the current code block.
	fence   string
	details int
	comment bool
}

var (
	fencePattern   = regexp.MustCompile("^[ \t]*(`{3,}|~{3,})([^\r\n]*)")
	detailsPattern = regexp.MustCompile(`(?i)<details\b|</details\s*>|<!--|-->`)
)

func (p place) after(line string) place {
	if !strings.ContainsAny(line, "`~<>") {
		return p
	}
	if m := fencePattern.FindStringSubmatch(line); m != nil && !p.comment {
		rest := strings.TrimSpace(m[2])
		switch {
		case p.fence == "" && (m[1][0] == '~' || !strings.Contains(rest, "`")):
			p.fence = m[1]
			return p
		case p.fence != "" && m[1][0] == p.fence[0] && len(m[1]) >= len(p.fence) && rest == "":
			p.fence = ""
			return p
		}
	}
	if p.fence != "" {
		return p
	}
	for _, tag := range detailsPattern.FindAllString(line, -1) {
		switch tag = strings.ToLower(tag); {
		case tag == "<!--":
			p.comment = true
		case tag == "-->":
			p.comment = false
		case p.comment:
		case strings.HasPrefix(tag, "</"):
			p.details = max(p.details-1, 0)
		default:
			p.details++
		}
	}
	return p
}

// closing returns the text that closes everything open.
func (p place) closing() string {
	end := ""
	if p.fence != "" {
		end = p.fence + "\n"
	}
	if p.details > 0 {
		end += "\n" + strings.Repeat("</details>\n", p.details)
	}
	return end
}
