package cluster

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/olmgraft/graft/internal/controller"
	"github.com/olmgraft/graft/internal/failure"
)

const kubeTemplate = "quay.io/kube-release-v{kube_major_version}/catalog:v{kube_major_version}.{kube_minor_version}"

func sampleTemplate(namespace, name string) string {
	return "quay.io/sample/catalog:{group:foo.example.com,version:v1,kind:Sample,name:" + name + ",namespace:" + namespace + ",jsonpath:{.spec.foo.bar}}"
}

func catalogSource(namespace, name, template, spec string) string {
	return fmt.Sprintf("apiVersion: operators.coreos.com/v1alpha1\nkind: CatalogSource\nmetadata:\n  name: %s\n  namespace: %s\n  annotations:\n    olm.catalogImageTemplate: %q\nspec: %s\n", name, namespace, template, spec)
}

func sample(namespace, name, value string) string {
	return fmt.Sprintf("apiVersion: foo.example.com/v1\nkind: Sample\nmetadata: {name: %s, namespace: %s}\nspec: {foo: {bar: %s}}\n", name, namespace, value)
}

const v119 = "{sourceType: grpc, image: 'quay.io/kube-release-v1/catalog:v1.19', displayName: My always up2date Catalog}"

// The cluster moves, and the image with it; conditions of others stay as they are.
func TestVersion(t *testing.T) {
	c := newCluster(t, "v1.20.0+6af3663", "version")
	c.create(controller.Resource, catalogSource("version", "kube", kubeTemplate, v119))
	foreign := []any{
		map[string]any{"type": "Ready", "status": "True", "reason": "R", "message": "first", "lastTransitionTime": "2021-07-19T23:00:00Z"},
		map[string]any{"type": "Healthy", "status": "False", "reason": "H", "message": "second", "lastTransitionTime": "2021-07-19T23:00:00Z"},
	}
	c.change("version/kube", func(o *unstructured.Unstructured) {
		_ = unstructured.SetNestedSlice(o.Object, foreign, "status", "conditions")
	}, "status")
	c.start()
	at := func(want string) func() bool {
		return func() bool {
			o := c.get("version/kube")
			return image(o) == want && condition(o, "ResolvedImage")["message"] == want
		}
	}
	c.eventually("v1.20", at("quay.io/kube-release-v1/catalog:v1.20"))
	before := c.get("version/kube")
	next := "v1.21.3-gke.100"
	c.version.Store(&next)
	c.eventually("v1.21", at("quay.io/kube-release-v1/catalog:v1.21"))

	after := c.get("version/kube")
	conditions, _, _ := unstructured.NestedSlice(after.Object, "status", "conditions")
	var types []string
	for _, one := range conditions {
		types = append(types, one.(map[string]any)["type"].(string))
	}
	if got := strings.Join(types, " "); got != "Ready Healthy TemplatesHaveResolved ResolvedImage" {
		t.Errorf("the conditions are %s", got)
	}
	if fmt.Sprint(conditions[:2]) != fmt.Sprint(foreign) {
		t.Errorf("foreign conditions became %v", conditions[:2])
	}
	if m := condition(after, "TemplatesHaveResolved"); m["status"] != "True" || m["reason"] != "AllTemplatesResolved" || m["message"] != "catalog image reference was successfully resolved" {
		t.Errorf("got %v", m)
	}
	for _, want := range []string{
		`Normal AllTemplatesResolved The image is now quay.io/kube-release-v1/catalog:v1.20, it was "quay.io/kube-release-v1/catalog:v1.19"`,
		`Normal AllTemplatesResolved The image is now quay.io/kube-release-v1/catalog:v1.21, it was "quay.io/kube-release-v1/catalog:v1.20"`,
	} {
		if got := <-c.events.Events; got != want {
			t.Errorf("the event is %s", got)
		}
	}
	if was, is := condition(before, "ResolvedImage")["lastTransitionTime"], condition(after, "ResolvedImage")["lastTransitionTime"]; was != is || is == nil {
		t.Errorf("lastTransitionTime moved from %v to %v", was, is)
	}

	// Without the annotation, hands off.
	c.change("version/kube", func(o *unstructured.Unstructured) {
		o.SetAnnotations(nil)
		_ = unstructured.SetNestedField(o.Object, "quay.io/my/own:v1", "spec", "image")
	})
	c.create(controller.Resource, catalogSource("version", "witness", kubeTemplate, v119))
	last := "v1.22.0"
	c.version.Store(&last)
	c.eventually("the witness moves", func() bool { return image(c.get("version/witness")) == "quay.io/kube-release-v1/catalog:v1.22" })
	if o := c.get("version/kube"); image(o) != "quay.io/my/own:v1" || condition(o, "ResolvedImage")["message"] != "quay.io/kube-release-v1/catalog:v1.21" {
		t.Errorf("without annotation it became %v", o.Object)
	}
}

