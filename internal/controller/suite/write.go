package suite

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/olmgraft/graft/internal/controller"
	"github.com/olmgraft/graft/internal/failure"
)

// isWrite reports whether a request writes a CatalogSource or its subresource.
func isWrite(r *http.Request, below string) bool {
	status := strings.HasSuffix(r.URL.Path, "/status")
	return r.Method != http.MethodGet && strings.Contains(r.URL.Path, "/catalogsources/") && status == (below == "status")
}

// ready sets a condition of another writer, which the controller's patch of the conditions must keep.
func ready(o *unstructured.Unstructured, message string) {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	conditions = slices.DeleteFunc(conditions, func(c any) bool { return c.(map[string]any)["type"] == "Ready" })
	_ = unstructured.SetNestedSlice(o.Object, append(conditions, condition(message)), "status", "conditions")
}

func condition(message string) map[string]any {
	return map[string]any{"type": "Ready", "status": "True", "reason": "R", "message": message, "lastTransitionTime": "2021-07-19T23:00:00Z"}
}

// Another writer keeps writing conditions. Both writers stop in the end, and no condition is lost.
func testConflicts(t *testing.T, s *Server) {
	c := New(t, s, "v1.20.0", "conflict")
	c.Create(controller.Resource, CatalogSource("conflict", "kube", KubeTemplate, V119))
	c.Start()
	for i := range 100 {
		version := fmt.Sprintf("v1.%d.0", 20+i)
		c.Version.Store(&version)
		c.Change("conflict/kube", func(o *unstructured.Unstructured) { ready(o, fmt.Sprint(i)) }, "status")
		if got := Condition(c.Get("conflict/kube"), "Ready")["message"]; got != fmt.Sprint(i) {
			t.Fatalf("the condition is %v, want %d: a write of somebody else is lost", got, i)
		}
	}
	c.Follows("conflict/kube", "quay.io/kube-release-v1/catalog:v1.119")
	if got := Condition(c.Get("conflict/kube"), "Ready")["message"]; got != "99" {
		t.Errorf("the condition is %v: a write of somebody else is lost", got)
	}
}

// Another writer changes the conditions between the controller's read and write, three times. The controller
// reads again.
func testRival(t *testing.T, s *Server) {
	c := New(t, s, "v1.20.0", "rival")
	c.Create(controller.Resource, CatalogSource("rival", "kube", KubeTemplate, V119))
	var n atomic.Int64
	c.Meanwhile = func(r *http.Request) int {
		if isWrite(r, "status") && n.Add(1) <= 3 {
			c.Change("rival/kube", func(o *unstructured.Unstructured) { ready(o, fmt.Sprint(n.Load())) }, "status")
		}
		return 0
	}
	c.Start()
	c.Follows("rival/kube", "quay.io/kube-release-v1/catalog:v1.20")
	if got := Condition(c.Get("rival/kube"), "Ready")["message"]; got != "3" {
		t.Errorf("the condition is %v: a write of somebody else is lost", got)
	}
	if got := c.Controller.Metrics.Conflicts.Load(); got < 3 {
		t.Errorf("%d conflicts are counted", got)
	}
	if got := c.Controller.Metrics.Errors.Load(); got != 0 {
		t.Errorf("%d errors are counted", got)
	}
}

// A person removes the template and sets an image between the controller's read and write. The controller does
// not write the template's image.
func testOvertaken(t *testing.T, s *Server) {
	for _, once := range []bool{false, true} {
		namespace := fmt.Sprint("overtaken-", once)
		c := New(t, s, "v1.20.0", namespace)
		c.Create(controller.Resource, CatalogSource(namespace, "kube", KubeTemplate, V119))
		var n atomic.Int64
		c.Meanwhile = func(r *http.Request) int {
			if isWrite(r, "") && strings.HasSuffix(r.URL.Path, "/kube") && n.Add(1) == 1 {
				c.Change(namespace+"/kube", func(o *unstructured.Unstructured) {
					o.SetAnnotations(nil)
					_ = unstructured.SetNestedField(o.Object, "quay.io/my/own:v1", "spec", "image")
				})
			}
			return 0
		}
		if once {
			if err := c.Controller.Once(context.Background()); err != nil {
				t.Error(err)
			}
		} else {
			c.Start()
			c.Create(controller.Resource, CatalogSource(namespace, "other", KubeTemplate, V119))
			c.Follows(namespace+"/other", "quay.io/kube-release-v1/catalog:v1.20")
			c.Eventually("the conflict", func() bool { return c.Controller.Metrics.Conflicts.Load() == 1 })
		}
		if o := c.Get(namespace + "/kube"); Image(o) != "quay.io/my/own:v1" || Condition(o, "ResolvedImage") != nil || n.Load() != 1 {
			t.Errorf("%s: after %d tries it is %v", namespace, n.Load(), o.Object)
		}
	}
}

