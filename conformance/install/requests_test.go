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

// request is one that the server was asked, as far as rules tell requests apart.
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

// audited are the requests of the audit log so far.
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

// permission is a rule for one verb of one resource.
type permission struct{ group, resource, verb string }

func (p permission) String() string {
	return strings.TrimSpace(p.verb + " " + p.resource + " " + p.group)
}

// permitted are the permissions of the roles among objects.
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

// The controller has the suite behind it with the permissions of deploy/controller, lets none of
// them lie unused, and is refused nothing. Who it is and what it asks for, the server says.
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

	asked, refused := map[string]bool{}, map[string]bool{}
	for _, r := range audited(t) {
		if r.ObjectRef.APIGroup == laterGroup {
			r.ObjectRef.APIGroup = suite.Samples.Group
		}
		if r.Annotations["authorization.k8s.io/decision"] != "allow" {
			refused[r.String()+", in "+r.ObjectRef.Namespace] = true
		}
		if r.ObjectRef.Resource != "" { // else it asks what is served, which everybody may
			asked[r.String()] = true
		}
	}
	for one := range refused {
		t.Errorf("the controller may not %s", one)
	}
	granted := permitted(t, append(slices.Clone(base), inFile(t, "controller", "lookups.yaml")...))
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
