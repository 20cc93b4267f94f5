package suite

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/olmgraft/graft/internal/controller"
)

// The cluster's version changes, and the image follows. Conditions of other writers stay.
func testVersion(t *testing.T, s *Server) {
	c := New(t, s, "v1.20.0+6af3663", "version")
	c.Create(controller.Resource, CatalogSource("version", "kube", KubeTemplate, V119))
	foreign := []any{
		map[string]any{"type": "Ready", "status": "True", "reason": "R", "message": "first", "lastTransitionTime": "2021-07-19T23:00:00Z"},
		map[string]any{"type": "Healthy", "status": "False", "reason": "H", "message": "second", "lastTransitionTime": "2021-07-19T23:00:00Z"},
	}
	c.Change("version/kube", func(o *unstructured.Unstructured) {
		_ = unstructured.SetNestedSlice(o.Object, foreign, "status", "conditions")
	}, "status")
	c.Start()
	c.Follows("version/kube", "quay.io/kube-release-v1/catalog:v1.20")
	before := c.Get("version/kube")
	next := "v1.21.3-gke.100"
	c.Version.Store(&next)
	c.Follows("version/kube", "quay.io/kube-release-v1/catalog:v1.21")
	if got := c.Writes.Load(); got != 4 {
		t.Errorf("%d writes, want one of the image and one of the status for each version", got)
	}
	after := c.Get("version/kube")
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
	if m := Condition(after, "TemplatesHaveResolved"); m["status"] != "True" || m["reason"] != "AllTemplatesResolved" || m["message"] != "catalog image reference was successfully resolved" {
		t.Errorf("got %v", m)
	}
	for _, want := range []string{
		`Normal AllTemplatesResolved The image is now quay.io/kube-release-v1/catalog:v1.20, it was "quay.io/kube-release-v1/catalog:v1.19"`,
		`Normal AllTemplatesResolved The image is now quay.io/kube-release-v1/catalog:v1.21, it was "quay.io/kube-release-v1/catalog:v1.20"`,
	} {
		c.told(want)
	}
	if was, is := Condition(before, "ResolvedImage")["lastTransitionTime"], Condition(after, "ResolvedImage")["lastTransitionTime"]; was != is || is == nil {
		t.Errorf("lastTransitionTime moved from %v to %v", was, is)
	}
	c.handsOff()
}

// CatalogSources in each watched namespace follow a new version.
func testNamespaces(t *testing.T, s *Server) {
	c := New(t, s, "v1.20.0", "several-a", "several-b", "several-c")
	for _, namespace := range c.Options.Namespaces {
		c.Create(controller.Resource, CatalogSource(namespace, "kube", KubeTemplate, V119))
	}
	c.Start()
	for _, want := range []string{"v1.20", "v1.21"} {
		for _, namespace := range c.Options.Namespaces {
			c.Follows(namespace+"/kube", "quay.io/kube-release-v1/catalog:"+want)
		}
		next := "v1.21.0"
		c.Version.Store(&next)
	}
}

// handsOff checks that removing the annotation removes the conditions and changes nothing else, and that an
// object under deletion is not changed.
func (c *Cluster) handsOff() {
	c.Helper()
	c.Change("version/kube", func(o *unstructured.Unstructured) {
		o.SetAnnotations(nil)
		_ = unstructured.SetNestedField(o.Object, "quay.io/my/own:v1", "spec", "image")
	})
	going := strings.Replace(CatalogSource("version", "going", KubeTemplate, V119), "metadata:\n", "metadata:\n  finalizers: [example.com/wait]\n", 1)
	c.Create(controller.Resource, going)
	c.Follows("version/going", "quay.io/kube-release-v1/catalog:v1.21")
	if err := c.source("version/going").Delete(context.Background(), "going", metav1.DeleteOptions{}); err != nil {
		c.Fatal(err)
	}
	c.Create(controller.Resource, CatalogSource("version", "other", KubeTemplate, V119))
	last := "v1.22.0"
	c.Version.Store(&last)
	c.Follows("version/other", "quay.io/kube-release-v1/catalog:v1.22")
	time.Sleep(c.Options.Poll)
	if o := c.Get("version/kube"); Image(o) != "quay.io/my/own:v1" || Condition(o, "ResolvedImage") != nil || Condition(o, "TemplatesHaveResolved") != nil || Condition(o, "Ready")["message"] != "first" || Condition(o, "Healthy")["message"] != "second" {
		c.Errorf("without annotation it became %v", o.Object)
	}
	if o := c.Get("version/going"); Image(o) != "quay.io/kube-release-v1/catalog:v1.21" {
		c.Errorf("while it is deleted it became %v", o.Object)
	}
	c.Change("version/going", func(o *unstructured.Unstructured) { o.SetFinalizers(nil) })
}

