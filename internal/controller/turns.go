package controller

import (
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// turns is a queue of CatalogSources in which no namespace delays another:
//
// 1. Namespaces take turns. Within a namespace the longest waiting is next. 2. One namespace has at most all
// workers but one, so that its hanging work leaves one worker.
type turns struct {
	workqueue.TypedRateLimitingInterface[string]
	most int // concurrent, of one namespace

	mu      sync.Mutex
	busy    map[string]int      // number in progress of each namespace
	waiting map[string][]string // keys whose namespace is at its limit
	waits   map[string]bool     // each of these keys
}

func newTurns(workers int) *turns {
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[string](50*time.Millisecond, 5*time.Minute)
	return &turns{
		TypedRateLimitingInterface: workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[string]{
			DelayingQueue: workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[string]{
				Queue: workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{Queue: &round{keys: map[string][]string{}}}),
			}),
		}),
		most: max(1, workers-1), busy: map[string]int{}, waiting: map[string][]string{}, waits: map[string]bool{},
	}
}

// namespaceOf returns the namespace in a key of a CatalogSource.
func namespaceOf(key string) string {
	namespace, _, _ := cache.SplitMetaNamespaceKey(key) // keys come from the cache
	return namespace
}

// Get waits for the next key. A key whose namespace is at its limit is set aside until one of that namespace is
// done.
func (t *turns) Get() (key string, shut bool) {
	for {
		key, shut = t.TypedRateLimitingInterface.Get()
		if shut || t.begin(key) {
			return key, shut
		}
		t.TypedRateLimitingInterface.Done(key)
	}
}

func (t *turns) begin(key string) bool {
	namespace := namespaceOf(key)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.busy[namespace] < t.most {
		t.busy[namespace]++
		return true
	}
	if !t.waits[key] {
		t.waits[key] = true
		t.waiting[namespace] = append(t.waiting[namespace], key)
	}
	return false
}

// Len includes the keys that are set aside.
func (t *turns) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.TypedRateLimitingInterface.Len() + len(t.waits)
}

// Done must be called for each key from Get.
func (t *turns) Done(key string) {
	t.TypedRateLimitingInterface.Done(key)
	namespace := namespaceOf(key)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.busy[namespace]--; t.busy[namespace] == 0 {
		delete(t.busy, namespace)
	}
	waiting := t.waiting[namespace]
	if len(waiting) == 0 {
		return
	}
	t.Add(waiting[0])
	delete(t.waits, waiting[0])
	if t.waiting[namespace] = waiting[1:]; len(waiting) == 1 {
		delete(t.waiting, namespace)
	}
}

// round holds keys by namespace and returns one of each namespace in turn. It is a workqueue.Queue, which its
// caller locks.
type round struct {
	keys  map[string][]string
	order []string // namespaces with keys; the first is next
	count int
}

func (r *round) Touch(string) {}

func (r *round) Len() int { return r.count }

func (r *round) Push(key string) {
	namespace := namespaceOf(key)
	if len(r.keys[namespace]) == 0 {
		r.order = append(r.order, namespace)
	}
	r.keys[namespace] = append(r.keys[namespace], key)
	r.count++
}

func (r *round) Pop() string {
	namespace := r.order[0]
	r.order = r.order[1:]
	keys := r.keys[namespace]
	if r.count--; len(keys) > 1 {
		r.keys[namespace] = keys[1:]
		r.order = append(r.order, namespace)
	} else {
		delete(r.keys, namespace)
	}
	return keys[0]
}
