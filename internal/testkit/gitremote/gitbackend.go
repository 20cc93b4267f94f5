package gitremote

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/cgi"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// gitBackend serves requests with git http-backend, through CGI.
type gitBackend struct{ git string }

func (b gitBackend) serve(w http.ResponseWriter, r *http.Request, repo *Repo, _ Kind, body []byte) {
	// Requests race with each other, as on a real host. They do not race with the methods of Repo, which do not
	// take git's lock files.
	repo.mu.RLock()
	defer repo.mu.RUnlock()
	in := r.Clone(r.Context())
	in.Body = io.NopCloser(bytes.NewReader(body))
	in.ContentLength = int64(len(body))
	in.TransferEncoding = nil // CGI needs a length
	in.Header.Del("Authorization")
	h := &cgi.Handler{
		Path: b.git,
		Args: []string{"http-backend"},
		Dir:  repo.server.dir,
		Env: []string{
			"GIT_PROJECT_ROOT=" + repo.server.dir,
			"GIT_HTTP_EXPORT_ALL=1",
			"GIT_CONFIG_NOSYSTEM=1",
			"GIT_CONFIG_GLOBAL=" + os.DevNull,
			"REMOTE_USER=someone",
		},
		Logger: log.New(io.Discard, "", 0),
		Stderr: io.Discard,
	}
	h.ServeHTTP(w, in)
}

// gitConfig allows partial fetches and fetches by hash, as the large hosts do, and disables git's background
// maintenance.
const gitConfig = `[core]
	repositoryformatversion = 0
	filemode = true
	bare = true
[http]
	receivepack = true
[receive]
	autogc = false
[gc]
	auto = 0
[uploadpack]
	allowFilter = true
	allowAnySHA1InWant = true
`

// writeHook makes git refuse pushes to protected branches. The Go backend asks Repo itself.
func (r *Repo) writeHook() error {
	var cases strings.Builder
	for _, branch := range slices.Sorted(maps.Keys(r.protected)) {
		fmt.Fprintf(&cases, "  %s) printf '%%s\\n' %s >&2; exit 1;;\n", shellQuote("refs/heads/"+branch), shellQuote(r.protected[branch]))
	}
	script := "#!/bin/sh\nwhile read old new ref; do\n  case \"$ref\" in\n" + cases.String() + "  esac\ndone\n"
	hook := filepath.Join(r.dir, "hooks", "pre-receive")
	if err := os.MkdirAll(filepath.Dir(hook), 0o755); err != nil {
		return err
	}
	return os.WriteFile(hook, []byte(script), 0o755) //nolint:gosec // a hook must be executable
}

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
