package suite

import (
	"context"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/operand"
	"github.com/olmgraft/graft/internal/testkit/registry"
)

// A ConfigMap follows its catalog and its policy. Unchanged data is not written again.
func testKept(t *testing.T, s *Server) {
	b := newBench(t, s, "kept")
	catalog := b.push("v1", bundle("etcd.v1", ">=3.0.0"), entry("3.1.1", "a"))
	b.keep("one", "catalogs: [{image: '"+catalog+"'}]\nbundle: etcd.v1\noperands: [etcd]")
	b.create(b.ConfigMaps, "kind: ConfigMap\nmetadata: {name: other}\ndata: {a: b}\n")
	b.round(failure.OK)
	b.holds("one", "resolved: etcd 3.1.1 for etcd.v1, from "+catalog+"@sha256:", map[string]any{"ETCD_V3": image("a"), "ETCD_DEFAULT": image("a")})
	b.told("Normal OperandsChanged ETCD_DEFAULT is now " + image("a") + "; ETCD_V3 is now " + image("a"))
	version := b.get("one").GetResourceVersion()
	b.registry.Reset()
	b.round(failure.OK)
	if now := b.get("one").GetResourceVersion(); now != version {
		t.Errorf("version %s became %s, and nothing had changed", version, now)
	}
	if n := b.registry.Count(); n > 2 {
		t.Errorf("%d requests for a catalog that had not changed", n)
	}
	b.told()

	b.push("v1", bundle("etcd.v1", ">=3.0.0"), entry("3.1.1", "a"), entry("4.0.0", "b"))
	b.round(failure.OK)
	b.holds("one", "resolved: etcd 4.0.0", map[string]any{"ETCD_V4": image("b"), "ETCD_DEFAULT": image("b")})
	b.told("Normal OperandsChanged ETCD_DEFAULT is now " + image("b") + ", it was " + image("a") + "; ETCD_V3 is gone; ETCD_V4 is now " + image("b"))

	b.update("one", func(m *unstructured.Unstructured) {
		_ = unstructured.SetNestedField(m.Object, "evil", "data", "ETCD_V4")
	})
	b.round(failure.OK)
	b.holds("one", "resolved: etcd 4.0.0", map[string]any{"ETCD_V4": image("b"), "ETCD_DEFAULT": image("b")})
	b.told("ETCD_V4 is now " + image("b") + ", it was evil")

	b.policy("one", "catalogs: [{image: '"+catalog+"'}]\nbundle: etcd.v1\noperands: ['etcd@<4.0.0']\nprefix: db")
	b.round(failure.OK)
	b.holds("one", "resolved: etcd 3.1.1", map[string]any{"DB_ETCD_V3": image("a")})
	b.holds("other", "", map[string]any{"a": "b"})
}

func (b *bench) policy(name, policy string) {
	b.Helper()
	b.update(name, func(m *unstructured.Unstructured) {
		notes := m.GetAnnotations()
		notes[operand.PolicyAnnotation] = policy
		m.SetAnnotations(notes)
	})
}

