package controller

import (
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/olmgraft/graft/internal/catalogsource"
)

// Values of Options.OLM.
const (
	OLMAuto    = "auto" // as the server reports
	OLMPresent = "present"
	OLMAbsent  = "absent"
)

// The kind that shows that OLM is installed: all releases that resolve templates have its definition, and
// reading the served kinds needs no permission.
const (
	olmGroupVersion = "operators.coreos.com/v1"
	olmKind         = "OLMConfig"
)

// pollOLM checks whether OLM is installed, which resolves templates too.
func (c *Controller) pollOLM() error {
	present := c.OLM == OLMPresent
	if c.OLM == OLMAuto || c.OLM == "" {
		list, err := c.discovery.ServerResourcesForGroupVersion(olmGroupVersion)
		if err != nil && !apierrors.IsNotFound(err) {
			return unavailable("checking whether OLM is installed", err)
		}
		present = err == nil && slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Kind == olmKind })
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.olm = present
	return nil
}

func (c *Controller) hasOLM() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.olm
}

// rival records another writer of the same fields of a CatalogSource. Run handles a CatalogSource with one
// worker at a time, but Once may run at the same time.
type rival struct {
	uid types.UID

	mu    sync.Mutex
	said  []catalogsource.Condition // as last written, by the types that OLM uses too
	own   bool                      // another writer writes conditions of those types
	image string                    // as last written
	times int                       // since then
	since time.Time
}

// An image that another writer reverts is set this many times within this time. Then it is left alone until the
// template gives another image.
const (
	maxUndone  = 3
	undoneTime = time.Hour
)

// rivalOf returns the record of one CatalogSource. A recreated one has a new record.
func (c *Controller) rivalOf(source *unstructured.Unstructured) *rival {
	key := source.GetNamespace() + "/" + source.GetName()
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.rivals[key]
	if r == nil || r.uid != source.GetUID() {
		r = &rival{uid: source.GetUID()}
		c.rivals[key] = r
	}
	return r
}

// work returns the work for a CatalogSource. Once another writer has replaced its conditions, Graft uses
// condition types of its own.
func (c *Controller) work(source *unstructured.Unstructured) catalogsource.Work {
	work := catalogsource.WorkFor(source.GetAnnotations(), c.hasOLM())
	if work.Reference == "" || work.Own {
		return work
	}
	existing, _, _ := unstructured.NestedSlice(source.Object, "status", "conditions")
	work.Own = c.rivalOf(source).overwrote(existing)
	return work
}

// overwrote reports whether another writer has replaced the conditions, now or before.
func (r *rival) overwrote(existing []any) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.own = r.own || r.said != nil && !catalogsource.Says(existing, r.said)
	return r.own
}

// says records the conditions as written.
func (r *rival) says(conditions []catalogsource.Condition) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said = conditions
}

// forget clears the record.
func (r *rival) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said, r.own, r.image, r.times, r.since = nil, false, "", 0, time.Time{}
}

// set records that the image was written.
func (r *rival) set(image string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.image != image {
		r.image, r.times, r.since = image, 0, time.Now()
	}
	r.times++
}

// undoes reports whether another writer reverts the image each time.
func (r *rival) undoes(image, is string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if image == is || image != r.image {
		return false
	}
	if r.times < maxUndone && time.Since(r.since) > undoneTime {
		r.times, r.since = 0, time.Now()
	}
	return r.times >= maxUndone
}

// why explains a resolved template beyond its conditions.
func why(r catalogsource.Resolution, conditions []catalogsource.Condition, image string) string {
	last := conditions[len(conditions)-1]
	switch {
	case last.Reason == catalogsource.TwoTemplates:
		return fmt.Sprintf("OLM sets the image from the annotation %s. Remove that annotation, or %s", catalogsource.ImageTemplate, catalogsource.OwnTemplate)
	case last.Reason == catalogsource.AnotherWriter:
		return fmt.Sprintf("graft-controller set the image to %s %d times, and another writer set it to %s again. graft-controller leaves it until the template gives another image. Remove the annotation, or stop the other writer", r.Image, maxUndone, image)
	case r.Invalid != nil:
		return fmt.Sprintf("%q is not an image reference: %v", r.Image, r.Invalid)
	}
	return conditions[0].Message
}
