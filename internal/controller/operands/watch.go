package operands

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/olmgraft/graft/internal/budget"
	"github.com/olmgraft/graft/internal/operand"
	"github.com/olmgraft/graft/internal/pause"
)

// watches report changes of policies, and of the objects that policies name. A lost or refused watch only costs
// time: Run checks everything once in each Poll.
type watches struct {
	client  dynamic.Interface
	changed chan struct{} // holds one signal
	running sync.WaitGroup

	mu    sync.Mutex
	look  int // counts the checks of all ConfigMaps
	begun map[watched]*watching
	of    map[string]int // watched objects by the namespace whose policies name them
}

// watched is one object, or with a label selector the objects of a namespace.
type watched struct {
	resource               schema.GroupVersionResource
	namespace, name, label string
}

type watching struct {
	of   *string // the namespace whose policies named the object first; nil for a watch of policies
	look int     // the last check that needed the watch
	stop context.CancelFunc
}

const (
	// settle is the time between a change and the check of it. Changes often come in groups.
	settle = time.Second
	// refused is the time until Graft asks again for a watch that the server refuses.
	refused = time.Minute
)

func newWatches(client dynamic.Interface) *watches {
	return &watches{client: client, changed: make(chan struct{}, 1), begun: map[watched]*watching{}, of: map[string]int{}}
}

// policies watches the ConfigMaps of a namespace.
func (w *watches) policies(ctx context.Context, resource schema.GroupVersionResource, namespace string) {
	w.need(ctx, nil, watched{resource: resource, namespace: namespace, label: operand.KeepLabel + "=" + operand.KeepValue})
}

// object watches an object that a policy of the namespace of names.
func (w *watches) object(ctx context.Context, of string, resource schema.GroupVersionResource, namespace, name string) {
	w.need(ctx, &of, watched{resource: resource, namespace: namespace, name: name})
}

// need starts a watch, unless it runs. It ends with ctx, or when a check of all ConfigMaps no longer needs it. The
// objects are limited, in all and for each namespace, so that the policies of one leave some to the others.
func (w *watches) need(ctx context.Context, of *string, one watched) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if running := w.begun[one]; running != nil {
		running.look = w.look
		return
	}
	if of != nil {
		all := 0
		for _, n := range w.of {
			all += n
		}
		if all >= budget.OperandWatches || w.of[*of] >= budget.NamespaceWatches {
			return
		}
		w.of[*of]++
	}
	ctx, stop := context.WithCancel(ctx)
	w.begun[one] = &watching{of: of, look: w.look, stop: stop}
	w.running.Go(func() {
		for ctx.Err() == nil {
			wait := settle
			if !w.watch(ctx, one) {
				wait = refused
			}
			_ = pause.For(ctx, wait)
		}
	})
}

// looked ends the watches that the last check did not need.
func (w *watches) looked() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for one, running := range w.begun {
		if running.look < w.look {
			running.stop()
			delete(w.begun, one)
			if running.of != nil {
				w.of[*running.of]--
			}
		}
	}
	w.look++
}

// watch reports changes until the server or ctx ends the watch. It returns false if the server refuses it.
func (w *watches) watch(ctx context.Context, one watched) bool {
	options := metav1.ListOptions{LabelSelector: one.label}
	if one.name != "" {
		options.FieldSelector = fields.OneTermEqualSelector("metadata.name", one.name).String()
	}
	events, err := w.client.Resource(one.resource).Namespace(one.namespace).Watch(ctx, options)
	if err != nil {
		return false
	}
	defer events.Stop()
	for range events.ResultChan() {
		select {
		case w.changed <- struct{}{}:
		default: // a signal waits already
		}
	}
	return true
}
