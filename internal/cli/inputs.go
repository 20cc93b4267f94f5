package cli

import (
	"strings"

	"github.com/spf13/pflag"
)

// input is an input of the action and a flag of graft publish: one list makes both, and
// the table in the README.
type input struct {
	name        string
	description string
	fallback    string
	secret      bool
	boolean     bool
}

// publishInputs in the order in which people ask for them.
var publishInputs = []input{
	{name: "image", description: "Bundle image to publish; without it the event of the workflow says."},
	{name: "channels", description: "Channels or archetypes, separated by commas; without them the configuration says."},
	{name: "template", description: "Template to put the bundle in; without it the configuration or the repository says."},
	{name: "catalog", description: "Catalog to render; without it the configuration or the repository says."},
	{name: "replaces", description: "Bundle that it replaces; without edges it takes its natural place."},
	{name: "skips", description: "Bundles that it skips, separated by commas."},
	{name: "skip-range", description: "Range of versions that it skips."},
	{name: "default-channel", description: "Make this the package's default channel."},
	{name: "substitutes-for", description: "Bundle that it substitutes, in a substitutes template."},
	{name: "create", description: "Kind of template to begin where there is none: basic, semver or goodstuff."},
	{name: "event", description: "File with the event; without it that of the workflow."},
	{name: "from-tags", description: "Image repositories, separated by commas: publish what they have and no template or catalog names."},
	{name: "versions", description: "With from-tags, the range of versions that are wanted, such as >=1.2.0."},
	{name: "refresh", description: "Make all open pull requests again upon the base as it is now, in place of publishing.", boolean: true},
	{name: "plan-matrix", description: "Print the images that would be published as a matrix of jobs, in place of publishing.", boolean: true},
	{name: "token", description: "Token for pushing and for the pull request. With GITHUB_TOKEN the checks of the pull request do not start by themselves.", secret: true, fallback: "${{ github.token }}"},
	{name: "repository", description: "Repository to change, OWNER/NAME or a URL; the checked-out one without it."},
	{name: "base", description: "Branch to change; without it the configuration's, else the default branch."},
	{name: "branch", description: "Pattern of the branch; without it the configuration's, graft/{package}/{version}."},
	{name: "title", description: "Pattern of the pull request's title; without it the configuration's, Publish {package} {version}."},
	{name: "message", description: "Pattern of the commit message; without it the configuration's, Publish {package} {version}."},
	{name: "labels", description: "Labels of the pull request, separated by commas."},
	{name: "reviewers", description: "Reviewers, separated by commas."},
	{name: "team-reviewers", description: "Teams to review, separated by commas."},
	{name: "assignees", description: "Assignees, separated by commas."},
	{name: "milestone", description: "Milestone, by number or title."},
	{name: "draft", description: "Open the pull request as a draft.", boolean: true},
	{name: "auto-merge", description: "Merge when all checks pass: merge, squash or rebase."},
	{name: "supersede", description: "Take the bundles of older pull requests of the package over, and close those.", boolean: true},
	{name: "commit-method", description: "git, or api: commits made by the forge, which it shows as verified; without it the configuration's, git."},
	{name: "push-to-fork", description: "Owner of a fork to push to, true for the token's account; it is made or synced first."},
	{name: "author", description: "Author and committer of the commit, NAME <EMAIL>; without it the configuration's, graft <graft@olmgraft.invalid>."},
	{name: "signoff", description: "Add a Signed-off-by line.", boolean: true},
	{name: "allowed-repositories", description: "Patterns of image repositories that are allowed, separated by commas; * within a segment, ** across. The configuration may say them instead."},
	{name: "skip-tags", description: "Patterns of tags that are no bundles, in place of the usual ones, separated by commas."},
	{name: "findings", description: "Levels of findings, as ID=error, ID=warning or ID=off, separated by commas."},
	{name: "dry-run", description: "Do everything but push and pull request.", boolean: true},
	{name: "force", description: "Replace a branch that a person has committed to.", boolean: true},
	{name: "use-http", description: "Use plain HTTP where a registry does not answer by TLS.", boolean: true},
	{name: "skip-tls-verify", description: "Accept any certificate of a registry.", boolean: true},
	{name: "registries-conf", description: "Take mirrors from this registries.conf."},
	{name: "registry-auth", description: "Credentials of registries, in the form of docker's config.json. GITHUB_TOKEN pulls from ghcr.io without.", secret: true},
	{name: "cache", description: "Directory that keeps rendered bundles by digest."},
	{name: "timeout", description: "Time for the whole run.", fallback: "15m"},
}

// output is an output of the action.
type output struct{ name, description string }

var publishOutputs = []output{
	{"result", "created, updated, closed, unchanged, planned or failed"},
	{"changed", "whether a branch or a pull request was changed, be it in a run that failed later: true or false"},
	{"package", "package of the bundle; of several, that of the last one that was changed"},
	{"version", "version of the bundle"},
	{"bundle-name", "name of the bundle, that of its CSV"},
	{"bundle-digest", "digest of the bundle image"},
	{"branch", "branch of the pull request"},
	{"commit", "commit that was pushed"},
	{"pull-request-number", "number of the pull request"},
	{"pull-request-url", "address of the pull request"},
	{"pull-request-operation", "created, updated, unchanged or closed"},
	{"diff", "of a dry run, the difference, cut at 64 KiB"},
	{"body", "of a dry run, the text of the pull request"},
	{"changed-files", "paths of the changed files, one a line"},
	{"catalogs", "JSON list of the catalogs: file, template, platform, result, bundles reused and pulled"},
	{"matrix", "with plan-matrix, the matrix of jobs as JSON"},
	{"failure-code", "exit code of the failure, 0 without one"},
	{"failure-class", "name of the failure, such as edge-conflict"},
	{"retryable", "whether the same run may succeed later: true or false"},
	{"report", "the whole report as JSON"},
}

func addInputs(f *pflag.FlagSet) {
	for _, in := range publishInputs {
		if in.boolean {
			f.Bool(in.name, false, in.usage())
			continue
		}
		f.String(in.name, in.cliFallback(), in.usage())
	}
}

func (in input) usage() string {
	return strings.ToLower(in.description[:1]) + strings.TrimSuffix(in.description[1:], ".")
}

// cliFallback is the default at a desk, where no expression of a workflow is known.
func (in input) cliFallback() string {
	if strings.Contains(in.fallback, "${{") {
		return ""
	}
	return in.fallback
}
