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
	rejected("document-unreadable", "A document is not valid YAML or JSON, has no schema, has one key in two cases, or its schema, package or name is not a string. Graft checks the graph once every document can be read.", "Correct the document at the line shown."),
	rejected("document-mistyped", "A field holds a value of the wrong type.", "Give the field a value of the type that the message names."),
	advice("document-ignored", "OLM does not know a document's schema, so opm keeps the document and nothing reads it; or opm drops a text.", "Correct the schema if it is misspelt, or put --- before the text; turn this finding off if another program reads the document."),

	// Packages.
	rejected("package-without-name", "An olm.package has no name.", "Name the package."),
	rejected("package-duplicate", "Two olm.package documents have one name.", "Remove one of them."),
	rejected("package-name-invalid", "A package name is not a DNS label.", "Use at most 63 lower case letters, digits and hyphens, beginning and ending with a letter or digit."),
	rejected("package-unknown", "A document names a package without an olm.package.", "Add the olm.package, or correct the name."),
	rejected("package-without-channel", "A package has no channel.", "Add a channel."),
	rejected("default-channel-missing", "A package has no default channel.", "Set defaultChannel of the olm.package."),
	rejected("default-channel-unknown", "A package's default channel does not exist.", "Set defaultChannel to a channel of the package."),

	// Channels.
	rejected("channel-without-name", "An olm.channel has no name.", "Name the channel."),
	rejected("channel-duplicate", "Two olm.channel documents of a package have one name.", "Merge them into one."),
	rejected("channel-empty", "A channel has no entries.", "Add an entry, or remove the channel."),
	rejected("channel-no-head", "Every entry of a channel is replaced or skipped, so the channel has no head.", "Remove the edge that points to the newest entry."),
	rejected("channel-two-heads", "Several entries of a channel are neither replaced nor skipped, so OLM cannot choose the newest.", "Let the newest entry replace or skip the others."),
	rejected("channel-cycle", "The replaces edges of a channel form a cycle.", "Remove the edge that leads back."),
	rejected("entry-stranded", "The replaces edges from the channel's head do not lead to an entry, and no entry skips it.", "Let an entry between it and the head replace or skip it, or remove it."),
	rejected("entry-duplicate", "A channel has two entries of one name.", "Merge them into one."),
	rejected("entry-without-name", "An entry has no name.", "Name the entry, or remove it."),
	rejected("entry-without-bundle", "An entry names a bundle that the package does not have.", "Add the bundle, or remove the entry and the edges that lead to it."),
	rejected("skip-empty", "A list of skips has an empty name.", "Remove the empty item."),
	rejected("skip-range-invalid", "A skipRange is not a range of versions.", "Write a range such as '>=1.0.0 <1.2.3'."),

	// Bundles.
	rejected("bundle-without-name", "An olm.bundle has no name.", "Name the bundle."),
	rejected("bundle-without-package", "An olm.bundle has no package.", "Set its package."),
	rejected("bundle-duplicate", "Two olm.bundle documents of a package have one name.", "Remove one of them."),
	rejected("bundle-without-channel", "A bundle is in no channel of its package.", "Add an entry for it to a channel, or remove it."),
	rejected("bundle-without-image", "A bundle has neither an image nor its objects.", "Set its image."),
	rejected("image-invalid", "A bundle's image is not a pull spec.", "Correct the reference."),
	rejected("related-image-invalid", "A related image is not a pull spec.", "Correct the reference."),
	rejected("property-invalid", "A property of a bundle has no value, or a value that does not fit its type.", "Correct the property. If the bundle image is valid, rendering it again corrects the property."),
	rejected("package-property-count", "A bundle has no olm.package property, or several.", "Leave exactly one, with packageName and version."),
	rejected("package-property-mismatch", "A bundle's olm.package property names another package than the bundle.", "Make the two agree."),
	rejected("version-invalid", "A bundle's version is not a semantic version.", "Write a version such as 1.2.3."),
	rejected("version-duplicate", "Two bundles of a package have one version.", "Remove one of them, or change its version."),
	rejected("release-invalid", "A bundle's release is not a dotted list of identifiers of at most 20 characters.", "Write a release such as 1 or 2.1."),
	rejected("release-name-mismatch", "A bundle that has a release is not named PACKAGE-vVERSION-RELEASE.", "Rename the bundle as the message says."),
	rejected("release-with-build-metadata", "A version has build metadata, and the bundle has a release as well.", "Drop the build metadata or the release."),

	// Deprecations.
	rejected("deprecation-without-package", "An olm.deprecations has no package.", "Set its package."),
	rejected("deprecation-duplicate", "A package has two olm.deprecations, or one of them names a thing twice.", "Merge them into one."),
	rejected("deprecation-reference-invalid", "A deprecation's reference has no schema, an unknown one, or a name where a package is meant.", "Refer to an olm.bundle or olm.channel by name, or to olm.package without a name."),
	rejected("deprecation-unknown", "A deprecation names a bundle or channel that the package does not have.", "Remove the deprecation, or correct the name."),
	rejected("deprecation-without-message", "A deprecation has no message.", "Add a message."),

	// Accepted by opm, but a problem for users.
	advice("replaces-higher", "An entry replaces one with a higher version, so its users are downgraded.", "Reverse the edge, or correct the name."),
	advice("replaces-dangling", "An entry other than the channel's tail replaces one that the channel does not have; or the tail does, no channel has that one, and this channel has lower versions.", "Correct the name. Only a channel's last entry may replace a bundle that is gone."),
	advice("skipped-cycle", "The replaces edges behind a skipped entry form a cycle, so OLM v0 refuses the whole channel.", "Remove the edge that leads back."),
	advice("skip-unknown", "An entry skips a name that neither a bundle nor a lower release of it has or had.", "Correct the name. Keep it if somebody may have that bundle."),
	advice("skip-range-covers-self", "An entry's skipRange contains its own version, so OLM may offer the bundle to users who have it.", "End the range below the bundle's own version."),
	advice("skip-range-covers-nothing", "An entry's skipRange contains no version below its own, so nobody upgrades by it.", "Correct the range, or remove it."),
	advice("version-build-only", "The versions of two bundles differ only in build metadata, so they have no order.", "Distinguish them by the patch number, a pre-release or a release."),
	advice("name-version-mismatch", "A bundle's name ends with another version than the bundle has.", "Correct the name or the version in the bundle."),
	advice("stable-head-prerelease", "The head of a stable channel is a pre-release.", "Remove it from the channel, or publish the release."),
	advice("default-channel-prerelease", "The default channel is for pre-releases, although the package has others.", "Set defaultChannel to a stable channel."),
	advice("edges-differ", "A bundle has different edges in two channels of its package, so upgrades depend on the channel.", "Give it the same edges in both, as far as both have the bundles."),

	// Bundles that OLM v1 would choose but not install, and choices that differ from v0.
	advice("olm-v1-choice", "A ClusterExtension without a channel gets another bundle than a Subscription: OLM v1 takes the highest version of all channels, pre-releases too, and deprecated bundles last.", "Name channels or a version in the ClusterExtension, and tell users; or turn this finding off if nobody uses OLM v1."),
	advice("olm-v1-dependency", "A bundle that OLM v1 would choose declares a dependency (olm.package.required, olm.gvk.required, olm.constraint), so OLM v1 refuses it.", "Publish a version without the dependency, or turn this finding off if nobody uses OLM v1."),
	advice("olm-v1-install-mode", "A bundle that OLM v1 would choose does not support the install mode AllNamespaces, so OLM v1 refuses it unless the feature gate SingleOwnNamespaceInstallSupport is on.", "Support AllNamespaces in the CSV of the next version, or turn this finding off if nobody uses OLM v1."),
	advice("olm-v1-api-service", "A bundle that OLM v1 would choose owns API services, which OLM v1 does not install.", "Serve the API by custom resources, or turn this finding off if nobody uses OLM v1."),
	advice("olm-v1-conversion-webhook", "A bundle that OLM v1 would choose has a conversion webhook and supports other install modes than AllNamespaces. Only a catalog with olm.bundle.object shows webhooks.", "Leave AllNamespaces as the only install mode in the CSV of the next version."),
	promise("olm-v1-webhook", Off, failure.GraphInvalid, "A bundle that OLM v1 would choose has webhooks, which operator-controller before v1.6 installs only behind a feature gate.", "Tell users which version they need."),
	promise("olm-v1-release", Off, failure.GraphInvalid, "A bundle has a release, which OLM v1 counts only behind the feature gate BundleReleaseSupport; without it, bundles of one version have no order.", "Give the bundle its own version, or turn the gate on."),
	promise("olm-v1-untold", Off, failure.GraphInvalid, "The catalog lacks some reasons for which OLM v1 may refuse a bundle that it would choose: olm.csv.metadata has no webhooks.", "Check the bundle itself."),

	// Operands.
	advice("operand-invalid", "An entry of an operand or of related images, or a bundle's property that uses one, cannot be read.", "Correct it as in docs/operands.md."),
	promise("operand-range-empty", Warning, failure.OperandUnresolvable, "A bundle uses or requires a range of an operand's versions, and no entry lies in the range.", "Correct the range, or add a version in the range."),
	promise("operand-missing", Warning, failure.OperandUnresolvable, "A bundle uses or requires an operand, or a set of related images, without an entry in the catalog.", "Add the entry, or correct the name; turn this finding off if another catalog has the entries."),
	advice("operand-unused", "No bundle of the catalog uses an entry.", "Widen a bundle's range, or remove the entry; turn this finding off if another catalog has the bundles."),
	promise("operand-image-by-tag", Warning, failure.ImageUnpinned, "An entry names an image by tag, so the image may change.", "Run graft pin on the catalog or its template."),
	promise("image-by-tag", Off, failure.ImageUnpinned, "A bundle's image, or a related image, is named by tag.", "Run graft pin on the bundle before it is published, and on the template."),

	// Comparison with what was published.
	promise("upgrade-path-lost", Error, failure.UpgradePathLost, "An installed version could reach the head of its channel and no longer can.", "Restore the entry or the edge, or let an entry skip the version."),
	promise("package-pruned", Error, failure.CatalogPruned, "A published package is gone.", "Restore it, or deprecate it."),
	promise("channel-pruned", Error, failure.CatalogPruned, "A published channel is gone, so its subscriptions get no upgrades.", "Restore it, or deprecate it."),
	promise("entry-pruned", Error, failure.CatalogPruned, "A published entry is gone from its channel.", "Restore it, or deprecate the bundle."),
	promise("entry-withdrawn", Warning, failure.CatalogPruned, "A published entry is gone from its channel, and the channel now skips it by name.", "Do nothing if the bundle was withdrawn on purpose."),
	promise("head-regressed", Error, failure.CatalogPruned, "A channel's head has a lower version than the published one.", "Restore the newest entry at the head."),
	promise("default-channel-changed", Warning, failure.GraphInvalid, "A package's default channel differs from the published one, so new installations use it.", "Do nothing if the change is intended."),

	// Checks of the community catalogs' pipelines, each with the name of the check.
	promise("community-bundle-registry", Error, failure.BundleNotAllowed, "A catalog names a bundle image that allowed_bundle_registries in the repository's config.yaml does not allow (check_bundle_images_in_fbc).", "Publish the bundle to an allowed registry."),
	promise("community-ci-schema", Error, failure.Config, "ci.yaml does not match the pipeline's schema (check_schema_operator_ci_config).", "Correct the file at the line shown."),
	promise("community-release-schema", Error, failure.Config, "release-config.yaml does not match the pipeline's schema (check_schema_bundle_release_config).", "Correct the file at the line shown."),
	promise("community-catalog-twice", Error, failure.Config, "ci.yaml maps a catalog to two templates (check_catalog_usage_ci_config).", "Map each catalog to one template."),
	promise("community-archetype", Warning, failure.Config, "release-config.yaml names a channel of a semver template that is not exactly Candidate, Fast or Stable: opm accepts any case, but the pipeline refuses it with the bundle (check_bundle_release_config).", "Write Candidate, Fast or Stable."),
	promise("community-file-outside", Error, failure.Config, "The change has files outside of operators and catalogs (check_extra_files).", "Change those in a separate pull request."),
	promise("community-bundle-and-catalog", Error, failure.Config, "The change has a bundle and a catalog, which the pipeline accepts only in two pull requests (check_affected_catalog_operators).", "Propose the bundle first."),
	promise("community-catalog-invalid", Error, failure.GraphInvalid, "A catalog that the change touches is not valid with all of its operators, even if another operator causes it (opm validate catalogs/NAME).", "Correct the file at the line shown, or ask its owner to; turn this finding off if the file is not yours."),
	promise("community-not-merged", Warning, failure.Config, "ci.yaml or release-config.yaml has merge: false, so the pipeline does not merge the pull request, and auto-merge stays off.", "Merge it by hand."),

	// The catalog of the next platform version.
	promise("version-skew", Error, failure.CatalogSkew, "A version that can be installed from one catalog is missing from the next, and no version there succeeds it. As an error it fails with catalog-skew.", "Also publish it, or one that succeeds it, to the next catalog. If the gap is intended, lower the level of version-skew with levels in graft.yaml."),
	promise("head-skew", Error, failure.CatalogSkew, "The head of a channel is above every version in the next catalog, so a cluster upgrade leads to a lower version. As an error it fails with catalog-skew.", "Also publish the version, or a higher one, to the next catalog. If that is intended, lower the level of head-skew with levels in graft.yaml."),
	promise("channel-skew", Warning, failure.CatalogSkew, "In the next catalog, only another channel upgrades a version, so users must change their subscriptions by hand.", "Also publish it to the same channel of the next catalog."),
}
