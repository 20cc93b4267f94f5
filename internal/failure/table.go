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
		"The run succeeded. The result is created, updated, unchanged or planned.",
		"Nothing went wrong.",
		"Nothing to do."},
	{Internal, "internal", false,
		"Graft itself failed.",
		"A bug in Graft.",
		"Report it with the command and its input."},
	{Usage, "usage", false,
		"The command line or the inputs of the action are not valid.",
		"A flag or input is missing, unknown, or contradicts another.",
		"Correct the flags or inputs: --help lists them."},
	{Config, "config-invalid", false,
		"A configuration file is not valid.",
		"graft.yaml, ci.yaml or release-config.yaml has an unknown key or a wrong type, or names something that does not exist.",
		"Correct the file at the line shown."},
	{TemplateNotFound, "template-not-found", false,
		"A template does not exist.",
		"The path is wrong, or the catalog is new and has no template yet.",
		"Correct the path, or create a template with graft insert --create."},
	{TemplateMalformed, "template-malformed", false,
		"A template cannot be read, or has content that opm would silently drop.",
		"It is not valid YAML or JSON, a key is misspelt or occurs in two cases, an image or entry occurs twice, or a second document follows.",
		"Correct the template at the line shown. graft detect lists all its problems."},
	{TemplateUnsupported, "template-unsupported", false,
		"Graft does not know this kind of template.",
		"Its schema is unknown, or the file is not a catalog template.",
		"Use a semver, basic, goodstuff, composite or substitutes template, or a raw file-based catalog."},
	{TemplateOpaque, "template-opaque", false,
		"A program builds the template, and Graft cannot look into it.",
		"A composite component uses the custom builder (olm.builder.custom).",
		"Add the bundle to the input of that builder."},
	{EditRefused, "edit-refused", false,
		"Graft cannot make the edit without changing other bytes.",
		"The place to edit is inside an anchored or aliased node, or in a form that cannot be extended in place, or in a file outside of the repository, which a link or .. leads to.",
		"Make the edit by hand at the line shown, or write the place in plain block style."},
	{BundleNotFound, "bundle-not-found", false,
		"The bundle image does not exist.",
		"The repository, tag or digest is not in the registry, or the image is private and the registry hides it.",
		"Check the image reference, and that the credentials may pull the image."},
	{RegistryAuth, "registry-auth", false,
		"The registry refused the credentials.",
		"No credentials were found for the registry, or they may not pull this repository.",
		"Log in with docker login or podman login, or set REGISTRY_AUTH_FILE."},
	{RegistryUnavailable, "registry-unavailable", true,
		"The registry did not answer as expected.",
		"A timeout, a reset connection, a server error or a rate limit outlasted the retries. Or the host is unknown or cannot be reached: its name is misspelt, or only a mirror serves the image, which --registries-conf has to name.",
		"Run again later. If the host is unknown, check its name, or name a mirror in a registries.conf."},
	{BundleInvalid, "bundle-invalid", false,
		"The image is not a valid operator bundle.",
		"Labels, annotations or the CSV are missing or malformed, or the image exceeds the limits.",
		"Correct the bundle and publish it again; operator-sdk bundle validate shows more."},
	{DigestMismatch, "digest-mismatch", false,
		"Content does not match its digest.",
		"A tag moved after it was announced or recorded, or a blob was altered in transit.",
		"Find out who moved the tag. If that was intended, accept it with graft render --update-sum, or announce the image again."},
	{BundleNotAllowed, "bundle-not-allowed", false,
		"The image comes from a repository that is not allowed.",
		"No pattern of allowedRepositories in graft.yaml, or of the flag or input allowed-repositories, matches the image.",
		"Add the repository to the patterns if you trust it."},
	{BundleConflict, "bundle-conflict", false,
		"The template has the bundle with other content.",
		"The same name has another image, or the same version has another name.",
		"Publish changed content under a new version. If nobody can have the old image yet, give --rebuild replace."},
	{EdgeConflict, "edge-conflict", false,
		"The channel has the bundle with other upgrade edges, or the edit would change an edge that must not change.",
		"An earlier insert or a person gave the bundle other edges.",
		"Give the existing edges, or change them with graft edges."},
	{PredecessorMissing, "predecessor-missing", false,
		"The channel does not have the bundle to replace.",
		"The name is misspelt, or the pull request with that bundle is not merged yet.",
		"Insert the predecessor first, or allow a missing one: with graft insert --allow-missing-predecessor, or with allowMissingPredecessor in graft.yaml."},
	{ChannelUnknown, "channel-unknown", false,
		"This kind of template cannot have the channel.",
		"A semver template has only the channels Candidate, Fast and Stable.",
		"Name a channel that this kind of template can have."},
	{VersionUnordered, "version-unordered", false,
		"The versions have no order.",
		"Two versions differ only in build metadata, or a name in the channel has no semantic version.",
		"Give the edges explicitly, or publish under a version that has an order."},
	{GraphInvalid, "graph-invalid", false,
		"The catalog's upgrade graph is not valid.",
		"A channel has no head or several, a cycle, an entry without a bundle, or another problem that graft verify finds.",
		"Correct the edges at the line shown."},
	{UpgradePathLost, "upgrade-path-lost", false,
		"An installed version cannot upgrade to where it could before, or to the target of graft path.",
		"An edge, a skip or an entry on its path was removed or changed, or never existed.",
		"Restore the edge, or add a skip or skipRange that covers the version."},
	{CatalogSkew, "catalog-skew", false,
		"After a cluster upgrade, an installed version would have no upgrade.",
		"The catalog of the next platform version has neither that version nor one that succeeds it: the findings version-skew and head-skew.",
		"Also publish the version, or one that succeeds it, to the next catalog. If the gap is intended, lower the level of the finding with levels in graft.yaml."},
	{CatalogPruned, "catalog-pruned", false,
		"A published channel or entry is gone.",
		"It was removed from the template.",
		"Restore it, or deprecate it instead of removing it."},
	{CatalogDrifted, "catalog-drifted", false,
		"A catalog differed from its template before the change, and drift: refuse is set; or semverSkips is not set, and rendering would change the edges of an existing catalog.",
		"Somebody edited the catalog or the template by hand, changed one without the other, or rendered with another version of opm.",
		"Render the catalog from its template in a separate change, or set drift: warn to include that in this one."},
	{RenderFailed, "render-failed", false,
		"The template cannot be rendered to a catalog.",
		"Parts of the template do not fit together, such as an entry without a bundle.",
		"Correct the template as the message describes."},
	{GitFailed, "git-failed", false,
		"A git operation failed.",
		"The repository cannot be read or the remote refuses the push.",
		"Check the remote, the token and the branch protection."},
	{GitRaceLost, "git-race-lost", true,
		"The base branch moved again at each of several attempts.",
		"Many runs publish at the same time.",
		"Run again."},
	{BranchEdited, "branch-edited", false,
		"A person has committed to the branch of the pull request.",
		"Graft never overwrites the commits of a person.",
		"Merge or close the pull request, or give --force."},
	{ForgeAuth, "forge-auth", false,
		"The forge refused the token.",
		"The token is missing, expired, or lacks a permission.",
		"Give the token the permission in the message."},
	{ForgeRateLimited, "forge-rate-limited", true,
		"The forge's rate limit lasts longer than the run.",
		"The token has made too many requests.",
		"Run again after the time in the message."},
	{ForgeUnavailable, "forge-unavailable", true,
		"The forge did not answer as expected.",
		"A timeout or a server error outlasted the retries.",
		"Run again later."},
	{PullRequestRefused, "pull-request-refused", false,
		"The forge refused the pull request.",
		"A rule of the repository forbids it, or the two branches do not differ.",
		"Change the rule or the request, as the forge's message describes."},
	{CatalogSourceUnresolvable, "catalogsource-unresolvable", false,
		"An image template of a CatalogSource cannot be resolved.",
		"An object or a value that the template names does not exist.",
		"Create the object, or correct the template."},
	{CatalogSourceInvalid, "catalogsource-invalid", false,
		"A CatalogSource is not valid.",
		"It names no source or several, or its form cannot express it.",
		"Correct the manifest at the line shown."},
	{ClusterUnavailable, "cluster-unavailable", true,
		"The cluster did not answer.",
		"The API server cannot be reached, or refuses the credentials.",
		"Check the kubeconfig, and run again."},
	{OperandUnresolvable, "operand-unresolvable", false,
		"No version of an operand satisfies the request.",
		"The ranges of the operator, the operand and its dependencies have no version in common.",
		"Widen the range in the message, or publish an entry that satisfies it."},
	{ImageUnpinned, "image-unpinned", false,
		"An image is named by tag where a digest is required.",
		"The reference was never pinned to a digest.",
		"Run graft pin on the file."},
	{Interrupted, "interrupted", false,
		"The run was interrupted.",
		"A signal stopped it.",
		"Run again: no file or branch is half done."},
}
