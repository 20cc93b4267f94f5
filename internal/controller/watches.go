package controller

import (
	"context"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"

	"github.com/olmgraft/graft/internal/budget"
	"github.com/olmgraft/graft/internal/catalogsource"
)

// watchKey identifies a watch: a kind in one namespace, so that a Role there suffices; "" for kinds without a
// namespace.
type watchKey struct {
	resource  schema.GroupVersionResource
	namespace string
}

// watches starts a watch when a CatalogSource first needs it, and ends it when none does.
type watches struct {
	running *sync.WaitGroup
	client  dynamic.Interface
	enqueue func(key string)

	mu  sync.Mutex
	all map[watchKey]*watch
	of  map[string]map[watchKey]int // by the users' namespace, with the number of users
}

type watch struct {
	informer cache.SharedIndexInformer
	stop     context.CancelFunc
	begun    time.Time
	users    map[string]bool // keys of CatalogSources
	err      error           // the last error of the watch
}

func newWatches(running *sync.WaitGroup, client dynamic.Interface, enqueue func(string)) *watches {
	return &watches{running: running, client: client, enqueue: enqueue, all: map[watchKey]*watch{}, of: map[string]map[watchKey]int{}}
}

// patience is how long a watch may take to start before templates count as unresolved.
const patience = 10 * time.Second

// store returns the objects of a watch and notifies the CatalogSource of changes from now on. It returns
// errWaiting while the watch starts, and then the watch's error, if any. It fails if the namespace of the
// CatalogSource is at its limit. A watch that starts here ends with ctx at the latest.
func (w *watches) store(ctx context.Context, at watchKey, user string) (cache.Store, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	namespace, one := namespaceOf(user), w.all[at]
	if of := w.of[namespace]; of[at] == 0 && len(of) >= budget.NamespaceWatches {
		return nil, fmt.Errorf("the CatalogSources of namespace %s look up more than %d kinds, each in a namespace", namespace, budget.NamespaceWatches)
	}
	if one == nil {
		var err error
		if one, err = w.begin(ctx, at); err != nil {
			return nil, err
		}
	}
	w.add(one, at, user)
	switch {
	case one.informer.HasSynced():
		return one.informer.GetStore(), nil
	case one.err != nil:
		return nil, one.err
	case time.Since(one.begun) > patience:
		return nil, context.DeadlineExceeded
	}
	return nil, errWaiting
}

func (w *watches) add(one *watch, at watchKey, user string) {
	if one.users[user] {
		return
	}
	one.users[user] = true
	namespace := namespaceOf(user)
	if w.of[namespace] == nil {
		w.of[namespace] = map[watchKey]int{}
	}
	w.of[namespace][at]++
}

// remove ends a watch without users.
func (w *watches) remove(one *watch, at watchKey, user string) {
	delete(one.users, user)
	namespace := namespaceOf(user)
	if w.of[namespace][at]--; w.of[namespace][at] == 0 {
		delete(w.of[namespace], at)
	}
	if len(w.of[namespace]) == 0 {
		delete(w.of, namespace)
	}
	if len(one.users) == 0 {
		one.stop()
		delete(w.all, at)
	}
}

func (w *watches) begin(ctx context.Context, at watchKey) (*watch, error) {
	informer := dynamicinformer.NewFilteredDynamicInformer(w.client, at.resource, at.namespace, 0, cache.Indexers{}, nil).Informer()
	ctx, stop := context.WithCancel(ctx)
	one := &watch{informer: informer, stop: stop, begun: time.Now(), users: map[string]bool{}}
	tell := func(any) { w.tell(one) }
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: tell, DeleteFunc: tell, UpdateFunc: func(_, now any) { tell(now) }})
	if err == nil {
		err = informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, r *cache.Reflector, err error) {
			cache.DefaultWatchErrorHandler(ctx, r, err)
			w.mu.Lock()
			defer w.mu.Unlock()
			one.err = err
		})
	}
	if err == nil {
		err = informer.SetTransform(withoutLarge)
	}
	if err != nil {
		stop()
		return nil, err
	}
	w.all[at] = one
	w.running.Go(func() { informer.RunWithContext(ctx) })
	return one, nil
}

// withoutLarge replaces an object that is too large by a note that it exists.
func withoutLarge(object any) (any, error) {
	u, ok := object.(*unstructured.Unstructured)
	if !ok || !catalogsource.TooLarge(u.Object) {
		return object, nil
	}
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: u.GetNamespace(), Name: u.GetName(), UID: u.GetUID(), ResourceVersion: u.GetResourceVersion()}}, nil
}

// tell enqueues all CatalogSources that use a watch. Those that are not affected find nothing to write.
func (w *watches) tell(one *watch) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for user := range one.users {
		w.enqueue(user)
	}
}

// use ends the watches that a CatalogSource no longer needs.
func (w *watches) use(user string, used []watchKey) {
	w.mu.Lock()
	defer w.mu.Unlock()
	keep := map[watchKey]bool{}
	for _, at := range used {
		keep[at] = true
	}
	for at, one := range w.all {
		if keep[at] || !one.users[user] {
			continue
		}
		w.remove(one, at, user)
	}
}
