package fakegithub

import (
	"encoding/json"
	"net/http"
)

// Dispatch is a repository_dispatch event that the server received.
type Dispatch struct {
	Owner, Repo string
	EventType   string
	Payload     json.RawMessage
	Sender      string
}

// Dispatches returns the events received so far.
func (s *Server) Dispatches() []Dispatch {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Dispatch(nil), s.dispatches...)
}

type dispatchBody struct {
	EventType string          `json:"event_type"`
	Payload   json.RawMessage `json:"client_payload"`
}

func (c *call) dispatch(ask dispatchBody) reply {
	var properties map[string]any
	if len(ask.Payload) > 0 && json.Unmarshal(ask.Payload, &properties) != nil {
		return failed(http.StatusUnprocessableEntity, "Invalid request. client_payload is not an object.")
	}
	switch {
	case ask.EventType == "" || len(ask.EventType) > 100:
		return failed(http.StatusUnprocessableEntity, "Invalid request. event_type must have 1 to 100 characters.")
	case len(properties) > 10:
		return failed(http.StatusUnprocessableEntity, "Invalid request. No more than 10 properties are allowed; 11 were supplied.")
	}
	c.s.dispatches = append(c.s.dispatches, Dispatch{c.repo.Owner, c.repo.Name, ask.EventType, ask.Payload, c.who.Login})
	return empty()
}
