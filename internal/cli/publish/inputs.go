package publish

import (
	"strings"

	"github.com/spf13/pflag"
)

// Input is an input of the action and a flag of graft publish: one list makes both, and
// the table in the README.
type Input struct {
	Name        string
	Description string
	Fallback    string
	Secret      bool
	Boolean     bool
}

// Inputs in the order in which people ask for them.
var Inputs = []Input{
	{Name: "image", Description: "Bundle image to publish; without it the event of the workflow says."},
	{Name: "channels", Description: "Channels or archetypes, separated by commas; without them the configuration says."},
	{Name: "template", Description: "Template to put the bundle in; without it the configuration or the repository says."},
	{Name: "catalog", Description: "Catalog to render; without it the configuration or the repository says."},
	{Name: "replaces", Description: "Bundle that it replaces; without edges it takes its natural place."},
	{Name: "skips", Description: "Bundles that it skips, separated by commas."},
	{Name: "skip-range", Description: "Range of versions that it skips."},
	{Name: "default-channel", Description: "Make this the package's default channel."},
	{Name: "substitutes-for", Description: "Bundle that it substitutes, in a substitutes template."},
	{Name: "rebuild", Description: "What to do where the bundle stands there with another image: refuse, or replace it; without it the configuration's, refuse."},
	{Name: "semver-skips", Description: "What the head of a minor version skips in the catalogs of semver templates: major (as opm), minor (as the published documentation) or channel (as opm before v1.61); without it the configuration's."},
	{Name: "instead-of", Description: "Bundle that nobody has installed, whose place it takes."},
	{Name: "drift", Description: "What to do where a catalog was not what its template makes before: warn, or refuse; without it the configuration's, warn."},
	{Name: "published", Description: "Catalogs that users have, images or paths in the repository, separated by commas, with {platform} for that of each catalog; without it the configuration's."},
	{Name: "create", Description: "Kind of template to begin where there is none: basic, semver or goodstuff."},
	{Name: "remove", Description: "Bundles to take out of all templates in place of publishing, separated by commas; from the channels that are named, else from all."},
	{Name: "remove-channels", Description: "Channels to take out of all templates, with the bundles that no other one has, separated by commas."},
	{Name: "tombstone", Description: "With remove, leave the entries of goodstuff templates where they are, as tombstones that the next version skips.", Boolean: true},
	{Name: "allow-stranded", Description: "Remove or deprecate even where somebody could upgrade no more.", Boolean: true},
	{Name: "deprecate", Description: "Bundles to deprecate in all templates in place of publishing, separated by commas."},
	{Name: "deprecate-channels", Description: "Channels to deprecate in all templates, separated by commas."},
	{Name: "deprecation", Description: "What users are told of what is deprecated; the package is, where neither bundles nor channels are named."},
	{Name: "package", Description: "Package of what is removed or deprecated, where the configuration has several."},
	{Name: "event", Description: "File with the event; without it that of the workflow."},
	{Name: "from-tags", Description: "Image repositories, separated by commas: publish what they have and no template or catalog names, and what tags have moved to."},
	{Name: "versions", Description: "With from-tags, the range of versions that are wanted, such as >=1.2.0."},
	{Name: "refresh", Description: "Make all open pull requests again upon the base as it is now, in place of publishing.", Boolean: true},
	{Name: "plan-matrix", Description: "Print the images that would be published as a matrix of jobs, in place of publishing.", Boolean: true},
	{Name: "token", Description: "Token for pushing and for the pull request. With GITHUB_TOKEN the checks of the pull request do not start by themselves.", Secret: true, Fallback: "${{ github.token }}"},
	{Name: "repository", Description: "Repository to change, OWNER/NAME or a URL; the checked-out one without it."},
	{Name: "base", Description: "Branch to change; without it the configuration's, else the default branch."},
	{Name: "branch", Description: "Pattern of the branch; without it the configuration's, graft/{package}/{version}."},
	{Name: "title", Description: "Pattern of the pull request's title; without it the configuration's, Publish {package} {version}, Rebuild ... of a rebuild."},
	{Name: "message", Description: "Pattern of the commit message; without it the configuration's, as of title."},
	{Name: "labels", Description: "Labels of the pull request, separated by commas."},
	{Name: "reviewers", Description: "Reviewers, separated by commas."},
	{Name: "team-reviewers", Description: "Teams to review, separated by commas."},
	{Name: "assignees", Description: "Assignees, separated by commas."},
	{Name: "milestone", Description: "Milestone, by number or title."},
	{Name: "draft", Description: "Open the pull request as a draft.", Boolean: true},
	{Name: "auto-merge", Description: "Merge when all checks pass: merge, squash or rebase."},
	{Name: "supersede", Description: "Take the bundles of older pull requests of the package over, and close those.", Boolean: true},
	{Name: "commit-method", Description: "git, or api: commits made by the forge, which it shows as verified; without it the configuration's, git."},
	{Name: "push-to-fork", Description: "Owner of a fork to push to, true for the token's account; it is made or synced first."},
	{Name: "author", Description: "Author and committer of the commit, NAME <EMAIL>; without it the configuration's, graft <graft@olmgraft.invalid>."},
	{Name: "signoff", Description: "Add a Signed-off-by line.", Boolean: true},
	{Name: "allowed-repositories", Description: "Patterns of image repositories that are allowed, separated by commas; * within a segment, ** across. The configuration may say them instead."},
	{Name: "skip-tags", Description: "Patterns of tags that are no bundles, in place of the usual ones, separated by commas."},
	{Name: "findings", Description: "Levels of findings, as ID=error, ID=warning or ID=off, separated by commas."},
	{Name: "dry-run", Description: "Do everything but push and pull request.", Boolean: true},
	{Name: "allow-commands", Description: "Run the commands that the configuration names in after.", Boolean: true},
	{Name: "force", Description: "Replace a branch that a person has committed to.", Boolean: true},
	{Name: "use-http", Description: "Use plain HTTP where a registry does not answer by TLS.", Boolean: true},
	{Name: "skip-tls-verify", Description: "Accept any certificate of a registry.", Boolean: true},
	{Name: "registries-conf", Description: "Take mirrors from this registries.conf."},
	{Name: "registry-auth", Description: "Credentials of registries, in the form of docker's config.json. GITHUB_TOKEN pulls from ghcr.io without.", Secret: true},
	{Name: "explorer", Description: "File of the work tree to write the explorer of the catalogs to, before and after; the pull request links to the artifacts of the run, to which a further step uploads it."},
	{Name: "cache", Description: "Directory that keeps rendered bundles by digest."},
	{Name: "wait", Description: "Time to wait for an image that was announced and that the registry does not serve yet; without it 1m in a workflow, none at a desk."},
	{Name: "timeout", Description: "Time for the whole run.", Fallback: "15m"},
}

// Output is an output of the action.
type Output struct{ Name, Description string }

// Outputs in the order of the table in the README.
var Outputs = []Output{
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
	{"explorer", "file that the explorer was written to, empty where no catalog changes"},
	{"matrix", "with plan-matrix, the matrix of jobs as JSON"},
	{"failure-code", "exit code of the failure, 0 without one"},
	{"failure-class", "name of the failure, such as edge-conflict"},
	{"retryable", "whether the same run may succeed later: true or false"},
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

// cliFallback is the default at a desk, where no expression of a workflow is known.
func (in Input) cliFallback() string {
	if strings.Contains(in.Fallback, "${{") {
		return ""
	}
	return in.Fallback
}
