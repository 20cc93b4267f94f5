package suite

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/olmgraft/graft/internal/controller"
	"github.com/olmgraft/graft/internal/reference"
)

// olm handles templates as OLM's catalog operator does since release 0.19: it knows only the variables of
// Kubernetes, replaces the whole object if the image differs, and the status if its conditions differ, and
// repeats after errors.
type olm struct {
	*Cluster
	namespace string
	writes    atomic.Int64
	kube      string // the version, such as 1.20.0
}

// start runs it until the test ends.
func (o *olm) start() {
	o.Helper()
	ctx, stop := context.WithCancel(context.Background())
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[string](5*time.Millisecond, time.Second))
	informer := dynamicinformer.NewFilteredDynamicInformer(o, controller.Resource, o.namespace, 0, cache.Indexers{}, nil).Informer()
	add := func(object any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object); err == nil {
			queue.Add(key)
		}
	}
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, now any) { add(now) }}); err != nil {
		o.Fatal(err)
	}
	go informer.RunWithContext(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			key, shut := queue.Get()
			if shut {
				return
			}
			if object, ok, err := informer.GetStore().GetByKey(key); err == nil && ok && o.sync(object.(*unstructured.Unstructured).DeepCopy()) != nil {
				queue.AddRateLimited(key)
			} else {
				queue.Forget(key)
			}
			queue.Done(key)
		}
	}()
	o.Cleanup(func() {
		stop()
		queue.ShutDown()
		<-done
	})
}

func (o *olm) sync(object *unstructured.Unstructured) error {
	var status struct {
		Conditions []metav1.Condition `json:"conditions"`
	}
	if raw, ok := object.Object["status"].(map[string]any); ok {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(raw, &status); err != nil {
			return err
		}
	}
	template := object.GetAnnotations()["olm.catalogImageTemplate"]
	if template == "" {
		a := meta.RemoveStatusCondition(&status.Conditions, "TemplatesHaveResolved")
		b := meta.RemoveStatusCondition(&status.Conditions, "ResolvedImage")
		return o.update(object, status.Conditions, a || b)
	}
	parts := strings.Split(o.kube, ".")
	image := strings.NewReplacer("{kube_major_version}", parts[0], "{kube_minor_version}", parts[1], "{kube_patch_version}", parts[2]).Replace(template)
	set := func(is metav1.ConditionStatus, reason, message string) bool {
		a := meta.SetStatusCondition(&status.Conditions, metav1.Condition{Type: "TemplatesHaveResolved", Status: is, Reason: reason, Message: message})
		b := meta.SetStatusCondition(&status.Conditions, metav1.Condition{Type: "ResolvedImage", Status: is, Reason: reason, Message: image})
		return a || b
	}
	if _, err := reference.Parse(image); err != nil {
		return o.update(object, status.Conditions, set("False", "UnableToResolve", "cannot construct catalog image reference, because one or more template(s) has improper syntax"))
	}
	changed := set("True", "AllTemplatesResolved", "catalog image reference was successfully resolved")
	if Image(object) == image {
		return o.update(object, status.Conditions, changed)
	}
	_ = unstructured.SetNestedField(object.Object, image, "spec", "image") // a spec is a mapping
	o.writes.Add(1)
	_, err := o.Resource(controller.Resource).Namespace(o.namespace).Update(context.Background(), object, metav1.UpdateOptions{FieldManager: "catalog"})
	return err
}

func (o *olm) update(object *unstructured.Unstructured, conditions []metav1.Condition, changed bool) error {
	if !changed {
		return nil
	}
	list := []any{}
	for i := range conditions {
		one, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&conditions[i])
		if err != nil {
			return err
		}
		list = append(list, one)
	}
	if err := unstructured.SetNestedSlice(object.Object, list, "status", "conditions"); err != nil {
		return err
	}
	o.writes.Add(1)
	_, err := o.Resource(controller.Resource).Namespace(o.namespace).UpdateStatus(context.Background(), object, metav1.UpdateOptions{FieldManager: "catalog"})
	return err
}

