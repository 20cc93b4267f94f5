package relay

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/olmgraft/graft/internal/event"
	"github.com/olmgraft/graft/internal/relay/queue"
)

// delivery is one announcement to one repository.
type delivery struct {
	To      string          `json:"to"`
	Type    string          `json:"type"`
	ID      string          `json:"id"`
	Image   string          `json:"image"`
	Payload json.RawMessage `json:"payload"`
	// Trace is the traceparent of a traced announcement.
	Trace string `json:"trace,omitempty"`
}

// longestPayload is GitHub's limit.
const longestPayload = 65_535

// told is a payload with the trace of its announcement.
type told struct {
	event.Payload
	Trace string `json:"x-traceparent,omitempty"`
}

// tagWindow is for announcements by tag alone without any distinguishing mark. A second one can be a repetition
// of the first, or the tag may have moved. A sender repeats within minutes.
const tagWindow = 10 * time.Minute

// deliveries returns the deliveries of a publication, one for each repository that receives it. Two deliveries
// are duplicates if they have the same content for the same repository:
//
// 1. The content is repository, tag and digest, and the sender's claims about the bundle. A digest under
// another tag is a new delivery, because the first tag may be gone when it is read. 2. If the sender names its
// announcement (the id of a client_payload), another name makes another announcement. 3. Without a digest, mark
// takes its place: the sender's name for the delivery, or the time in it. Without a mark the window is
// tagWindow.
//
// The id in the payload is the key, so that receivers can detect duplicates too. In the last case of 3 it is
// random, because the next one may be another announcement.
func (c *Config) deliveries(p event.Publication, mark, trace string) ([]queue.Entry, error) {
	var entries []queue.Entry
	for _, h := range c.hear(p.Repository) {
		e, err := c.entry(p, mark, h, trace)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

func (c *Config) entry(p event.Publication, mark string, h hearing, trace string) (queue.Entry, error) {
	said := p.Payload()
	said.Source, said.ID = "", ""
	if p.Digest != "" {
		mark = ""
	}
	key, err := keyOf(h.to, h.eventType, said, p.ID, mark)
	if err != nil {
		return queue.Entry{}, err
	}
	within, id := c.ReplayWindow, key
	if p.Digest == "" && mark == "" && p.ID == "" {
		within, id = min(within, tagWindow), random()
	}
	said = p.Payload()
	said.ID = id
	payload, err := written(said, trace)
	if err != nil {
		return queue.Entry{}, err
	}
	data, err := json.Marshal(delivery{To: h.to, Type: h.eventType, ID: id, Image: p.Image(), Payload: payload, Trace: trace})
	return queue.Entry{Key: key, Within: within, To: h.to, From: p.Repository, Data: data}, err
}

// written returns the payload to send, with its trace if there is room.
func written(said event.Payload, trace string) ([]byte, error) {
	payload, err := said.Marshal()
	if err != nil || trace == "" {
		return payload, err
	}
	if with, err := json.Marshal(told{said, trace}); err != nil || len(with) <= longestPayload {
		return with, err
	}
	return payload, nil
}

// keyOf returns a key that fits into the id of a client_payload.
func keyOf(parts ...any) (string, error) {
	text, err := json.Marshal(parts)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16]), err
}

func random() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // it never fails
	return hex.EncodeToString(b)
}
