// Package cluster tests the controller and the definition of CatalogSource on a real API server:
// apiextensions-apiserver, in this process, on etcd.
package cluster

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"k8s.io/apiextensions-apiserver/test/integration/fixtures"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/olmgraft/graft/deploy/crds"
	"github.com/olmgraft/graft/internal/catalogsource"
	"github.com/olmgraft/graft/internal/controller"
	"github.com/olmgraft/graft/internal/controller/suite"
)

var (
	config  *rest.Config     // for the server, which is started once for all tests
	webhook *httptest.Server // which the server calls
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
	define([]byte(olmDefinition))
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

// olmDefinition shows that OLM is installed.
const olmDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: olmconfigs.operators.coreos.com}
spec:
  group: operators.coreos.com
  names: {kind: OLMConfig, plural: olmconfigs, singular: olmconfig, listKind: OLMConfigList}
  scope: Cluster
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

// addVersion patches the definition of CatalogSource from deploy/crds, with the webhook in this process instead
// of the cluster.
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

// realServer returns the server in the suite's form.
func realServer() *suite.Server {
	return &suite.Server{Config: config, Many: 1000, Patience: 5 * time.Minute, Define: func(group, version string) {
		define([]byte(strings.NewReplacer("foo.example.com", group, "name: v1", "name: "+version).Replace(sampleDefinition)))
	}}
}

// The controller runs on a real server as it does on the stand-in in internal/controller.
func TestController(t *testing.T) { suite.Run(t, realServer()) }

// cluster is a controller on the real server.
type cluster struct{ *suite.Cluster }

func newCluster(t *testing.T, version string, namespaces ...string) *cluster {
	t.Helper()
	return &cluster{suite.New(t, realServer(), version, namespaces...)}
}
