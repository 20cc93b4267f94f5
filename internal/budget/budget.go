// Package budget limits how much foreign input Graft reads, holds and processes. A test generates the tables of
// docs/limits.md from the constants and their comments.
package budget

// A bundle image
const (
	BundleFiles  = 10_000    // files in the image, and as many directories
	BundleBytes  = 100 << 20 // content of all files of the image, unpacked
	BundlePacked = 64 << 20  // all layers as transferred
	BundleKept   = 32 << 20  // files below manifests/ and metadata/, once for each name
	BundleText   = 16 << 20  // files directly in manifests/ and metadata/, once for each name
	BundleValues = 250_000   // values in these files, aliases expanded
	BundleFaults = 100       // files that cannot be read
	BundlePlaces = 512 << 10 // text that is parsed again to find the columns of faults
	VersionText  = 1 << 10   // length of a version
)

// A catalog image
const (
	CatalogFiles = 200_000   // files in the image, and as many directories
	CatalogBytes = 2 << 30   // content of all files of the image, unpacked
	CatalogPart  = 256 << 20 // content kept of an image that is read in part
)

// Any image
const (
	ImageLayers   = 500       // layers
	ImageRatio    = 1000      // unpacked size of a layer, as a multiple of its packed size
	ImageSmall    = 1 << 20   // unpacked size that any layer may have, whatever its packed size
	ImageHeaders  = 64 << 20  // bytes of tar archives other than file content
	ImageIdle     = 4 << 20   // bytes by which layers may exceed their unpacked size
	ImageWindow   = 64 << 20  // window of zstd
	ImagePath     = 4096      // characters of a path or of a link's target
	ImageLinks    = 40        // links along one path
	ImageSteps    = 200       // names followed along all paths and links, for each file that an image may have
	ImageManifest = 8 << 20   // a manifest
	ImageConfig   = 8 << 20   // a configuration
	SavedEntries  = 100_000   // files of an image on disk
	SavedLayer    = 2 << 30   // a layer of an image on disk
	TagsPage      = 16 << 20  // a page of a list of tags
	Tags          = 1_000_000 // tags of a repository
	TagsIdle      = 10        // pages in a row without a new tag
)

// YAML and JSON elsewhere
const (
	DocumentValues  = 2_000_000 // values of a document, aliases expanded
	DocumentBytes   = 64 << 20  // size of a document, aliases expanded
	DocumentDepth   = 10_000    // nesting of lists and mappings
	DocumentSearch  = 1 << 20   // text that is parsed again to find the column of a fault
	EditedValues    = 600_000   // values of a document that is edited
	FileDocuments   = 500_000   // documents of a file
	EditedDocuments = 20_000    // documents of an edited file
)

// Answers over HTTP
const (
	AnswerBytes  = 64 << 20 // a response without a limit of its own
	RefusalBytes = 1 << 20  // a response that reports an error
)

// An image template of a CatalogSource
const (
	TemplateText     = 16 << 10 // the template
	TemplateLookups  = 16       // objects that the template looks up
	TemplateObject   = 1 << 20  // an object as unescaped JSON
	TemplatePath     = 1 << 10  // a JSONPath
	TemplateSteps    = 200_000  // values that a JSONPath visits; 64 bytes of compared text count as one
	TemplateSeconds  = 2        // seconds that a JSONPath takes
	TemplateValue    = 8 << 10  // result of a JSONPath
	NamespaceWatches = 50       // watched pairs of kind and namespace, for all CatalogSources of one namespace; watched objects, for its operand policies
	OperandWatches   = 200      // watched objects, for the operand policies of all namespaces
)
