// Package suite tests the keeper of operands on an API server: a stand-in in internal/controller/operands, and
// a real one in conformance/cluster.
package suite

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/yaml"

	"github.com/olmgraft/graft/internal/controller/operands"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/oci"
	"github.com/olmgraft/graft/internal/operand"
	"github.com/olmgraft/graft/internal/testkit/registry"
)

// Server is an API server with CatalogSources, Subscriptions and the kind that stands for ConfigMaps.
type Server struct {
	Config *rest.Config
	// Own is the server with the keeper's account. If it is nil, the keeper uses Config.
	Own *rest.Config
	// Namespace creates a namespace, on a server that requires one.
	Namespace func(name string)
	// ConfigMaps is the resource that stands for ConfigMaps.
	ConfigMaps schema.GroupVersionResource
	// ClusterCatalogs reports whether the server has them.
	ClusterCatalogs bool
}

// Run runs all tests.
func Run(t *testing.T, s *Server) {
	for name, test := range map[string]func(*testing.T, *Server){
		"Kept": testKept, "Unresolvable": testUnresolvable, "Objects": testObjects, "Run": testRun, "Watch": testWatch,
	} {
		t.Run(name, func(t *testing.T) { test(t, s) })
	}
	if s.ClusterCatalogs {
		t.Run("ClusterCatalog", func(t *testing.T) { testClusterCatalog(t, s) })
	}
}

var (
	catalogSources  = schema.GroupVersionResource{Group: "operators.coreos.com", Version: "v1alpha1", Resource: "catalogsources"}
	clusterCatalogs = schema.GroupVersionResource{Group: "olm.operatorframework.io", Version: "v1", Resource: "clustercatalogs"}
	subscriptions   = schema.GroupVersionResource{Group: "operators.coreos.com", Version: "v1alpha1", Resource: "subscriptions"}
)

// bench is a keeper with a server and a registry, in its own namespace.
type bench struct {
	*testing.T
	dynamic.Interface
	*Server
	namespace string
	registry  *registry.Server
	keeper    *operands.Keeper
	events    *record.FakeRecorder
}

func newBench(t *testing.T, s *Server, namespace string) *bench {
	t.Helper()
	if s.Namespace != nil {
		s.Namespace(namespace)
	}
	b := &bench{T: t, Server: s, namespace: namespace, events: record.NewFakeRecorder(1000)}
	var err error
	if b.Interface, err = dynamic.NewForConfig(s.Config); err != nil {
		t.Fatal(err)
	}
	if b.registry, err = registry.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.registry.Close() })
	client, err := oci.New(oci.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b.keeper, err = operands.New(operands.Options{
		Config: cmp.Or(s.Own, s.Config), Namespaces: []string{namespace}, Poll: 20 * time.Millisecond, Registry: client,
		Events: b.events, Log: slog.New(slog.DiscardHandler), Resource: s.ConfigMaps,
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// entry returns a document for the operand etcd.
func entry(version, digest string) string {
	return fmt.Sprintf("---\nschema: olm.operand\nname: etcd\nversion: %s\nimages:\n- name: etcd\n  image: quay.io/coreos/etcd@sha256:%s\n", version, strings.Repeat(digest, 64))
}

func image(digest string) string { return "quay.io/coreos/etcd@sha256:" + strings.Repeat(digest, 64) }

// bundle returns a bundle that supports versions of etcd within a range.
func bundle(name, within string) string {
	return fmt.Sprintf("---\nschema: olm.bundle\nname: %s\npackage: etcd\nimage: quay.io/example/%s\nproperties:\n- type: olm.operand.supported\n  value: {name: etcd, version: %q}\n", name, name, within)
}

// push stores a catalog image of documents and returns its reference.
func (b *bench) push(tag string, docs ...string) string {
	b.Helper()
	archive, err := registry.Tar(registry.Entry{Name: "configs/op/catalog.yaml", Data: []byte(strings.Join(docs, ""))})
	if err == nil {
		var layer registry.Layer
		if layer, err = registry.Pack(archive, registry.Gzip, true); err == nil {
			_, err = b.registry.PushImage("op-catalog:"+tag, registry.Image{
				OCI: true, Labels: map[string]string{"operators.operatorframework.io.index.configs.v1": "/configs"}, Layers: []registry.Layer{layer},
			})
		}
	}
	if err != nil {
		b.Fatal(err)
	}
	return b.registry.Addr + "/op-catalog:" + tag
}

func (b *bench) create(resource schema.GroupVersionResource, text string) *unstructured.Unstructured {
	b.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil {
		b.Fatal(err)
	}
	object.SetAPIVersion(resource.GroupVersion().String())
	object.SetNamespace(b.namespace)
	made, err := b.Resource(resource).Namespace(b.namespace).Create(context.Background(), object, metav1.CreateOptions{})
	if err != nil {
		b.Fatal(err)
	}
	return made
}

// keep makes a ConfigMap with a policy.
func (b *bench) keep(name, policy string) {
	b.Helper()
	b.create(b.ConfigMaps, fmt.Sprintf("kind: ConfigMap\nmetadata:\n  name: %s\n  labels: {%s: %s}\n  annotations:\n    %s: |\n      %s\n",
		name, operand.KeepLabel, operand.KeepValue, operand.PolicyAnnotation, strings.ReplaceAll(policy, "\n", "\n      ")))
}

func (b *bench) update(name string, change func(m *unstructured.Unstructured)) {
	b.Helper()
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error { // a running keeper writes too
		m := b.get(name)
		change(m)
		_, err := b.Resource(b.ConfigMaps).Namespace(b.namespace).Update(context.Background(), m, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) get(name string) *unstructured.Unstructured {
	b.Helper()
	m, err := b.Resource(b.ConfigMaps).Namespace(b.namespace).Get(context.Background(), name, metav1.GetOptions{})
	if err != nil {
		b.Fatal(err)
	}
	return m
}

// round runs the keeper once and checks the code of its failure.
func (b *bench) round(want failure.Code) {
	b.Helper()
	err := b.keeper.Once(context.Background())
	if got := failure.ExitCode(err); got != int(want) {
		b.Fatalf("exit code %d, want %d: %v", got, want, err)
	}
}

// holds compares the data and the status.
func (b *bench) holds(name, status string, data map[string]any) {
	b.Helper()
	m := b.get(name)
	got, _, _ := unstructured.NestedMap(m.Object, "data")
	if fmt.Sprint(got) != fmt.Sprint(data) {
		b.Errorf("%s has %v, want %v", name, got, data)
	}
	if said := m.GetAnnotations()[operand.StatusAnnotation]; !strings.Contains(said, status) {
		b.Errorf("the status of %s is %q, want %q", name, said, status)
	}
}

// told compares the events since the last call.
func (b *bench) told(want ...string) {
	b.Helper()
	var got []string
	for len(b.events.Events) > 0 {
		got = append(got, <-b.events.Events)
	}
	if !slices.EqualFunc(got, want, strings.Contains) {
		b.Errorf("events are %q, want %q", got, want)
	}
}
