// Package unified writes the differences of files for people.
package unified

import (
	"bytes"
	"fmt"
	"strings"

	gitdiff "github.com/go-git/go-git/v5/utils/diff"
	"github.com/rogpeppe/go-internal/diff"
)

// largest is the number of lines of a hunk whose difference is made minimal. That takes time that grows with the
// square of it.
const largest = 4000

// context is the number of unchanged lines around a change.
const context = 3

// Diff returns the unified difference of two texts, or nil if they are equal. Lines that occur once in each text
// anchor it. Templates repeat the entries of one channel in others, where anchors alone would remove and add every
// repeated line: each hunk is therefore made minimal.
func Diff(oldName string, old []byte, newName string, now []byte) []byte {
	whole := diff.Diff(oldName, old, newName, now)
	if whole == nil {
		return nil
	}
	var out bytes.Buffer
	var h hunk
	for line := range strings.Lines(string(whole)) {
		switch {
		case strings.HasPrefix(line, "@@ "):
			h.write(&out)
			h = hunk{header: line}
		case h.header == "":
			out.WriteString(line)
		default:
			h.lines = append(h.lines, line)
		}
	}
	h.write(&out)
	return out.Bytes()
}

// hunk is a part of a difference. Its lines begin with a space, - or +.
type hunk struct {
	header string
	lines  []string
}

func (h hunk) write(out *bytes.Buffer) {
	var x, y, count int
	lines := h.minimal()
	if _, err := fmt.Sscanf(h.header, "@@ -%d,%d +%d,", &x, &count, &y); err == nil && changes(lines) < changes(h.lines) {
		writeHunks(out, lines, x-1, y-1)
		return
	}
	out.WriteString(h.header)
	for _, line := range h.lines {
		out.WriteString(line)
	}
}

// minimal returns the fewest changes for the texts of the hunk. If it only adds or only removes lines, is too large,
// or has a line without end, it stays as it is.
func (h hunk) minimal() []string {
	var old, now strings.Builder
	removes, adds := false, false
	for _, line := range h.lines {
		if line[0] == '\\' || len(h.lines) > largest {
			return h.lines
		}
		if line[0] != '+' {
			old.WriteString(line[1:])
		}
		if line[0] != '-' {
			now.WriteString(line[1:])
		}
		removes, adds = removes || line[0] == '-', adds || line[0] == '+'
	}
	if !removes || !adds {
		return h.lines
	}
	var lines []string
	for _, part := range gitdiff.Do(old.String(), now.String()) {
		for line := range strings.Lines(part.Text) {
			lines = append(lines, string("- +"[part.Type+1])+line)
		}
	}
	return lines
}

// changes counts the removed and added lines.
func changes(lines []string) (n int) {
	for _, line := range lines {
		if line[0] != ' ' {
			n++
		}
	}
	return n
}

// writeHunks writes lines as hunks. x and y are the numbers of lines before them in the old and the new text.
func writeHunks(out *bytes.Buffer, lines []string, x, y int) {
	for i := 0; i < len(lines); {
		first, last := i, -1
		for j := i; j < len(lines) && (last < 0 || j-last <= 2*context); j++ {
			if lines[j][0] != ' ' {
				if last < 0 {
					first = max(i, j-context)
				}
				last = j
			}
		}
		if last < 0 {
			return
		}
		end := min(len(lines), last+context+1)
		skipped := first - i
		x, y = x+skipped, y+skipped
		var removed, added int
		for _, line := range lines[first:end] {
			if line[0] != '+' {
				removed++
			}
			if line[0] != '-' {
				added++
			}
		}
		fmt.Fprintf(out, "@@ -%d,%d +%d,%d @@\n", x+min(1, removed), removed, y+min(1, added), added)
		for _, line := range lines[first:end] {
			out.WriteString(line)
		}
		x, y, i = x+removed, y+added, end
	}
}
