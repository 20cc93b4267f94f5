package workflows

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// mirror serves releases. answer may answer a request instead; n counts the requests of a path from 1.
type mirror struct {
	*httptest.Server
	mu   sync.Mutex
	seen map[string]int
}

func serve(t *testing.T, r release, answer func(w http.ResponseWriter, req *http.Request, n int) bool) *mirror {
	t.Helper()
	m := &mirror{seen: map[string]int{}}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		m.mu.Lock()
		m.seen[req.URL.Path]++
		n := m.seen[req.URL.Path]
		m.mu.Unlock()
		switch {
		case answer != nil && answer(w, req, n):
		case req.URL.Path == "/v"+r.version+"/"+r.archive:
			_, _ = w.Write(r.content)
		case req.URL.Path == "/v"+r.version+"/graft_"+r.version+"_attestation.json":
			_, _ = w.Write([]byte(`{"mediaType":"bundle"}`))
		default:
			http.NotFound(w, req)
		}
	}))
	t.Cleanup(m.Close)
	return m
}

// asked returns the number of requests for the archive.
func (m *mirror) asked(r release) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.seen["/v"+r.version+"/"+r.archive]
}

// The action installs, and later uses the archive in the tool cache unless it was changed.
func TestSetupInstalls(t *testing.T) {
	r := released(t)
	m := serve(t, r, nil)
	j := newJob(t, m.URL+"/")
	for i, want := range []int{1, 1, 2, 2} {
		if i == 2 {
			write(t, filepath.Join(j.env["RUNNER_TOOL_CACHE"], "graft", r.version, r.archive), []byte("changed"), 0o600)
		}
		if j.installs(r); m.asked(r) != want {
			t.Errorf("run %d: the archive was asked for %d times, want %d", i+1, m.asked(r), want)
		}
	}
	j.env["RUNNER_TOOL_CACHE"] = "/dev/null/cache"
	if j.installs(r); !strings.Contains(j.said, "the tool cache cannot be written") {
		t.Error(j.said)
	}
	delete(j.env, "RUNNER_TOOL_CACHE")
	j.installs(r)
	j.without("sha256sum")
	j.link("shasum", "/usr/bin/shasum")
	j.installs(r)
}

// gh gets the archive, the release's attestation bundle and the permitted signer, and no token.
func TestSetupVerifies(t *testing.T) {
	r := released(t)
	m := serve(t, r, nil)
	j := newJob(t, m.URL)
	j.env["GRAFT_ATTESTATION"] = "true"
	j.program("gh", `printf '%s\n' "$GH_HOST" "$@" >"$HOME/asked"; cp "$3" "$5" "$HOME"`)
	j.installs(r)
	want := strings.Split("github.com attestation verify ARCHIVE --bundle BUNDLE --repo olmgraft/graft --signer-workflow olmgraft/graft/.github/workflows/release.yml --deny-self-hosted-runners", " ")
	got := strings.Fields(string(read(t, filepath.Join(j.dir, "asked"))))
	if len(got) != len(want) {
		t.Fatalf("gh was given %v", got)
	}
	want[3], want[5] = got[3], got[5]
	if strings.Join(got, " ") != strings.Join(want, " ") || filepath.Base(got[3]) != r.archive {
		t.Errorf("gh was given %v", got)
	}
	if string(read(t, filepath.Join(j.dir, r.archive))) != string(r.content) || string(read(t, filepath.Join(j.dir, filepath.Base(got[5])))) != `{"mediaType":"bundle"}` {
		t.Error("gh was given other files")
	}
	if !strings.Contains(j.said, "checksum verified, attestation verified") {
		t.Error(j.said)
	}
}

// archive answers requests for archives alone.
func archive(give func(w http.ResponseWriter, n int)) func(http.ResponseWriter, *http.Request, int) bool {
	return func(w http.ResponseWriter, req *http.Request, n int) bool {
		if !strings.HasSuffix(req.URL.Path, ".tar.gz") {
			return false
		}
		give(w, n)
		return true
	}
}

// status answers requests for archives with an error.
func status(code int) func(http.ResponseWriter, *http.Request, int) bool {
	return archive(func(w http.ResponseWriter, _ int) { http.Error(w, "::error::no", code) })
}

