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

// What Options say of OLM.
const (
	OLMAuto    = "auto" // as the server does
	OLMPresent = "present"
	OLMAbsent  = "absent"
)

// The kind by which a server tells that OLM is installed: all releases that resolve templates
// bring its definition, and asking what is served takes no permission.
const (
	olmGroupVersion = "operators.coreos.com/v1"
	olmKind         = "OLMConfig"
)

// pollOLM asks whether OLM is there, which resolves templates as well.
func (c *Controller) pollOLM() error {
	present := c.OLM == OLMPresent
	if c.OLM == OLMAuto || c.OLM == "" {
		list, err := c.discovery.ServerResourcesForGroupVersion(olmGroupVersion)
		if err != nil && !apierrors.IsNotFound(err) {
			return unavailable("asking whether OLM is there", err)
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

// rival is what is known of somebody else who writes to a CatalogSource what the controller
// writes. Run has each CatalogSource with one worker at a time, but Once may come beside it.
type rival struct {
	uid types.UID

	mu    sync.Mutex
	said  []catalogsource.Condition // as last written, by the types that OLM has too
	own   bool                      // somebody else writes conditions of those types
	image string                    // as last written
	times int                       // it was, since
	since time.Time
}

// An image that others undo is set so many times in that time, and then left to them until
// the template comes to another one.
const (
	maxUndone  = 3
	undoneTime = time.Hour
)

// rivalOf is what is known for one CatalogSource; one that was made again is another.
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

// work is what there is to do for a CatalogSource. Where somebody has written over its
// conditions, those of Graft's own types tell of it from now on.
func (c *Controller) work(source *unstructured.Unstructured) catalogsource.Work {
	work := catalogsource.WorkFor(source.GetAnnotations(), c.hasOLM())
	if work.Reference == "" || work.Own {
		return work
	}
	existing, _, _ := unstructured.NestedSlice(source.Object, "status", "conditions")
	work.Own = c.rivalOf(source).overwrote(existing)
	return work
}

// overwrote reports whether somebody has written over the conditions, now or before.
func (r *rival) overwrote(existing []any) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.own = r.own || r.said != nil && !catalogsource.Says(existing, r.said)
	return r.own
}

// says notes the conditions as they are written.
func (r *rival) says(conditions []catalogsource.Condition) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said = conditions
}

// forget begins anew.
func (r *rival) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said, r.own, r.image, r.times, r.since = nil, false, "", 0, time.Time{}
}

// set notes that the image was written.
func (r *rival) set(image string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.image != image {
		r.image, r.times, r.since = image, 0, time.Now()
	}
	r.times++
}

// undoes reports whether others set another image each time that this one is set.
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

// why says more than the conditions do where all is resolved.
func why(r catalogsource.Resolution, conditions []catalogsource.Condition, image string) string {
	last := conditions[len(conditions)-1]
	switch {
	case last.Reason == catalogsource.TwoTemplates:
		return fmt.Sprintf("OLM sets the image by the annotation %s; remove that, or %s", catalogsource.ImageTemplate, catalogsource.OwnTemplate)
	case last.Reason == catalogsource.AnotherWriter:
		return fmt.Sprintf("The image was set to %s %d times, and is %s again; it is left so until the template comes to another image. Remove the annotation, or what else sets the image", r.Image, maxUndone, image)
	case r.Invalid != nil:
		return fmt.Sprintf("%q is no image reference: %v", r.Image, r.Invalid)
	}
	return conditions[0].Message
}
