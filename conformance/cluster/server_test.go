// Package cluster holds the controller and the definition of CatalogSource to a real API
// server: apiextensions-apiserver, in this process, on etcd.
package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apiextensions-apiserver/test/integration/fixtures"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/yaml"

	"github.com/olmgraft/graft/deploy/crds"
	"github.com/olmgraft/graft/internal/catalogsource"
	"github.com/olmgraft/graft/internal/controller"
)

var (
	config  *rest.Config     // reaches the server, which is begun once for all tests
	webhook *httptest.Server // which that server asks
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "etcd")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	client, peer := "http://"+freeAddress(), "http://"+freeAddress()
	etcd := exec.Command("etcd", "--data-dir", dir, "--listen-client-urls", client, "--advertise-client-urls", client,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default="+peer, "--unsafe-no-fsync", "--logger", "zap", "--log-level", "error")
	etcd.Stderr = os.Stderr
	if err := etcd.Start(); err != nil {
		fmt.Fprintf(os.Stderr, "etcd is missing: apt-get install etcd-server: %v\n", err)
		return 1
	}
	defer func() {
		_ = etcd.Process.Kill()
		_ = etcd.Wait()
	}()
	if err := os.Setenv("KUBE_INTEGRATION_ETCD_URL", client); err != nil {
		panic(err)
	}
	stop, c, _, err := fixtures.StartDefaultServer(quiet{})
	if err != nil {
		fmt.Fprintf(os.Stderr, "starting the API server: %v\n", err)
		return 1
	}
	defer stop()
	config = rest.CopyConfig(c)
	config.QPS = -1
	define(crds.CatalogSources)
	define([]byte(sampleDefinition))
	webhook = httptest.NewTLSServer(controller.Webhook())
	defer webhook.Close()
	addVersion("v1alpha2.yaml")
	return m.Run()
}

func freeAddress() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer l.Close()
	return l.Addr().String()
}

type quiet struct{}

func (quiet) Errorf(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
func (quiet) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (quiet) Logf(string, ...any)               {}

var (
	definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	next        = schema.GroupVersionResource{Group: catalogsource.Group, Version: catalogsource.Next, Resource: "catalogsources"}
	samples     = schema.GroupVersionResource{Group: "foo.example.com", Version: "v1", Resource: "samples"}
)

const sampleDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: samples.foo.example.com}
spec:
  group: foo.example.com
  names: {kind: Sample, plural: samples, singular: sample, listKind: SampleList}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

// define creates a definition and waits until it is served.
func define(text []byte) {
	var crd unstructured.Unstructured
	if err := yaml.Unmarshal(text, &crd.Object); err != nil {
		panic(err)
	}
	client := dynamic.NewForConfigOrDie(config)
	if _, err := client.Resource(definitions).Create(context.Background(), &crd, metav1.CreateOptions{}); err != nil {
		panic(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		now, err := client.Resource(definitions).Get(context.Background(), crd.GetName(), metav1.GetOptions{})
		if err == nil && established(now) {
			return
		}
		if time.Now().After(deadline) {
			panic(fmt.Sprintf("%s is not established: %v, %v", crd.GetName(), err, now))
		}
	}
}

// addVersion patches the definition of CatalogSource as deploy/crds has it, but that the
// webhook is here and not in the cluster.
func addVersion(file string) {
	text, err := os.ReadFile("../../deploy/crds/" + file)
	if err != nil {
		panic(err)
	}
	var patch []map[string]any
	if err := yaml.Unmarshal(text, &patch); err != nil {
		panic(err)
	}
	reach := patch[len(patch)-1]["value"].(map[string]any)["webhook"].(map[string]any)
	if _, ok := reach["clientConfig"]; !ok {
		panic("the last step of " + file + " names no webhook")
	}
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: webhook.Certificate().Raw})
	reach["clientConfig"] = map[string]any{"url": webhook.URL + "/convert", "caBundle": ca}
	body, err := json.Marshal(patch)
	if err != nil {
		panic(err)
	}
	client := dynamic.NewForConfigOrDie(config)
	if _, err := client.Resource(definitions).Patch(context.Background(), "catalogsources.operators.coreos.com", types.JSONPatchType, body, metav1.PatchOptions{}); err != nil {
		panic(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if _, err := client.Resource(next).List(context.Background(), metav1.ListOptions{}); err == nil {
			return
		} else if time.Now().After(deadline) {
			panic(err)
		}
	}
}

func established(crd *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(crd.Object, "status", "conditions")
	for _, c := range conditions {
		if m := c.(map[string]any); m["type"] == "Established" && m["status"] == "True" {
			return true
		}
	}
	return false
}

