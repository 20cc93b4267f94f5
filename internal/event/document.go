package event

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/reference"
)

// Limits on the cost of an event. Real ones are far smaller: GitHub's have about 500 values, eight levels deep,
// in 40 KiB.
const (
	MaxBody         = 1 << 20
	maxDepth        = 64
	maxValues       = 50_000
	maxPublications = 1000
)

// reader collects the content of an event, and its first fault.
type reader struct {
	form      FormName
	err       error
	named     bool // the sender named the image for Graft; a registry announces every push
	published []Publication
	skipped   []Skipped
	told      map[string]bool // keys of skipped
	moved     []Skipped
	values    int
}

// Node is a value in an event with its JSON path. A missing value is a Node without value. The reader keeps the
// first fault, so that a form can read without checking errors.
type Node struct {
	r     *reader
	path  string
	value any // nil when absent or null
}

// decode reads the body into a tree. It distinguishes the case of keys, and refuses a repeated key, because two
// readers could choose different values.
func decode(form FormName, body []byte) (Node, error) {
	r := &reader{form: form, told: map[string]bool{}}
	root := r.tree("$", body)
	return root, r.err
}

func (r *reader) tree(path string, body []byte) Node {
	root := Node{r: r, path: path}
	if len(body) > MaxBody {
		root.Fail("has %d bytes, more than %d", len(body), MaxBody)
		return root
	}
	var valid json.RawMessage
	if err := json.Unmarshal(body, &valid); err != nil {
		root.Fail("is not JSON: %s", jsonFault(err))
		return root
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	root.value = root.build(dec, 0)
	return root
}

// build returns the next value. The body is valid JSON.
func (n Node) build(dec *json.Decoder, depth int) any {
	token, err := dec.Token()
	n.r.values++
	switch {
	case err != nil:
		n.Fail("is not JSON: %v", err)
		return nil
	case depth > maxDepth:
		n.Fail("is nested deeper than %d", maxDepth)
		return nil
	case n.r.values > maxValues:
		n.Fail("holds more than %d values", maxValues)
		return nil
	}
	switch token {
	case json.Delim('{'):
		object := map[string]any{}
		for n.r.err == nil && dec.More() {
			key, err := dec.Token()
			name, ok := key.(string)
			if err != nil || !ok {
				n.Fail("is not an object")
				return nil
			}
			if _, ok := object[name]; ok {
				n.Fail("has %s twice", quote(name))
				return nil
			}
			object[name] = n.build(dec, depth+1)
		}
		n.closing(dec)
		return object
	case json.Delim('['):
		list := []any{}
		for n.r.err == nil && dec.More() {
			list = append(list, n.build(dec, depth+1))
		}
		n.closing(dec)
		return list
	}
	return token
}

func (n Node) closing(dec *json.Decoder) {
	if n.r.err == nil {
		_, _ = dec.Token()
	}
}

func jsonFault(err error) string {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Sprintf("%v at byte %d", err, syntax.Offset)
	}
	return err.Error()
}

// object returns the value as an object, or nil.
func (n Node) object() map[string]any {
	body, _ := n.value.(map[string]any)
	return body
}

// Has reports whether the value has all of the keys. Like Says it records no fault, because both serve to detect
// forms.
func (n Node) Has(keys ...string) bool {
	return !slices.ContainsFunc(keys, func(k string) bool { return n.object()[k] == nil })
}

// Says returns a text of the value, or "".
func (n Node) Says(key string) string {
	s, _ := n.object()[key].(string)
	return s
}

// Get returns the value of a key. It records a fault if n is not an object.
func (n Node) Get(key string) Node {
	child := Node{r: n.r, path: n.path + "." + key}
	switch v := n.value.(type) {
	case nil:
	case map[string]any:
		child.value = v[key]
	default:
		n.Fail("is not an object")
	}
	return child
}

// Items returns the items of a list.
func (n Node) Items() []Node {
	if n.value == nil {
		return nil
	}
	list, ok := n.value.([]any)
	if !ok {
		n.Fail("is not a list")
	}
	out := make([]Node, len(list))
	for i, v := range list {
		out[i] = Node{r: n.r, path: fmt.Sprintf("%s[%d]", n.path, i), value: v}
	}
	return out
}

// Text returns a text, or "" if it is absent.
func (n Node) Text() string {
	if n.value == nil {
		return ""
	}
	s, ok := n.value.(string)
	if !ok {
		n.Fail("is not a text")
	}
	return s
}

// Must returns a text. It records a fault if the text is absent.
func (n Node) Must() string {
	s := n.Text()
	if s == "" {
		n.Fail("is missing")
	}
	return s
}

// Image reads a required image reference that names its registry. Only people, not registries, omit the registry
// for Docker Hub.
func (n Node) Image() Publication {
	p, err := parseReference(n.Must())
	if _, _, ok := reference.CutRegistry(n.Text()); err == nil && !ok {
		err = fmt.Errorf("%s names no registry", quote(n.Text()))
	}
	if err != nil {
		n.Fail("%v", err)
	}
	return p
}

// Tag returns a tag, or "" if it is absent.
func (n Node) Tag() string {
	s := n.Text()
	if s != "" && !reference.IsTag(s) {
		n.Fail("%s is not a tag", quote(s))
	}
	return s
}

// Digest returns a digest, or "" if it is absent.
func (n Node) Digest() string {
	s := n.Text()
	if s != "" && !reference.IsDigest(s) {
		n.Fail("%s is not a digest: sha256 with 64 or sha512 with 128 hexadecimal digits", quote(s))
	}
	return s
}

// Agrees returns whichever text is not empty. It records a fault if the two differ.
func (n Node) Agrees(known, said string) string {
	if known != "" && said != "" && known != said {
		n.Fail("says %s, and the event says %s elsewhere", quote(said), quote(known))
	}
	return cmp.Or(said, known)
}

// Fail records a fault, unless there already is one.
func (n Node) Fail(format string, args ...any) {
	if n.r.err != nil {
		return
	}
	what := "event"
	if n.r.form != "" {
		what = string(n.r.form) + " event"
	}
	n.r.err = failure.New(failure.Usage, "reading the %s: %s: %s", what, n.path, fmt.Sprintf(format, args...)).
		Fix("Send the event as the registry makes it, or a client_payload with the image as registry/repository:tag.")
}

// quote prepares foreign text for a message: one line, bounded, visible.
func quote(s string) string {
	const most = 80
	if len(s) > most {
		cut := most
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		return fmt.Sprintf("%q...", s[:cut])
	}
	return fmt.Sprintf("%q", s)
}