// An object is looked up, changed, deleted and made again; the new form of the spec.
func TestObject(t *testing.T) {
	c := newCluster(t, "v1.20.0", "object")
	c.start()
	template := sampleTemplate("object", "mysample")
	c.create(controller.Resource, catalogSource("object", "sample", template, "{catalogImageSource: {catalogImage: 'quay.io/sample/catalog:v1'}}"))
	is := func(want string) func() bool {
		return func() bool {
			got, _, _ := unstructured.NestedString(c.get("object/sample").Object, "spec", "catalogImageSource", "catalogImage")
			return got == want
		}
	}
	unresolved := func() bool {
		o := c.get("object/sample")
		return condition(o, "TemplatesHaveResolved")["message"] == `Cannot construct catalog image reference, variable(s) "`+strings.TrimPrefix(template, "quay.io/sample/catalog:")+`" couldn't be resolved` &&
			condition(o, "TemplatesHaveResolved")["status"] == "False" && condition(o, "ResolvedImage")["message"] == template && condition(o, "ResolvedImage")["reason"] == "UnableToResolve"
	}
	c.eventually("the object is missing", unresolved)
	if !is("quay.io/sample/catalog:v1")() {
		t.Error("the image moved without a value")
	}
	if got := <-c.events.Events; !strings.HasPrefix(got, `Warning UnableToResolve Cannot construct catalog image reference, variable(s) "`) {
		t.Errorf("the event is %s", got)
	}
	resource := c.Resource(samples).Namespace("object")
	object := c.create(samples, sample("object", "mysample", "v2"))
	c.eventually("v2", is("quay.io/sample/catalog:v2"))
	_ = unstructured.SetNestedField(object.Object, "v3", "spec", "foo", "bar")
	if _, err := resource.Update(context.Background(), object, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.eventually("v3", is("quay.io/sample/catalog:v3"))
	if err := resource.Delete(context.Background(), "mysample", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	c.eventually("the object is gone", unresolved)
	if !is("quay.io/sample/catalog:v3")() {
		t.Error("the image moved without a value")
	}
	c.create(samples, sample("object", "mysample", "v4"))
	c.eventually("v4", is("quay.io/sample/catalog:v4"))
	if got, _, _ := unstructured.NestedString(c.get("object/sample").Object, "spec", "image"); got != "" {
		t.Errorf("spec.image is %s", got)
	}
}

// A kind that is not served yet, and is later; a CatalogSource that has no image.
func TestUnservedAndUnusable(t *testing.T) {
	c := newCluster(t, "v1.20.0", "unserved")
	c.start()
	c.create(controller.Resource, catalogSource("unserved", "later", "a/b:{group:later.example.com,version:v1,kind:Sample,name:one,namespace:unserved,jsonpath:{.spec.foo.bar}}", "{sourceType: grpc, image: 'a/b:v1'}"))
	c.create(controller.Resource, catalogSource("unserved", "address", kubeTemplate, "{sourceType: grpc, address: 'some.service:50051'}"))
	c.eventually("the kind is not served", func() bool { return condition(c.get("unserved/later"), "ResolvedImage")["reason"] == "UnableToResolve" })
	c.eventually("there is no image", func() bool { return condition(c.get("unserved/address"), "ResolvedImage")["reason"] == "NoImageSource" })
	define([]byte(strings.ReplaceAll(sampleDefinition, "foo.example.com", "later.example.com")))
	later := samples
	later.Group = "later.example.com"
	c.create(later, strings.Replace(sample("unserved", "one", "v2"), "foo.example.com", "later.example.com", 1))
	c.eventually("v2", func() bool { return image(c.get("unserved/later")) == "a/b:v2" })
}

// Somebody else writes all the while; both come to rest.
func TestConflicts(t *testing.T) {
	c := newCluster(t, "v1.20.0", "conflict")
	c.create(controller.Resource, catalogSource("conflict", "kube", kubeTemplate, v119))
	c.start()
	for i := range 100 {
		c.change("conflict/kube", func(o *unstructured.Unstructured) {
			o.SetLabels(map[string]string{"i": fmt.Sprint(i)})
			_ = unstructured.SetNestedField(o.Object, fmt.Sprint("quay.io/other:", i), "spec", "image")
		})
	}
	c.eventually("v1.20", func() bool { return image(c.get("conflict/kube")) == "quay.io/kube-release-v1/catalog:v1.20" })
	if got := c.get("conflict/kube").GetLabels()["i"]; got != "99" {
		t.Errorf("the label is %s: a write of somebody else is lost", got)
	}
}

func TestOnce(t *testing.T) {
	c := newCluster(t, "v1.20.0", "once")
	c.create(controller.Resource, catalogSource("once", "kube", kubeTemplate, v119))
	if err := c.controller.Once(context.Background()); err != nil {
		t.Fatal(err)
	}
	if o := c.get("once/kube"); image(o) != "quay.io/kube-release-v1/catalog:v1.20" || condition(o, "ResolvedImage")["status"] != "True" {
		t.Errorf("got %v", o.Object)
	}
	writes := c.writes.Load()
	c.create(controller.Resource, catalogSource("once", "sample", sampleTemplate("once", ""), v119))
	if err := c.controller.Once(context.Background()); failure.Of(err).Code != failure.CatalogSourceUnresolvable {
		t.Errorf("got %v", err)
	}
	if got := c.writes.Load() - writes; got != 1 {
		t.Errorf("%d writes, want the conditions of one", got)
	}
	c.create(samples, sample("once", "only", "v7"))
	if err := c.controller.Once(context.Background()); err != nil {
		t.Error(err)
	}
	if got := image(c.get("once/sample")); got != "quay.io/sample/catalog:v7" {
		t.Errorf("the image is %s", got)
	}
	down := c.options
	down.Config = rest.CopyConfig(config)
	down.Config.Host = "https://127.0.0.1:1"
	gone, err := controller.New(down)
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range []func(context.Context) error{gone.Once, gone.Run} {
		if err := run(context.Background()); failure.Of(err).Code != failure.ClusterUnavailable {
			t.Errorf("without a cluster: %v", err)
		}
	}
}

// Many CatalogSources: at rest nothing is written, and a change of version is one write of
// each image and one of each status.
func TestMany(t *testing.T) {
	const sources, objects = 1000, 50
	c := newCluster(t, "v1.20.0", "many")
	for i := range objects {
		c.create(samples, sample("many", fmt.Sprint("s", i), fmt.Sprint("x", i)))
	}
	for i := range sources {
		template := fmt.Sprintf("%s-v{kube_minor_version}", sampleTemplate("many", fmt.Sprint("s", i%objects)))
		c.create(controller.Resource, catalogSource("many", fmt.Sprint("c", i), template, v119))
	}
	c.start()
	all := func(minor string, rounds int64) func() bool {
		return func() bool {
			if c.controller.Metrics.Statuses.Load() < rounds*sources {
				return false // too early to list them all
			}
			list, err := c.Resource(controller.Resource).Namespace("many").List(context.Background(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for i := range list.Items {
				if !strings.HasSuffix(image(&list.Items[i]), "-v"+minor) || condition(&list.Items[i], "ResolvedImage")["message"] != image(&list.Items[i]) {
					return false
				}
			}
			return len(list.Items) == sources
		}
	}
	c.eventually("all at 20", all("20", 1))
	c.rest(2 * sources)
	next, begun := "v1.21.0", time.Now()
	c.version.Store(&next)
	c.eventually("all at 21", all("21", 2))
	t.Logf("%d CatalogSources followed in %v", sources, time.Since(begun).Round(time.Second/10))
	c.rest(4 * sources)
	if got := c.controller.Metrics.Conflicts.Load(); got != 0 {
		t.Errorf("%d conflicts with nobody", got)
	}
}

// rest holds the number of writes so far, and that it stays so while every CatalogSource is
// looked at once more.
func (c *cluster) rest(writes int64) {
	c.Helper()
	looked := c.controller.Metrics.Reconciles.Load()
	for i := range 50 {
		name := fmt.Sprint("s", i)
		object, err := c.Resource(samples).Namespace("many").Get(context.Background(), name, metav1.GetOptions{})
		if err != nil {
			c.Fatal(err)
		}
		object.SetLabels(map[string]string{"looked": fmt.Sprint(looked)})
		if _, err := c.Resource(samples).Namespace("many").Update(context.Background(), object, metav1.UpdateOptions{}); err != nil {
			c.Fatal(err)
		}
	}
	c.eventually("all are looked at again", func() bool { return c.controller.Metrics.Reconciles.Load() >= looked+1000 })
	if got := c.writes.Load(); got != writes {
		c.Errorf("%d writes, want %d", got, writes)
	}
}

// An image that a policy refuses is told in the conditions, and not asked for all the time.
func TestRefused(t *testing.T) {
	for _, code := range []int{http.StatusForbidden, http.StatusUnprocessableEntity} {
		namespace := fmt.Sprint("refused", code)
		c := newCluster(t, "v1.20.0", namespace)
		c.refuse = func(r *http.Request) int {
			if r.Method == http.MethodPatch && !strings.HasSuffix(r.URL.Path, "/status") {
				return code
			}
			return 0
		}
		c.create(controller.Resource, catalogSource(namespace, "kube", kubeTemplate, v119))
		c.start()
		c.eventually("it is told", func() bool {
			o := c.get(namespace + "/kube")
			m := condition(o, "ResolvedImage")
			return m["reason"] == "ImageRefused" && m["status"] == "False" && m["message"] == "quay.io/kube-release-v1/catalog:v1.20" && condition(o, "TemplatesHaveResolved")["status"] == "True"
		})
		if got := <-c.events.Events; !strings.HasPrefix(got, "Warning ImageRefused ") || !strings.Contains(got, "a policy refuses") {
			t.Errorf("the event is %s", got)
		}
		if err := c.controller.Once(context.Background()); failure.Of(err).Code != failure.CatalogSourceInvalid && code == http.StatusUnprocessableEntity {
			t.Errorf("got %v", err)
		}
	}
}

// CatalogSources cannot be looked up: what they say may follow from that.
func TestNoCircle(t *testing.T) {
	c := newCluster(t, "v1.20.0", "circle")
	c.start()
	c.create(controller.Resource, catalogSource("circle", "self", "a/b:{group:operators.coreos.com,version:v1alpha1,kind:CatalogSource,name:self,namespace:circle,jsonpath:{.metadata.resourceVersion}}", v119))
	c.eventually("it does not resolve", func() bool { return condition(c.get("circle/self"), "ResolvedImage")["reason"] == "UnableToResolve" })
	if got := c.writes.Load(); got != 1 {
		t.Errorf("%d writes", got)
	}
}
