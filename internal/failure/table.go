package failure

import "strconv"

// Code is a failure code and the process's exit code.
type Code int

// The codes. Each has an entry in Table.
const (
	OK          Code = 0
	Internal    Code = 1
	Usage       Code = 2
	Config      Code = 3
	Interrupted Code = 130

	TemplateNotFound    Code = 10
	TemplateMalformed   Code = 11
	TemplateUnsupported Code = 12
	TemplateOpaque      Code = 13
	EditRefused         Code = 14

	BundleNotFound      Code = 20
	RegistryAuth        Code = 21
	RegistryUnavailable Code = 22
	BundleInvalid       Code = 23
	DigestMismatch      Code = 24
	BundleNotAllowed    Code = 25

	BundleConflict     Code = 30
	EdgeConflict       Code = 31
	PredecessorMissing Code = 32
	ChannelUnknown     Code = 33
	VersionUnordered   Code = 34

	GraphInvalid    Code = 40
	UpgradePathLost Code = 41
	CatalogSkew     Code = 42
	CatalogPruned   Code = 43
	CatalogDrifted  Code = 44

	RenderFailed Code = 50

	GitFailed    Code = 60
	GitRaceLost  Code = 61
	BranchEdited Code = 62

	ForgeAuth          Code = 70
	ForgeRateLimited   Code = 71
	ForgeUnavailable   Code = 72
	PullRequestRefused Code = 73

	CatalogSourceUnresolvable Code = 80
	CatalogSourceInvalid      Code = 81
	ClusterUnavailable        Code = 82

	OperandUnresolvable Code = 90
	ImageUnpinned       Code = 91
)

// Entry describes a code. docs/failures and `graft explain` show it.
type Entry struct {
	Code      Code   `json:"code"`
	Class     string `json:"class"`
	Retryable bool   `json:"retryable"`
	Meaning   string `json:"meaning"`
	Cause     string `json:"cause"`
	Remedy    string `json:"remedy"`
}

// Class returns the name of the code, such as edge-conflict.
func (c Code) Class() string { return c.entry().Class }

// Retryable reports whether the same run may succeed later.
func (c Code) Retryable() bool { return c.entry().Retryable }

func (c Code) entry() Entry {
	e, ok := Lookup(strconv.Itoa(int(c)))
	if !ok {
		return Table[1]
	}
	return e
}

// Lookup finds an entry by its number or its class.
func Lookup(s string) (Entry, bool) {
	for _, e := range Table {
		if e.Class == s || strconv.Itoa(int(e.Code)) == s {
			return e, true
		}
	}
	return Entry{}, false
}

// rank orders the codes of one run by what a person has to resolve first. Codes below 40 rank by their tens, so
// that among equals the first to occur wins.
func (c Code) rank() int {
	order := []Code{Interrupted, Internal, Usage, Config, 10, 20, 30, RenderFailed, GraphInvalid, CatalogPruned, UpgradePathLost, CatalogSkew, CatalogDrifted}
	key := c
	if c >= 10 && c < 40 {
		key = c / 10 * 10
	}
	for i, o := range order {
		if o == key {
			return i
		}
	}
	return len(order) + int(c)
}

