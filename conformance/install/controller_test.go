package install

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"testing"

	authorization "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/olmgraft/graft/internal/controller"
	"github.com/olmgraft/graft/internal/controller/operands"
	operandsuite "github.com/olmgraft/graft/internal/controller/operands/suite"
	"github.com/olmgraft/graft/internal/controller/suite"
)

const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: PLURAL.GROUP}
spec:
  group: GROUP
  names: {kind: KIND, plural: PLURAL, singular: SINGULAR, listKind: KINDList}
  scope: SCOPE
  versions:
  - name: VERSION
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

// defined returns a definition that accepts all fields.
func defined(t *testing.T, scope, group, version, kind string) *unstructured.Unstructured {
	t.Helper()
	singular := strings.ToLower(kind)
	return objects(t, strings.NewReplacer("SCOPE", scope, "GROUP", group, "VERSION", version, "KIND", kind, "SINGULAR", singular, "PLURAL", singular+"s").Replace(definition))[0]
}

func define(t *testing.T, group, version string) {
	apply(t, defined(t, "Namespaced", group, version, "Sample"))
}

// install applies manifests and the kinds that the controller and its suite need.
func install(t *testing.T, base []*unstructured.Unstructured) {
	t.Helper()
	apply(t, inFile(t, "crds", "catalogsources.yaml")...)
	define(t, suite.Samples.Group, suite.Samples.Version)
	version := defined(t, "Cluster", "config.openshift.io", "v1", "ClusterVersion")
	apply(t, version, defined(t, "Cluster", "operators.coreos.com", "v1", "OLMConfig"))
	apply(t, base...)
}

// grantLookups grants lookups of the Samples of both groups in all namespaces, as
// deploy/controller/lookups.yaml does for one group in one namespace.
func grantLookups(t *testing.T) {
	t.Helper()
	all := inFile(t, "controller", "lookups.yaml")
	for _, o := range all {
		o.SetKind("Cluster" + o.GetKind())
		o.SetNamespace("")
		if rules, ok := o.Object["rules"].([]any); ok {
			rules[0].(map[string]any)["apiGroups"] = []any{suite.Samples.Group, laterGroup}
		}
		if o.GetKind() == "ClusterRoleBinding" {
			_ = unstructured.SetNestedField(o.Object, "ClusterRole", "roleRef", "kind")
		}
	}
	apply(t, all...)
}

// keepOperands runs the suite of operands with the permissions of deploy/controller/operands, in each
// namespace of the suite.
func keepOperands(t *testing.T, own *rest.Config) {
	t.Helper()
	apply(t, defined(t, "Namespaced", "operators.coreos.com", "v1alpha1", "Subscription"), defined(t, "Cluster", "olm.operatorframework.io", "v1", "ClusterCatalog"))
	roles := inFile(t, "controller", "operands", "operands.yaml")
	operandsuite.Run(t, &operandsuite.Server{Config: admin, Own: own, ConfigMaps: operands.ConfigMaps, ClusterCatalogs: true, Namespace: func(name string) {
		namespace(t, name, nil)
		for _, o := range roles {
			if o.GetNamespace() != "" {
				o.SetNamespace(name)
			}
		}
		apply(t, roles...)
		allowed(t, authorization.ResourceAttributes{Namespace: name, Verb: "list", Resource: "configmaps"})
	}})
}

// allowed waits until the server knows a permission of the controller.
func allowed(t *testing.T, what authorization.ResourceAttributes) {
	t.Helper()
	reviews := kubernetes.NewForConfigOrDie(admin).AuthorizationV1().SubjectAccessReviews()
	eventually(t, "the controller may "+what.Verb+" "+what.Resource, func() bool {
		answer, err := reviews.Create(t.Context(), &authorization.SubjectAccessReview{Spec: authorization.SubjectAccessReviewSpec{
			User: "system:serviceaccount:graft-controller:graft-controller", ResourceAttributes: &what,
		}}, metav1.CreateOptions{})
		return err == nil && answer.Status.Allowed
	})
}

// laterGroup has Samples too, once the suite defines them.
const laterGroup = "later.example.com"

var events = schema.GroupVersionResource{Version: "v1", Resource: "events"}

// said holds a command's output.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// testCommands tests what the suite leaves out: the lease, events, and the version of OpenShift, in a
// continuous run and in a single one.
func testCommands(t *testing.T, s *suite.Server) {
	c := suite.New(t, s, "", "commands")
	c.Create(schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "clusterversions"},
		"apiVersion: config.openshift.io/v1\nkind: ClusterVersion\nmetadata: {name: version}\nstatus: {history: [{state: Completed, version: 4.20.3}]}\n")
	c.Create(controller.Resource, suite.CatalogSource("commands", "ocp", "quay.io/sample/catalog:v{ocp_major_version}.{ocp_minor_version}", suite.V119))
	run := func(ctx context.Context, out io.Writer, args ...string) int {
		return controller.Main(ctx, append(args, "--namespace", "commands", "--olm", "absent", "--kubeconfig", s.Kubeconfig(t), "--listen", freeAddress()), "one", nil, io.Discard, out)
	}
	ctx, stop := context.WithCancel(t.Context())
	var log said
	ended := make(chan int, 1)
	go func() { ended <- run(ctx, &log, "--leader-elect", "graft-controller") }()
	c.Follows("commands/ocp", "quay.io/sample/catalog:v4.20")
	c.Change("commands/ocp", func(o *unstructured.Unstructured) {
		_ = unstructured.SetNestedField(o.Object, "quay.io/kube-release-v1/catalog:v1.19", "spec", "image")
	})
	c.Follows("commands/ocp", "quay.io/sample/catalog:v4.20")
	c.Eventually("the same event again is counted in the one that there is", func() bool {
		list, err := c.Resource(events).Namespace("commands").List(t.Context(), metav1.ListOptions{})
		if err != nil || len(list.Items) == 0 {
			return false
		}
		count, _, _ := unstructured.NestedInt64(list.Items[0].Object, "count")
		return count > 1
	})
	stop()
	if code := <-ended; code != 0 {
		t.Errorf("it ended with %d: %s", code, log.String())
	}
	if code := run(t.Context(), &log, "--once"); code != 0 {
		t.Errorf("once ended with %d: %s", code, log.String())
	}
}
