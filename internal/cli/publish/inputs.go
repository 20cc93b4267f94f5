package publish

import (
	"strings"

	"github.com/spf13/pflag"
)

// Input is an input of the action and a flag of graft publish. The same list makes both, and the table in the
// documentation.
type Input struct {
	Name        string
	Description string
	Fallback    string
	Secret      bool
	Boolean     bool
}

// Inputs has the most needed inputs first.
var Inputs = []Input{
	{Name: "image", Description: "Bundle image to publish. Defaults to the image in the workflow event."},
	{Name: "channels", Description: "Channels or archetypes, separated by commas. Defaults to the configuration's."},
	{Name: "template", Description: "Template for the bundle. Defaults to the configuration's, or the only one in the repository."},
	{Name: "catalog", Description: "Catalog to render. Defaults to the configuration's, or the only one in the repository."},
	{Name: "replaces", Description: "Bundle that the published one replaces. Without edges, the bundle takes its place by version."},
	{Name: "skips", Description: "Bundles that the published one skips, separated by commas."},
	{Name: "skip-range", Description: "Range of versions that the published bundle skips."},
	{Name: "default-channel", Description: "Make this the package's default channel."},
	{Name: "substitutes-for", Description: "Bundle that the published one substitutes, in a substitutes template."},
	{Name: "rebuild", Description: "What to do if the template has the bundle with another image: refuse, or replace it. Defaults to the configuration's, or refuse."},
	{Name: "semver-skips", Description: "What the head of a minor version skips in the catalogs of semver templates: major (as opm), minor (as the published documentation) or channel (as opm before v1.61). Defaults to the configuration's."},
	{Name: "instead-of", Description: "Unreleased bundle whose place the published one takes."},
	{Name: "drift", Description: "What to do if a catalog differs from its template before the change: warn, or refuse. Defaults to the configuration's, or warn."},
	{Name: "published", Description: "Catalogs that users have, images or paths in the repository, separated by commas, with {platform} for each catalog's. Defaults to the configuration's."},
	{Name: "create", Description: "Kind of template to create if there is none: basic, semver or goodstuff."},
	{Name: "remove", Description: "Bundles to remove from all templates instead of publishing, separated by commas. Removed from the named channels, or from all."},
	{Name: "remove-channels", Description: "Channels to remove from all templates, separated by commas, with the bundles that no other channel has."},
	{Name: "tombstone", Description: "With remove, leave the entries of goodstuff templates where they are, as tombstones that the next version skips.", Boolean: true},
	{Name: "allow-stranded", Description: "Remove or deprecate even if an installed version can then no longer upgrade.", Boolean: true},
	{Name: "deprecate", Description: "Bundles to deprecate in all templates instead of publishing, separated by commas."},
	{Name: "deprecate-channels", Description: "Channels to deprecate in all templates, separated by commas."},
	{Name: "deprecation", Description: "Message for users. Deprecates the package if neither bundles nor channels are named."},
	{Name: "edges", Description: "Bundle whose edges to change in all templates instead of publishing, to replaces, skips and skip-range. An edge that is none is removed."},
	{Name: "package", Description: "Package of remove, deprecate or edges, if the configuration has several."},
	{Name: "event", Description: "File with the event. Defaults to the workflow's."},
	{Name: "from-tags", Description: "Image repositories, separated by commas. Publishes their images that no template or catalog names, and images that a tag has moved to."},
	{Name: "versions", Description: "With from-tags, the range of versions to publish, such as >=1.2.0."},
	{Name: "refresh", Description: "Remake all open pull requests on the current base instead of publishing.", Boolean: true},
	{Name: "reopen", Description: "Propose a bundle again whose pull request somebody closed without merging it.", Boolean: true},
	{Name: "plan-matrix", Description: "Print the images to publish as a job matrix instead of publishing.", Boolean: true},
	{Name: "token", Description: "Token to push and to open the pull request. With GITHUB_TOKEN, the checks of the pull request do not start by themselves.", Secret: true, Fallback: "${{ github.token }}"},
	{Name: "repository", Description: "Repository to change, OWNER/NAME or a URL. Defaults to the checked-out one."},
	{Name: "base", Description: "Branch to change. Defaults to the configuration's, or the default branch."},
	{Name: "branch", Description: "Pattern of the branch. Defaults to the configuration's, or graft/{package}/{version}."},
	{Name: "title", Description: "Pattern of the pull request's title. Defaults to the configuration's, or Publish {package} {version} (Rebuild ... for a rebuild)."},
	{Name: "message", Description: "Pattern of the commit message. Defaults to the configuration's, or the default title."},
	{Name: "labels", Description: "Labels of the pull request, separated by commas."},
	{Name: "reviewers", Description: "Reviewers, separated by commas."},
	{Name: "team-reviewers", Description: "Teams to review, separated by commas."},
	{Name: "assignees", Description: "Assignees, separated by commas."},
	{Name: "milestone", Description: "Milestone, by number or title."},
	{Name: "draft", Description: "Open the pull request as a draft.", Boolean: true},
	{Name: "auto-merge", Description: "Merge when all checks pass: merge, squash or rebase."},
	{Name: "supersede", Description: "Take over the bundles of the package's older pull requests, and close those.", Boolean: true},
	{Name: "commit-method", Description: "git, or api for commits that the forge makes and shows as verified. Defaults to the configuration's, or git."},
	{Name: "push-to-fork", Description: "Owner of the fork to push to, or true for the token's account. Graft creates or syncs the fork first."},
	{Name: "author", Description: "Author and committer, NAME <EMAIL>. Defaults to the configuration's, or graft <graft@olmgraft.invalid>."},
	{Name: "signoff", Description: "Add a Signed-off-by line.", Boolean: true},
	{Name: "allowed-repositories", Description: "Patterns of allowed image repositories, separated by commas: * within a segment, ** across segments. Defaults to the configuration's."},
	{Name: "skip-tags", Description: "Patterns of tags that are not bundles, separated by commas. Replaces the usual ones."},
	{Name: "findings", Description: "Levels of findings, as ID=error, ID=warning or ID=off, separated by commas."},
	{Name: "dry-run", Description: "Do everything but push and open the pull request.", Boolean: true},
	{Name: "allow-commands", Description: "Run the commands in the configuration's after.", Boolean: true},
	{Name: "force", Description: "Replace a branch that a person has committed to.", Boolean: true},
	{Name: "use-http", Description: "Use plain HTTP if a registry does not answer over TLS.", Boolean: true},
	{Name: "skip-tls-verify", Description: "Accept any certificate of a registry.", Boolean: true},
	{Name: "registries-conf", Description: "File registries.conf with mirrors."},
	{Name: "registry-auth", Description: "Registry credentials, in the form of docker's config.json. GITHUB_TOKEN pulls from ghcr.io without them.", Secret: true},
	{Name: "explorer", Description: "File for the explorer, with the catalogs before and after. The pull request links to the run's artifacts; a later step must upload the file."},
	{Name: "cache", Description: "Directory that keeps rendered bundles by digest."},
	{Name: "wait", Description: "Time to wait for an announced image that the registry does not serve yet. Defaults to 1m in a workflow, and to no wait elsewhere."},
	{Name: "timeout", Description: "Time for the whole run.", Fallback: "15m"},
}

