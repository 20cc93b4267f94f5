package registry

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// announcement is the notification that the distribution project's registry sends after a push.
type announcement struct {
	Events []pushed `json:"events"`
}

type pushed struct {
	ID        string            `json:"id"`
	Timestamp time.Time         `json:"timestamp"`
	Action    string            `json:"action"`
	Target    pushTarget        `json:"target"`
	Request   map[string]string `json:"request"`
	Actor     struct{}          `json:"actor"`
	Source    map[string]string `json:"source"`
}

type pushTarget struct {
	MediaType  string `json:"mediaType"`
	Digest     string `json:"digest"`
	Size       int64  `json:"size"`
	Length     int64  `json:"length"`
	Repository string `json:"repository"`
	URL        string `json:"url"`
	Tag        string `json:"tag,omitempty"`
}

// Announcements returns the bodies that the distribution project's registry would send for the push of
// repository:tag: one for each blob, and then one for the manifest. conformance/registries compares them with
// that registry.
func (s *Server) Announcements(ref string) ([][]byte, error) {
	repository, tag, _ := strings.Cut(ref, ":")
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://"+s.Addr+"/v2/"+repository+"/manifests/"+tag, nil)
	if err != nil {
		return nil, err
	}
	reply := s.direct(req)
	if reply.Status != http.StatusOK {
		return nil, fmt.Errorf("%s: %d %s", ref, reply.Status, reply.Body.String())
	}
	var manifest v1.Manifest
	if err := json.Unmarshal(reply.Body.Bytes(), &manifest); err != nil {
		return nil, err
	}
	var targets []pushTarget
	for _, blob := range append(manifest.Layers, manifest.Config) {
		targets = append(targets, pushTarget{
			MediaType: "application/octet-stream", Digest: blob.Digest.String(), Size: blob.Size, URL: "blobs",
		})
	}
	targets = append(targets, pushTarget{
		MediaType: string(manifest.MediaType), Digest: digestOf(reply.Body.Bytes()), Size: int64(reply.Body.Len()), URL: "manifests", Tag: tag,
	})
	var bodies [][]byte
	for i, t := range targets {
		t.Length, t.Repository = t.Size, repository
		t.URL = "http://" + s.Addr + "/v2/" + repository + "/" + t.URL + "/" + t.Digest
		body, err := json.Marshal(announcement{[]pushed{{
			ID: fmt.Sprintf("%s-%d", t.Digest[len(t.Digest)-8:], i), Timestamp: time.Now().UTC(), Action: "push", Target: t,
			Request: map[string]string{"id": fmt.Sprint("r-", i), "addr": "127.0.0.1:1", "host": s.Addr, "method": http.MethodPut, "useragent": "testkit"},
			Source:  map[string]string{"addr": s.Addr, "instanceID": "testkit"},
		}}})
		if err != nil {
			return nil, err
		}
		bodies = append(bodies, body)
	}
	return bodies, nil
}
