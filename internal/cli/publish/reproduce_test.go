package publish

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/publish"
)

// notReproduced are the flags that the command in a pull request leaves out, with the reason.
var notReproduced = map[string]string{
	"image":      "the request names it",
	"dry-run":    "the command always has it",
	"base":       "the command has it if the base is not the default branch",
	"remote":     "the command has it if the run read a branch",
	"repository": "the command runs in a clone of the repository",

	"event":       "the request names the image of the event",
	"from-tags":   "the request names the image that the sweep found",
	"versions":    "the request names the image that the sweep found",
	"wait":        "the registry serves the image by now",
	"plan-matrix": "a run with it changes nothing",
	"refresh":     "the requests of the pull request are known",
	"supersede":   "the commands name the taken bundles too",
	"reopen":      "a dry run asks no forge",
	"force":       "a dry run writes no branch",

	"token": "it is a secret", "registry-auth": "it is a secret",

	"branch": "text", "title": "text", "message": "text", "author": "text", "signoff": "text",
	"labels": "a setting of the pull request", "reviewers": "a setting of the pull request", "team-reviewers": "a setting of the pull request",
	"assignees": "a setting of the pull request", "milestone": "a setting of the pull request", "draft": "a setting of the pull request",
	"auto-merge": "a setting of the pull request", "push-to-fork": "a place of the branch", "commit-method": "a way to push",

	"explorer": "output", "diff": "output",
	"cache": "speed", "timeout": "speed",
}

// Each flag is in the command of a pull request, or there is a reason why not.
func TestEachFlagIsReproducedOrNeedsNot(t *testing.T) {
	known := map[string]int{}
	for _, name := range slices.Concat(publish.Parameters(), reproduced) {
		known[name]++
	}
	for name := range notReproduced {
		known[name]++
	}
	Command(command.New(command.IO{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}, Env: func(string) (string, bool) { return "", false }})).Flags().VisitAll(func(f *pflag.Flag) {
		if known[f.Name] != 1 {
			t.Errorf("--%s is in %d of the lists: parameters of requests, reproduced, notReproduced", f.Name, known[f.Name])
		}
		delete(known, f.Name)
	})
	for name := range known {
		t.Errorf("there is no --%s", name)
	}
}

// The command has no path of the machine that ran it.
func TestFlagsToReproduce(t *testing.T) {
	workspace := t.TempDir()
	for conf, want := range map[string]string{
		"mirrors.conf":       "--registries-conf mirrors.conf",
		"../my mirrors.conf": "--registries-conf '../my mirrors.conf'",
		filepath.Join(workspace, "ci", "mirrors.conf"): "--registries-conf ci/mirrors.conf",
		filepath.Join(t.TempDir(), "mirrors.conf"):     "--registries-conf mirrors.conf",
	} {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		addInputs(flags)
		if err := flags.Parse([]string{"--registries-conf", conf, "--use-http", "--findings", "a=off,\nb=off", "--skip-tls-verify=false", "--token", "secret"}); err != nil {
			t.Fatal(err)
		}
		got := strings.Join(flagsToReproduce(values{flags: flags}, workspace), " ")
		if all := "--findings a=off,b=off --use-http " + want; got != all {
			t.Errorf("got %q, want %q", got, all)
		}
	}
}
