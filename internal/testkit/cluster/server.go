// Package cluster imitates the API server of a cluster: kinds, versioned objects and watches. The tests of
// internal/controller/suite run against it, and conformance/cluster runs the same tests against a real API
// server.
package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Kind describes a kind that the server serves.
type Kind struct {
	Group, Version, Name, Plural string
	Namespaced                   bool
	Status                       bool // a subresource: a write to the object does not change it
}

// Server implements http.Handler.
type Server struct {
	mu       sync.Mutex
	version  string
	kinds    []Kind
	objects  map[key]object
	history  []event
	revision int
	changed  chan struct{} // closed with the next event
}

type object = map[string]any

type key struct{ group, plural, namespace, name string }

// New returns a server for events and leases, which every cluster has.
func New() *Server {
	s := &Server{version: "v1.20.0", objects: map[key]object{}, changed: make(chan struct{})}
	s.Serve(Kind{"", "v1", "Event", "events", true, false})
	s.Serve(Kind{"coordination.k8s.io", "v1", "Lease", "leases", true, false})
	return s
}

// Serve adds a kind.
func (s *Server) Serve(k Kind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kinds = append(s.kinds, k)
}

// call is a request with the kind, key and subresource that its path names.
type call struct {
	*http.Request
	kind Kind
	key
	subresource string
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	var group string
	switch {
	case r.URL.Path == "/version":
		reply(w, http.StatusOK, object{"gitVersion": s.version})
		return
	case path[0] == "api" && len(path) >= 2:
		path = path[1:]
	case path[0] == "apis" && len(path) >= 3:
		group, path = path[1], path[2:]
	default:
		reply(w, http.StatusNotFound, status(http.StatusNotFound, "NotFound", "the server could not find the requested resource"))
		return
	}
	if len(path) == 1 {
		s.discover(w, group, path[0])
		return
	}
	c, ok := s.parse(r, group, path[0], path[1:])
	if !ok {
		reply(w, http.StatusNotFound, status(http.StatusNotFound, "NotFound", "the server could not find the requested resource"))
		return
	}
	if c.name == "" && r.Method == http.MethodGet && r.URL.Query().Get("watch") != "" {
		s.watch(w, c)
		return
	}
	body, err := s.answer(c)
	if refusal := (*refused)(nil); errors.As(err, &refusal) {
		reply(w, refusal.code, status(refusal.code, refusal.reason, refusal.message))
		return
	}
	code := http.StatusOK
	if r.Method == http.MethodPost {
		code = http.StatusCreated
	}
	reply(w, code, body)
}

