package cluster

import (
	"encoding/json"
	"net/http"
	"strconv"
)

// event is one change of an object.
type event struct {
	what     string
	key      key
	revision int
	object   object
}

// watch streams the changes after a version until the client disconnects. If the client asks for initial
// events, watch first sends the present objects and then a bookmark.
func (s *Server) watch(w http.ResponseWriter, c *call) {
	query, out := c.URL.Query(), json.NewEncoder(w)
	flush := http.NewResponseController(w).Flush
	w.Header().Set("Content-Type", "application/json")
	say := func(what string, o object) error { return out.Encode(object{"type": what, "object": o}) }
	after, err := strconv.Atoi(query.Get("resourceVersion"))
	if query.Get("sendInitialEvents") == "true" || err != nil || after == 0 {
		s.mu.Lock()
		all, revision := s.list(c), s.revision
		s.mu.Unlock()
		after = revision
		for _, one := range all {
			_ = say("ADDED", one)
		}
		_ = say("BOOKMARK", object{"kind": c.kind.Name, "apiVersion": c.apiVersion(), "metadata": object{
			"resourceVersion": strconv.Itoa(revision), "annotations": object{"k8s.io/initial-events-end": "true"},
		}})
	}
	for {
		s.mu.Lock()
		fresh, changed := s.history[min(after, len(s.history)):], s.changed
		s.mu.Unlock()
		for _, e := range fresh {
			after = e.revision
			if c.shows(e.key) && say(e.what, c.shown(e.object)) != nil {
				return
			}
		}
		if flush() != nil {
			return
		}
		select {
		case <-changed:
		case <-c.Context().Done():
			return
		}
	}
}
