package install

import (
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/action"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"github.com/olmgraft/graft/internal/controller/suite"
)

// everything sets values that make each template of a chart produce all its output.
var everything = map[string]values{
	"controller": {
		"namespaces": []any{"team-a", "team-b"}, "olm": "absent", "poll": "10s", "workers": 8, "logFormat": "text", "networkPolicy": on, "replicas": 3,
		"lookups":   []any{values{"group": "foo.example.com", "resource": "samples", "namespace": "team-a"}, values{"group": "foo.example.com", "resource": "clusters"}},
		"webhook":   values{"enabled": true, "secretName": "mine"},
		"operands":  values{"namespaces": []any{"team-a", "team-c"}, "poll": "5m"},
		"image":     values{"digest": "sha256:" + strings.Repeat("a", 64), "pullPolicy": "Always"},
		"podLabels": values{"team": "a"}, "podAnnotations": values{"note": "b"}, "nodeSelector": values{"kubernetes.io/os": "linux"}, "priorityClassName": "system-cluster-critical",
		"tolerations": []any{values{"operator": "Exists"}}, "imagePullSecrets": []any{values{"name": "pull"}}, "serviceAccount": values{"annotations": values{"a": "b"}},
		"affinity": values{"nodeAffinity": values{"requiredDuringSchedulingIgnoredDuringExecution": values{"nodeSelectorTerms": []any{values{"matchExpressions": []any{values{"key": "a", "operator": "Exists"}}}}}}},
	},
	"relay": {
		"secretName": "mine", "replicas": 2, "service": values{"type": "NodePort", "port": 8000},
		"ingress":       values{"enabled": true, "host": "relay.example.com", "className": "nginx", "tlsSecretName": "tls", "annotations": values{"a": "b"}},
		"nats":          values{"url": "tls://a.nats,tls://b.nats:4333,tls://c.nats:4333", "replicas": 1, "stream": "HOOKS", "partitions": 4, "creds": "nats", "tls": values{"secretName": "nats-tls", "clientCertificate": true}},
		"networkPolicy": values{"enabled": true, "egress": []any{values{"ports": []any{values{"port": 4318, "protocol": "TCP"}}}}},
		"podLabels":     values{"team": "a"}, "podAnnotations": values{"note": "b"}, "tolerations": []any{values{"operator": "Exists"}},
	},
}

// helm returns helm's configuration for a namespace.
func helm(t *testing.T, in string) *action.Configuration {
	t.Helper()
	file := (&suite.Server{Config: admin}).Kubeconfig(t)
	flags := genericclioptions.NewConfigFlags(false)
	flags.KubeConfig, flags.Namespace = &file, &in
	config := new(action.Configuration)
	if err := config.Init(flags, in, "secret", func(string, ...any) {}); err != nil {
		t.Fatal(err)
	}
	return config
}

// left returns the remaining objects of a release: those with its label in any namespace, and everything in its
// namespace.
func left(t *testing.T, release, namespace string) (all []string) {
	t.Helper()
	lists, err := discovery.NewDiscoveryClientForConfigOrDie(admin).ServerPreferredResources()
	if err != nil {
		t.Fatal(err)
	}
	client := dynamic.NewForConfigOrDie(admin)
	for _, list := range lists {
		for _, r := range list.APIResources {
			if !slices.Contains(r.Verbs, "list") || r.Kind == "Event" {
				continue
			}
			in, err := schema.ParseGroupVersion(list.GroupVersion)
			if err != nil {
				t.Fatal(err)
			}
			found, err := client.Resource(in.WithResource(r.Name)).List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatalf("listing %s: %v", r.Name, err)
			}
			for i := range found.Items {
				o := &found.Items[i]
				if o.GetLabels()["app.kubernetes.io/instance"] == release || o.GetNamespace() == namespace {
					all = append(all, named(o))
				}
			}
		}
	}
	return all
}

// A release is installed, upgraded with values that change everything, and rolled back. Uninstalling it leaves
// only the definition of CatalogSource.
func TestRelease(t *testing.T) {
	for app := range charts {
		t.Run(app, func(t *testing.T) {
			in, release := "release-"+app, "my"
			for _, name := range []string{in, "team-a", "team-b", "team-c"} {
				namespace(t, name, map[string]string{"pod-security.kubernetes.io/enforce": "restricted"})
			}
			before := left(t, release, in)
			config, c := helm(t, in), chartOf(t, app)
			install := action.NewInstall(config)
			install.ReleaseName, install.Namespace = release, in
			first, err := install.Run(c, values{})
			if err != nil {
				t.Fatal(err)
			}
			stands(t, in, first.Manifest)
			upgrade := action.NewUpgrade(config)
			upgrade.Namespace = in
			second, err := upgrade.Run(release, c, everything[app])
			if err != nil {
				t.Fatal(err)
			}
			stands(t, in, second.Manifest)
			gone(t, in, first.Manifest, second.Manifest)
			back := action.NewRollback(config)
			if err := back.Run(release); err != nil {
				t.Fatal(err)
			}
			stands(t, in, first.Manifest)
			gone(t, in, second.Manifest, first.Manifest)
			if _, err := action.NewUninstall(config).Run(release); err != nil {
				t.Fatal(err)
			}
			after := left(t, release, in)
			if slices.Sort(before); !slices.Equal(slices.Sorted(slices.Values(after)), before) {
				t.Errorf("before there were %v, and there are %v", before, after)
			}
		})
	}
	crd := inFile(t, "crds", "catalogsources.yaml")[0]
	if _, err := client(t, crd).Get(t.Context(), crd.GetName(), metav1.GetOptions{}); err != nil {
		t.Errorf("the definition went with the release: %v", err)
	}
}

// placed returns the objects of a manifest with their namespace.
func placed(t *testing.T, in, manifest string) map[string]*unstructured.Unstructured {
	t.Helper()
	out := map[string]*unstructured.Unstructured{}
	for _, o := range objects(t, manifest) {
		if o.GetNamespace() == "" && !strings.HasPrefix(o.GetKind(), "Cluster") {
			o.SetNamespace(in)
		}
		out[named(o)] = o
	}
	return out
}

// stands checks that all objects of a manifest exist, and that the server accepts them without unknown fields.
func stands(t *testing.T, in, manifest string) {
	t.Helper()
	for name, o := range placed(t, in, manifest) {
		if _, err := client(t, o).Get(t.Context(), o.GetName(), metav1.GetOptions{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := tryApply(t, o, metav1.DryRunAll); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// gone checks that objects of one manifest that the next one lacks are gone.
func gone(t *testing.T, in, manifest, next string) {
	t.Helper()
	all := placed(t, in, manifest)
	for name := range placed(t, in, next) {
		delete(all, name)
	}
	for name, o := range all {
		if _, err := client(t, o).Get(t.Context(), o.GetName(), metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
}