// An unresolvable policy is reported once, and the ConfigMap keeps its data. A ConfigMap that cannot be kept
// does not affect others.
func testUnresolvable(t *testing.T, s *Server) {
	b := newBench(t, s, "unresolvable")
	catalog := b.push("v1", bundle("etcd.v1", ">=3.0.0"), entry("3.1.1", "a"))
	sound := "catalogs: [{image: '" + catalog + "'}]\nbundle: etcd.v1\noperands: [etcd@3.x]"
	b.keep("a", sound)
	b.keep("b", sound)
	b.round(failure.OK)
	b.told("OperandsChanged", "OperandsChanged")
	has := map[string]any{"ETCD_V3": image("a")}
	for _, test := range []struct {
		policy, status, event string
		code                  failure.Code
	}{
		{strings.Replace(sound, "3.x", "9.x", 1), "operand-unresolvable: resolving etcd@9.x for etcd.v1: the bundle supports >=3.0.0, and the nearest of 1 version is 3.1.1", "Warning OperandUnresolvable", failure.OperandUnresolvable},
		{strings.Replace(sound, "etcd.v1", "etcd.v9", 1), "operand-unresolvable: finding bundle etcd.v9: no catalog has it", "Warning OperandUnresolvable", failure.OperandUnresolvable},
		{strings.Replace(sound, ":v1'", ":v9'", 1), "bundle-not-found: ", "Warning BundleNotFound", failure.BundleNotFound},
		{"operands: [", "config-invalid: reading the annotation graft.olmgraft.io/operand-policy: ", "Warning ConfigInvalid", failure.Config},
		{"", "it has 0 catalogs; 1 to 16 are possible", "Warning ConfigInvalid", failure.Config},
		{strings.Replace(sound, "bundle", "bundel", 1), `unknown field "bundel"`, "Warning ConfigInvalid", failure.Config},
		{strings.Replace(sound, "bundle: etcd.v1", "", 1), "it needs exactly one of bundle and subscription", "Warning ConfigInvalid", failure.Config},
		{strings.Replace(sound, "[etcd@3.x]", "['@']", 1), `"@" is not an operand`, "Warning ConfigInvalid", failure.Config},
		{strings.Replace(sound, "[etcd@3.x]", "[]", 1), "it has no operands", "Warning ConfigInvalid", failure.Config},
		{strings.Replace(sound, "{image:", "{clusterCatalog: a, image:", 1), "each catalog needs exactly one of", "Warning ConfigInvalid", failure.Config},
		{strings.Replace(sound, "{image: '"+catalog+"'}", "{catalogSource: gone}", 1), "cluster-unavailable: reading unresolvable/gone: ", "Warning ClusterUnavailable", failure.ClusterUnavailable},
		{strings.Replace(sound, "bundle: etcd.v1", "subscription: gone", 1), "cluster-unavailable: reading unresolvable/gone: ", "Warning ClusterUnavailable", failure.ClusterUnavailable},
	} {
		b.policy("a", test.policy)
		b.round(test.code)
		b.holds("a", test.status, has)
		b.told(test.event)
		b.round(test.code)
		b.told()
	}
	b.policy("a", sound)
	b.round(failure.OK)
	b.holds("a", "resolved", has)
	b.told("Normal OperandsResolved resolved: etcd 3.1.1")

	b.registry.SetScript(func(registry.Request) registry.Fault { return registry.Fault{Status: 418} })
	b.round(failure.RegistryUnavailable)
	b.holds("a", "registry-unavailable: ", has)
	b.told("Warning RegistryUnavailable", "Warning RegistryUnavailable")
	b.round(failure.RegistryUnavailable)
	b.told()
	b.registry.SetScript(nil)
	b.push("v1", bundle("etcd.v1", ">=3.0.0"), entry("3.1.1", "a"), "---\nschema: olm.operand\nname: etcd\n")
	b.round(failure.TemplateMalformed)
	b.holds("b", "template-malformed: reading olm.operand etcd: its version", has)
}

// Catalog and bundle come from the cluster: from a CatalogSource and a Subscription.
func testObjects(t *testing.T, s *Server) {
	b := newBench(t, s, "objects")
	catalog := b.push("v1", bundle("etcd.v1", "<4.0.0"), bundle("etcd.v2", ">=3.0.0"), entry("3.1.1", "a"), entry("4.0.0", "b"))
	b.create(catalogSources, "kind: CatalogSource\nmetadata: {name: etcd}\nspec: {sourceType: grpc, image: '"+catalog+"'}\n")
	b.create(catalogSources, "kind: CatalogSource\nmetadata: {name: address}\nspec: {sourceType: grpc, address: 'a:1'}\n")
	b.create(subscriptions, "kind: Subscription\nmetadata: {name: etcd}\nspec: {}\n")
	b.keep("one", "catalogs: [{catalogSource: etcd}]\nsubscription: etcd\noperands: [etcd]")
	b.round(failure.OperandUnresolvable)
	b.holds("one", "the Subscription etcd: it has installed no bundle yet", nil)
	b.install("etcd.v1")
	b.round(failure.OK)
	b.holds("one", "for etcd.v1", map[string]any{"ETCD_V3": image("a"), "ETCD_DEFAULT": image("a")})
	b.install("etcd.v2")
	b.round(failure.OK)
	b.holds("one", "for etcd.v2", map[string]any{"ETCD_V4": image("b"), "ETCD_DEFAULT": image("b")})
	b.policy("one", "catalogs: [{catalogSource: objects/address}]\nsubscription: etcd\noperands: [etcd]")
	b.round(failure.OperandUnresolvable)
	b.holds("one", "the CatalogSource address: it has no catalog image", map[string]any{"ETCD_V4": image("b"), "ETCD_DEFAULT": image("b")})
}

func (b *bench) install(bundle string) {
	b.Helper()
	in := b.Resource(subscriptions).Namespace(b.namespace)
	object, err := in.Get(context.Background(), "etcd", metav1.GetOptions{})
	if err == nil {
		_ = unstructured.SetNestedField(object.Object, bundle, "status", "installedCSV")
		_, err = in.Update(context.Background(), object, metav1.UpdateOptions{})
	}
	if err != nil {
		b.Fatal(err)
	}
}

