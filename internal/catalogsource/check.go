package catalogsource

import (
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/yamledit"
)

// pair is one kind of source in both forms of the spec.
type pair struct {
	source, field string // catalogImageSource.catalogImage
	legacy        string // image
	sourceType    string // required next to the legacy field
}

var pairs = []pair{
	{"catalogImageSource", "catalogImage", "image", "grpc"},
	{"catalogServiceSource", "address", "address", "grpc"},
	{"configMapSource", "configMap", "configMap", "configmap"},
}

// otherSources returns the fields, in both forms, of sources other than images.
func otherSources() (names []string) {
	for _, p := range pairs[1:] {
		names = append(names, p.source, p.legacy)
	}
	return names
}

// The fields for the pod of an image in both forms, and the deprecated sourceType.
const (
	overrides       = "podSpecOverrides"
	legacyOverrides = "grpcPodConfig"
	sourceType      = "sourceType"
	internalType    = "internal"  // the same as configmap
	proposedType    = "configMap" // the same, as spelled in the proposal of the new form
)

const oneSource = "Write one of catalogImageSource with catalogImage, catalogServiceSource with address, and configMapSource with configMap."

// Check returns the faults that an API server with the definition of CatalogSource would refuse, and warnings:
// deprecated fields, fields that would be dropped, and text that resembles a template but is not one.
func (s *Source) Check() (faults, warnings []*failure.Error) {
	c := &checker{source: s}
	c.identity()
	if s.isCluster() {
		c.checkCluster()
		if reference, ok := s.Reference(); ok {
			c.template(reference)
		}
		return c.faults, c.warnings
	}
	if d := definition()[s.version()]; d != nil {
		c.structure(d)
	} else {
		c.fault(s.root.Get("apiVersion"), "apiVersion names version %s, which is not served", s.version()).Fix("Write apiVersion: %s/%s.", Group, Stored)
	}
	if s.spec != nil && s.spec.Kind == yamledit.Mapping {
		c.union()
	}
	if reference, ok := s.Reference(); ok {
		c.template(reference)
	}
	c.twoTemplates()
	return c.faults, c.warnings
}

func (c *checker) identity() {
	meta := c.source.root.Get("metadata")
	name, generated := meta.Get("name"), meta.Get("generateName")
	if name.Text() == "" && generated.Text() == "" && meta != nil {
		c.fault(meta, "metadata has no name").Fix("Add a name.")
	} else if name != nil && !isSubdomain(name.Text()) {
		c.fault(name, "%q is not a valid name", name.Text()).Fix("Write lower case letters, digits, - and dots.")
	}
}

func (c *checker) template(reference string) {
	for _, p := range Parse(reference) {
		if p.Broken != nil {
			c.warn(c.source.annotation(), "%s is not a template: %s", p.Shown(), p.Broken.Why).Fix("%s", p.Broken.Fix)
		}
	}
}

// twoTemplates warns of an image that OLM and Graft would each set by their own annotation.
func (c *checker) twoTemplates() {
	annotations := map[string]string{}
	for _, key := range templateKeys {
		annotations[key] = c.source.root.Get("metadata").Get("annotations").Get(key).Text()
	}
	if WorkFor(annotations, true).Clash {
		c.warn(c.source.annotation(), "the annotation %s exists too, and OLM sets another image from it", ImageTemplate).Fix("Remove one of the two annotations.")
	}
}

// union checks that the spec names one source in one form. In version Next the deprecated fields are unknown.
func (c *checker) union() {
	spec := c.source.spec
	old := c.source.version() != Next
	var sources, legacy []string
	for _, p := range pairs {
		if spec.Get(p.source) != nil {
			sources = append(sources, p.source)
		}
		if old && spec.Get(p.legacy) != nil {
			legacy = append(legacy, p.legacy)
		}
	}
	switch {
	case len(sources)+len(legacy) == 0:
		c.fault(spec, "spec names no source").Fix(oneSource)
	case len(sources) > 1 || len(legacy) > 1 || len(sources) > 0 && len(legacy) > 0:
		all := slices.Concat(sources, legacy)
		c.fault(c.key(all[1]), "spec names %d sources: %s", len(all), strings.Join(all, ", ")).Fix("Keep one, and remove the others.")
	}
	c.empty()
	if old {
		c.beside(sources)
		c.legacy(legacy)
		c.deprecated()
	}
}

