package bundle

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/bundle/object"
)

// api identifies a kind that a bundle provides or requires.
type api struct {
	group, version, kind, plural string
}

func (a api) String() string { return a.kind + " " + a.plural + "." + a.group + "/" + a.version }

const groupCRD = "apiextensions.k8s.io"

// addCRD adds the APIs that a CRD defines. It skips versions that opm does not know.
func (b *Bundle) addCRD(m manifest) error {
	typ := map[string]string{"v1": shapeCRD, "v1beta1": shapeCRDBeta}[m.version]
	if typ == "" {
		return nil
	}
	meta, err := readType(m.object)
	if err != nil {
		return err
	}
	if meta.Kind != kindCRD || meta.APIVersion != groupCRD+"/"+m.version {
		return fmt.Errorf("it is of %s %s, not of %s/%s", meta.APIVersion, meta.Kind, groupCRD, m.version)
	}
	if err := check(m.object, typ, false); err != nil {
		return err
	}
	spec := m.object.At("spec")
	defined := api{group: spec.Str("group"), kind: spec.Str("names", "kind"), plural: spec.Str("names", "plural")}
	for _, v := range spec.At("versions").Items {
		defined.version = v.Value.Str("name")
		b.provided[defined] = true
	}
	if old := spec.Str("version"); old != "" && m.version == "v1beta1" {
		defined.version = old
		b.provided[defined] = true
	}
	return nil
}

// checkOwned adds the APIs that the CSV serves itself, and refuses a bundle without a CRD for each kind that the
// CSV claims to own.
func (b *Bundle) checkOwned(context.Context) error {
	for _, d := range b.csv.ownedAPIs {
		b.provided[api{d.Group, d.Version, d.Kind, d.Name}] = true
	}
	for _, d := range b.csv.ownedCRDs {
		owned, err := d.crd()
		if err != nil {
			return b.fail(b.csv.file, "reading spec.customresourcedefinitions.owned: %w", err)
		}
		if !b.provided[owned] {
			return b.failWithFindings(b.fail(b.csv.file, "the CSV owns %s, and no CRD in manifests/ defines it%s", owned, b.similar(owned)).
				Fix("Add the CRD to the bundle, or correct name, version and kind in spec.customresourcedefinitions.owned."))
		}
	}
	return nil
}

// similar names the provided APIs of the same kind or plural.
func (b *Bundle) similar(wanted api) string {
	var found []string
	for a := range b.provided {
		if a.kind == wanted.kind || a.plural == wanted.plural {
			found = append(found, a.String())
		}
	}
	if found == nil {
		return ""
	}
	slices.Sort(found)
	return "; there is " + strings.Join(found, ", ")
}

// definition is an entry in the CSV's lists of CRDs and API services.
type definition struct {
	Group   string `json:"group"`
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Version string `json:"version"`
}

// crd returns the API that a definition names. The name has the form PLURAL.GROUP.
func (d definition) crd() (api, error) {
	plural, group, ok := strings.Cut(d.Name, ".")
	if !ok {
		return api{}, fmt.Errorf("the name %q is not of the form PLURAL.GROUP", d.Name)
	}
	return api{group, d.Version, d.Kind, plural}, nil
}

// definitions reads the owned and required lists of a section of the CSV's spec.
func definitions(spec object.Value, section string) (owned, required []definition, err error) {
	v, _ := spec.Get(section)
	var lists struct {
		Owned    []*definition `json:"owned"`
		Required []*definition `json:"required"`
	}
	if err := decode(v.Only("owned", "required"), &lists); err != nil {
		return nil, nil, fmt.Errorf("spec.%s: %w", section, err)
	}
	if slices.Contains(lists.Owned, nil) || slices.Contains(lists.Required, nil) {
		return nil, nil, fmt.Errorf("spec.%s has an empty entry", section)
	}
	return values(lists.Owned), values(lists.Required), nil
}

func values(in []*definition) []definition {
	out := make([]definition, len(in))
	for i, d := range in {
		out[i] = *d
	}
	return out
}
