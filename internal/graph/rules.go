package graph

import "github.com/olmgraft/graft/internal/failure"

// Level is the weight of a finding.
type Level string

// The levels. An error fails the run, a warning is shown, and off hides the finding.
const (
	Error   Level = "error"
	Warning Level = "warning"
	Off     Level = "off"
)

// Rule describes one kind of finding. The lists in the documentation and in SARIF are generated from the rules.
type Rule struct {
	ID    string       `json:"id"`
	Level Level        `json:"level"` // default level
	Code  failure.Code `json:"code"`  // of a run in which the finding is an error
	// Opm reports whether opm validate also rejects the catalog for this finding.
	Opm     bool   `json:"opm"`
	Meaning string `json:"meaning"`
	Remedy  string `json:"remedy"`
}

// RuleOf returns the rule with a finding's id.
func RuleOf(id string) (Rule, bool) {
	i, ok := ruleIndex[id]
	if !ok {
		return Rule{}, false
	}
	return Rules[i], true
}

var ruleIndex = func() map[string]int {
	m := map[string]int{}
	for i, r := range Rules {
		m[r.ID] = i
	}
	return m
}()

// rejected returns a rule that opm validate also has, advice one of Graft's own, and promise one about changes to
// a published catalog.
func rejected(id, meaning, remedy string) Rule {
	return Rule{id, Error, failure.GraphInvalid, true, meaning, remedy}
}

func advice(id, meaning, remedy string) Rule {
	return Rule{id, Warning, failure.GraphInvalid, false, meaning, remedy}
}

func promise(id string, level Level, code failure.Code, meaning, remedy string) Rule {
	return Rule{id, level, code, false, meaning, remedy}
}