// The image of a ClusterCatalog is the one that OLM v1 serves, or else the one in its spec.
func testClusterCatalog(t *testing.T, s *Server) {
	b := newBench(t, s, "clustercatalog")
	served := b.push("v1", bundle("etcd.v1", ">=3.0.0"), entry("3.1.1", "a"))
	wanted := b.push("v2", bundle("etcd.v1", ">=3.0.0"), entry("3.2.0", "b"))
	catalog := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterCatalog", "metadata": map[string]any{"name": "etcd"}}}
	_ = unstructured.SetNestedField(catalog.Object, wanted, "spec", "source", "image", "ref")
	made, err := b.Resource(clusterCatalogs).Create(context.Background(), catalog, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b.keep("one", "catalogs: [{clusterCatalog: etcd}]\nbundle: etcd.v1\noperands: [etcd@3.x]")
	b.round(failure.OK)
	b.holds("one", "resolved: etcd 3.2.0", map[string]any{"ETCD_V3": image("b")})
	_ = unstructured.SetNestedField(made.Object, served, "status", "resolvedSource", "image", "ref")
	if _, err := b.Resource(clusterCatalogs).Update(context.Background(), made, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	b.round(failure.OK)
	b.holds("one", "resolved: etcd 3.1.1", map[string]any{"ETCD_V3": image("a")})
}

// Run follows policies, Subscriptions and CatalogSources long before Poll has passed.
func testWatch(t *testing.T, s *Server) {
	b := newBench(t, s, "watch")
	b.keeper.Poll = time.Hour
	b.begin()
	old := b.push("v1", bundle("etcd.v1", ">=3.0.0"), entry("3.1.1", "a"))
	b.create(catalogSources, "kind: CatalogSource\nmetadata: {name: op-catalog}\nspec: {sourceType: grpc, image: '"+old+"'}\n")
	b.keep("one", "catalogs: [{catalogSource: op-catalog}]\nbundle: etcd.v1\noperands: [etcd]")
	b.until("resolved: etcd 3.1.1")
	b.policy("one", "catalogs: [{catalogSource: op-catalog}]\nsubscription: etcd\noperands: [etcd]")
	b.until("cluster-unavailable")
	b.create(subscriptions, "kind: Subscription\nmetadata: {name: etcd}\nspec: {}\n")
	b.until("it has installed no bundle yet")
	b.install("etcd.v1")
	b.until("resolved: etcd 3.1.1")
	fresh := b.push("v2", bundle("etcd.v2", ">=3.0.0"), entry("4.0.0", "b"))
	source, err := b.Resource(catalogSources).Namespace(b.namespace).Get(t.Context(), "op-catalog", metav1.GetOptions{})
	if err == nil {
		_ = unstructured.SetNestedField(source.Object, fresh, "spec", "image")
		_, err = b.Resource(catalogSources).Namespace(b.namespace).Update(t.Context(), source, metav1.UpdateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	b.until("operand-unresolvable: finding bundle etcd.v1")
	b.install("etcd.v2")
	b.until("resolved: etcd 4.0.0")
	if !s.ClusterCatalogs {
		return
	}
	b.policy("one", "catalogs: [{clusterCatalog: watched}]\nbundle: etcd.v2\noperands: [etcd]")
	b.until("cluster-unavailable")
	catalog := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterCatalog", "metadata": map[string]any{"name": "watched"}}}
	_ = unstructured.SetNestedField(catalog.Object, fresh, "spec", "source", "image", "ref")
	if _, err := b.Resource(clusterCatalogs).Create(t.Context(), catalog, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	b.until("resolved: etcd 4.0.0")
}

// Run continues by itself and ends with its context.
func testRun(t *testing.T, s *Server) {
	b := newBench(t, s, "run")
	end := b.begin()
	catalog := b.push("v1", bundle("etcd.v1", ">=3.0.0"), entry("3.1.1", "a"))
	b.keep("one", "catalogs: [{image: '"+catalog+"'}]\nbundle: etcd.v1\noperands: [etcd]")
	b.until("resolved")
	end()
}

// begin runs the keeper until the test ends or end is called.
func (b *bench) begin() (end func()) {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		b.keeper.Run(ctx)
	}()
	end = func() {
		stop()
		<-ended
	}
	b.Cleanup(end)
	return end
}

// until waits for a status of the ConfigMap one.
func (b *bench) until(status string) {
	b.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		said := b.get("one").GetAnnotations()[operand.StatusAnnotation]
		if strings.Contains(said, status) {
			return
		}
		if time.Now().After(deadline) {
			b.Fatalf("the status is still %q, not %q", said, status)
		}
	}
}
