package catalogsource

// OwnTemplate is the annotation that Graft reads and OLM does not. Where both stand, it is
// the one that counts.
const OwnTemplate = "graft.olmgraft.io/catalogImageTemplate"

// ownPrefix makes the types of conditions that Graft sets beside those of OLM.
const ownPrefix = "graft.olmgraft.io/"

// templateKeys are the annotations that hold a reference with templates, the first that
// stands being the one that counts.
var templateKeys = []string{OwnTemplate, ImageTemplate}

// Work is what there is to do for a CatalogSource.
type Work struct {
	Reference string // "" is nothing
	Own       bool   // by conditions of Graft's own types
	Clash     bool   // OLM sets the image by the other annotation
}

// WorkFor shares the work with OLM, where it is there: its catalog operator sets the image by
// the annotation ImageTemplate, and the conditions TemplatesHaveResolved and ResolvedImage,
// and removes those where there is no such annotation. It knows the variables of Kubernetes
// and no others.
//
//  1. What OLM resolves is OLM's.
//  2. What it does not resolve, and OwnTemplate, are Graft's, by conditions of its own types.
//  3. OwnTemplate beside what OLM resolves would have two images: none is set.
func WorkFor(annotations map[string]string, olm bool) Work {
	own, shared := annotations[OwnTemplate], annotations[ImageTemplate]
	resolves := shared != "" && olmResolves(shared)
	switch {
	case !olm && own != "":
		return Work{Reference: own}
	case !olm:
		return Work{Reference: shared}
	case own != "":
		return Work{Reference: own, Own: true, Clash: resolves}
	case resolves:
		return Work{}
	}
	return Work{Reference: shared, Own: shared != ""}
}

// olmResolves reports whether OLM has a value for all that a reference looks up.
func olmResolves(reference string) bool {
	return Resolve(reference, Values{Kube: KubeVersion{"1", "1", "1"}}).OK()
}

// templateKey is the annotation in which a template is written: ImageTemplate where OLM resolves
// it, so that both do; else OwnTemplate, since OLM says of what it cannot resolve that it is wrong.
func templateKey(kind, template string) string {
	if kind != ClusterKind && olmResolves(template) {
		return ImageTemplate
	}
	return OwnTemplate
}

// OwnTypes has conditions in Graft's own types.
func OwnTypes(conditions []Condition) []Condition {
	var out []Condition
	for _, c := range conditions {
		c.Type = ownPrefix + c.Type
		out = append(out, c)
	}
	return out
}

// SharedTypes and GraftTypes are the types of the conditions that tell of a template: those
// of the proposal, which OLM sets as well, and those that Graft alone sets.
var (
	SharedTypes = []string{TemplatesHaveResolved, ResolvedImage}
	GraftTypes  = []string{ownPrefix + TemplatesHaveResolved, ownPrefix + ResolvedImage}
)

// Says reports whether an array of conditions still says what was written to it.
func Says(existing []any, written []Condition) bool {
	_, changed := Merge(existing, written, "")
	return !changed
}
