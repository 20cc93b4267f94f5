package object

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/yamlread"
)

// Read reads the first document of a manifest as opm does: as JSON if it begins with a brace, otherwise or after
// a failure as YAML. more reports whether other documents follow, which opm ignores.
func Read(content []byte, within yamlread.Bound) (v Value, more bool, err error) {
	text := string(content)
	if !IsJSON(text) {
		return readYAML(text, false, within)
	}
	v, more, err = readJSON(text)
	if err != nil {
		v, more, yamlErr := readYAML(trimFirstLine(text), false, within)
		if yamlErr == nil {
			return v, more, nil
		}
	}
	return v, more, err
}

// ReadMetadata reads the first document of a metadata file as YAML. Numbers preserve their text as far as in opm.
func ReadMetadata(content []byte, within yamlread.Bound) (Value, bool, error) {
	text := string(content)
	if IsJSON(text) {
		text = trimFirstLine(text)
	}
	return readYAML(text, true, within)
}

// IsJSON reports whether opm would try a text as JSON, because a brace is the first character other than white
// space within its first 30 bytes.
func IsJSON(text string) bool {
	const lookahead = 30
	return strings.HasPrefix(strings.TrimLeftFunc(text[:min(lookahead, len(text))], unicode.IsSpace), "{")
}

func readJSON(text string) (Value, bool, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	var raw json.RawMessage
	if err := dec.Decode(&raw); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("the text ends within a value")
		}
		return Value{}, false, fmt.Errorf("not valid JSON: %w", err)
	}
	v, err := parse(string(raw), false)
	return v, strings.TrimSpace(text[dec.InputOffset():]) != "", err
}

func readYAML(text string, exact bool, within yamlread.Bound) (Value, bool, error) {
	doc, rest, err := firstDocument(text)
	if err != nil {
		return Value{}, false, err
	}
	asJSON, err := fbc.YAMLToJSON([]byte(doc), within)
	if err != nil {
		return Value{}, false, fmt.Errorf("not valid YAML: %w", err)
	}
	v, err := parse(string(asJSON), exact)
	return v, strings.TrimSpace(rest) != "", err
}

// trimFirstLine removes white space up to the first line break. opm skips it before it tries a text as YAML that
// is not JSON.
func trimFirstLine(text string) string {
	for i, r := range text {
		if !unicode.IsSpace(r) {
			return text[i:]
		}
		if r == '\n' {
			return text[i+1:]
		}
	}
	return ""
}

// firstDocument splits a stream at the second line that begins with three dashes, or at the first if anything
// precedes it, even a comment. Line ends become LF, and the last line gets one.
func firstDocument(text string) (doc, rest string, err error) {
	if strings.Contains(text, "\r\n") {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	for at := 0; at < len(text); {
		end := at + strings.IndexByte(text[at:], '\n') + 1
		if after, found := strings.CutPrefix(text[at:end], "---"); found {
			if after = strings.TrimSpace(after); after != "" && after[0] != '#' {
				return "", "", fmt.Errorf("the document separator is followed by %q", after)
			}
			if at > 0 {
				return text[:at], text[end:], nil
			}
		}
		next := strings.Index(text[end-1:], "\n---")
		if next < 0 {
			break
		}
		at = end + next
	}
	return text, "", nil
}

// errNoKind is the reason for which opm skips an otherwise valid manifest.
var errNoKind = errors.New("it has no kind")

// Identity checks what opm requires of every object: a mapping with a kind, and an apiVersion of at most two
// parts. It returns these parts and the kind.
func (v Value) Identity() (group, version, kind string, err error) {
	if v.Kind != Map {
		return "", "", "", fmt.Errorf("it is %s, not an object", v.Kind)
	}
	kind = v.Str("kind")
	if kind == "" {
		return "", "", "", errNoKind
	}
	api := v.Str("apiVersion")
	switch strings.Count(api, "/") {
	case 0:
		return "", api, kind, nil
	case 1:
		group, version, _ = strings.Cut(api, "/")
		return group, version, kind, nil
	}
	return "", "", "", fmt.Errorf("its apiVersion %q has more than two parts", api)
}