// Each refusal is one annotation with a remedy, and nothing is installed.
func TestSetupRefuses(t *testing.T) {
	r := released(t)
	changed := append([]byte{}, r.content...)
	changed[len(changed)/2]++
	unreleased, err := filepath.Abs("../../setup")
	if err != nil {
		t.Fatal(err)
	}
	foreign := packed(t, []byte("\x7fELF of another machine"))
	for name, tt := range map[string]struct {
		release     *release
		answer      func(http.ResponseWriter, *http.Request, int) bool
		with        func(*job)
		class, part string
		asked       int
	}{
		"other bytes":              {answer: archive(func(w http.ResponseWriter, _ int) { _, _ = w.Write(changed) }), class: "checksum-mismatch", part: "has the SHA-256", asked: 1},
		"nothing":                  {answer: archive(func(http.ResponseWriter, int) {}), class: "checksum-mismatch", part: "has the SHA-256", asked: 1},
		"no such file":             {answer: status(404), class: "download-failed", part: "does not exist (HTTP 404)", asked: 1},
		"a mirror with passwords":  {answer: status(401), class: "download-failed", part: "answers HTTP 401", asked: 1},
		"a mirror that is down":    {answer: status(503), class: "download-failed", part: "HTTP 503, four times", asked: 4},
		"cut off, with its length": {answer: archive(func(w http.ResponseWriter, _ int) { cut(w, r.content, true) }), class: "download-failed", part: "curl ends with 18, four times", asked: 4},
		"cut off, with no length":  {answer: archive(func(w http.ResponseWriter, _ int) { cut(w, r.content, false) }), class: "checksum-mismatch", part: "has the SHA-256", asked: 1},
		"without end":              {answer: archive(func(w http.ResponseWriter, _ int) { endless(w) }), class: "download-failed", part: "larger than 67108864 bytes", asked: 1},
		"another kind of address": {answer: archive(func(w http.ResponseWriter, _ int) {
			w.Header().Set("Location", "file:///etc/passwd")
			w.WriteHeader(302)
		}), class: "download-failed", part: "neither http nor https", asked: 1},
		"another machine's binary":   {release: &foreign, class: "platform-unsupported", part: "does not run here", asked: 1},
		"another machine":            {with: func(j *job) { j.program("uname", `[ "$1" = -s ] && echo Linux || echo riscv64`) }, class: "platform-unsupported", part: "amd64 and arm64"},
		"another system":             {with: func(j *job) { j.program("uname", `[ "$1" = -s ] && echo MINGW64_NT-10.0 || echo x86_64`) }, class: "platform-unsupported", part: "Linux and macOS"},
		"a commit without a release": {release: &release{version: r.version, archive: r.archive, action: unreleased}, class: "release-missing", part: "is no release"},
		"no folder":                  {with: func(j *job) { j.env["RUNNER_TEMP"] = "/dev/null/temp" }, class: "unwritable", part: "cannot write to RUNNER_TEMP"},
		"a full disk":                {with: func(j *job) { j.program("tar", "exit 2") }, class: "unwritable", part: "cannot be unpacked", asked: 1},
		"no curl":                    {with: func(j *job) { j.without("curl") }, class: "program-missing", part: "no curl"},
		"no sha256sum":               {with: func(j *job) { j.without("sha256sum") }, class: "program-missing", part: "neither sha256sum nor shasum"},
		"no gh":                      {with: func(j *job) { j.env["GRAFT_ATTESTATION"] = "true" }, class: "attestation-unverified", part: "There is no gh"},
		"gh refuses": {with: func(j *job) {
			j.env["GRAFT_ATTESTATION"] = "true"
			j.program("gh", "printf '::error::forged\\n ::warning::forged ##[error]\\n'; exit 1")
		}, class: "attestation-unverified", part: "gh does not verify", asked: 1},
		"no attestation": {with: func(j *job) {
			j.env["GRAFT_ATTESTATION"] = "true"
			j.program("gh", "exit 0")
		}, answer: func(w http.ResponseWriter, req *http.Request, _ int) bool {
			if strings.HasSuffix(req.URL.Path, ".json") {
				http.NotFound(w, req)
				return true
			}
			return false
		}, class: "download-failed", part: "_attestation.json does not exist", asked: 1},
		"attestation: yes":         {with: func(j *job) { j.env["GRAFT_ATTESTATION"] = "yes" }, class: "usage", part: "neither true nor false"},
		"a file":                   {with: func(j *job) { j.env["GRAFT_URL"] = "file:///srv" }, class: "usage", part: "no http or https address"},
		"a password in the url":    {with: func(j *job) { j.env["GRAFT_URL"] = "https://me:secret@mirror.example.com" }, class: "usage", part: "no plain address"},
		"a command in the url":     {with: func(j *job) { j.env["GRAFT_URL"] = "https://a.b/$(touch pwned)" }, class: "usage", part: "no plain address"},
		"an annotation in the url": {with: func(j *job) { j.env["GRAFT_URL"] = "https://a.b/\n::warning::forged" }, class: "usage", part: "no plain address"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := r
			if tt.release != nil {
				r = *tt.release
			}
			m := serve(t, r, tt.answer)
			j := newJob(t, m.URL)
			if tt.with != nil {
				tt.with(j)
			}
			j.refuses(r, tt.class, tt.part)
			if got := m.asked(r); got != tt.asked {
				t.Errorf("the archive was asked for %d times, want %d", got, tt.asked)
			}
			if found, _ := filepath.Glob(filepath.Join(j.dir, "pwned")); len(found) > 0 {
				t.Error("the url ran")
			}
			if kept, _ := os.ReadDir(j.env["RUNNER_TOOL_CACHE"]); len(kept) > 0 && tt.class == "checksum-mismatch" {
				t.Error("it is kept in the tool cache")
			}
		})
	}
}

// cut sends half of the content and closes the connection.
func cut(w http.ResponseWriter, content []byte, length bool) {
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	head := "HTTP/1.0 200 OK\r\n\r\n"
	if length {
		head = fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", len(content))
	}
	_, _ = buffered.WriteString(head)
	_, _ = buffered.Write(content[:len(content)/2])
	_ = buffered.Flush()
}

// endless sends until the client disconnects.
func endless(w http.ResponseWriter) {
	for zeros := make([]byte, 1<<20); ; {
		if _, err := w.Write(zeros); err != nil {
			return
		}
	}
}

// Temporary errors are retried, and GitHub's own redirects are followed.
func TestSetupTriesAgain(t *testing.T) {
	r := released(t)
	m := serve(t, r, func(w http.ResponseWriter, req *http.Request, n int) bool {
		switch {
		case req.URL.Path == "/elsewhere":
			_, _ = w.Write(r.content)
		case n == 1:
			w.WriteHeader(http.StatusBadGateway)
		case n == 2:
			cut(w, r.content, true)
		default:
			http.Redirect(w, req, "/elsewhere", http.StatusFound)
		}
		return true
	})
	j := newJob(t, m.URL)
	if j.installs(r); strings.Count(j.said, "; trying again in ") != 2 {
		t.Error(j.said)
	}
}