// Rules lists every kind of finding once. Ids are API: graft.yaml sets levels by id, and code scanning tracks
// findings by id.
var Rules = []Rule{
	// Documents.
	rejected("document-unreadable", "A document is not valid YAML or JSON, has no schema, has one key in two cases, or its schema, package or name is no string. The graph is looked at when every document can be read.", "Correct the document at the line shown."),
	rejected("document-mistyped", "A field holds a value of the wrong type.", "Give the field a value of the type that the message names."),
	advice("document-ignored", "A document's schema is not one that OLM knows, so opm keeps it and nothing reads it; or text stands where opm drops it.", "Correct the schema if it is misspelt, or put --- before the text; turn this finding off if the document is meant for another reader."),

	// Packages.
	rejected("package-without-name", "An olm.package has no name.", "Name the package."),
	rejected("package-duplicate", "Two olm.package documents have one name.", "Remove one of them."),
	rejected("package-name-invalid", "A package name is not a DNS label.", "Use at most 63 lower case letters, digits and hyphens, beginning and ending with a letter or digit."),
	rejected("package-unknown", "A document names a package for which there is no olm.package.", "Add the olm.package, or correct the name."),
	rejected("package-without-channel", "A package has no channel.", "Add a channel."),
	rejected("default-channel-missing", "A package has no default channel.", "Set defaultChannel of the olm.package."),
	rejected("default-channel-unknown", "A package's default channel does not exist.", "Set defaultChannel to a channel of the package."),

	// Channels.
	rejected("channel-without-name", "An olm.channel has no name.", "Name the channel."),
	rejected("channel-duplicate", "Two olm.channel documents of a package have one name.", "Merge them into one."),
	rejected("channel-empty", "A channel has no entries.", "Add an entry, or remove the channel."),
	rejected("channel-no-head", "Every entry of a channel is replaced or skipped, so none is its head.", "Remove the edge that points to the newest entry."),
	rejected("channel-two-heads", "Several entries of a channel are neither replaced nor skipped, so OLM cannot tell which is the newest.", "Let the newest entry replace or skip the others."),
	rejected("channel-cycle", "The replaces edges of a channel go round in a circle.", "Remove the edge that leads back."),
	rejected("entry-stranded", "An entry is not on the way of replaces from the channel's head, and nothing skips it.", "Let an entry on that way replace or skip it, or remove it."),
	rejected("entry-duplicate", "A channel has two entries of one name.", "Merge them into one."),
	rejected("entry-without-name", "An entry has no name.", "Name the entry, or remove it."),
	rejected("entry-without-bundle", "An entry names a bundle that the package does not have.", "Add the bundle, or remove the entry and the edges that lead to it."),
	rejected("skip-empty", "A list of skips has an empty name.", "Remove the empty item."),
	rejected("skip-range-invalid", "A skipRange is not a range of versions.", "Write a range such as '>=1.0.0 <1.2.3'."),

	// Bundles.
	rejected("bundle-without-name", "An olm.bundle has no name.", "Name the bundle."),
	rejected("bundle-without-package", "An olm.bundle does not say of which package it is.", "Set its package."),
	rejected("bundle-duplicate", "Two olm.bundle documents of a package have one name.", "Remove one of them."),
	rejected("bundle-without-channel", "A bundle stands in no channel of its package.", "Add an entry for it to a channel, or remove it."),
	rejected("bundle-without-image", "A bundle has neither an image nor its objects.", "Set its image."),
	rejected("image-invalid", "A bundle's image is not a pull spec.", "Correct the reference."),
	rejected("related-image-invalid", "A related image is not a pull spec.", "Correct the reference."),
	rejected("property-invalid", "A property of a bundle has no value, or a value that does not fit its type.", "Correct the property; rendering the bundle again does so where the bundle itself is sound."),
	rejected("package-property-count", "A bundle has no olm.package property, or several.", "Leave exactly one, with packageName and version."),
	rejected("package-property-mismatch", "A bundle's olm.package property names another package than the bundle does.", "Make the two agree."),
	rejected("version-invalid", "A bundle's version is not a semantic version.", "Write a version such as 1.2.3."),
	rejected("version-duplicate", "Two bundles of a package have one version.", "Remove one, or give it a version of its own."),
	rejected("release-invalid", "A bundle's release is not a dotted list of identifiers of at most 20 characters.", "Write a release such as 1 or 2.1."),
	rejected("release-name-mismatch", "A bundle that has a release is not named PACKAGE-vVERSION-RELEASE.", "Rename the bundle as the message says."),
	rejected("release-with-build-metadata", "A version has build metadata, and the bundle has a release as well.", "Drop the build metadata or the release."),

	// Deprecations.
	rejected("deprecation-without-package", "An olm.deprecations does not say of which package it is.", "Set its package."),
	rejected("deprecation-duplicate", "A package has two olm.deprecations, or one of them names a thing twice.", "Merge them into one."),
	rejected("deprecation-reference-invalid", "A deprecation's reference has no schema, an unknown one, or a name where a package is meant.", "Refer to an olm.bundle or olm.channel by name, or to olm.package without a name."),
	rejected("deprecation-unknown", "A deprecation names a bundle or channel that the package does not have.", "Remove the deprecation, or correct the name."),
	rejected("deprecation-without-message", "A deprecation says nothing to the user.", "Add a message."),

	// Accepted by opm, but a problem for users.
	advice("replaces-higher", "An entry replaces one of a higher version, so its users are downgraded.", "Turn the edge round, or correct the name."),
	advice("replaces-dangling", "An entry that is not the channel's tail replaces one that the channel does not have; or the tail does, and no channel has it though lower versions stand in this one.", "Correct the name; only a channel's last entry may replace what is gone."),
	advice("skipped-cycle", "The replaces edges behind a skipped entry go round in a circle, at which OLM v0 refuses the whole channel.", "Remove the edge that leads back."),
	advice("skip-unknown", "An entry skips a name that no bundle has or had, nor a lower release of it.", "Correct the name; it stays where somebody may have that bundle."),
	advice("skip-range-covers-self", "An entry's skipRange holds its own version, so OLM may offer the bundle to those who have it.", "Let the range end below the bundle's own version."),
	advice("skip-range-covers-nothing", "No version below the entry's own lies in its skipRange, so nobody upgrades by it.", "Correct the range, or remove it."),
	advice("version-build-only", "Two bundles have versions that differ only in build metadata, which have no order.", "Use the patch number, a pre-release or a release to tell them apart."),
	advice("name-version-mismatch", "A bundle's name ends with another version than the bundle has.", "Correct the name or the version in the bundle."),
	advice("stable-head-prerelease", "The head of a stable channel is a pre-release.", "Take it out of the channel, or publish the release."),
	advice("default-channel-prerelease", "The default channel is one for pre-releases, although the package has others.", "Set defaultChannel to a stable channel."),
	advice("edges-differ", "A bundle has different edges in two channels of its package, so upgrades depend on the channel.", "Give it the same edges in both, as far as both have the bundles."),

	// Bundles that OLM v1 would choose but not install, and choices that differ from v0.
	advice("olm-v1-choice", "A ClusterExtension that names no channel gets another bundle than a Subscription: OLM v1 takes the highest version of all channels, deprecated ones last, pre-releases too.", "Name channels or a version in the ClusterExtension, and say so to users; or turn this finding off where nobody uses OLM v1."),
	advice("olm-v1-dependency", "A bundle that OLM v1 would choose declares a dependency (olm.package.required, olm.gvk.required, olm.constraint), at which it refuses.", "Publish a version without the dependency, or turn this finding off where nobody uses OLM v1."),
	advice("olm-v1-install-mode", "A bundle that OLM v1 would choose does not support the install mode AllNamespaces, without which it is refused unless the feature gate SingleOwnNamespaceInstallSupport is on.", "Support AllNamespaces in the CSV of the next version, or turn this finding off where nobody uses OLM v1."),
	advice("olm-v1-api-service", "A bundle that OLM v1 would choose owns API services, which it does not install.", "Serve the API by custom resources, or turn this finding off where nobody uses OLM v1."),
	advice("olm-v1-conversion-webhook", "A bundle that OLM v1 would choose has a conversion webhook and supports other install modes than AllNamespaces. Only a catalog with olm.bundle.object tells of webhooks.", "Leave AllNamespaces as the only install mode in the CSV of the next version."),
	promise("olm-v1-webhook", Off, failure.GraphInvalid, "A bundle that OLM v1 would choose has webhooks, which operator-controller before v1.6 installs behind a feature gate alone.", "Tell users which version they need."),
	promise("olm-v1-release", Off, failure.GraphInvalid, "A bundle has a release, which OLM v1 counts behind the feature gate BundleReleaseSupport alone; without it, bundles of one version have no order.", "Give the bundle a version of its own, or have the gate turned on."),
	promise("olm-v1-untold", Off, failure.GraphInvalid, "The catalog does not tell of a bundle that OLM v1 would choose all by which it may be refused; olm.csv.metadata has no webhooks.", "Look into the bundle."),

	// Operands.
	advice("operand-invalid", "An entry of an operand or of related images, or a bundle's property that takes one, cannot be read.", "Correct it as docs/operands.md shows."),
	promise("operand-range-empty", Warning, failure.OperandUnresolvable, "A bundle takes or requires a range of an operand's versions that holds none of them.", "Correct the range, or add a version that lies in it."),
	promise("operand-missing", Warning, failure.OperandUnresolvable, "A bundle takes or requires an operand, or a set of related images, of which the catalog has no entry.", "Add the entry, or correct the name; turn this finding off where entries stand in a catalog of their own."),
	advice("operand-unused", "No bundle of the catalog takes an entry.", "Widen a bundle's range, or remove the entry; turn this finding off where the bundles stand in another catalog."),
	promise("operand-image-by-tag", Warning, failure.ImageUnpinned, "An entry names an image by tag, so that what it is may change.", "Run graft pin on the catalog or its template."),
	promise("image-by-tag", Off, failure.ImageUnpinned, "A bundle's image, or a related image, is named by tag.", "Run graft pin on the bundle before it is published, and on the template."),

	// Comparison with what was published.
	promise("upgrade-path-lost", Error, failure.UpgradePathLost, "An installed version could reach the head of its channel and no longer can.", "Restore what is gone from the path, or let an entry skip the version."),
	promise("package-pruned", Error, failure.CatalogPruned, "A published package is gone.", "Put it back, or deprecate it."),
	promise("channel-pruned", Error, failure.CatalogPruned, "A published channel is gone, and subscriptions to it are left without upgrades.", "Put it back, or deprecate it."),
	promise("entry-pruned", Error, failure.CatalogPruned, "A published entry is gone from its channel.", "Put it back, or deprecate the bundle."),
	promise("entry-withdrawn", Warning, failure.CatalogPruned, "A published entry is gone from its channel, and the channel newly skips it by name.", "Nothing, if the bundle was taken back on purpose."),
	promise("head-regressed", Error, failure.CatalogPruned, "A channel's head has a lower version than the published one.", "Put the newest entry back at the head."),
	promise("default-channel-changed", Warning, failure.GraphInvalid, "A package's default channel is another than the published one, so new installations take it.", "Nothing, if it is meant."),

	// Checks of the community catalogs' pipelines, each with the name of the check.
	promise("community-bundle-registry", Error, failure.BundleNotAllowed, "A catalog names a bundle's image that allowed_bundle_registries of the repository's config.yaml does not allow (check_bundle_images_in_fbc).", "Publish the bundle to a registry that is allowed."),
	promise("community-ci-schema", Error, failure.Config, "ci.yaml does not hold to the pipeline's schema (check_schema_operator_ci_config).", "Correct the file at the line shown."),
	promise("community-release-schema", Error, failure.Config, "release-config.yaml does not hold to the pipeline's schema (check_schema_bundle_release_config).", "Correct the file at the line shown."),
	promise("community-catalog-twice", Error, failure.Config, "ci.yaml maps a catalog to two templates (check_catalog_usage_ci_config).", "Map each catalog to one template."),
	promise("community-archetype", Warning, failure.Config, "release-config.yaml names a channel of a semver template that is not Candidate, Fast or Stable in these letters: the pipeline refuses it with the bundle, and opm takes any case (check_bundle_release_config).", "Write Candidate, Fast or Stable."),
	promise("community-file-outside", Error, failure.Config, "The change has files outside of operators and catalogs (check_extra_files).", "Change those in a pull request of their own."),
	promise("community-bundle-and-catalog", Error, failure.Config, "The change has a bundle and a catalog, which the pipeline takes in two pull requests only (check_affected_catalog_operators).", "Propose the bundle first."),
	promise("community-catalog-invalid", Error, failure.GraphInvalid, "A catalog that the change touches is not valid with all of its operators, whosever fault it is (opm validate catalogs/NAME).", "Correct the file at the line shown, or have its owner do so; turn this finding off where it is not yours to correct."),
	promise("community-not-merged", Warning, failure.Config, "ci.yaml or release-config.yaml says merge: false, so that the pipeline does not merge the pull request, and auto-merge stays off.", "Merge it by hand."),

	// The catalog of the next platform version.
	promise("version-skew", Error, failure.CatalogSkew, "A version that can be installed from one catalog is missing from the next, and nothing there succeeds it.", "Publish it, or one that succeeds it, to the next catalog as well."),
	promise("head-skew", Error, failure.CatalogSkew, "The head of a channel is above everything in the next catalog, so a cluster upgrade leads backwards.", "Publish the version, or a higher one, to the next catalog as well."),
	promise("channel-skew", Warning, failure.CatalogSkew, "A version's way forward in the next catalog is in another channel, so subscriptions must be changed by hand.", "Publish it to the same channel of the next catalog as well."),
}
