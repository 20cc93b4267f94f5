package demo

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/testkit/fakegithub"
	"github.com/olmgraft/graft/internal/testkit/gitremote"
	"github.com/olmgraft/graft/internal/testkit/registry"
)

// failingRun is a run that ends with a failure: its cause, and the command line, in which $IMAGE is the
// repository of the bundles.
type failingRun struct {
	code    failure.Code
	by      string
	command string
	token   string // replaces the usual one
	begin   func(*demo)
}

const (
	insertInto    = "insert --channel stable --image $IMAGE:v1.3.0 "
	newCatalog    = "catalogs/v4.20/lighthouse/catalog.yaml"
	insertNewest  = insertInto + "catalog-templates/lighthouse.yaml"
	publishNewest = "publish --image $IMAGE:v1.3.0"
)

var failing = []failingRun{
	{code: failure.Usage, by: "there is neither an image nor an event", command: "publish"},
	{code: failure.Config, by: "a key of graft.yaml is misspelt", command: publishNewest + " --base misspelt"},
	{code: failure.TemplateNotFound, by: "the template does not exist", command: insertInto + "none.yaml"},
	{code: failure.TemplateMalformed, by: "a key occurs in two cases, and opm would drop one", command: "render ../failures/two-cases.yaml"},
	{code: failure.TemplateUnsupported, by: "the file is no template", command: insertInto + "--allow-outside ../failures/notes.yaml"},
	{code: failure.TemplateOpaque, by: "a program builds the template", command: insertInto + "--allow-outside ../failures/custom.yaml"},
	{code: failure.EditRefused, by: "two channels share their entries through an anchor", command: insertInto + "--allow-outside ../failures/anchor.yaml"},
	{code: failure.BundleNotFound, by: "the registry does not have the image", command: "render ../failures/gone.yaml"},
	{code: failure.RegistryAuth, by: "the registry wants a password", command: publishNewest, begin: func(d *demo) {
		d.servers.Registry.SetAuth(registry.Auth{Scheme: "basic", Username: "somebody", Password: "else"})
	}},
	{code: failure.RegistryUnavailable, by: "the registry asks to come back in an hour", command: publishNewest, begin: func(d *demo) {
		d.servers.Registry.SetScript(func(registry.Request) registry.Fault {
			return registry.Fault{Status: http.StatusTooManyRequests, Header: map[string]string{"Retry-After": "3600"}}
		})
	}},
	{code: failure.BundleInvalid, by: "the image is no bundle", command: "publish --image $IMAGE:v1.3.0-empty"},
	{code: failure.DigestMismatch, by: "the tag moved since it was announced", command: "publish --event ../failures/moved.json"},
	{code: failure.BundleNotAllowed, by: "the image's repository is not allowed", command: publishNewest + " --allowed-repositories quay.io/**"},
	{code: failure.BundleConflict, by: "the same bundle from another repository", command: "insert --channel stable --image $IMAGE-fork:v1.2.0 --name lighthouse.v1.2.0 --version 1.2.0 --package lighthouse catalog-templates/lighthouse.yaml"},
	{code: failure.EdgeConflict, by: "the channel has the bundle with other edges", command: "publish --image $IMAGE:v1.2.0 --replaces lighthouse.v1.0.0"},
	{code: failure.PredecessorMissing, by: "the channel lacks the bundle to replace", command: publishNewest + " --replaces lighthouse.v0.9.0"},
	{code: failure.ChannelUnknown, by: "a semver template has no such channel", command: "insert --channel nightly --image $IMAGE:v1.3.0 --allow-outside ../failures/semver.yaml"},
	{code: failure.VersionUnordered, by: "two versions differ in build metadata only", command: "insert --channel stable --image $IMAGE:v1.2.0-1 --name lighthouse.v1.2.0-1 --version 1.2.0+1 --package lighthouse catalog-templates/lighthouse.yaml"},
	{code: failure.GraphInvalid, by: "a channel has two heads", command: "verify ../failures/two-heads.yaml"},
	{code: failure.UpgradePathLost, by: "an installed version can no longer upgrade", command: "verify --level entry-pruned=warning --base " + newCatalog + " ../failures/pruned.yaml"},
	{code: failure.CatalogSkew, by: "the next platform's catalog lacks the head", command: "verify --next ../failures/old.yaml " + newCatalog},
	{code: failure.CatalogPruned, by: "published versions are gone", command: "verify --base " + newCatalog + " ../failures/pruned.yaml"},
	{code: failure.CatalogDrifted, by: "the catalog was edited by hand", command: publishNewest + " --drift refuse --base drifted"},
	{code: failure.RenderFailed, by: "the template names no bundles", command: "render ../failures/no-bundles.yaml"},
	{code: failure.GitFailed, by: "the git remote refuses the token", command: publishNewest, token: "expired"},
	{code: failure.GitRaceLost, by: "somebody else pushes at every try", command: publishNewest, begin: (*demo).raceAlways},
	{code: failure.BranchEdited, by: "a person committed to the branch", command: publishNewest + " --branch by-hand/{version}", begin: func(d *demo) {
		_, _ = d.servers.Repo.Commit("by-hand/1.3.0", gitremote.Change{Message: "By hand", Files: map[string]string{"NOTES.md": "Wait for Ann.\n"}})
	}},
	{code: failure.ForgeAuth, by: "the token may not open pull requests", command: publishNewest, token: "pushes-only"},
	{code: failure.ForgeRateLimited, by: "the hour's requests are used up", command: publishNewest, begin: func(d *demo) {
		d.servers.Forge.SetScript(func(fakegithub.Request) *fakegithub.Fault { return fakegithub.PrimaryLimit(time.Now().Add(time.Hour)) })
	}},
	{code: failure.ForgeUnavailable, by: "GitHub is down for an hour", command: publishNewest, begin: func(d *demo) {
		d.servers.Forge.SetScript(func(fakegithub.Request) *fakegithub.Fault {
			return &fakegithub.Fault{Status: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {"3600"}}}
		})
	}},
	{code: failure.PullRequestRefused, by: "the repository's plan has no drafts", command: publishNewest + " --draft", begin: func(d *demo) {
		d.servers.Forge.SetScript(func(r fakegithub.Request) *fakegithub.Fault {
			if r.Method != http.MethodPost {
				return nil
			}
			return &fakegithub.Fault{Status: http.StatusUnprocessableEntity, Message: "Draft pull requests are not supported in this repository."}
		})
	}},
}

