package operands

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/olmgraft/graft/internal/catalogsource"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/operand"
)

// patience limits the wait for one catalog.
const patience = 2 * time.Minute

// round is one pass over all ConfigMaps, which reads each image once.
type round struct {
	*Keeper
	digests map[string]digest
	read    map[string]reading
}

type digest struct {
	reference string
	err       error
}

type reading struct {
	set *operand.Set
	err error
}

// catalogsOf returns the operands of all catalogs of a policy, and their references by digest.
func (r *round) catalogsOf(ctx context.Context, namespace string, all []operand.PolicyCatalog) (*operand.Set, []string, error) {
	var sets []*operand.Set
	var pinned []string
	for _, c := range all {
		image, err := r.image(ctx, namespace, c)
		if err != nil {
			return nil, nil, err
		}
		set, at, err := r.catalog(ctx, image)
		if err != nil {
			return nil, nil, err
		}
		sets, pinned = append(sets, set), append(pinned, at)
	}
	return operand.Union(sets...), pinned, nil
}

// image returns the image of a policy's catalog.
func (r *round) image(ctx context.Context, namespace string, c operand.PolicyCatalog) (image string, err error) {
	var object *unstructured.Unstructured
	switch {
	case c.CatalogSource != "":
		in, name, other := strings.Cut(c.CatalogSource, "/")
		if !other {
			in, name = namespace, in
		}
		if object, err = r.get(ctx, namespace, catalogSources, in, name); err == nil {
			spec, _, _ := unstructured.NestedMap(object.Object, "spec")
			image, _, _ = unstructured.NestedString(spec, catalogsource.ImageField(spec)...)
		}
	case c.ClusterCatalog != "":
		if object, err = r.get(ctx, namespace, clusterCatalogs, "", c.ClusterCatalog); err == nil {
			if image, _, _ = unstructured.NestedString(object.Object, "status", "resolvedSource", "image", "ref"); image == "" {
				image, _, _ = unstructured.NestedString(object.Object, "spec", "source", "image", "ref")
			}
		}
	default:
		return c.Image, nil
	}
	if err == nil && image == "" {
		err = failure.New(failure.OperandUnresolvable, "reading the %s %s: it has no catalog image", object.GetKind(), object.GetName()).
			Fix("Name a catalog that has an image.")
	}
	return image, err
}

// get reads an object that a policy of the namespace of names.
func (r *round) get(ctx context.Context, of string, resource schema.GroupVersionResource, namespace, name string) (*unstructured.Unstructured, error) {
	r.watches.object(ctx, of, resource, namespace, name)
	object, err := r.client.Resource(resource).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, failure.New(failure.ClusterUnavailable, "reading %s: %w", strings.Trim(namespace+"/"+name, "/"), err).
			Fix("Correct the policy, or let graft-controller read %s, as in deploy/controller/operands/operands.yaml.", resource.Resource)
	}
	return object, nil
}

// catalog returns the operands in an image. It does not pull an image again whose digest is known from the last
// round.
func (r *round) catalog(ctx context.Context, image string) (*operand.Set, string, error) {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	d, ok := r.digests[image]
	if !ok {
		now, err := r.Registry.Resolve(ctx, image)
		repository, _, _ := strings.Cut(image, "@")
		d = digest{repository + "@" + now, err}
		r.digests[image] = d
	}
	if d.err != nil {
		return nil, "", d.err
	}
	one, ok := r.read[d.reference]
	if !ok {
		if one.set = r.catalogs[d.reference]; one.set == nil {
			one.set, one.err = r.pull(ctx, image)
		}
		r.read[d.reference] = one
	}
	return one.set, d.reference, one.err
}

// words appear in each file that describes operands.
var words = [][]byte{[]byte(operand.SchemaOperand), []byte(operand.SchemaRelatedImages), []byte(operand.TypeRelatedImageBundle)}

func (r *round) pull(ctx context.Context, image string) (*operand.Set, error) {
	part, err := r.Registry.CatalogPart(ctx, image, func(_ string, content []byte) bool {
		return slices.ContainsFunc(words, func(w []byte) bool { return bytes.Contains(content, w) })
	})
	if err != nil {
		return nil, err
	}
	docs, err := fbc.ReadMap(part.Files)
	for i := range docs {
		docs[i].File = image + part.Dir + "/" + docs[i].File
	}
	for _, fault := range failure.All(err) {
		fault.File = image + part.Dir + "/" + fault.File
	}
	if err != nil {
		return nil, err
	}
	s := &operand.Set{}
	if err := s.Add(docs); err != nil {
		return nil, err
	}
	return s.Small(), nil
}
