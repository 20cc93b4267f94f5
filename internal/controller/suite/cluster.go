// Package suite tests the controller on an API server: a stand-in in internal/controller, and a real one in
// conformance/cluster.
package suite

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/yaml"

	"github.com/olmgraft/graft/internal/controller"
)

// Server is an API server with CatalogSources, Samples of foo.example.com/v1, and the OLMConfigs of
// operators.coreos.com/v1.
type Server struct {
	Config *rest.Config
	// Own is the controller's own configuration, if it differs from the tests'.
	Own *rest.Config
	// Namespace creates a namespace, if set.
	Namespace func(name string)
	// Define makes the server serve Samples of another group or version.
	Define func(group, version string)
	// Many is the number of CatalogSources in the large test.
	Many int
	// Patience limits the wait for expected events.
	Patience time.Duration
}

func (s *Server) own() *rest.Config {
	if s.Own != nil {
		return s.Own
	}
	return s.Config
}

// Run runs all tests.
func Run(t *testing.T, s *Server) {
	for name, test := range map[string]func(*testing.T, *Server){
		"Version": testVersion, "Namespaces": testNamespaces, "Object": testObject, "Unserved": testUnserved, "Unusable": testUnusable, "NoCircle": testNoCircle, "Typo": testTypo, "TwoWriters": testTwoWriters, "OLMComes": testOLMComes, "Undone": testUndone, "Many": testMany,
		"Conflicts": testConflicts, "Rival": testRival, "Overtaken": testOvertaken, "Server": testServer,
		"Refused": testRefused, "Retried": testRetried, "Deleted": testDeleted, "OneBad": testOneBad,
		"Once": testOnce, "OnceConflicts": testOnceConflicts, "NoCluster": testNoCluster, "Command": testCommand,
		"Large": testLarge, "ManyWatches": testManyWatches, "Hangs": testHangs,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, s)
		})
	}
}

// Samples are objects that templates look up.
var Samples = schema.GroupVersionResource{Group: "foo.example.com", Version: "v1", Resource: "samples"}

// Parts of the tests' objects.
const (
	KubeTemplate = "quay.io/kube-release-v{kube_major_version}/catalog:v{kube_major_version}.{kube_minor_version}"
	V119         = "{sourceType: grpc, image: 'quay.io/kube-release-v1/catalog:v1.19', displayName: My always up2date Catalog}"
)

// SampleTemplate returns a template that looks up a Sample.
func SampleTemplate(namespace, name string) string {
	return "quay.io/sample/catalog:{group:foo.example.com,version:v1,kind:Sample,name:" + name + ",namespace:" + namespace + ",jsonpath:{.spec.foo.bar}}"
}

// CatalogSource returns one as YAML.
func CatalogSource(namespace, name, template, spec string) string {
	return fmt.Sprintf("apiVersion: operators.coreos.com/v1alpha1\nkind: CatalogSource\nmetadata:\n  name: %s\n  namespace: %s\n  annotations:\n    olm.catalogImageTemplate: %q\nspec: %s\n", name, namespace, template, spec)
}

// Sample returns one as YAML.
func Sample(namespace, name, value string) string {
	return fmt.Sprintf("apiVersion: foo.example.com/v1\nkind: Sample\nmetadata: {name: %s, namespace: %s}\nspec: {foo: {bar: %s}}\n", name, namespace, value)
}

// Cluster is a controller on an API server whose version can be changed. It counts the controller's writes.
type Cluster struct {
	*testing.T
	dynamic.Interface
	Controller *controller.Controller
	Options    controller.Options
	Events     *record.FakeRecorder
	Version    atomic.Pointer[string]
	Writes     atomic.Int64
	OLM        atomic.Bool // whether the controller sees OLM's kinds on the server
	// Meanwhile, if set, is called before each request of the controller is sent. If it returns a code, that is
	// the answer and the request is not sent.
	Meanwhile func(*http.Request) int

	patience time.Duration
}

// New returns a controller for a test that has the namespaces for itself.
func New(t *testing.T, s *Server, version string, namespaces ...string) *Cluster {
	t.Helper()
	client, err := dynamic.NewForConfig(s.Config)
	if err != nil {
		t.Fatal(err)
	}
	c := &Cluster{T: t, Interface: client, Events: record.NewFakeRecorder(10_000), patience: s.Patience}
	c.Version.Store(&version)
	if s.Namespace != nil {
		for _, name := range namespaces {
			s.Namespace(name)
		}
	}
	config := rest.CopyConfig(s.own())
	config.QPS, config.Burst = controller.QPS, controller.Burst
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) { return c.pass(r, next) })
	})
	c.Options = controller.Options{Config: config, Namespaces: namespaces, Poll: 100 * time.Millisecond, Workers: 4, Events: c.Events, Log: slog.New(slog.DiscardHandler)}
	if c.Controller, err = controller.New(c.Options); err != nil {
		t.Fatal(err)
	}
	return c
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (c *Cluster) pass(r *http.Request, next http.RoundTripper) (*http.Response, error) {
	if r.Method != http.MethodGet {
		c.Writes.Add(1)
	}
	if c.Meanwhile != nil {
		if code := c.Meanwhile(r); code != 0 {
			return refusal(r, code), nil
		}
	}
	if r.URL.Path == "/apis/operators.coreos.com/v1" && !c.OLM.Load() {
		return refusal(r, http.StatusNotFound), nil
	}
	answer, err := next.RoundTrip(r)
	if err == nil && r.URL.Path == "/version" {
		_ = answer.Body.Close()
		text := fmt.Sprintf(`{"gitVersion":%q}`, *c.Version.Load())
		answer.Body, answer.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
	}
	return answer, err
}

