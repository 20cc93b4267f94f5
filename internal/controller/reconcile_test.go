package controller

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Versions before the last write are ignored, but not forever: a restored server counts its versions from an
// earlier number.
func TestStale(t *testing.T) {
	c := &Controller{written: map[string]write{}}
	at := func(version string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"resourceVersion": version}}}
	}
	c.wrote("ns/x", at("10"))
	for version, want := range map[string]bool{"9": true, "10": false, "11": false, "x": false} {
		if got := c.stale("ns/x", at(version)); got != want {
			t.Errorf("%s: %v", version, got)
		}
	}
	c.written["ns/x"] = write{10, time.Now().Add(-setBack)}
	if c.stale("ns/x", at("9")) {
		t.Error("it waits for ever")
	}
}