func (s *Server) discover(w http.ResponseWriter, group, version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	resources := []object{}
	for _, k := range s.kinds {
		if k.Group == group && k.Version == version {
			resources = append(resources, object{"name": k.Plural, "kind": k.Name, "namespaced": k.Namespaced, "verbs": []string{"get", "list", "watch"}})
		}
	}
	if len(resources) == 0 {
		reply(w, http.StatusNotFound, status(http.StatusNotFound, "NotFound", "the server could not find the requested resource"))
		return
	}
	gv := strings.TrimPrefix(group+"/"+version, "/")
	reply(w, http.StatusOK, object{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": gv, "resources": resources})
}

func (s *Server) parse(r *http.Request, group, version string, path []string) (*call, bool) {
	c := &call{Request: r, key: key{group: group}}
	if path[0] == "namespaces" && len(path) > 2 {
		c.namespace, path = path[1], path[2:]
	}
	c.plural = path[0]
	if len(path) > 1 {
		c.name = path[1]
	}
	if len(path) > 2 {
		c.subresource = path[2]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.kinds, func(k Kind) bool { return k.Group == group && k.Version == version && k.Plural == c.plural })
	if i < 0 {
		return nil, false
	}
	c.kind = s.kinds[i]
	return c, c.subresource == "" || c.subresource == "status" && c.kind.Status
}

// refused is an answer with a status other than 2xx.
type refused struct {
	code            int
	reason, message string
}

func (r *refused) Error() string { return r.message }

func status(code int, reason, message string) object {
	return object{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": message}
}

func (s *Server) answer(c *call) (object, error) {
	var body object
	if c.Method != http.MethodGet && c.Method != http.MethodDelete {
		if err := json.NewDecoder(c.Body).Decode(&body); err != nil {
			return nil, &refused{http.StatusBadRequest, "BadRequest", err.Error()}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case c.Method == http.MethodPost && c.name == "":
		return s.create(c, body)
	case c.Method == http.MethodGet && c.name == "":
		return object{"kind": c.kind.Name + "List", "apiVersion": c.apiVersion(), "metadata": object{"resourceVersion": strconv.Itoa(s.revision)}, "items": s.list(c)}, nil
	}
	was, ok := s.objects[c.key]
	if !ok {
		return nil, &refused{http.StatusNotFound, "NotFound", fmt.Sprintf("%s %q not found", c.plural, c.name)}
	}
	switch c.Method {
	case http.MethodGet:
		return c.shown(was), nil
	case http.MethodPut:
		return s.change(c, was, body)
	case http.MethodPatch:
		if got := c.Header.Get("Content-Type"); got != "application/merge-patch+json" {
			return nil, &refused{http.StatusUnsupportedMediaType, "UnsupportedMediaType", got}
		}
		return s.change(c, was, merge(c.shown(was), body).(object))
	case http.MethodDelete:
		return s.remove(c, was), nil
	}
	return nil, &refused{http.StatusMethodNotAllowed, "MethodNotAllowed", c.Method}
}

func (s *Server) create(c *call, body object) (object, error) {
	metadata, _ := body["metadata"].(object)
	c.name, _ = metadata["name"].(string)
	if _, ok := s.objects[c.key]; ok {
		return nil, &refused{http.StatusConflict, "AlreadyExists", fmt.Sprintf("%s %q already exists", c.plural, c.name)}
	}
	metadata["uid"], metadata["creationTimestamp"] = fmt.Sprint(s.revision), time.Now().UTC().Format(time.RFC3339)
	if c.namespace != "" {
		metadata["namespace"] = c.namespace
	}
	if c.kind.Status {
		delete(body, "status")
	}
	return c.shown(s.put(c.key, "ADDED", body)), nil
}

// change refuses a change that was made on another version of the object. It writes nothing if nothing differs.
func (s *Server) change(c *call, was, now object) (object, error) {
	old, metadata := was["metadata"].(object), now["metadata"].(object)
	if upon, ok := metadata["resourceVersion"]; ok && upon != "" && upon != old["resourceVersion"] {
		return nil, &refused{http.StatusConflict, "Conflict", fmt.Sprintf("%s %q: the object has been modified", c.plural, c.name)}
	}
	if c.subresource == "status" {
		status := now["status"]
		now = clone(was)
		now["status"] = status
	} else {
		for _, fixed := range []string{"resourceVersion", "uid", "creationTimestamp", "deletionTimestamp"} {
			delete(metadata, fixed)
			if old[fixed] != nil {
				metadata[fixed] = old[fixed]
			}
		}
		if c.kind.Status {
			delete(now, "status")
			if was["status"] != nil {
				now["status"] = was["status"]
			}
		}
	}
	now["apiVersion"] = was["apiVersion"]
	if now = clone(now); reflect.DeepEqual(now, was) {
		return c.shown(was), nil
	}
	if finalizers, _ := now["metadata"].(object)["finalizers"].([]any); old["deletionTimestamp"] != nil && len(finalizers) == 0 {
		return s.remove(c, now), nil
	}
	return c.shown(s.put(c.key, "MODIFIED", now)), nil
}

// remove deletes an object, or marks it for deletion while it has finalizers.
func (s *Server) remove(c *call, was object) object {
	metadata := was["metadata"].(object)
	if finalizers, _ := metadata["finalizers"].([]any); len(finalizers) > 0 {
		if metadata["deletionTimestamp"] == nil {
			was = clone(was)
			was["metadata"].(object)["deletionTimestamp"] = time.Now().UTC().Format(time.RFC3339)
			was = s.put(c.key, "MODIFIED", was)
		}
		return c.shown(was)
	}
	gone := s.put(c.key, "DELETED", clone(was))
	delete(s.objects, c.key)
	return c.shown(gone)
}

// put stores the object under the next version and notifies the watchers.
func (s *Server) put(k key, what string, now object) object {
	s.revision++
	now["metadata"].(object)["resourceVersion"] = strconv.Itoa(s.revision)
	now = clone(now)
	s.objects[k] = now
	s.history = append(s.history, event{what, k, s.revision, now})
	close(s.changed)
	s.changed = make(chan struct{})
	return now
}

func (s *Server) list(c *call) []object {
	all := []object{}
	for _, k := range slices.SortedFunc(maps.Keys(s.objects), func(a, b key) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) }) {
		if c.shows(k) {
			all = append(all, c.shown(s.objects[k]))
		}
	}
	return all
}

// shows reports whether a list or watch includes an object.
func (c *call) shows(k key) bool {
	return k.group == c.group && k.plural == c.plural && (c.namespace == "" || k.namespace == c.namespace)
}

// shown returns the object in the requested version. All versions have the same content.
func (c *call) shown(o object) object {
	o = clone(o)
	o["apiVersion"], o["kind"] = c.apiVersion(), c.kind.Name
	return o
}

func (c *call) apiVersion() string { return strings.TrimPrefix(c.kind.Group+"/"+c.kind.Version, "/") }

// merge applies a JSON merge patch (RFC 7386).
func merge(target, patch any) any {
	change, ok := patch.(object)
	if !ok {
		return patch
	}
	out, ok := target.(object)
	if !ok {
		out = object{}
	}
	for name, value := range change {
		if value == nil {
			delete(out, name)
			continue
		}
		out[name] = merge(out[name], value)
	}
	return out
}

// clone copies an object and converts its values to JSON's types.
func clone(o object) (copied object) {
	text, err := json.Marshal(o)
	if err == nil {
		err = json.Unmarshal(text, &copied)
	}
	if err != nil {
		panic(err) // it was JSON
	}
	return copied
}

func reply(w http.ResponseWriter, code int, body object) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}