// The controller relies on this: the server refuses a patch for another version, a patch of the object does not
// change the status, a patch of the status changes nothing else, and a patch without a change keeps the
// version.
func testServer(t *testing.T, s *Server) {
	c := New(t, s, "v1.20.0", "server")
	object := c.Create(controller.Resource, CatalogSource("server", "x", "", V119))
	patch := func(upon string, change map[string]any, below ...string) (*unstructured.Unstructured, error) {
		change["metadata"] = map[string]any{"resourceVersion": upon}
		body, err := json.Marshal(change)
		if err != nil {
			t.Fatal(err)
		}
		return c.source("server/x").Patch(context.Background(), "x", types.MergePatchType, body, metav1.PatchOptions{}, below...)
	}
	both := func(image, message string) map[string]any {
		return map[string]any{"spec": map[string]any{"image": image}, "status": map[string]any{"conditions": []any{condition(message)}}}
	}
	first := object.GetResourceVersion()
	second, err := patch(first, both("a/b:1", "1"))
	if err != nil || Image(second) != "a/b:1" || Condition(second, "Ready") != nil || second.GetResourceVersion() == first {
		t.Fatalf("%v, %v", second, err)
	}
	if _, err := patch(first, both("a/b:2", "2")); !apierrors.IsConflict(err) {
		t.Errorf("a patch of the first version: %v", err)
	}
	if _, err := patch(first, both("a/b:2", "2"), "status"); !apierrors.IsConflict(err) {
		t.Errorf("a patch of the first version's status: %v", err)
	}
	third, err := patch(second.GetResourceVersion(), both("a/b:3", "3"), "status")
	if err != nil || Image(third) != "a/b:1" || Condition(third, "Ready")["message"] != "3" {
		t.Fatalf("%v, %v", third, err)
	}
	if same, err := patch(third.GetResourceVersion(), both("a/b:1", "3")); err != nil || same.GetResourceVersion() != third.GetResourceVersion() {
		t.Errorf("%v, %v", same, err)
	}
	if err := c.source("server/x").Delete(context.Background(), "x", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := patch(third.GetResourceVersion(), both("a/b:4", "4")); !apierrors.IsNotFound(err) {
		t.Errorf("of what is gone: %v", err)
	}
}

// If a policy refuses an image, the conditions report that, and the controller does not keep trying.
func testRefused(t *testing.T, s *Server) {
	for _, code := range []int{http.StatusForbidden, http.StatusUnprocessableEntity} {
		namespace := fmt.Sprint("refused", code)
		c := New(t, s, "v1.20.0", namespace)
		c.Meanwhile = func(r *http.Request) int {
			if isWrite(r, "") {
				return code
			}
			return 0
		}
		c.Create(controller.Resource, CatalogSource(namespace, "kube", KubeTemplate, V119))
		c.Start()
		c.Eventually("the refusal is reported", func() bool {
			o := c.Get(namespace + "/kube")
			m := Condition(o, "ResolvedImage")
			return m["reason"] == "ImageRefused" && m["status"] == "False" && m["message"] == "quay.io/kube-release-v1/catalog:v1.20" && Condition(o, "TemplatesHaveResolved")["status"] == "True"
		})
		c.told("Warning ImageRefused a policy refuses")
		want := map[int]failure.Code{http.StatusForbidden: failure.ClusterUnavailable, http.StatusUnprocessableEntity: failure.CatalogSourceInvalid}[code]
		if err := c.Controller.Once(context.Background()); failure.Of(err).Code != want {
			t.Errorf("got %v", err)
		}
	}
}

// The controller repeats requests while an API server fails, and completes half-done work.
func testRetried(t *testing.T, s *Server) {
	c := New(t, s, "v1.20.0", "retried")
	var images, statuses atomic.Int64
	c.Meanwhile = func(r *http.Request) int {
		if isWrite(r, "") && images.Add(1) <= 2 || isWrite(r, "status") && statuses.Add(1) <= 2 {
			return http.StatusInternalServerError
		}
		return 0
	}
	c.Create(controller.Resource, CatalogSource("retried", "kube", KubeTemplate, V119))
	c.Start()
	c.Follows("retried/kube", "quay.io/kube-release-v1/catalog:v1.20")
	if images.Load() != 3 || statuses.Load() != 3 || c.Controller.Metrics.Errors.Load() != 4 {
		t.Errorf("the image was written %d times, the status %d times, with %d errors", images.Load(), statuses.Load(), c.Controller.Metrics.Errors.Load())
	}
}

// A CatalogSource that is deleted between read and write is not created again, and causes no error.
func testDeleted(t *testing.T, s *Server) {
	for _, once := range []bool{false, true} {
		namespace := fmt.Sprint("deleted-", once)
		c := New(t, s, "v1.20.0", namespace)
		c.Create(controller.Resource, CatalogSource(namespace, "a", KubeTemplate, V119))
		var n atomic.Int64
		c.Meanwhile = func(r *http.Request) int {
			if isWrite(r, "") && strings.HasSuffix(r.URL.Path, "/a") && n.Add(1) == 1 {
				if err := c.source(namespace+"/a").Delete(context.Background(), "a", metav1.DeleteOptions{}); err != nil {
					t.Error(err)
				}
			}
			return 0
		}
		if once {
			c.Create(controller.Resource, CatalogSource(namespace, "other", KubeTemplate, V119))
			if err := c.Controller.Once(context.Background()); err != nil {
				t.Error(err)
			}
		} else {
			c.Start()
			c.Eventually("it is deleted", func() bool { return n.Load() > 0 })
			c.Create(controller.Resource, CatalogSource(namespace, "other", KubeTemplate, V119))
		}
		c.Follows(namespace+"/other", "quay.io/kube-release-v1/catalog:v1.20")
		if o, err := c.source(namespace + "/a").get(); !apierrors.IsNotFound(err) {
			t.Errorf("it is %v, %v", o, err)
		}
	}
}

// A CatalogSource that cannot be written, and one with an invalid template, do not affect others.
func testOneBad(t *testing.T, s *Server) {
	for _, once := range []bool{false, true} {
		namespace := fmt.Sprint("bad-", once)
		c := New(t, s, "v1.20.0", namespace)
		c.Meanwhile = func(r *http.Request) int {
			if isWrite(r, "") && strings.HasSuffix(r.URL.Path, "/b") {
				return http.StatusInternalServerError
			}
			return 0
		}
		c.Create(controller.Resource, CatalogSource(namespace, "a", "quay.io/{oh", V119))
		c.Create(controller.Resource, CatalogSource(namespace, "b", KubeTemplate, V119))
		c.Create(controller.Resource, CatalogSource(namespace, "c", KubeTemplate, V119))
		if once {
			err := c.Controller.Once(context.Background())
			if err == nil || !strings.Contains(err.Error(), namespace+"/a") || !strings.Contains(err.Error(), namespace+"/b") || strings.Contains(err.Error(), namespace+"/c") {
				t.Errorf("got %v", err)
			}
		} else {
			c.Start()
		}
		c.Follows(namespace+"/c", "quay.io/kube-release-v1/catalog:v1.20")
		c.Eventually("the template is reported", func() bool { return Condition(c.Get(namespace+"/a"), "ResolvedImage")["status"] == "False" })
		if a, b := c.Get(namespace+"/a"), c.Get(namespace+"/b"); Image(a) != "quay.io/kube-release-v1/catalog:v1.19" || Image(b) != "quay.io/kube-release-v1/catalog:v1.19" || Condition(b, "ResolvedImage")["status"] == "True" {
			t.Errorf("they are %v, %v", a.Object, b.Object)
		}
	}
}