// beside reports deprecated fields that have no effect next to a source in the new form.
func (c *checker) beside(sources []string) {
	for _, old := range []string{sourceType, legacyOverrides} {
		if len(sources) > 0 && c.source.spec.Get(old) != nil {
			c.fault(c.key(old), "spec.%s conflicts with %s", old, sources[0]).Fix("Remove %s.", old)
		}
	}
}

// empty reports sources that name nothing.
func (c *checker) empty() {
	for _, p := range pairs {
		if in := c.source.spec.Get(p.source); in != nil && in.Kind == yamledit.Mapping {
			if v := in.Get(p.field); v == nil || v.Kind == yamledit.Scalar && v.Tag == "!!str" && v.Value == "" {
				c.fault(c.key(p.source), "spec.%s is empty", p.source).Fix("Write %s.%s.", p.source, p.field)
			}
		}
	}
}

// legacy checks sourceType and grpcPodConfig against the deprecated source.
func (c *checker) legacy(named []string) {
	spec := c.source.spec
	for _, name := range named {
		if v := spec.Get(name); v.Tag == "!!str" && v.Value == "" {
			c.fault(v, "spec.%s is empty", name).Fix("Write a value, or remove the key.")
		}
	}
	kind := spec.Get(sourceType)
	if kind == nil && len(named) > 0 {
		p := pairOf(named[0])
		c.fault(c.key(named[0]), "spec.%s needs sourceType", named[0]).
			Fix("Add sourceType: %s, or write %s.%s instead.", p.sourceType, p.source, p.field)
	}
	if known := []string{"grpc", "configmap", internalType, proposedType}; kind != nil && kind.Tag == "!!str" && !slices.Contains(known, kind.Text()) {
		c.fault(kind, "spec.sourceType is %q", kind.Text()).Fix("Write grpc, configmap or internal.")
	}
	for _, name := range named {
		if p := pairOf(name); kind != nil && (kind.Text() == "grpc") != (p.sourceType == "grpc") {
			c.fault(c.key(name), "sourceType %s does not use %s", kind.Text(), name).Fix("Write sourceType: %s, or remove %s.", p.sourceType, name)
		}
	}
	if spec.Get(legacyOverrides) != nil && spec.Get("image") == nil {
		c.fault(c.key(legacyOverrides), "spec.grpcPodConfig needs image, because it configures the pod of that image").Fix("Remove grpcPodConfig.")
	}
}

func (c *checker) deprecated() {
	for _, p := range pairs {
		if c.source.spec.Get(p.legacy) != nil {
			c.warn(c.key(p.legacy), "spec.%s is deprecated", p.legacy).Fix("Write %s.%s instead; graft catalogsource convert --to new does it.", p.source, p.field)
		}
	}
	if kind := c.source.spec.Get(sourceType); kind.Text() == proposedType {
		c.warn(kind, "spec.sourceType is configMap, and OLM reads only configmap").Fix("Write configmap.")
	}
	if c.source.spec.Get(sourceType) != nil {
		c.warn(c.key(sourceType), "spec.sourceType is deprecated").Fix("Remove it with the deprecated source field; graft catalogsource convert --to new does both.")
	}
	if c.source.spec.Get(legacyOverrides) != nil {
		c.warn(c.key(legacyOverrides), "spec.grpcPodConfig is deprecated").Fix("Write catalogImageSource.podSpecOverrides instead; graft catalogsource convert --to new does it.")
	}
}

func pairOf(legacy string) pair {
	return pairs[slices.IndexFunc(pairs, func(p pair) bool { return p.legacy == legacy })]
}

// key returns the node of a key of the spec, or the spec if a merge key includes it.
func (c *checker) key(name string) *yamledit.Node {
	spec := c.source.spec
	for key := range spec.Fields() {
		if key.Value == name {
			return key
		}
	}
	return spec
}
