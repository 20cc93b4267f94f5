package install

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"

	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/controller"
	relayconfig "github.com/olmgraft/graft/internal/relay"
	relay "github.com/olmgraft/graft/internal/relay/command"
)

// The pods are admitted under the pod security standard restricted, and the server refuses less restricted ones.
func TestPodsAreRestricted(t *testing.T) {
	pods := kubernetes.NewForConfigOrDie(admin).CoreV1()
	namespace(t, "restricted", map[string]string{"pod-security.kubernetes.io/enforce": "restricted"})
	create := func(name string, spec core.PodSpec) error {
		pod := &core.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: name + "-"}, Spec: spec}
		_, err := pods.Pods("restricted").Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict})
		return err
	}
	for app := range charts {
		for kind, all := range map[string][]*unstructured.Unstructured{"kustomize": composed(t, app), "helm": rendered(t, app, everything[app]), "complete": kustomized(t, app, "complete"), chosen[app]: composed(t, app, chosen[app])} {
			spec := podOf(t, all)
			for _, account := range []string{"default", spec.ServiceAccountName} {
				_, err := pods.ServiceAccounts("restricted").Create(t.Context(), &core.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: account}}, metav1.CreateOptions{})
				if account != "" && err != nil && !apierrors.IsAlreadyExists(err) {
					t.Fatal(err)
				}
			}
			if err := create(app, spec); err != nil {
				t.Errorf("%s by %s: %v", app, kind, err)
			}
			loose := *spec.DeepCopy()
			loose.SecurityContext.RunAsNonRoot = nil
			if err := create(app, loose); !apierrors.IsForbidden(err) || !strings.Contains(fmt.Sprint(err), "runAsNonRoot") {
				t.Errorf("%s by %s: without runAsNonRoot it is %v", app, kind, err)
			}
			bounded(t, app+" by "+kind, spec)
		}
	}
}

// bounded checks limits that the standard does not require.
func bounded(t *testing.T, what string, spec core.PodSpec) {
	t.Helper()
	for _, c := range spec.Containers {
		s := c.SecurityContext
		if s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem {
			t.Errorf("%s: %s may write its file system", what, c.Name)
		}
		if c.Resources.Limits.Memory().IsZero() || c.Resources.Requests.Memory().IsZero() || c.Resources.Requests.Cpu().IsZero() {
			t.Errorf("%s: %s has no bounds: %v", what, c.Name, c.Resources)
		}
		if c.StartupProbe == nil || c.LivenessProbe == nil || c.ReadinessProbe == nil || c.ReadinessProbe.HTTPGet.Path != "/readyz" || c.LivenessProbe.HTTPGet.Path != "/healthz" {
			t.Errorf("%s: %s is not probed", what, c.Name)
		}
		for _, p := range []*core.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
			if !slices.ContainsFunc(c.Ports, func(port core.ContainerPort) bool { return port.Name == p.HTTPGet.Port.StrVal }) {
				t.Errorf("%s: %s has no port %s to be probed", what, c.Name, p.HTTPGet.Port.StrVal)
			}
		}
	}
}

// podOf returns the pod of the only Deployment among objects.
func podOf(t *testing.T, all []*unstructured.Unstructured) core.PodSpec {
	t.Helper()
	found := map[string]core.PodSpec{}
	for _, o := range all {
		if o.GetKind() != "Deployment" {
			continue
		}
		var d apps.Deployment
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(o.Object, &d, true); err != nil {
			t.Fatal(err)
		}
		found[o.GetName()] = d.Spec.Template.Spec
	}
	for _, spec := range found {
		if len(found) == 1 {
			return spec
		}
	}
	t.Fatalf("there are the Deployments %v", slices.Collect(maps.Keys(found)))
	return core.PodSpec{}
}

// The programs accept the arguments, and the relay accepts the configuration.
func TestProgramsBegin(t *testing.T) {
	for _, all := range [][]*unstructured.Unstructured{composed(t, "controller"), kustomized(t, "controller", "complete"), composed(t, "controller", "operands"), rendered(t, "controller", everything["controller"])} {
		var said bytes.Buffer
		args := podOf(t, all).Containers[0].Args
		if code := controller.Main(t.Context(), append(slices.Clone(args), "--help"), "x", nil, io.Discard, &said); code != 0 {
			t.Errorf("%v: %s", args, said.String())
		}
	}
	for _, all := range [][]*unstructured.Unstructured{composed(t, "relay"), composed(t, "relay", "nats"), rendered(t, "relay", everything["relay"])} {
		var said bytes.Buffer
		args := podOf(t, all).Containers[0].Args
		if code := relay.Main(t.Context(), append(slices.Clone(args), "--help"), command.IO{Out: io.Discard, Err: &said}); code != 0 {
			t.Errorf("%v: %s", args, said.String())
		}
		for _, o := range all {
			if files, ok, _ := unstructured.NestedStringMap(o.Object, "data"); ok {
				if _, err := relayconfig.Parse("relay.yaml", []byte(files["relay.yaml"])); err != nil {
					t.Error(err)
				}
			}
		}
	}
}
