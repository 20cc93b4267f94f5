// Package yamlread reads YAML as opm does, with the library that opm uses. It adds the column of each fault, and
// bounds on the cost of hostile input.
package yamlread

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/olmgraft/graft/internal/budget"
)

// Error is a fault in a text. Line and Col start at 1; Col counts bytes.
type Error struct {
	Line, Col int
	Msg       string
	Exceeds   bool // a bound was exceeded; the text may be valid
}

func (e *Error) Error() string { return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Col, e.Msg) }

// Bound limits the cost of one document.
type Bound struct {
	Values, Bytes int // with aliases expanded
	Search        int // bytes that may be parsed again to find the column of a fault
}

// Usual is the default bound. No honest document exceeds it.
var Usual = Bound{Values: budget.DocumentValues, Bytes: budget.DocumentBytes, Search: budget.DocumentSearch}

// ToJSON converts the first document of a text to compact JSON with sorted keys, as sigs.k8s.io/yaml does. It
// applies the usual bounds.
func ToJSON(src []byte) ([]byte, error) { return Usual.ToJSON(src) }

// ToJSON does the same as the function ToJSON, with other bounds.
func (b Bound) ToJSON(src []byte) ([]byte, error) {
	if len(src) > b.Values && Marks(src) > b.Values {
		return nil, &Error{1, 1, fmt.Sprintf("more than %d values in one document", b.Values), true}
	}
	if err := b.checkAliases(src); err != nil {
		return nil, err
	}
	out, err := yaml.YAMLToJSON(src)
	if err != nil {
		return nil, locate(src, err, b.Search)
	}
	return out, nil
}

// Loaded returns JSON in the form that opm has after loading a catalog: numbers have passed through float64, keys
// are sorted, and <, > and & are not escaped.
func Loaded(src []byte) ([]byte, error) {
	var v any
	if err := json.Unmarshal(src, &v); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// Marks returns an upper bound on the number of values in a document, before a parser allocates some hundred
// bytes for each. It counts the marks that introduce values: dashes and question marks at the start of lines,
// colons before blanks, and the punctuation of flow style.
func Marks(src []byte) int {
	count := 0
	begins := true
	for i, c := range src {
		switch {
		case c == '\n':
			begins = true
			continue
		case c == ' ' || c == '\t':
			continue
		case c == ',' || c == '[' || c == '{' || c == '*',
			(c == '-' || c == '?') && begins,
			c == ':' && (i+1 == len(src) || strings.IndexByte(" \t\r\n", src[i+1]) >= 0):
			count++
		}
		begins = begins && (c == '-' || c == '?')
	}
	return count
}

var (
	lineOfFault = regexp.MustCompile(`^(?:error converting YAML to JSON: )?(?:yaml: )?(?:unmarshal errors:\s+)?(?:line (\d+): )?`)
	noNumber    = regexp.MustCompile(`(?mi)(?:^|[\s\[{,:])([-+]?\.(?:nan|inf))\b`)
)

// locate finds the place of a fault. The library reports a line at most. The column is the end of the shortest
// prefix that has the same fault.
func locate(src []byte, err error, searched int) *Error {
	m := lineOfFault.FindStringSubmatch(err.Error())
	msg := strings.Join(strings.Fields(err.Error()[len(m[0]):]), " ")
	if number, ok := strings.CutPrefix(msg, "json: unsupported value: "); ok {
		at := 0
		if found := noNumber.FindSubmatchIndex(src); found != nil {
			at = found[2]
		}
		return place(src, at, number+" has no form in JSON")
	}
	low, high := 0, len(src)
	if line, _ := strconv.Atoi(m[1]); line > 0 {
		low, high = lineStart(src, line-1), lineStart(src, line+2)
	}
	if len(src) > searched {
		return place(src, low, msg)
	}
	n := low + sort.Search(high-low, func(n int) bool { return sameFault(src[:low+n], msg) })
	return place(src, max(n-1, 0), msg)
}

func sameFault(src []byte, msg string) bool {
	_, err := yaml.YAMLToJSON(src)
	return err != nil && strings.HasSuffix(strings.Join(strings.Fields(err.Error()), " "), msg)
}

// lineStart returns the offset at which a line begins, or the end of the text if there is no such line.
func lineStart(src []byte, line int) int {
	at := 0
	for ; line > 1; line-- {
		n := bytes.IndexByte(src[at:], '\n')
		if n < 0 {
			return len(src)
		}
		at += n + 1
	}
	return at
}

// hints explain how to correct common mistakes.
var hints = []struct{ fault, hint string }{
	{"mapping values are not allowed", "a text with a colon and a blank in it needs quotes"},
	{"found unknown escape character", "a text with a backslash in it wants single quotes"},
	{"found character that cannot start any token", "a text that begins with it needs quotes"},
}

func place(src []byte, offset int, msg string) *Error {
	for _, h := range hints {
		if !strings.HasPrefix(msg, h.fault) {
			continue
		}
		if offset < len(src) && src[offset] == '\t' {
			h.hint = "indent with blanks, not with tabs"
		}
		msg += ": " + h.hint
	}
	before := src[:min(offset, len(src))]
	return &Error{Line: 1 + bytes.Count(before, []byte("\n")), Col: len(before) - bytes.LastIndexByte(before, '\n'), Msg: msg}
}
