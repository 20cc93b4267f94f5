package cli

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/olmgraft/graft/internal/testkit/forge"
	"github.com/olmgraft/graft/internal/testkit/gitremote"
)

// forges are those of the scripts that run, by their work directory.
var forges sync.Map

type scriptForge struct {
	git   *gitremote.Server
	repo  *gitremote.Repo
	forge *forge.Server
	api   *httptest.Server
}

// world DIR puts the files of a directory into the repository octo/catalog on a git
// remote and a forge, checks it out into checkout, and sets the environment of a
// workflow that runs there with a token.
func world(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: world DIR")
	}
	w := &scriptForge{}
	var err error
	w.git, err = gitremote.Start(gitremote.Options{})
	ts.Check(err)
	w.git.SetTokens(gitremote.None, map[string]gitremote.Right{"t0ken": gitremote.Write})
	w.repo, err = w.git.Create("octo/catalog", readTree(ts, ts.MkAbs(args[0])))
	ts.Check(err)
	w.forge = forge.New(forge.Options{})
	ts.Check(w.forge.AddRepository(forge.Repository{Owner: "octo", Name: "catalog", Dir: w.repo.Dir(), Labels: []string{"catalog"}, Writers: []string{"graft-bot", "reviewer"}, ForkDir: w.forkDir}))
	w.forge.AddToken("t0ken", forge.Identity{Login: "graft-bot"})
	w.api = httptest.NewServer(http.Handler(w.forge))
	forges.Store(ts.Getenv("WORK"), w)
	ts.Defer(func() {
		w.api.Close()
		_ = w.git.Close()
		forges.Delete(ts.Getenv("WORK"))
	})
	for key, value := range map[string]string{
		"GITHUB_API_URL": w.api.URL, "GITHUB_SERVER_URL": w.git.URL, "GITHUB_REPOSITORY": "octo/catalog", "GITHUB_TOKEN": "t0ken",
		"URL": w.repo.URL(),
	} {
		ts.Setenv(key, value)
	}
	ts.Check(ts.Exec("git", "clone", "-q", "--depth", "1", strings.Replace(w.repo.URL(), "://", "://x:t0ken@", 1), "checkout"))
	ts.Check(ts.Exec("git", "-C", "checkout", "remote", "set-url", "origin", w.repo.URL()))
}

// forkDir makes a fork where git can push to it.
func (w *scriptForge) forkDir(owner, name string) (string, error) {
	fork, err := w.git.Fork(w.repo, owner+"/"+name)
	if err != nil {
		return "", err
	}
	return fork.Dir(), nil
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

func theWorld(ts *testscript.TestScript) *scriptForge {
	w, ok := forges.Load(ts.Getenv("WORK"))
	if !ok {
		ts.Fatalf("there is no world yet")
	}
	return w.(*scriptForge)
}

// pulls writes the pull requests as lines into the file pulls, and each body into
// body.N.
func pulls(ts *testscript.TestScript, _ bool, _ []string) {
	w := theWorld(ts)
	var out strings.Builder
	for _, pr := range w.forge.PullRequests("octo", "catalog") {
		out.WriteString(strconv.Itoa(pr.Number) + " " + pr.State + " " + pr.Head + " " + pr.Title + " [" + strings.Join(pr.Labels, ",") + "]\n")
		ts.Check(os.WriteFile(filepath.Join(ts.Getenv("WORK"), "body."+strconv.Itoa(pr.Number)), []byte(pr.Body), 0o644))
	}
	ts.Check(os.WriteFile(filepath.Join(ts.Getenv("WORK"), "pulls"), []byte(out.String()), 0o644))
}

// merge N merges a pull request.
func merge(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	ts.Check(theWorld(ts).forge.Merge("octo", "catalog", n, "squash"))
}

// remote BRANCH FILE OUT writes a file of the remote's branch.
func remote(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: remote BRANCH FILE OUT")
	}
	text, err := theWorld(ts).repo.Read(args[0], args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(text), 0o644))
}

// person BRANCH FILE commits to a branch as a person does.
func person(ts *testscript.TestScript, _ bool, args []string) {
	_, err := theWorld(ts).repo.Commit(args[0], gitremote.Change{Message: "By hand", Files: map[string]string{args[1]: "by hand\n"}})
	ts.Check(err)
}
