package forge

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/markdown"
)

// These limits leave most of a body for people. Only the commits hold longer requests.
const (
	longestMarker  = 16 << 10
	longestRequest = 12 << 10
)

// Marker is the data in a proposal's body, hidden in an HTML comment:
//
//	<!-- graft: {"key":"etcd/0.9.4","request":{...}} -->
type Marker struct {
	// Key has at most one open proposal.
	Key string `json:"key"`
	// Request holds the requests that the change answers, to make it again.
	Request json.RawMessage `json:"request,omitempty"`
	// Content is what the change makes, if the requests do not determine that.
	Content []string `json:"content,omitempty"`
	// Title is the last title from Graft. A different title was set by another client.
	Title string `json:"title,omitempty"`
	// Labels are those that Graft added and may remove.
	Labels []string `json:"labels,omitempty"`
	// Withdrawn says that Graft closed the proposal.
	Withdrawn bool `json:"withdrawn,omitempty"`
	// Within is the number of the proposal that contains this one since Graft closed it, or 0.
	Within int `json:"within,omitempty"`
}

// MarkerOf returns the marker of a new proposal.
func MarkerOf(c Change) (Marker, error) {
	request, err := json.Marshal(c.Requests)
	if err != nil {
		return Marker{}, failure.New(failure.Internal, "writing the request: %w", err)
	}
	m := Marker{Key: c.Key, Content: c.Content}
	if len(request) <= longestRequest {
		m.Request = request
	}
	if len(m.Request)+len(strings.Join(c.Content, `","`)) > longestRequest {
		m.Content = nil
	}
	return m, nil
}

// Requests returns the requests in the marker. If there were too many for a marker, it returns none.
func (m Marker) Requests() (requests []string, err error) {
	if len(m.Request) > 0 {
		err = json.Unmarshal(m.Request, &requests)
	}
	return requests, err
}

var (
	markerPattern = regexp.MustCompile(`<!-- graft: (\{[^\r\n]*?\}) -->`)
	dashes        = []byte("--")
	// In JSON, two dashes only occur in strings, where any character may be escaped.
	dashesEscaped = []byte(`-\u002d`)
)

// FormatMarker writes the comment. The content cannot close the comment: it has no angle bracket and no double
// dash.
func FormatMarker(m Marker) (string, error) {
	text, err := json.Marshal(m)
	if err != nil {
		return "", failure.New(failure.Internal, "writing the marker of a pull request: %w", err)
	}
	text = bytes.ReplaceAll(text, dashes, dashesEscaped)
	if len(text) > longestMarker {
		return "", failure.New(failure.Usage, "the request of %s is too long to be kept in a pull request: %d bytes, and %d are allowed",
			m.Key[:min(len(m.Key), 100)], len(text), longestMarker).
			Fix("Publish fewer bundles or channels at once.")
	}
	return "<!-- graft: " + string(text) + " -->", nil
}

// ParseMarker finds the marker in a body. AppendTo writes it at the end, so the last one counts.
func ParseMarker(body string) (Marker, bool) {
	all := markerPattern.FindAllStringSubmatch(body, -1)
	for i := len(all) - 1; i >= 0; i-- {
		var m Marker
		if json.Unmarshal([]byte(all[i][1]), &m) == nil && m.Key != "" {
			return m, true
		}
	}
	return Marker{}, false
}

// Withdraw returns the body with a marker that records that Graft closed the proposal, and the number of the one
// that contains it. A body without a marker is returned unchanged.
func Withdraw(body string, within, most int, pointer string) (string, error) {
	m, ours := ParseMarker(body)
	if !ours || m.Withdrawn {
		return body, nil
	}
	m.Withdrawn, m.Within = true, within
	return m.AppendTo(strings.TrimSpace(markerPattern.ReplaceAllString(body, "")), most, pointer)
}

// AppendTo appends the marker to a body and cuts the body if both exceed the limit. It does not append a marker
// without a key.
func (m Marker) AppendTo(body string, most int, pointer string) (string, error) {
	if m.Key == "" {
		return markdown.Limit(body, most, pointer), nil
	}
	text, err := FormatMarker(m)
	if err != nil {
		return "", err
	}
	body = strings.TrimRight(markdown.Limit(body, most-len(text)-2, pointer), "\n")
	if body == "" {
		return text, nil
	}
	return body + "\n\n" + text, nil
}
