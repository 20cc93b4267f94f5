// Package budget says how much of what others give is read, held and computed. The tables of
// docs/limits.md are made of the constants and what is said of each.
package budget

// A bundle image
const (
	BundleFiles  = 10_000    // files in the image, and as many directories
	BundleBytes  = 100 << 20 // content of all files of the image, unpacked
	BundlePacked = 64 << 20  // all layers as they are sent
	BundleKept   = 32 << 20  // files below manifests/ and metadata/, once for each name
	BundleText   = 16 << 20  // files that stand in manifests/ and metadata/, once for each name
	BundleValues = 250_000   // values in these files, aliases written out
	BundleFaults = 100       // files that cannot be read
	BundlePlaces = 512 << 10 // text that is read again to find the columns of faults
	VersionText  = 1 << 10   // a version
)

// A catalog image
const (
	CatalogFiles = 200_000   // files in the image, and as many directories
	CatalogBytes = 2 << 30   // content of all files of the image, unpacked
	CatalogPart  = 256 << 20 // what is kept of an image that is read in part
)

// Any image
const (
	ImageLayers   = 500       // layers
	ImageRatio    = 1000      // times its packed size that a layer may be unpacked to
	ImageSmall    = 1 << 20   // what a layer may be unpacked to whatever its packed size
	ImageHeaders  = 64 << 20  // archives beside the content of files
	ImageIdle     = 4 << 20   // what layers may have beyond what they unpack to
	ImageWindow   = 64 << 20  // what zstd looks back on
	ImagePath     = 4096      // characters of a path, or of what a link names
	ImageLinks    = 40        // links along one path
	ImageSteps    = 200       // names along all paths and links, for each file that an image may have
	ImageManifest = 8 << 20   // a manifest
	ImageConfig   = 8 << 20   // a configuration
	SavedEntries  = 100_000   // files of an image on the disk
	SavedLayer    = 2 << 30   // a layer of an image on the disk
	TagsPage      = 16 << 20  // a page of a list of tags
	Tags          = 1_000_000 // tags of a repository
	TagsIdle      = 10        // pages in a row without a new tag
)

// YAML and JSON elsewhere
const (
	DocumentValues  = 2_000_000 // values of a document, aliases written out
	DocumentBytes   = 64 << 20  // a document, aliases written out
	DocumentDepth   = 10_000    // lists and mappings within each other
	DocumentSearch  = 1 << 20   // text that is read again to find the column of a fault
	EditedValues    = 600_000   // values of a document that is edited
	FileDocuments   = 500_000   // documents of a file
	EditedDocuments = 20_000    // documents of a file that is edited
)

// Answers over HTTP
const (
	AnswerBytes  = 64 << 20 // an answer, unless another limit is said of it
	RefusalBytes = 1 << 20  // what says that a request failed
)

// An image template of a CatalogSource
const (
	TemplateText     = 16 << 10 // the template
	TemplateLookups  = 16       // objects that it looks up
	TemplateObject   = 1 << 20  // an object, as JSON without its escapes
	TemplatePath     = 1 << 10  // a JSONPath
	TemplateSteps    = 200_000  // values that a path looks at; text of 64 bytes that is compared counts as one
	TemplateSeconds  = 2        // seconds that a path takes
	TemplateValue    = 8 << 10  // what a path comes to
	NamespaceWatches = 50       // kinds, each in a namespace, that the CatalogSources of one namespace look up
)
