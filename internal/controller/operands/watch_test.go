package operands

import (
	"errors"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/olmgraft/graft/internal/budget"
)

// A watch ends when no policy needs it, and there are never too many.
func TestWatchesEnd(t *testing.T) {
	client := fake.NewSimpleDynamicClient(runtime.NewScheme())
	client.PrependWatchReactor("*", func(clienttesting.Action) (bool, watch.Interface, error) { return true, nil, errors.New("forbidden") })
	w := newWatches(client)
	for range 2 {
		w.object(t.Context(), "a", subscriptions, "a", "stays")
		w.object(t.Context(), "a", subscriptions, "a", "goes")
		w.looked()
	}
	w.object(t.Context(), "a", subscriptions, "a", "stays")
	w.looked()
	if len(w.begun) != 1 || w.begun[watched{resource: subscriptions, namespace: "a", name: "stays"}] == nil {
		t.Errorf("watches that run: %v", w.begun)
	}
	// Neither one namespace nor all together take more than their share. Policies are always watched.
	for _, namespace := range []string{"a", "b", "c", "d", "e"} {
		for i := range budget.NamespaceWatches + 5 {
			w.object(t.Context(), namespace, subscriptions, namespace, fmt.Sprint(i))
		}
		if n := w.of[namespace]; namespace != "e" && n != budget.NamespaceWatches {
			t.Errorf("the policies of %s watch %d objects, they may watch %d", namespace, n, budget.NamespaceWatches)
		}
	}
	w.policies(t.Context(), subscriptions, "e")
	if len(w.begun) != budget.OperandWatches+1 {
		t.Errorf("%d watches run, %d may", len(w.begun), budget.OperandWatches+1)
	}
	w.looked()
	w.looked()
	if len(w.begun) > 0 || w.of["a"] != 0 {
		t.Errorf("watches that run: %v, counted %v", w.begun, w.of)
	}
	w.running.Wait() // all have ended
}
