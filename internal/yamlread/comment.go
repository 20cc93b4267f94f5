package yamlread

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Comment returns the JavaScript comment at an offset of a text, up to the end of its line, or "".
func Comment(text []byte, at int) string {
	line, _, _ := bytes.Cut(text[at:], []byte("\n"))
	if !bytes.HasPrefix(line, []byte("//")) && !bytes.HasPrefix(line, []byte("/*")) {
		return ""
	}
	if end := bytes.Index(line, []byte("*/")); end > 0 && line[1] == '*' {
		line = line[:end+2]
	}
	return string(bytes.TrimSpace(line))
}

// InJSON returns the comment at which a text stops being JSON, and its offset. It returns "" if there is no such
// comment.
func InJSON(text []byte) (comment string, at int) {
	var value json.RawMessage
	var fault *json.SyntaxError
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&value); !errors.As(err, &fault) {
		return "", 0
	}
	at = max(int(fault.Offset)-1, 0)
	return Comment(text, at), at
}
