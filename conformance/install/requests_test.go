package install

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	rbac "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/olmgraft/graft/internal/controller/suite"
)

// request is a request to the server, with the fields that rules use.
type request struct {
	User struct {
		Username string
		Extra    map[string][]string
	}
	Verb                     string
	ObjectRef                struct{ Resource, Namespace, Name, APIGroup, Subresource string }
	ResponseStatus           struct{ Code int }
	Annotations              map[string]string
	RequestReceivedTimestamp string
}

func (r request) String() string {
	return permission{r.ObjectRef.APIGroup, strings.Trim(r.ObjectRef.Resource+"/"+r.ObjectRef.Subresource, "/"), r.Verb}.String()
}

// audited returns the requests in the audit log so far.
func audited(t *testing.T) (all []request) {
	t.Helper()
	text, err := os.ReadFile(auditLog)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var one request
		if err := json.Unmarshal(line, &one); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, one)
	}
	return all
}

// permission allows one verb on one resource.
type permission struct{ group, resource, verb string }

func (p permission) String() string {
	return strings.TrimSpace(p.verb + " " + p.resource + " " + p.group)
}

// permitted returns the permissions of the roles among objects.
func permitted(t *testing.T, all []*unstructured.Unstructured) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, o := range all {
		if o.GetKind() != "ClusterRole" && o.GetKind() != "Role" {
			continue
		}
		var role rbac.ClusterRole
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &role); err != nil {
			t.Fatal(err)
		}
		for _, rule := range role.Rules {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					for _, verb := range rule.Verbs {
						out[permission{group, resource, verb}.String()] = true
					}
				}
			}
		}
	}
	return out
}

// The controller passes the suite with the permissions of deploy/controller, uses each of them, and no request
// is refused. The server's audit log shows its identity and requests.
func TestRequests(t *testing.T) {
	base := kustomized(t, "controller", "base")
	install(t, base)
	grantLookups(t)
	own := as(t, "graft-controller", "graft-controller")
	server := &suite.Server{
		Config: admin, Own: own, Many: 50, Patience: 2 * time.Minute,
		Namespace: func(name string) { namespace(t, name, nil) },
		Define:    func(group, version string) { define(t, group, version) },
	}
	t.Run("suite", func(t *testing.T) { suite.Run(t, server) })
	t.Run("command", func(t *testing.T) { testCommands(t, server) })
	t.Run("operands", func(t *testing.T) { keepOperands(t, own) })

	asked, refused := map[string]bool{}, map[string]bool{}
	for _, r := range audited(t) {
		if r.ObjectRef.APIGroup == laterGroup {
			r.ObjectRef.APIGroup = suite.Samples.Group
		}
		if r.Annotations["authorization.k8s.io/decision"] != "allow" {
			refused[r.String()+", in "+r.ObjectRef.Namespace] = true
		}
		if r.ObjectRef.Resource != "" { // otherwise it asks what is served, which everyone may
			asked[r.String()] = true
		}
	}
	for one := range refused {
		t.Errorf("the controller may not %s", one)
	}
	granted := permitted(t, slices.Concat(base, inFile(t, "controller", "lookups.yaml"), inFile(t, "controller", "operands", "operands.yaml")))
	for one := range granted {
		if !asked[one] {
			t.Errorf("the controller never asks to %s, and may", one)
		}
	}
	t.Logf("%d permissions: %s", len(granted), strings.Join(slices.Sorted(maps.Keys(asked)), ", "))
	for one := range asked {
		if !granted[one] {
			t.Errorf("the controller may %s, by nothing that deploy/controller has", one)
		}
	}
}
