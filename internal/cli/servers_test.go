package cli

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/olmgraft/graft/internal/testkit/gitremote"
	"github.com/olmgraft/graft/internal/testkit/servers"
)

// running holds the servers of the running scripts by work directory.
var running sync.Map

// serversOf returns the script's own servers. The address of the registry is in $REGISTRY.
func serversOf(ts *testscript.TestScript) *servers.Servers {
	dir := ts.Getenv("WORK")
	if w, ok := running.Load(dir); ok {
		return w.(*servers.Servers)
	}
	w, err := servers.Start(gitremote.Auto)
	ts.Check(err)
	running.Store(dir, w)
	ts.Setenv("REGISTRY", w.Registry.Addr)
	ts.Defer(func() {
		running.Delete(dir)
		_ = w.Close()
	})
	return w
}

// repository DIR puts the files of a directory into the repository on the servers, checks it out into checkout
// as actions/checkout does, and sets the environment of a workflow there.
func makeRepository(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: repository DIR")
	}
	w := serversOf(ts)
	ts.Check(w.Create(readTree(ts, ts.MkAbs(args[0]))))
	for key, value := range w.Env() {
		ts.Setenv(key, value)
	}
	ts.Setenv("URL", w.Repo.URL())
	ts.Check(ts.Exec("git", "clone", "-q", "--depth", "1", strings.Replace(w.Repo.URL(), "://", "://x:"+servers.Token+"@", 1), "checkout"))
	ts.Check(ts.Exec("git", "-C", "checkout", "remote", "set-url", "origin", w.Repo.URL()))
}

// enterprise moves the repository and its checkout to one host with the API below /api/v3.
func enterprise(ts *testscript.TestScript, _ bool, _ []string) {
	w := serversOf(ts)
	for key, value := range w.Enterprise() {
		ts.Setenv(key, value)
	}
	ts.Setenv("URL", w.API+"/"+servers.Repository)
	ts.Check(ts.Exec("git", "-C", "checkout", "remote", "set-url", "origin", w.API+"/"+servers.Repository))
}

func readTree(ts *testscript.TestScript, dir string) map[string]string {
	files := map[string]string{}
	ts.Check(filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		files[filepath.ToSlash(rel)] = strings.ReplaceAll(string(text), "REGISTRY", ts.Getenv("REGISTRY"))
		return err
	}))
	return files
}

// pulls writes the pull requests as lines into the file pulls, and each body into body.N.
func pulls(ts *testscript.TestScript, _ bool, _ []string) {
	var out strings.Builder
	for _, pr := range serversOf(ts).PullRequests() {
		out.WriteString(strconv.Itoa(pr.Number) + " " + pr.State + " " + pr.Head + " " + pr.Title + " [" + strings.Join(pr.Labels, ",") + "]\n")
		ts.Check(os.WriteFile(filepath.Join(ts.Getenv("WORK"), "body."+strconv.Itoa(pr.Number)), []byte(pr.Body), 0o644))
	}
	ts.Check(os.WriteFile(filepath.Join(ts.Getenv("WORK"), "pulls"), []byte(out.String()), 0o644))
}

// merge N merges a pull request.
func merge(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	ts.Check(serversOf(ts).Merge(n))
}

// setstate N closed|open closes or reopens a pull request.
func setState(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	ts.Check(serversOf(ts).SetState(n, args[1]))
}

// remote BRANCH FILE OUT writes a file of the remote's branch.
func remote(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: remote BRANCH FILE OUT")
	}
	text, err := serversOf(ts).Repo.Read(args[0], args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(text), 0o644))
}

// branch NAME creates a branch at main.
func branch(ts *testscript.TestScript, _ bool, args []string) {
	repo := serversOf(ts).Repo
	head, err := repo.Head("main")
	ts.Check(err)
	ts.Check(repo.Move(args[0], head))
}

// person BRANCH FILE [CONTENT] commits to a branch as a person.
func person(ts *testscript.TestScript, _ bool, args []string) {
	text := "by hand\n"
	if len(args) == 3 {
		src, err := os.ReadFile(ts.MkAbs(args[2]))
		ts.Check(err)
		text = strings.ReplaceAll(string(src), "REGISTRY", ts.Getenv("REGISTRY"))
	}
	_, err := serversOf(ts).Repo.Commit(args[0], gitremote.Change{Message: "By hand", Files: map[string]string{args[1]: text}})
	ts.Check(err)
}