// Table lists every code once, in order.
var Table = []Entry{
	{OK, "ok", false,
		"The run did what was asked; result says created, updated, unchanged or planned.",
		"Nothing went wrong.",
		"Nothing to do."},
	{Internal, "internal", false,
		"Graft itself failed.",
		"A bug in Graft.",
		"Report it with the command and the input that led here."},
	{Usage, "usage", false,
		"The command line or the action's inputs make no sense.",
		"A flag or input is missing, unknown, or contradicts another.",
		"Run graft with --help and correct the flags or inputs."},
	{Config, "config-invalid", false,
		"A configuration file is not valid.",
		"graft.yaml, ci.yaml or release-config.yaml has an unknown key, a wrong type, or names something that is not there.",
		"Correct the file at the line shown."},
	{TemplateNotFound, "template-not-found", false,
		"A template that was named does not exist.",
		"The path is wrong, or the catalog is new and has no template yet.",
		"Correct the path, or give --create KIND to write a new template."},
	{TemplateMalformed, "template-malformed", false,
		"A template cannot be read, or says something that opm would silently drop.",
		"It is not valid YAML or JSON, a key is misspelt or occurs in two cases, an image or entry occurs twice, or a second document follows.",
		"Correct the template at the line shown; graft detect lists all that is wrong."},
	{TemplateUnsupported, "template-unsupported", false,
		"The file is of no kind of template that Graft knows.",
		"Its schema is unknown, or the file is no catalog template at all.",
		"Use a semver, basic, goodstuff, composite or substitutes template, or a raw file-based catalog."},
	{TemplateOpaque, "template-opaque", false,
		"The template is built by a program that Graft cannot look into.",
		"A composite component uses the custom builder (olm.builder.custom).",
		"Add the bundle where that builder takes its input."},
	{EditRefused, "edit-refused", false,
		"The edit cannot be made without touching other bytes.",
		"The place to edit is inside an anchored or aliased node, in a form that cannot be extended in place, or a file outside the repository, which a link or .. leads to.",
		"Make the edit by hand at the line shown, or write the place in plain block style."},
	{BundleNotFound, "bundle-not-found", false,
		"The bundle image does not exist.",
		"The repository, tag or digest is not in the registry, or the image is private and the registry hides it.",
		"Check the image reference, and that the credentials may pull it."},
	{RegistryAuth, "registry-auth", false,
		"The registry refused the credentials.",
		"No credentials were found for the registry, or they may not pull this repository.",
		"Log in with docker login or podman login, or set REGISTRY_AUTH_FILE."},
	{RegistryUnavailable, "registry-unavailable", true,
		"The registry did not answer as it should.",
		"A time-out, a reset connection, a server error or a rate limit that outlasted the retries.",
		"Run again later."},
	{BundleInvalid, "bundle-invalid", false,
		"The image is not a usable operator bundle.",
		"Labels, annotations or the CSV are missing or malformed, or the image exceeds the limits.",
		"Correct the bundle and publish it again; operator-sdk bundle validate shows more."},
	{DigestMismatch, "digest-mismatch", false,
		"Content is not what its digest says.",
		"A tag moved after it was announced or recorded, or a blob was altered on the way.",
		"Find out who moved the tag; where that was meant, render with --update-sum."},
	{BundleNotAllowed, "bundle-not-allowed", false,
		"The image comes from a repository that is not allowed.",
		"No pattern of allowed-repositories matches the image.",
		"Add the repository to allowed-repositories if you trust it."},
	{BundleConflict, "bundle-conflict", false,
		"The bundle stands in the template with other content.",
		"The same name has another image, or the same version another name.",
		"Publish changed content under a new version. Where nobody can have the old one yet, give --rebuild replace; where the digest is the same in another repository, --promote."},
	{EdgeConflict, "edge-conflict", false,
		"The bundle stands in the channel with other upgrade edges, or the edit would need an edge that is not allowed to change.",
		"An earlier insert or a person gave it other edges than now asked for.",
		"Ask for the existing edges, or change them with graft edges."},
	{PredecessorMissing, "predecessor-missing", false,
		"The bundle that is to be replaced is not in the channel.",
		"The name is misspelt, or its own insert has not been merged yet.",
		"Insert the predecessor first, or give --allow-missing-predecessor for a pruned tail."},
	{ChannelUnknown, "channel-unknown", false,
		"The channel cannot exist in this kind of template.",
		"A semver template knows Candidate, Fast and Stable only.",
		"Name one of the channels that the kind of template allows."},
	{VersionUnordered, "version-unordered", false,
		"Versions give no order.",
		"Two versions differ in build metadata only, or a name in the channel carries no semantic version.",
		"Give the edges explicitly with --replaces, --skips or --skip-range, or publish under a version that orders."},
	{GraphInvalid, "graph-invalid", false,
		"The catalog's upgrade graph is not valid.",
		"A channel has no head or several, a cycle, an entry without a bundle, or another fault that graft verify names.",
		"Correct the edges at the line shown."},
	{UpgradePathLost, "upgrade-path-lost", false,
		"An installed version cannot be upgraded to where it could before, or to where graft path is to lead.",
		"An edge, a skip or an entry on its way was removed or changed, or was never there.",
		"Restore the edge, or add a skip or skipRange that takes the version."},
	{CatalogSkew, "catalog-skew", false,
		"After a cluster upgrade an installed version would have no way forward.",
		"The catalog of the next platform version lacks it and everything that could succeed it.",
		"Publish the version, or one that succeeds it, to the next catalog as well."},
	{CatalogPruned, "catalog-pruned", false,
		"A published channel or entry is gone.",
		"It was removed from the template.",
		"Put it back, or deprecate it instead of removing it."},
	{CatalogDrifted, "catalog-drifted", false,
		"A catalog was not what its template makes before the change, and drift: refuse is set; or semverSkips is not set, and rendering would change the edges of a standing catalog.",
		"Somebody edited the catalog or the template by hand, rendered the one without the other, or rendered it with another opm.",
		"Render the catalog of its template in a change of its own, or set drift: warn to have that done with this one."},
	{RenderFailed, "render-failed", false,
		"The template cannot be rendered to a catalog.",
		"The template's parts do not fit together, such as an entry for which there is no bundle.",
		"Correct the template as the message says."},
	{GitFailed, "git-failed", false,
		"A git operation failed.",
		"The repository cannot be read or the remote refuses the push.",
		"Check the remote, the token and the branch protection."},
	{GitRaceLost, "git-race-lost", true,
		"The base branch moved again at each of several tries.",
		"Many publishes at the same time.",
		"Run again."},
	{BranchEdited, "branch-edited", false,
		"A person has committed to the branch of the pull request.",
		"Graft never overwrites what a person wrote.",
		"Merge or close the pull request, or run with force."},
	{ForgeAuth, "forge-auth", false,
		"The forge refused the token.",
		"The token is missing, expired, or lacks a permission.",
		"Give the token the permission that the message names."},
	{ForgeRateLimited, "forge-rate-limited", true,
		"The forge's rate limit outlasts the run.",
		"Too many requests with this token.",
		"Run again after the time that the message names."},
	{ForgeUnavailable, "forge-unavailable", true,
		"The forge did not answer as it should.",
		"A time-out or a server error that outlasted the retries.",
		"Run again later."},
	{PullRequestRefused, "pull-request-refused", false,
		"The forge refused the pull request.",
		"A rule of the repository forbids it, or there is nothing between the two branches.",
		"Read the forge's message, and adapt the rule or the request."},
	{CatalogSourceUnresolvable, "catalogsource-unresolvable", false,
		"An image template of a CatalogSource cannot be resolved.",
		"An object or value that the template names is not there.",
		"Create the object, or correct the template."},
	{CatalogSourceInvalid, "catalogsource-invalid", false,
		"A CatalogSource is not valid.",
		"It names no source or several, or says something that its form cannot.",
		"Correct the manifest at the line shown."},
	{ClusterUnavailable, "cluster-unavailable", true,
		"The cluster did not answer.",
		"The API server cannot be reached, or refuses the credentials.",
		"Check the kubeconfig, and run again."},
	{OperandUnresolvable, "operand-unresolvable", false,
		"No version of an operand satisfies what was asked.",
		"The ranges of the operator, the operand and its dependencies have nothing in common.",
		"Widen the range that the message names, or publish an entry that satisfies it."},
	{ImageUnpinned, "image-unpinned", false,
		"An image is named by tag where a digest is required.",
		"The reference was never pinned.",
		"Run graft pin on the file."},
	{Interrupted, "interrupted", false,
		"The run was interrupted.",
		"A signal stopped it.",
		"Run again; nothing half-done was left behind."},
}
