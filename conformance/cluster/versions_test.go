package cluster

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"sigs.k8s.io/yaml"

	"github.com/olmgraft/graft/internal/catalogsource"
	"github.com/olmgraft/graft/internal/controller"
	"github.com/olmgraft/graft/internal/controller/suite"
)

func asNext(text string) string {
	return strings.Replace(text, "operators.coreos.com/v1alpha1", "operators.coreos.com/v1alpha2", 1)
}

// spec returns the spec of an object in one version.
func (c *cluster) spec(resource schema.GroupVersionResource, namespace, name string) map[string]any {
	c.Helper()
	object, err := c.Resource(resource).Namespace(namespace).Get(context.Background(), name, metav1.GetOptions{})
	if err != nil {
		c.Fatal(err)
	}
	spec, _, _ := unstructured.NestedMap(object.Object, "spec")
	return spec
}

// The API server calls the webhook in both directions and for lists. It stores the version that releases of OLM
// read.
func TestWebhookConverts(t *testing.T) {
	c := newCluster(t, "v1.20.0", "versions")
	legacy := map[string]any{"sourceType": "grpc", "image": "a/b:1", "grpcPodConfig": map[string]any{"tolerations": []any{map[string]any{"key": "k", "tolerationSeconds": int64(3)}}}}
	now := map[string]any{"catalogImageSource": map[string]any{"catalogImage": "a/b:1", "podSpecOverrides": legacy["grpcPodConfig"]}}
	const text = "{sourceType: grpc, image: 'a/b:1', grpcPodConfig: {tolerations: [{key: k, tolerationSeconds: 3}]}}"
	c.Create(controller.Resource, suite.CatalogSource("versions", "legacy", "", text))
	c.Create(controller.Resource, suite.CatalogSource("versions", "new", "", "{catalogServiceSource: {address: 'a:1'}}"))
	c.Create(controller.Resource, suite.CatalogSource("versions", "internal", "", "{sourceType: internal, configMap: m}"))
	c.Create(next, asNext(suite.CatalogSource("versions", "next", "", "{catalogImageSource: {catalogImage: 'a/b:1', podSpecOverrides: {tolerations: [{key: k, tolerationSeconds: 3}]}}}")))
	for _, want := range []struct {
		resource schema.GroupVersionResource
		name     string
		spec     map[string]any
	}{
		{controller.Resource, "legacy", legacy},
		{next, "legacy", now},
		{controller.Resource, "next", legacy},
		{next, "next", now},
		{controller.Resource, "new", map[string]any{"catalogServiceSource": map[string]any{"address": "a:1"}}},
		{next, "new", map[string]any{"catalogServiceSource": map[string]any{"address": "a:1"}}},
		{next, "internal", map[string]any{"configMapSource": map[string]any{"configMap": "m"}}},
	} {
		if got := c.spec(want.resource, "versions", want.name); !reflect.DeepEqual(got, want.spec) {
			t.Errorf("%s of %s is %v", want.name, want.resource.Version, got)
		}
	}
	list, err := c.Resource(next).Namespace("versions").List(context.Background(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 4 {
		t.Errorf("got %v, %v", list, err)
	}

	// A change of another field keeps what the next version cannot express.
	for _, name := range []string{"internal", "new"} {
		before := c.spec(controller.Resource, "versions", name)
		object, err := c.Resource(next).Namespace("versions").Get(context.Background(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		object.SetLabels(map[string]string{"a": "b"})
		if _, err := c.Resource(next).Namespace("versions").Update(context.Background(), object, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		if after := c.spec(controller.Resource, "versions", name); !reflect.DeepEqual(before, after) {
			t.Errorf("%v became %v", before, after)
		}
		if o := c.Get("versions/" + name); o.GetLabels()["a"] != "b" || len(o.GetAnnotations()) != 1 {
			t.Errorf("it is %v", o.Object)
		}
	}

	// The new version accepts exactly one source.
	for spec, want := range map[string]string{
		"{displayName: x}":             "must validate one and only one schema (oneOf). Found none valid",
		"{sourceType: grpc, image: a}": "must validate one and only one schema (oneOf). Found none valid",
		"{catalogImageSource: {catalogImage: a}, configMapSource: {configMap: b}}": "set exactly one source",
	} {
		if _, err := c.TryCreate(next, asNext(suite.CatalogSource("versions", "refused", "", spec))); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", spec, err)
		}
	}
}

// An object that was created in the new version follows the cluster too.
func TestNextFollows(t *testing.T) {
	c := newCluster(t, "v1.20.0", "nextfollows")
	c.Create(next, asNext(suite.CatalogSource("nextfollows", "kube", suite.KubeTemplate, "{catalogImageSource: {catalogImage: 'a/b:1'}}")))
	c.Start()
	c.Eventually("v1.20", func() bool { return suite.Image(c.Get("nextfollows/kube")) == "quay.io/kube-release-v1/catalog:v1.20" })
	if got := c.spec(next, "nextfollows", "kube"); fmt.Sprint(got) != "map[catalogImageSource:map[catalogImage:quay.io/kube-release-v1/catalog:v1.20]]" {
		t.Errorf("it is %v", got)
	}
}

// The command serves the webhook over HTTPS with the present certificate of the directory.
func TestCommandServesWebhook(t *testing.T) {
	dir, address := t.TempDir(), freeAddress()
	pair := webhook.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"tls.crt": {Type: "CERTIFICATE", Bytes: pair.Certificate[0]}, "tls.key": {Type: "PRIVATE KEY", Bytes: key}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := begin(t, "one", "--namespace", "webhook", "--webhook-listen", address, "--webhook-cert", dir)
	ask := func(body string) (int, string) {
		answer, err := webhook.Client().Post("https://"+address+"/convert", "application/json", strings.NewReader(body)) //nolint:noctx // the test limits it
		if err != nil {
			return 0, err.Error()
		}
		return read(answer)
	}
	c := newCluster(t, "v1.20.0", "webhook")
	c.Eventually("the webhook answers", func() bool { code, _ := ask("{}"); return code == http.StatusBadRequest })
	for body, want := range map[string]string{
		`{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"u","desiredAPIVersion":"operators.coreos.com/v1alpha2","objects":[{"apiVersion":"operators.coreos.com/v1alpha1","kind":"CatalogSource","metadata":{"name":"x"},"spec":{"sourceType":"grpc","address":"a","priority":9007199254740993}}]}}`: `{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","response":{"uid":"u","convertedObjects":[{"apiVersion":"operators.coreos.com/v1alpha2","kind":"CatalogSource","metadata":{"name":"x"},"spec":{"catalogServiceSource":{"address":"a"},"priority":9007199254740993}}],"result":{"metadata":{},"status":"Success"}}}` + "\n",
		`{"request":{"uid":"u","desiredAPIVersion":"operators.coreos.com/v2","objects":[{"apiVersion":"operators.coreos.com/v1alpha1","kind":"CatalogSource"}]}}`:                                                                                                                                                                       `{"response":{"uid":"u","convertedObjects":[],"result":{"metadata":{},"status":"Failure","message":"CatalogSource of operators.coreos.com/v1alpha1 has no conversion to operators.coreos.com/v2"}}}` + "\n",
	} {
		if code, text := ask(body); code != http.StatusOK || text != want {
			t.Errorf("%d: %s", code, text)
		}
	}
	r.stop()
	if code := <-r.code; code != 0 {
		t.Errorf("it ended with %d: %s", code, r.said)
	}
	none := begin(t, "one", "--namespace", "webhook", "--webhook-listen", address, "--webhook-cert", t.TempDir())
	if code := <-none.code; code != 2 || !strings.Contains(none.said.String(), "reading the webhook's certificate") {
		t.Errorf("%d: %s", code, none.said)
	}
}

// Server-side apply converts parts of objects. Both versions then have what a manager applied last, in any
// version and form.
func TestApplyAcrossVersions(t *testing.T) {
	c := newCluster(t, "v1.20.0", "apply")
	const (
		now, later = "{displayName: d, catalogImageSource: {catalogImage: 'a/b:1'}}", "{displayName: d, catalogImageSource: {catalogImage: 'a/b:2'}}"
		old        = "{displayName: d, sourceType: grpc, image: 'a/b:1'}"
		older      = "{displayName: d, sourceType: grpc, image: 'a/b:2'}"
		configMap  = "{configMapSource: {configMap: m}}"
	)
	type step struct {
		resource schema.GroupVersionResource
		spec     string
	}
	one, two := controller.Resource, next
	sequences := [][]step{
		{{one, now}, {two, now}},
		{{one, now}, {two, later}, {two, now}},
		{{one, old}, {two, now}, {two, later}},
		{{one, old}, {two, later}},
		{{two, now}, {one, now}, {one, later}},
		{{two, now}, {one, later}},
		{{two, now}, {one, old}},
		{{two, now}, {one, older}, {one, old}},
		{{one, old}, {one, now}, {one, later}},
		{{one, "{sourceType: internal, configMap: m}"}, {two, configMap}},
		{{one, configMap}, {two, configMap}, {one, configMap}},
		{{one, "{catalogServiceSource: {address: m}}"}, {two, now}},
		{{one, now}, {two, now}, {one, now}},
		{{two, now}, {one, now}, {two, now}},
		{{one, now}, {one, old}, {two, now}},
	}
	// An applier with its own labels or annotations also removes the annotation that keeps the other form.
	refused := map[[2]int]bool{{0, 1}: true, {1, 1}: true, {10, 1}: true, {12, 1}: true, {13, 2}: true}
	for i, steps := range sequences {
		for _, own := range []string{"", ", annotations: {a: b}"} {
			name := fmt.Sprintf("s%d-%d", i, len(own))
			for j, s := range steps {
				text := "apiVersion: operators.coreos.com/v1alpha1\nkind: CatalogSource\nmetadata: {namespace: apply, name: " + name + own + "}\nspec: " + s.spec + "\n"
				if s.resource == next {
					text = asNext(text)
				}
				err := c.apply(s.resource, text)
				if own != "" && refused[[2]int{i, j}] {
					if !apierrors.IsInvalid(err) {
						t.Errorf("%d.%d: it is taken by now, and docs/catalogsource.md says otherwise: %v", i, j, err)
					}
					break
				}
				if got := c.spec(next, "apply", name); err != nil || !reflect.DeepEqual(got, asNew(t, s.spec)) {
					t.Errorf("%d.%d%s: after %s it is %v, stored %v, %v", i, j, own, s.spec, got, c.spec(controller.Resource, "apply", name), err)
				}
			}
		}
	}
}

// apply applies server-side.
func (c *cluster) apply(resource schema.GroupVersionResource, text string) error {
	var o unstructured.Unstructured
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		return err
	}
	_, err := c.Resource(resource).Namespace(o.GetNamespace()).Apply(context.Background(), o.GetName(), &o, metav1.ApplyOptions{FieldManager: "gitops"})
	return err
}

func asNew(t *testing.T, text string) map[string]any {
	t.Helper()
	var spec map[string]any
	if err := yaml.Unmarshal([]byte(strings.Replace(text, "internal", "configmap", 1)), &spec); err != nil {
		t.Fatal(err)
	}
	spec, err := catalogsource.ConvertSpec(spec, catalogsource.New)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// An object can be read even with full annotations.
func TestNextHasRoom(t *testing.T) {
	c := newCluster(t, "v1.20.0", "room")
	var o unstructured.Unstructured
	if err := yaml.Unmarshal([]byte(suite.CatalogSource("room", "full", "", "{configMapSource: {configMap: m}}")), &o.Object); err != nil {
		t.Fatal(err)
	}
	o.SetAnnotations(map[string]string{"a": strings.Repeat("x", 256<<10-1)})
	if _, err := c.Resource(controller.Resource).Namespace("room").Create(context.Background(), &o, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if list, err := c.Resource(next).List(context.Background(), metav1.ListOptions{}); err != nil || len(list.Items) == 0 {
		t.Error(err)
	}
	if err := c.Resource(next).Namespace("room").Delete(context.Background(), "full", metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}