// told checks the next event.
func (c *Cluster) told(want string) {
	c.Helper()
	select {
	case got := <-c.Events.Events:
		if !strings.HasPrefix(got, want) {
			c.Errorf("the event is %s, want %s", got, want)
		}
	case <-time.After(c.patience):
		c.Errorf("there is no event %s", want)
	}
}

// An object is looked up, changed, deleted and created again; with the new form of the spec.
func testObject(t *testing.T, s *Server) {
	c := New(t, s, "v1.20.0", "object")
	c.Start()
	template := SampleTemplate("object", "mysample")
	c.Create(controller.Resource, CatalogSource("object", "sample", template, "{catalogImageSource: {catalogImage: 'quay.io/sample/catalog:v1'}}"))
	is := func(want string) func() bool {
		return func() bool {
			got, _, _ := unstructured.NestedString(c.Get("object/sample").Object, "spec", "catalogImageSource", "catalogImage")
			return got == want
		}
	}
	unresolved := func() bool {
		o := c.Get("object/sample")
		lookup := strings.TrimPrefix(template, "quay.io/sample/catalog:")
		return Condition(o, "TemplatesHaveResolved")["message"] == `Cannot construct catalog image reference, variable(s) "`+lookup+`" couldn't be resolved. `+lookup+": there is no Sample.v1.foo.example.com object/mysample." &&
			Condition(o, "TemplatesHaveResolved")["status"] == "False" && Condition(o, "ResolvedImage")["message"] == template && Condition(o, "ResolvedImage")["reason"] == "UnableToResolve"
	}
	c.Eventually("the object is missing", unresolved)
	if !is("quay.io/sample/catalog:v1")() {
		t.Error("the image moved without a value")
	}
	c.told(`Warning UnableToResolve Cannot construct catalog image reference, variable(s) "`)
	resource := c.Resource(Samples).Namespace("object")
	object := c.Create(Samples, Sample("object", "mysample", "v2"))
	c.Create(Samples, Sample("object", "another", "v9"))
	c.Eventually("v2", is("quay.io/sample/catalog:v2"))
	_ = unstructured.SetNestedField(object.Object, "v3", "spec", "foo", "bar")
	if _, err := resource.Update(context.Background(), object, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.Eventually("v3", is("quay.io/sample/catalog:v3"))
	if err := resource.Delete(context.Background(), "mysample", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	c.Eventually("the object is gone", unresolved)
	if !is("quay.io/sample/catalog:v3")() {
		t.Error("the image moved without a value")
	}
	c.Create(Samples, Sample("object", "mysample", "v4"))
	c.Eventually("v4", is("quay.io/sample/catalog:v4"))
	if got, _, _ := unstructured.NestedString(c.Get("object/sample").Object, "spec", "image"); got != "" {
		t.Errorf("spec.image is %s", got)
	}
}

// A kind is served later, in the version that the template names only.
func testUnserved(t *testing.T, s *Server) {
	c := New(t, s, "v1.20.0", "unserved")
	c.Start()
	template := "a/b:{group:later.example.com,version:v1,kind:Sample,name:one,namespace:unserved,jsonpath:{.spec.foo.bar}}"
	c.Create(controller.Resource, CatalogSource("unserved", "later", template, "{sourceType: grpc, image: 'a/b:v1'}"))
	c.Create(controller.Resource, CatalogSource("unserved", "never", strings.Replace(template, "version:v1", "version:v2", 1), "{sourceType: grpc, image: 'a/b:v1'}"))
	for _, name := range []string{"unserved/later", "unserved/never"} {
		c.Eventually("the kind is not served", func() bool { return Condition(c.Get(name), "ResolvedImage")["reason"] == "UnableToResolve" })
	}
	s.Define("later.example.com", "v1")
	later := Samples
	later.Group = "later.example.com"
	c.Create(later, strings.Replace(Sample("unserved", "one", "v2"), "foo.example.com", "later.example.com", 1))
	c.Follows("unserved/later", "a/b:v2")
	if o := c.Get("unserved/never"); Image(o) != "a/b:v1" || Condition(o, "ResolvedImage")["reason"] != "UnableToResolve" {
		t.Errorf("a version that is not served gave %v", o.Object)
	}
}

// A CatalogSource without an image.
func testUnusable(t *testing.T, s *Server) {
	c := New(t, s, "v1.20.0", "unusable")
	c.Start()
	c.Create(controller.Resource, CatalogSource("unusable", "address", KubeTemplate, "{sourceType: grpc, address: 'some.service:50051'}"))
	c.Eventually("there is no image", func() bool { return Condition(c.Get("unusable/address"), "ResolvedImage")["reason"] == "NoImageSource" })
	c.told("Warning NoImageSource ")
	if o := c.Get("unusable/address"); Image(o) != "" || c.Writes.Load() != 1 {
		t.Errorf("after %d writes it is %v", c.Writes.Load(), o.Object)
	}
}

// The conditions report a typing mistake and a wrong order.
func testTypo(t *testing.T, s *Server) {
	c := New(t, s, "v1.20.0", "typo")
	c.Start()
	for name, want := range map[string][2]string{
		"typo":  {"quay.io/a/b:v{kube_mayor_version}", `variable(s) "{kube_mayor_version}" couldn't be resolved. {kube_mayor_version}: there is no variable "kube_mayor_version". Write {kube_major_version}; `},
		"order": {"a/b:{version:v1,group:foo.example.com,kind:Sample,name:one,namespace:ns,jsonpath:{.a}}", "its parts are in the order version, group, kind, name, namespace, jsonpath. Write them in the order group, version, "},
	} {
		c.Create(controller.Resource, CatalogSource("typo", name, want[0], V119))
		c.Eventually(name+" is reported", func() bool {
			o := c.Get("typo/" + name)
			one, image := Condition(o, "TemplatesHaveResolved"), Condition(o, "ResolvedImage")
			message, _ := one["message"].(string)
			return one["status"] == "False" && one["reason"] == "InvalidTemplate" && strings.Contains(message, want[1]) && image["message"] == want[0] && image["status"] == "False"
		})
		if got := Image(c.Get("typo/" + name)); got != "quay.io/kube-release-v1/catalog:v1.19" {
			t.Errorf("%s: the image is %s", name, got)
		}
	}
}

// CatalogSources look up each other, and fields of their own that no controller writes. This causes no endless
// loop.
func testNoCircle(t *testing.T, s *Server) {
	c := New(t, s, "v1.20.0", "circle")
	c.Start()
	of := func(name, path string) string {
		return "{group:operators.coreos.com,version:v1alpha1,kind:CatalogSource,name:" + name + ",namespace:circle,jsonpath:" + path + "}"
	}
	c.Create(controller.Resource, CatalogSource("circle", "self", "a/b:"+of("self", "{.metadata.resourceVersion}"), V119))
	c.Eventually("it does not resolve", func() bool { return Condition(c.Get("circle/self"), "ResolvedImage")["reason"] == "UnableToResolve" })
	if got := c.Writes.Load(); got != 1 {
		t.Errorf("%d writes", got)
	}
	c.Create(controller.Resource, CatalogSource("circle", "kube", KubeTemplate, V119))
	c.Create(controller.Resource, CatalogSource("circle", "other", of("kube", "{.spec.image}"), V119))
	c.Follows("circle/other", "quay.io/kube-release-v1/catalog:v1.20")
	next := "v1.21.0"
	c.Version.Store(&next)
	c.Follows("circle/other", "quay.io/kube-release-v1/catalog:v1.21")
	for _, pair := range [][2]string{{"ping", "pong"}, {"pong", "ping"}} {
		c.Create(controller.Resource, CatalogSource("circle", pair[0], of(pair[1], "{.spec.image}")+"x", V119))
	}
	for _, name := range []string{"circle/ping", "circle/pong"} {
		c.Eventually("the cycle is reported", func() bool {
			message, _ := Condition(c.Get(name), "TemplatesHaveResolved")["message"].(string)
			return strings.Contains(message, "could change each other without end")
		})
	}
}

// With many CatalogSources, an idle controller writes nothing, and a new version causes one write of each image
// and one of each status.
func testMany(t *testing.T, s *Server) {
	sources := int64(s.Many)
	objects := max(1, s.Many/20)
	c := New(t, s, "v1.20.0", "many")
	for i := range objects {
		c.Create(Samples, Sample("many", fmt.Sprint("s", i), fmt.Sprint("x", i)))
	}
	for i := range s.Many {
		template := fmt.Sprintf("%s-v{kube_minor_version}", SampleTemplate("many", fmt.Sprint("s", i%objects)))
		c.Create(controller.Resource, CatalogSource("many", fmt.Sprint("c", i), template, V119))
	}
	c.Start()
	all := func(minor string, rounds int64) func() bool {
		return func() bool {
			if c.Controller.Metrics.Statuses.Load() < rounds*sources {
				return false // too early to list them all
			}
			list, err := c.Resource(controller.Resource).Namespace("many").List(context.Background(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for i := range list.Items {
				if !strings.HasSuffix(Image(&list.Items[i]), "-v"+minor) || Condition(&list.Items[i], "ResolvedImage")["message"] != Image(&list.Items[i]) {
					return false
				}
			}
			return len(list.Items) == s.Many
		}
	}
	c.Eventually("all at 20", all("20", 1))
	c.rest(objects, sources, 2*sources)
	next, begun := "v1.21.0", time.Now()
	c.Version.Store(&next)
	c.Eventually("all at 21", all("21", 2))
	t.Logf("%d CatalogSources followed in %v", sources, time.Since(begun).Round(time.Second/10))
	c.rest(objects, sources, 4*sources)
	m := &c.Controller.Metrics
	if m.Conflicts.Load() != 0 || m.Images.Load() != 2*sources || m.Statuses.Load() != 2*sources || m.Errors.Load() != 0 {
		t.Errorf("%d conflicts without another writer, %d images, %d statuses, %d errors", m.Conflicts.Load(), m.Images.Load(), m.Statuses.Load(), m.Errors.Load())
	}
}

// rest checks the number of writes so far, and that it stays the same while every CatalogSource is reconciled
// once more.
func (c *Cluster) rest(objects int, sources, writes int64) {
	c.Helper()
	looked := c.Controller.Metrics.Reconciles.Load()
	for i := range objects {
		name := fmt.Sprint("s", i)
		object, err := c.Resource(Samples).Namespace("many").Get(context.Background(), name, metav1.GetOptions{})
		if err != nil {
			c.Fatal(err)
		}
		object.SetLabels(map[string]string{"looked": fmt.Sprint(looked)})
		if _, err := c.Resource(Samples).Namespace("many").Update(context.Background(), object, metav1.UpdateOptions{}); err != nil {
			c.Fatal(err)
		}
	}
	c.Eventually("all are looked at again", func() bool { return c.Controller.Metrics.Reconciles.Load() >= looked+sources })
	if got := c.Writes.Load(); got != writes {
		c.Errorf("%d writes, want %d", got, writes)
	}
}
