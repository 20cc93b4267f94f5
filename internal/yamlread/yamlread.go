// Package yamlread reads YAML as opm does, by the library that opm uses. It adds what the
// library lacks: the column of a fault, and bounds on what a hostile text may cost.
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
	Exceeds   bool // a bound; the text may be sound
}

func (e *Error) Error() string { return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Col, e.Msg) }

// Bound is what a document may come to.
type Bound struct {
	Values, Bytes int // once its aliases are written out
	Search        int // text that may be read again to find the column of a fault
}

// Usual bounds what nobody exceeds but to do harm.
var Usual = Bound{Values: budget.DocumentValues, Bytes: budget.DocumentBytes, Search: budget.DocumentSearch}

// ToJSON converts the first document of a text to compact JSON with sorted keys, as
// sigs.k8s.io/yaml does, within the usual bounds.
func ToJSON(src []byte) ([]byte, error) { return Usual.ToJSON(src) }

// ToJSON is the function of this name within other bounds.
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

// Loaded gives JSON as opm holds it once it has loaded a catalog: numbers have gone through
// float64, keys are sorted, and <, > and & stand as they are.
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

// Marks is a bound on the values of a document before a parser makes them, since each takes
// some hundred bytes of memory. It counts what values follow upon: dashes at the beginning of
// lines, question marks there, colons before blanks, and the signs of flow style.
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

// locate finds the place of a fault. The library tells a line, or nothing; the column is
// that at which the shortest text ends that has the same fault.
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

// lineStart is the offset at which a line begins, the end of the text where there is none.
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

// hints say what to do about faults that people make.
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
