package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/olmgraft/graft/internal/cli/catalogs"
	"github.com/olmgraft/graft/internal/explorer"
	"github.com/olmgraft/graft/internal/failure"
)

// eventsPath is the path of the explorer's events.
const eventsPath = "/events"

// While an explorer listens, Graft checks the files at this interval. An editor empties a file before it
// writes it, so Graft reads files that have not changed for a while, or that never stop changing.
const (
	lookEvery   = 500 * time.Millisecond
	quietFor    = 100 * time.Millisecond
	quietChecks = 10
)

// stampOf returns a value that changes with the names, sizes and times of the read files. It does not cover
// images.
func stampOf(sources []source) string {
	h := sha256.New()
	for _, s := range sources {
		for _, name := range []string{s.catalog, s.base} {
			if name == "" || catalogs.IsImage(name) {
				continue
			}
			if behind, err := filepath.EvalSymlinks(name); err == nil {
				name = behind // WalkDir does not enter a link
			}
			_ = filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error { // unreadable files are reported when they are read
				if err == nil {
					if info, err := d.Info(); err == nil {
						fmt.Fprintln(h, path, info.Size(), info.ModTime().UnixNano())
					}
				}
				return nil
			})
		}
	}
	return string(h.Sum(nil))
}

// settled waits until the files stop changing and returns their stamp.
func (s *graphServer) settled(stamp string) string {
	for range quietChecks {
		time.Sleep(quietFor)
		before := stamp
		if stamp = s.stamp(); stamp == before {
			break
		}
	}
	return stamp
}

// troubleOf returns why catalogs are unreadable, for viewers of the last content.
func troubleOf(err error) string {
	var lines []string
	for _, f := range failure.All(err) {
		lines = append(lines, f.Error())
	}
	if len(lines) == 0 {
		lines = []string{err.Error()}
	}
	return strings.Join(lines, "\n")
}

// explored returns the page for the current catalogs, its version, and the reason if they cannot be read.
func (s *graphServer) explored(ctx context.Context) (page []byte, version, trouble string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stamp := s.stamp()
	if s.platforms != nil && stamp != s.stamped {
		stamp = s.settled(stamp)
	}
	if err := s.load(ctx, stamp); err != nil {
		return nil, "", "", err
	}
	if s.page == nil {
		s.page, s.version = explorer.Served(s.platforms, s.shown)
	}
	return s.page, s.version, s.trouble, nil
}

// serveExplorer answers with the page, or sends its changes while the page listens.
func (s *graphServer) serveExplorer(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "the method is neither GET nor HEAD", http.StatusMethodNotAllowed)
		return
	}
	// A client that disconnects must not cancel the read for the others.
	ctx := context.WithoutCancel(r.Context())
	page, version, trouble, err := s.explored(ctx)
	if err != nil {
		http.Error(w, troubleOf(err), http.StatusInternalServerError)
		return
	}
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if r.URL.Path == "/" {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("ETag", fmt.Sprintf("%q", version))
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(page))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	for told := ""; err == nil; _, version, trouble, err = s.explored(ctx) {
		news, _ := json.Marshal(map[string]string{"version": version, "trouble": trouble}) // strings can always be encoded
		if told != string(news) {
			told = string(news)
			fmt.Fprintf(w, "data: %s\n\n", news)
			if http.NewResponseController(w).Flush() != nil {
				return
			}
		}
		select {
		case <-r.Context().Done():
			return
		case <-time.After(lookEvery):
		}
	}
}
