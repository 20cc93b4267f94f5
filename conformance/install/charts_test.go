package install

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

type values = map[string]any

var on = values{"enabled": true}

// component is a component of kustomize, with the equivalent values of the chart.
type component struct {
	name string
	values
}

// charts are those of deploy/charts with their components. A component may patch earlier ones.
var charts = map[string][]component{
	"controller": {
		{"webhook", values{"webhook": on}}, {"network-policy", values{"networkPolicy": on}}, {"monitoring", values{"monitoring": on}},
		{"operands", values{"operands": values{"namespaces": []any{"operators"}}}},
	},
	"relay": {
		{"network-policy", values{"networkPolicy": on}}, {"monitoring", values{"monitoring": on}},
		{"nats", values{"nats": values{"url": "nats://nats.nats:4222", "nkey": "nats"}, "replicas": 3}},
	},
}

// chosen are the components that deploy/APP/complete omits: the first names a user's namespace, the second
// needs NATS servers.
var chosen = map[string]string{"controller": "operands", "relay": "nats"}

func chartOf(t *testing.T, app string) *chart.Chart {
	t.Helper()
	c, err := loader.Load(deploy("charts", "graft-"+app))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// render returns the output of helm template for a chart.
func render(t *testing.T, app string, v values) (string, error) {
	t.Helper()
	install := action.NewInstall(&action.Configuration{})
	install.DryRun, install.ClientOnly = true, true
	install.ReleaseName, install.Namespace = "graft-"+app, "graft-"+app
	install.KubeVersion = &chartutil.KubeVersion{Version: "v1.36.1", Major: "1", Minor: "36"}
	release, err := install.Run(chartOf(t, app), v)
	if err != nil {
		return "", err
	}
	return release.Manifest, nil
}

func rendered(t *testing.T, app string, v values) []*unstructured.Unstructured {
	t.Helper()
	text, err := render(t, app, v)
	if err != nil {
		t.Fatalf("%v: %v", v, err)
	}
	return objects(t, text)
}

// composed returns the output of kustomize for a base with components.
func composed(t *testing.T, app string, components ...string) []*unstructured.Unstructured {
	t.Helper()
	dir := t.TempDir()
	below := func(parts ...string) string {
		at, err := filepath.Abs(deploy(append([]string{app}, parts...)...))
		if err == nil {
			at, err = filepath.Rel(dir, at)
		}
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	k := values{"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": []string{below("base")}}
	if app == "relay" { // the controller has its own namespace
		k["namespace"] = "graft-relay"
	}
	var parts []string
	for _, c := range components {
		parts = append(parts, below(c))
	}
	k["components"] = parts
	text, err := yaml.Marshal(k)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "kustomization.yaml"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return kustomizedIn(t, dir)
}

// meaning returns objects without helm's additions, and ignores the order of rules and arguments and the layout
// of files in a ConfigMap.
func meaning(t *testing.T, all []*unstructured.Unstructured) map[string]any {
	t.Helper()
	out := map[string]any{}
	for _, o := range all {
		o = o.DeepCopy()
		if o.GetKind() == "Namespace" {
			continue // helm --create-namespace makes it
		}
		own := func(key, _ string) bool {
			return strings.HasPrefix(key, "app.kubernetes.io/") || key == "helm.sh/chart" || key == "checksum/config"
		}
		labels := o.GetLabels()
		maps.DeleteFunc(labels, own)
		o.SetLabels(labels)
		at := []string{"spec", "template", "metadata", "annotations"}
		if notes, ok, _ := unstructured.NestedStringMap(o.Object, at...); ok {
			if maps.DeleteFunc(notes, own); len(notes) == 0 {
				unstructured.RemoveNestedField(o.Object, at...)
			}
		}
		if rules, ok := o.Object["rules"].([]any); ok {
			slices.SortFunc(rules, func(a, b any) int { return strings.Compare(asJSON(t, a), asJSON(t, b)) })
		}
		if pods, ok, _ := unstructured.NestedSlice(o.Object, "spec", "template", "spec", "containers"); ok {
			for _, c := range pods {
				ports, _ := c.(map[string]any)["ports"].([]any)
				slices.SortFunc(ports, func(a, b any) int { return strings.Compare(asJSON(t, a), asJSON(t, b)) })
			}
			_ = unstructured.SetNestedSlice(o.Object, pods, "spec", "template", "spec", "containers")
		}
		if ports, ok, _ := unstructured.NestedSlice(o.Object, "spec", "ports"); ok {
			slices.SortFunc(ports, func(a, b any) int { return strings.Compare(asJSON(t, a), asJSON(t, b)) })
			_ = unstructured.SetNestedSlice(o.Object, ports, "spec", "ports")
		}
		files, _, _ := unstructured.NestedStringMap(o.Object, "data")
		for name, text := range files {
			var file any
			unyaml(t, []byte(text), &file)
			files[name] = asJSON(t, file)
		}
		if files != nil {
			_ = unstructured.SetNestedStringMap(o.Object, files, "data")
		}
		out[named(o)] = o.Object
	}
	return out
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Chart and kustomization agree: by default, with each component, and with all.
func TestChartsAreKustomizations(t *testing.T) {
	for app, components := range charts {
		same(t, app, meaning(t, rendered(t, app, values{})), meaning(t, composed(t, app)))
		all := values{}
		var names, complete []string
		for _, c := range components {
			same(t, app+" with "+c.name, meaning(t, rendered(t, app, c.values)), meaning(t, composed(t, app, c.name)))
			maps.Copy(all, c.values)
			if names = append(names, c.name); c.name != chosen[app] {
				complete = append(complete, c.name)
			}
		}
		same(t, app+" with all", meaning(t, rendered(t, app, all)), meaning(t, composed(t, app, names...)))
		if len(kustomized(t, app, "complete")) != len(composed(t, app, complete...)) {
			t.Errorf("deploy/%s/complete has not all components", app)
		}
	}
}

func same(t *testing.T, what string, chart, base map[string]any) {
	t.Helper()
	for name := range chart {
		if base[name] == nil {
			t.Errorf("%s: the chart alone has %s", what, name)
		}
	}
	for name, want := range base {
		if !reflect.DeepEqual(chart[name], want) {
			t.Errorf("%s: %s is\n%s\nby the chart, and\n%s\nby kustomize", what, name, asJSON(t, chart[name]), asJSON(t, want))
		}
	}
}

// helm lint finds nothing, and values that no template reads are refused by name.
func TestChartsAreLinted(t *testing.T) {
	for app := range charts {
		lint := action.NewLint()
		lint.Strict = true
		result := lint.Run([]string{deploy("charts", "graft-"+app)}, values{})
		for _, err := range result.Errors {
			t.Errorf("%s: %v", app, err)
		}
		for _, m := range result.Messages {
			if m.Severity > 1 { // 1 asks for an icon
				t.Errorf("%s: %s", app, m)
			}
		}
	}
	for _, wrong := range []struct {
		app  string
		v    values
		says string
	}{
		{"controller", values{"replica": 3}, "replica"},
		{"controller", values{"olm": "maybe"}, "olm"},
		{"controller", values{"lookups": []any{values{"group": "", "resource": "secrets"}}}, "lookups"},
		{"controller", values{"poll": "often"}, "poll"},
		{"controller", values{"operands": values{"namespaces": []any{"A"}}}, "operands"},
		{"relay", values{"replicas": 2}, "at '/replicas': value must be 'at most 1: several relays need nats.url'"},
		{"relay", values{"nats": values{"url": ""}, "replicas": 2}, "several relays need nats.url"},
		{"relay", values{"nats": values{"url": "http://nats:4222"}}, "url"},
		{"relay", values{"nats": values{"url": "nats://user:secret@nats:4222"}}, "url"},
		{"relay", values{"nats": values{"url": "nats://nats:4222", "nkey": "a", "creds": "b"}}, "creds"},
		{"relay", values{"nats": values{"url": "nats://nats:4222", "tls": values{"clientCertificate": true}}}, "secretName"},
		{"relay", values{"config": values{"queue": values{"url": "nats://nats:4222"}}}, "use nats.url"},
		{"relay", values{"ingress": on}, "host"},
		{"relay", values{"persistance": on}, "persistance"},
	} {
		if _, err := render(t, wrong.app, wrong.v); err == nil || !strings.Contains(err.Error(), wrong.says) {
			t.Errorf("%v: %v", wrong.v, err)
		}
	}
}