// Failed is the result of a failing run.
type Failed struct {
	Code    int    `json:"code"`
	Class   string `json:"class"`
	By      string `json:"by"`
	Command string `json:"command"`
	Message string `json:"message"`
}

// fail runs all failing runs and checks their codes.
func (d *demo) fail(ctx context.Context) error {
	if err := d.prepareFailures(); err != nil {
		return err
	}
	d.title("What goes wrong has a number, which never changes")
	var all strings.Builder
	for _, f := range failing {
		done, err := d.failOnce(ctx, f)
		if err != nil {
			return err
		}
		d.report.Failures = append(d.report.Failures, done)
		fmt.Fprintf(d.to, "   %3d  %-21s %s\n", done.Code, done.Class, done.By)
		fmt.Fprintf(&all, "$ %s\n%s\n", done.Command, done.Message)
	}
	example := d.report.Failures[slices.IndexFunc(failing, func(f failingRun) bool { return f.code == failure.EdgeConflict })]
	fmt.Fprintf(d.to, "\n   Each says what, where, and what to do:\n\n   $ %s\n%s", example.Command, indent(example.Message))
	return os.WriteFile(filepath.Join(d.dir, "failures.txt"), []byte(all.String()), 0o644)
}

func (d *demo) failOnce(ctx context.Context, f failingRun) (Failed, error) {
	if f.begin != nil {
		f.begin(d)
	}
	env := d.servers.Env()
	if f.token != "" {
		env["GITHUB_TOKEN"] = f.token
	}
	command := os.Expand(f.command, func(string) string { return d.image })
	code, out, said := d.graft(ctx, env, strings.Fields(command)...)
	d.servers.Registry.SetAuth(registry.Auth{})
	d.servers.Registry.SetScript(nil)
	d.servers.Git.SetScript(nil)
	d.servers.Forge.SetScript(nil)
	if said == "" {
		said = out // graft verify reports on standard output
	}
	done := Failed{Code: code, Class: f.code.Class(), By: f.by, Command: "graft " + command, Message: said}
	return done, d.hold(code == int(f.code), done.Class, done.Command, code, said)
}

// prepareFailures writes the faulty files and adds the token without enough permissions.
func (d *demo) prepareFailures() error {
	d.servers.AddToken("pushes-only", fakegithub.Identity{Login: "graft-bot", Permissions: map[string]string{"contents": "write"}})
	digest, err := d.servers.Registry.Push("lighthouse-bundle:v1.3.0", d.bundle("1.3.0-rc.1"), registry.Form{})
	if err != nil {
		return err
	}
	d.files["failures/moved.json"] = strings.ReplaceAll(d.files["failures/moved.json"], "DIGEST", digest)
	for tag, b := range map[string]registry.Bundle{"v1.3.0": d.bundle("1.3.0"), "v1.3.0-empty": {Files: map[string][]byte{"README.md": nil}}} {
		if _, err := d.servers.Registry.Push("lighthouse-bundle:"+tag, b, registry.Form{}); err != nil {
			return err
		}
	}
	if _, err := d.servers.Repo.Commit("misspelt", gitremote.Change{Message: "Configure", Files: d.below("misspelt/")}); err != nil {
		return err
	}
	edited := strings.Replace(d.first[newCatalog], "schema: olm.package", "description: By hand\nschema: olm.package", 1)
	if _, err := d.servers.Repo.Commit("drifted", gitremote.Change{Message: "Describe", Files: map[string]string{newCatalog: edited}}); err != nil {
		return err
	}
	files := d.below("failures/")
	files["old.yaml"] = d.first[newCatalog]
	return writeFiles(filepath.Join(d.dir, "failures"), files)
}

// raceAlways pushes to the default branch whenever a push begins.
func (d *demo) raceAlways() {
	d.servers.Git.SetScript(func(r gitremote.Request) gitremote.Fault {
		if r.Kind == gitremote.PushRefs {
			_, _ = d.servers.Repo.Commit(gitremote.DefaultBranch, gitremote.Change{Message: "Meanwhile", Files: map[string]string{"README.md": fmt.Sprintln("Line", r.Nth)}})
		}
		return gitremote.Fault{}
	})
}
