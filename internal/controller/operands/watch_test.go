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
		w.object(t.Context(), subscriptions, "a", "stays")
		w.object(t.Context(), subscriptions, "a", "goes")
		w.looked()
	}
	w.object(t.Context(), subscriptions, "a", "stays")
	w.looked()
	if len(w.begun) != 1 || w.begun[watched{resource: subscriptions, namespace: "a", name: "stays"}] == nil {
		t.Errorf("watches that run: %v", w.begun)
	}
	for i := range budget.OperandWatches + 5 {
		w.object(t.Context(), subscriptions, "a", fmt.Sprint(i))
	}
	if len(w.begun) != budget.OperandWatches {
		t.Errorf("%d watches run, %d may", len(w.begun), budget.OperandWatches)
	}
	w.looked()
	w.looked()
	w.running.Wait() // all have ended
}
