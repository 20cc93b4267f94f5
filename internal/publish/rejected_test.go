package publish

import (
	"strings"
	"testing"
)

// A pull request that took over a bundle and was closed by a person rejects the bundle, also through a second one.
// Markers that people edited do not stop a run.
func TestClosedRejectsTakenBundles(t *testing.T) {
	w := newSetup(t)
	first := w.push(t, "1.1.0")
	w.publish(t, first)
	w.o.Supersede = true
	w.publish(t, w.push(t, "1.2.0"))
	w.publish(t, w.push(t, "1.3.0"))
	if w.forge.within[1] != 2 || w.forge.within[2] != 3 {
		t.Fatalf("within: %v", w.forge.within)
	}
	w.forge.closed[3] = rejected
	if r := w.publish(t, first); r.Result != Unchanged || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "somebody closed pull request #3 ") {
		t.Errorf("%s %q", r.Result, r.Warnings)
	}
	for _, tt := range []struct {
		name   string
		within int
		want   string
	}{{"itself", 3, Unchanged}, {"a circle", 1, Created}, {"none", 99, Created}} {
		w.forge.within[3] = tt.within
		made := len(w.forge.all)
		if r := w.publish(t, first); r.Result != tt.want {
			t.Errorf("%s: %s %q", tt.name, r.Result, r.Warnings)
		}
		w.forge.all = w.forge.all[:made]
	}
}