// cluster is a controller at work, with a version of the server that can be changed and
// all that it writes counted.
type cluster struct {
	*testing.T
	dynamic.Interface
	controller *controller.Controller
	options    controller.Options
	events     *record.FakeRecorder
	version    atomic.Pointer[string]
	writes     atomic.Int64
	refuse     func(*http.Request) int // the code that a request is answered with instead; nil or 0: none
}

// newCluster is one for a test, which has namespaces of its own.
func newCluster(t *testing.T, version string, namespaces ...string) *cluster {
	c := &cluster{T: t, Interface: dynamic.NewForConfigOrDie(config), events: record.NewFakeRecorder(10_000)}
	c.version.Store(&version)
	wrapped := rest.CopyConfig(config)
	wrapped.QPS, wrapped.Burst = controller.QPS, controller.Burst
	wrapped.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.Method != http.MethodGet {
				c.writes.Add(1)
			}
			if c.refuse != nil {
				if code := c.refuse(r); code != 0 {
					return refusal(r, code), nil
				}
			}
			answer, err := next.RoundTrip(r)
			if err == nil && r.URL.Path == "/version" {
				answer.Body.Close()
				text := fmt.Sprintf(`{"gitVersion":%q}`, *c.version.Load())
				answer.Body, answer.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
			}
			return answer, err
		})
	})
	c.options = controller.Options{Config: wrapped, Namespaces: namespaces, Poll: 100 * time.Millisecond, Workers: 4, Events: c.events, Log: slog.New(slog.DiscardHandler)}
	var err error
	if c.controller, err = controller.New(c.options); err != nil {
		t.Fatal(err)
	}
	return c
}

// refusal is an answer as an API server gives it.
func refusal(r *http.Request, code int) *http.Response {
	reason := map[int]metav1.StatusReason{http.StatusForbidden: metav1.StatusReasonForbidden, http.StatusUnprocessableEntity: metav1.StatusReasonInvalid}[code]
	text := fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"a policy refuses","reason":%q,"code":%d}`, reason, code)
	return &http.Response{
		StatusCode: code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(text)), ContentLength: int64(len(text)),
	}
}

// start runs the controller until the test ends; it must then end as well.
func (c *cluster) start() {
	c.Helper()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.controller.Run(ctx) }()
	c.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			c.Errorf("the controller ended with %v", err)
		}
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (c *cluster) create(resource schema.GroupVersionResource, text string) *unstructured.Unstructured {
	c.Helper()
	object, err := c.tryCreate(resource, text)
	if err != nil {
		c.Fatalf("creating %s: %v", text, err)
	}
	return object
}

func (c *cluster) tryCreate(resource schema.GroupVersionResource, text string) (*unstructured.Unstructured, error) {
	var object unstructured.Unstructured
	if err := yaml.Unmarshal(bytes.TrimSpace([]byte(text)), &object.Object); err != nil {
		return nil, err
	}
	return c.Resource(resource).Namespace(object.GetNamespace()).Create(context.Background(), &object, metav1.CreateOptions{})
}

func (c *cluster) get(name string) *unstructured.Unstructured {
	c.Helper()
	key := cache.ObjectName{}
	key.Namespace, key.Name, _ = strings.Cut(name, "/")
	object, err := c.Resource(controller.Resource).Namespace(key.Namespace).Get(context.Background(), key.Name, metav1.GetOptions{})
	if err != nil {
		c.Fatal(err)
	}
	return object
}

// change edits a CatalogSource as a person does.
func (c *cluster) change(name string, edit func(*unstructured.Unstructured), subresource ...string) {
	c.Helper()
	for range 20 {
		object := c.get(name)
		edit(object)
		update := c.Resource(controller.Resource).Namespace(object.GetNamespace())
		var err error
		if len(subresource) > 0 {
			_, err = update.UpdateStatus(context.Background(), object, metav1.UpdateOptions{})
		} else {
			_, err = update.Update(context.Background(), object, metav1.UpdateOptions{})
		}
		if err == nil {
			return
		}
	}
	c.Fatalf("%s cannot be changed", name)
}

// eventually waits for something that is to come, however slow the machine.
func (c *cluster) eventually(what string, is func() bool) {
	c.Helper()
	for deadline := time.Now().Add(5 * time.Minute); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			c.Fatalf("in five minutes there was not: %s", what)
		}
	}
}

func image(object *unstructured.Unstructured) string {
	s, _, _ := unstructured.NestedString(object.Object, "spec", "image")
	return s
}

func condition(object *unstructured.Unstructured, kind string) map[string]any {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, c := range conditions {
		if m := c.(map[string]any); m["type"] == kind {
			return m
		}
	}
	return nil
}
