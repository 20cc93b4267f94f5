package controller

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/olmgraft/graft/internal/catalogsource"
	"github.com/olmgraft/graft/internal/failure"
)

// Once resolves all CatalogSources and returns. Each one that does not resolve gives a
// catalogsource-unresolvable failure, which its conditions have too.
func (c *Controller) Once(ctx context.Context) error {
	if err := c.pollServer(); err != nil {
		return err
	}
	var errs []error
	for _, namespace := range c.namespaces() {
		list, err := c.client.Resource(Resource).Namespace(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return unavailable("listing CatalogSources", err)
		}
		for i := range list.Items {
			if one := &list.Items[i]; one.GetDeletionTimestamp() == nil {
				errs = append(errs, c.onceEach(ctx, one))
			}
		}
	}
	return errors.Join(errs...)
}

// tries limits the attempts of a write that conflicts with a newer version.
const tries = 5

func (c *Controller) onceEach(ctx context.Context, source *unstructured.Unstructured) error {
	name := source.GetNamespace() + "/" + source.GetName()
	for try := 1; ; try++ {
		var r catalogsource.Resolution
		var err error
		work := c.work(source)
		if work.Reference == "" {
			_, err = c.unsay(ctx, source)
		} else {
			r = resolve(work.Reference, c.serverVersion(), name, c.ask(ctx))
			_, err = c.write(ctx, source, work, r)
		}
		if apierrors.IsConflict(err) && try < tries {
			source, err = c.client.Resource(Resource).Namespace(source.GetNamespace()).Get(ctx, source.GetName(), metav1.GetOptions{})
			if err == nil {
				continue
			}
		}
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case apierrors.IsInvalid(err):
			return failure.New(failure.CatalogSourceInvalid, "writing %s: %w", name, err)
		case err != nil:
			return unavailable("writing "+name, err)
		case work.Reference != "" && !r.OK():
			return failure.New(failure.CatalogSourceUnresolvable, "resolving %s: %s", name, why(r, r.Conditions(), ""))
		}
		return nil
	}
}

// ask returns lookups that read each object from the cluster.
func (c *Controller) ask(ctx context.Context) catalogsource.Objects {
	return func(l catalogsource.Lookup) (any, error) {
		resource, err := c.kinds.resource(l)
		if err != nil {
			return nil, err
		}
		in := c.client.Resource(resource).Namespace(l.Namespace)
		if l.Name != "" {
			object, err := in.Get(ctx, l.Name, metav1.GetOptions{})
			if err != nil {
				return nil, err
			}
			return object.Object, nil
		}
		list, err := in.List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		object, err := catalogsource.OnlyObject(l, list.Items)
		return object.Object, err
	}
}