// refusal returns an error answer as an API server sends it.
func refusal(r *http.Request, code int) *http.Response {
	reason := map[int]metav1.StatusReason{
		http.StatusNotFound: metav1.StatusReasonNotFound, http.StatusForbidden: metav1.StatusReasonForbidden, http.StatusUnprocessableEntity: metav1.StatusReasonInvalid, http.StatusInternalServerError: metav1.StatusReasonInternalError,
	}[code]
	text := fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"a policy refuses","reason":%q,"code":%d}`, reason, code)
	return &http.Response{
		StatusCode: code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(text)), ContentLength: int64(len(text)),
	}
}

// Start runs the controller until the test ends. The controller must end then too.
func (c *Cluster) Start() {
	c.Helper()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Controller.Run(ctx) }()
	c.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			c.Errorf("the controller ended with %v", err)
		}
	})
}

// Create creates an object from YAML.
func (c *Cluster) Create(resource schema.GroupVersionResource, text string) *unstructured.Unstructured {
	c.Helper()
	object, err := c.TryCreate(resource, text)
	if err != nil {
		c.Fatalf("creating %s: %v", text, err)
	}
	return object
}

// TryCreate is Create with an error.
func (c *Cluster) TryCreate(resource schema.GroupVersionResource, text string) (*unstructured.Unstructured, error) {
	var object unstructured.Unstructured
	if err := yaml.Unmarshal(bytes.TrimSpace([]byte(text)), &object.Object); err != nil {
		return nil, err
	}
	return c.Resource(resource).Namespace(object.GetNamespace()).Create(context.Background(), &object, metav1.CreateOptions{})
}

// Get returns a CatalogSource by namespace/name.
func (c *Cluster) Get(name string) *unstructured.Unstructured {
	c.Helper()
	object, err := c.source(name).get()
	if err != nil {
		c.Fatal(err)
	}
	return object
}

type source struct {
	dynamic.ResourceInterface
	name string
}

func (c *Cluster) source(name string) source {
	namespace, name, _ := strings.Cut(name, "/")
	return source{c.Resource(controller.Resource).Namespace(namespace), name}
}

func (s source) get() (*unstructured.Unstructured, error) {
	return s.Get(context.Background(), s.name, metav1.GetOptions{})
}

// Change edits a CatalogSource as a person does: it repeats the edit on the newest version until there is no
// conflict.
func (c *Cluster) Change(name string, edit func(*unstructured.Unstructured), subresource ...string) {
	c.Helper()
	var err error
	for range 20 {
		var object *unstructured.Unstructured
		if object, err = c.source(name).get(); err == nil {
			edit(object)
			_, err = c.source(name).Update(context.Background(), object, metav1.UpdateOptions{}, subresource...)
		}
		if !apierrors.IsConflict(err) {
			break
		}
	}
	if err != nil {
		c.Errorf("changing %s: %v", name, err)
	}
}

// Eventually waits for a condition.
func (c *Cluster) Eventually(what string, is func() bool) {
	c.Helper()
	for deadline := time.Now().Add(c.patience); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			c.Fatalf("in %v there was not: %s", c.patience, what)
		}
	}
}

// Follows waits for a CatalogSource to have the image and its conditions.
func (c *Cluster) Follows(name, want string) {
	c.Helper()
	c.Eventually(name+" follows to "+want, func() bool {
		o := c.Get(name)
		return Image(o) == want && Condition(o, "ResolvedImage")["message"] == want && Condition(o, "ResolvedImage")["status"] == "True"
	})
}

// Image returns the image in the older form of the spec.
func Image(object *unstructured.Unstructured) string {
	s, _, _ := unstructured.NestedString(object.Object, "spec", "image")
	return s
}

// Condition returns the condition of a type, or nil.
func Condition(object *unstructured.Unstructured, kind string) map[string]any {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, c := range conditions {
		if m := c.(map[string]any); m["type"] == kind {
			return m
		}
	}
	return nil
}
