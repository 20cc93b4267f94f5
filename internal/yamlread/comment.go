package yamlread

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Comment gives the comment that begins at an offset of a text, as far as it is one line; "" for none.
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

// InJSON gives the comment at which a text stops to be JSON, and its offset; "" for none.
func InJSON(text []byte) (comment string, at int) {
	var value json.RawMessage
	var fault *json.SyntaxError
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&value); !errors.As(err, &fault) {
		return "", 0
	}
	at = max(int(fault.Offset)-1, 0)
	return Comment(text, at), at
}