// Output is an output of the action.
type Output struct{ Name, Description string }

// Outputs in the order of the table in the documentation.
var Outputs = []Output{
	{"result", "created, updated, closed, unchanged, planned or failed"},
	{"changed", "true if a branch or a pull request changed, even in a run that failed later; else false"},
	{"package", "package of the bundle; with several bundles, that of the last one that changed"},
	{"version", "version of the bundle"},
	{"bundle-name", "name of the bundle, as in its CSV"},
	{"bundle-digest", "digest of the bundle image"},
	{"branch", "branch of the pull request"},
	{"commit", "pushed commit"},
	{"pull-request-number", "number of the pull request"},
	{"pull-request-url", "address of the pull request"},
	{"pull-request-operation", "created, updated, unchanged or closed"},
	{"diff", "in a dry run, the difference, cut at 64 KiB"},
	{"body", "in a dry run, the text of the pull request"},
	{"changed-files", "paths of the changed files, one per line"},
	{"catalogs", "JSON list of the catalogs: file, template, platform, result, bundles reused and pulled"},
	{"explorer", "file with the explorer, empty if no catalog changes"},
	{"matrix", "with plan-matrix, the matrix of jobs as JSON"},
	{"failure-code", "exit code of the failure, 0 without one"},
	{"failure-class", "name of the failure, such as edge-conflict"},
	{"retryable", "true if the same run may succeed later; else false"},
	{"report", "the whole report as JSON"},
}

func addInputs(f *pflag.FlagSet) {
	for _, in := range Inputs {
		if in.Boolean {
			f.Bool(in.Name, false, in.usage())
			continue
		}
		f.String(in.Name, in.cliFallback(), in.usage())
	}
}

func (in Input) usage() string {
	return strings.ToLower(in.Description[:1]) + strings.TrimSuffix(in.Description[1:], ".")
}

// cliFallback returns the default on the command line, which has no workflow expressions.
func (in Input) cliFallback() string {
	if strings.Contains(in.Fallback, "${{") {
		return ""
	}
	return in.Fallback
}
