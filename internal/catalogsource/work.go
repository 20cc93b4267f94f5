package catalogsource

// OwnTemplate is the annotation that only Graft reads. It takes precedence over ImageTemplate.
const OwnTemplate = "graft.olmgraft.io/catalogImageTemplate"

// ownPrefix begins the types of Graft's own conditions, next to those of OLM.
const ownPrefix = "graft.olmgraft.io/"

// templateKeys are the annotations that hold a reference with templates. The first existing one takes effect.
var templateKeys = []string{OwnTemplate, ImageTemplate}

// Work describes what Graft has to do for a CatalogSource.
type Work struct {
	Reference string // "" means nothing
	Own       bool   // report with conditions of Graft's own types
	Clash     bool   // OLM sets the image from the other annotation
}

// WorkFor divides the work between Graft and OLM, if OLM is present. OLM's catalog operator sets the image from
// the annotation ImageTemplate, and the conditions TemplatesHaveResolved and ResolvedImage; it removes these
// conditions if the annotation is missing. It supports only the variables of Kubernetes.
//
//  1. OLM does what it can resolve.
//  2. Graft does everything else and OwnTemplate, with conditions of its own types.
//  3. OwnTemplate next to a template that OLM resolves would mean two images: Graft sets none.
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

// olmResolves reports whether OLM can resolve every template of a reference.
func olmResolves(reference string) bool {
	return Resolve(reference, Values{Kube: KubeVersion{"1", "1", "1"}}).OK()
}

// templateKey returns the annotation for a template: ImageTemplate if OLM resolves it, so that both can.
// Otherwise it is OwnTemplate, because OLM reports templates that it cannot resolve as faults.
func templateKey(kind, template string) string {
	if kind != ClusterKind && olmResolves(template) {
		return ImageTemplate
	}
	return OwnTemplate
}

// OwnTypes returns the conditions with Graft's own types.
func OwnTypes(conditions []Condition) []Condition {
	var out []Condition
	for _, c := range conditions {
		c.Type = ownPrefix + c.Type
		out = append(out, c)
	}
	return out
}

// SharedTypes and GraftTypes are the types of conditions about templates: those of the proposal, which OLM also
// sets, and those that only Graft sets.
var (
	SharedTypes = []string{TemplatesHaveResolved, ResolvedImage}
	GraftTypes  = []string{ownPrefix + TemplatesHaveResolved, ownPrefix + ResolvedImage}
)

// Says reports whether an array of conditions still contains the written ones unchanged.
func Says(existing []any, written []Condition) bool {
	_, changed := Merge(existing, written, "")
	return !changed
}