// With two writers, each has its own part, and each stops after at most three writes, whether or not the
// controller sees OLM.
func testTwoWriters(t *testing.T, s *Server) {
	lookup := SampleTemplate("NAMESPACE", "one")
	for i, w := range []struct {
		name, shared, own string
		hidden            bool   // the controller does not see OLM
		image             string // final image
		olm, graft        string // status of ResolvedImage, by each one's types
		most              int64  // writes of the controller
	}{
		{"kube", KubeTemplate, "", false, "quay.io/kube-release-v1/catalog:v1.20", "True", "", 0},
		{"kube, OLM hidden", KubeTemplate, "", true, "quay.io/kube-release-v1/catalog:v1.20", "True", "", 3},
		{"lookup", lookup, "", false, "quay.io/sample/catalog:v2", "False", "True", 2},
		{"lookup, OLM hidden", lookup, "", true, "quay.io/sample/catalog:v2", "False", "True", 3},
		{"own key", "", KubeTemplate + "-own", false, "quay.io/kube-release-v1/catalog:v1.20-own", "", "True", 2},
		{"own key, OLM hidden", "", KubeTemplate + "-own", true, "quay.io/kube-release-v1/catalog:v1.20-own", "", "True", 3},
		{"own key of a lookup", "", lookup, false, "quay.io/sample/catalog:v2", "", "True", 2},
		{"both", KubeTemplate, lookup, false, "quay.io/kube-release-v1/catalog:v1.20", "True", "False", 1},
		{"typo", "a/b:{kube_mayor_version}", "", false, "quay.io/kube-release-v1/catalog:v1.19", "False", "False", 1},
		{"typo, OLM hidden", "a/b:{kube_mayor_version}", "", true, "quay.io/kube-release-v1/catalog:v1.19", "False", "False", 3},
	} {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			namespace := fmt.Sprint("two-writers-", i)
			c := New(t, s, "v1.20.0", namespace)
			c.OLM.Store(!w.hidden)
			other := &olm{Cluster: c, namespace: namespace, kube: "1.20.0"}
			other.start()
			c.Start()
			c.Create(Samples, Sample(namespace, "one", "v2"))
			text := strings.ReplaceAll(CatalogSource(namespace, "x", w.shared, V119), "NAMESPACE", namespace)
			if own := strings.ReplaceAll(w.own, "NAMESPACE", namespace); own != "" {
				text = strings.Replace(text, "  annotations:\n", fmt.Sprintf("  annotations:\n    graft.olmgraft.io/catalogImageTemplate: %q\n", own), 1)
			}
			c.Create(controller.Resource, text)
			status := func(o *unstructured.Unstructured, kind string) string {
				text, _ := Condition(o, kind)["status"].(string)
				return text
			}
			c.Eventually("both are done", func() bool {
				o := c.Get(namespace + "/x")
				return Image(o) == w.image && status(o, "ResolvedImage") == w.olm && status(o, "graft.olmgraft.io/ResolvedImage") == w.graft
			})
			mine, others := c.quiet(&other.writes)
			conflicts := c.Controller.Metrics.Conflicts.Load() // refused, because OLM wrote at the same time
			if mine-conflicts > w.most || others > 3 {
				t.Errorf("%d writes of the controller and %d conflicts, want %d, and %d of OLM", mine-conflicts, conflicts, w.most, others)
			}
		})
	}
}

// quiet waits until neither has written for a while, and returns the writes of both.
func (c *Cluster) quiet(others *atomic.Int64) (mine, theirs int64) {
	c.Helper()
	c.Eventually("neither writes", func() bool {
		mine, theirs = c.Writes.Load(), others.Load()
		time.Sleep(5 * c.Options.Poll)
		return c.Writes.Load() == mine && others.Load() == theirs
	})
	return mine, theirs
}

// OLM is installed and removed again. The controller leaves the conditions to OLM and later writes them again.
func testOLMComes(t *testing.T, s *Server) {
	c := New(t, s, "v1.20.0", "olm-comes")
	c.Start()
	c.Create(controller.Resource, CatalogSource("olm-comes", "kube", KubeTemplate, V119))
	c.Create(Samples, Sample("olm-comes", "one", "v2"))
	c.Create(controller.Resource, CatalogSource("olm-comes", "lookup", SampleTemplate("olm-comes", "one"), V119))
	c.Follows("olm-comes/kube", "quay.io/kube-release-v1/catalog:v1.20")
	c.Follows("olm-comes/lookup", "quay.io/sample/catalog:v2")
	c.OLM.Store(true)
	c.Eventually("own conditions", func() bool {
		return Condition(c.Get("olm-comes/lookup"), "graft.olmgraft.io/ResolvedImage")["status"] == "True"
	})
	next := "v1.21.0"
	c.Version.Store(&next)
	time.Sleep(3 * c.Options.Poll)
	if o := c.Get("olm-comes/kube"); Image(o) != "quay.io/kube-release-v1/catalog:v1.20" || Condition(o, "graft.olmgraft.io/ResolvedImage") != nil {
		t.Errorf("what is OLM's became %v", o.Object)
	}
	c.OLM.Store(false)
	c.Follows("olm-comes/kube", "quay.io/kube-release-v1/catalog:v1.21")
	c.Eventually("own conditions are gone", func() bool {
		return Condition(c.Get("olm-comes/lookup"), "graft.olmgraft.io/ResolvedImage") == nil
	})
}

// Another writer replaces the image each time. The third time the controller reports that and stops until the
// template gives another image.
func testUndone(t *testing.T, s *Server) {
	c := New(t, s, "v1.20.0", "undone")
	c.Create(controller.Resource, CatalogSource("undone", "kube", KubeTemplate, V119))
	c.Start()
	undo := func(wait string) {
		c.Follows("undone/kube", wait)
		c.Change("undone/kube", func(o *unstructured.Unstructured) {
			_ = unstructured.SetNestedField(o.Object, "quay.io/git/ops:v1", "spec", "image")
		})
	}
	for range 3 {
		undo("quay.io/kube-release-v1/catalog:v1.20")
		// The expected state may be the old one, before the image is set again.
		c.Eventually("it is seen", func() bool {
			o := c.Get("undone/kube")
			return Image(o) != "quay.io/git/ops:v1" || Condition(o, "ResolvedImage")["reason"] == "AnotherWriter"
		})
	}
	c.Eventually("the other writer is reported", func() bool { return Condition(c.Get("undone/kube"), "ResolvedImage")["reason"] == "AnotherWriter" })
	writes := c.Controller.Metrics.Images.Load()
	time.Sleep(3 * c.Options.Poll)
	if o := c.Get("undone/kube"); Image(o) != "quay.io/git/ops:v1" || writes != 3 || c.Controller.Metrics.Images.Load() != 3 {
		t.Errorf("after %d images it is %v", writes, o.Object)
	}
	next := "v1.21.0"
	c.Version.Store(&next)
	c.Follows("undone/kube", "quay.io/kube-release-v1/catalog:v1.21")
}
