package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/olmgraft/graft/internal/explorer"
)

func TestExplorerServed(t *testing.T) {
	s := servedBy(t, servedCatalog)
	w := askGraph(s, "GET", "/")
	if body := w.Body.String(); w.Code != 200 || !strings.Contains(body, "connect-src 'self'") || !strings.Contains(body, `<body data-version="`+s.version+`">`) || s.version == "" {
		t.Errorf("%d %.600s", w.Code, body)
	}
	if w := askGraph(s, "GET", "/", "If-None-Match", w.Header().Get("ETag")); w.Code != 304 {
		t.Errorf("a page that is known: %d", w.Code)
	}
	for _, path := range []string{"/", eventsPath} {
		if w := askGraph(s, "POST", path); w.Code != 405 || w.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("POST %s: %d", path, w.Code)
		}
	}
	s.platforms = nil
	s.read = func(context.Context) ([]explorer.Platform, error) { return nil, errors.New("it is gone") }
	if w := askGraph(s, "GET", "/"); w.Code != 500 || w.Body.String() != "it is gone\n" {
		t.Errorf("nothing to show: %d %s", w.Code, w.Body)
	}
}

// A page receives each change, and the error while the catalog is unreadable.
func TestExplorerHears(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "catalog.yaml")
	put := func(text string) { // in one step: half a file is a valid catalog too
		t.Helper()
		writeFile(t, filepath.Join(dir, "next"), text)
		if err := os.Rename(filepath.Join(dir, "next"), file); err != nil {
			t.Fatal(err)
		}
	}
	put(servedCatalog)
	o := &graphOptions{}
	said := 0
	s := &graphServer{every: 1 << 60, shown: explorer.Options{Live: true}, hosts: func(string) bool { return true }, say: func(error) { said++ },
		read:  func(ctx context.Context) ([]explorer.Platform, error) { return o.explored(ctx, []string{file}) },
		stamp: func() string { return stampOf([]source{{"", file, ""}}) }}
	server := httptest.NewServer(s)
	defer server.Close()
	resp, err := http.Get(server.URL + eventsPath)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	next := func() (version, trouble string) {
		t.Helper()
		for lines.Scan() {
			if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				var news struct{ Version, Trouble string }
				if err := json.Unmarshal([]byte(text), &news); err != nil {
					t.Fatal(err)
				}
				return news.Version, news.Trouble
			}
		}
		t.Fatal(lines.Err())
		return "", ""
	}
	first, trouble := next()
	if first == "" || trouble != "" {
		t.Errorf("it begins with %q, %q", first, trouble)
	}
	put("---\nschema: [\n")
	if version, trouble := next(); version != first || !strings.Contains(trouble, "catalog.yaml") || said != 1 {
		t.Errorf("a torn catalog: %q, %q, said %d times", version, trouble, said)
	}
	put(strings.ReplaceAll(servedCatalog, "1.1.0", "1.2.0"))
	if version, trouble := next(); version == first || trouble != "" {
		t.Errorf("another catalog: %q, %q", version, trouble)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, trouble := next(); !strings.Contains(trouble, "there is no such file") {
		t.Errorf("no catalog: %q", trouble)
	}
}

// An editor empties a file before it writes it. The explorer never shows the empty catalog.
func TestExplorerWaitsForWrites(t *testing.T) {
	platforms, err := servedBy(t, servedCatalog).current(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		s := &graphServer{every: 1 << 60, shown: explorer.Options{Live: true}, stamp: func() string {
			return []string{"before", "emptied", "written"}[min(2, time.Since(begun)/(120*time.Millisecond))]
		}}
		var read []string
		s.read = func(context.Context) ([]explorer.Platform, error) {
			read = append(read, s.stamp())
			return platforms, nil
		}
		for range 2 {
			if _, _, _, err := s.explored(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(200 * time.Millisecond)
		}
		if want := []string{"before", "written"}; !slices.Equal(read, want) || s.stamped != "written" {
			t.Errorf("Graft read %q with the stamp %s, not %q", read, s.stamped, want)
		}
		never := 0
		s.stamp = func() string { never++; return strconv.Itoa(never) }
		if _, _, _, err := s.explored(t.Context()); err != nil || len(read) != 3 {
			t.Errorf("files that never stop changing were read %d times: %v", len(read)-2, err)
		}
	})
}

// A catalog's folder may be a link.
func TestStampOfALink(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "catalog")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "catalog.yaml"), "a")
	before := stampOf([]source{{catalog: link}})
	writeFile(t, filepath.Join(dir, "catalog.yaml"), "ab")
	if stampOf([]source{{catalog: link}}) == before {
		t.Error("it does not notice that a file behind the link changed")
	}
}
