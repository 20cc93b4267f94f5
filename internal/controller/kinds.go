package controller

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/olmgraft/graft/internal/catalogsource"
)

// kinds finds the resources of kinds. It asks only for the group and version that a lookup names, so faults of
// others do not matter. Kinds come and go with their definitions, so it asks again for an unknown one after a
// while.
type kinds struct {
	ask   func(groupVersion string) (*metav1.APIResourceList, error)
	again time.Duration

	mu    sync.Mutex
	known map[string]answer // by group and version
}

type answer struct {
	resources []metav1.APIResource
	err       error
	at        time.Time
}

func newKinds(ask func(string) (*metav1.APIResourceList, error), again time.Duration) *kinds {
	return &kinds{ask: ask, again: again, known: map[string]answer{}}
}

// resource fails if the kind is not served, or if it has a namespace and the lookup has none, or the reverse.
func (k *kinds) resource(l catalogsource.Lookup) (schema.GroupVersionResource, error) {
	gv := schema.GroupVersion{Group: l.Group, Version: l.Version}
	known := k.in(gv.String(), l.Kind)
	found := known.find(l.Kind)
	switch {
	case known.err != nil && !apierrors.IsNotFound(known.err):
		return schema.GroupVersionResource{}, known.err
	case found == nil:
		return schema.GroupVersionResource{}, fmt.Errorf("the server has no kind %s in %s", l.Kind, gv)
	case found.Namespaced && l.Namespace == "":
		return schema.GroupVersionResource{}, fmt.Errorf("%s has a namespace, and the template names none", l.Kind)
	case !found.Namespaced && l.Namespace != "":
		return schema.GroupVersionResource{}, fmt.Errorf("%s has no namespace, and the template names one", l.Kind)
	}
	return gv.WithResource(found.Name), nil
}

// maxKnown limits how many groups and versions templates can make kinds remember.
const maxKnown = 1000

// in returns the kinds of a group and version. A slow answer delays no other caller.
func (k *kinds) in(gv, kind string) answer {
	k.mu.Lock()
	known, ok := k.known[gv]
	k.mu.Unlock()
	if ok && (known.find(kind) != nil || time.Since(known.at) < k.again) {
		return known
	}
	known = answer{at: time.Now()}
	var list *metav1.APIResourceList
	if list, known.err = k.ask(gv); known.err == nil {
		known.resources = list.APIResources
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.known) >= maxKnown { // made-up groups go first: others use the rest
		maps.DeleteFunc(k.known, func(_ string, a answer) bool { return a.err != nil })
	}
	if len(k.known) >= maxKnown {
		clear(k.known)
	}
	k.known[gv] = known
	return known
}

func (a answer) find(kind string) *metav1.APIResource {
	for i, r := range a.resources {
		if r.Kind == kind && !strings.Contains(r.Name, "/") {
			return &a.resources[i]
		}
	}
	return nil
}
