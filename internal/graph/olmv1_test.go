package graph

import (
	"encoding/base64"
	"strings"
	"testing"
)

// csvObject returns a bundle's CSV as in catalogs before OpenShift 4.17.
func csvObject(spec string) string {
	text := `{"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion", "spec": ` + spec + `}`
	return "- type: olm.bundle.object\n  value:\n    data: " + base64.StdEncoding.EncodeToString([]byte(text)) + "\n"
}

// Each case changes the valid catalog. It lists the findings about OLM v1 with every level on, as "ID BUNDLE:
// part of the message". All cases but one expect findings about missing information.
var v1Cases = []struct {
	name    string
	changes []string
	want    []string
}{
	{"sound", nil, []string{"olm-v1-untold p.v1.2.0: does not tell its webhooks"}},
	{"no information", []string{"olm.csv.metadata", "example.com/other"}, []string{"olm-v1-untold p.v1.2.0: does not tell its install modes, API services and webhooks"}},
	{"a package is required", []string{"- type: olm.gvk\n  value:\n    group: example.com\n    kind: Thing\n    version: v1", "- type: olm.package.required\n  value:\n    packageName: etcd\n    versionRange: '>=1.0.0'"},
		[]string{"olm-v1-dependency p.v1.2.0: OLM v1 does not install it, and no other in its place: it declares a dependency, olm.package.required of etcd", "olm-v1-untold"}},
	{"an API and a constraint are required", []string{"- type: olm.gvk\n", "- type: olm.constraint\n  value: {failureMessage: no, all: {constraints: []}}\n- type: olm.gvk.required\n"},
		[]string{"olm-v1-dependency p.v1.2.0: olm.constraint, olm.gvk.required of Thing.v1.example.com", "olm-v1-untold"}},
	{"a bundle that OLM v1 does not choose", []string{"image: example.com/p:1.1.0\nname: p.v1.1.0\npackage: p\nproperties:\n", "image: example.com/p:1.1.0\nname: p.v1.1.0\npackage: p\nproperties:\n- type: olm.constraint\n  value: {}\n"},
		[]string{"olm-v1-untold"}},
	{"the head of another channel", []string{"image: example.com/p:1.1.0\nname: p.v1.1.0\npackage: p\nproperties:\n", "image: example.com/p:1.1.0\nname: p.v1.1.0\npackage: p\nproperties:\n- type: olm.constraint\n  value: {}\n",
		"schema: olm.channel\n---", "schema: olm.channel\n---\nentries:\n- name: p.v1.1.0\nname: old\npackage: p\nschema: olm.channel\n---"},
		[]string{"olm-v1-dependency p.v1.1.0: olm.constraint", "olm-v1-untold p.v1.2.0: ; the same holds of 1 more"}},
	{"one namespace", []string{"type: AllNamespaces", "type: OwnNamespace"}, []string{"olm-v1-install-mode p.v1.2.0: lacks install mode AllNamespaces, and has OwnNamespace", "olm-v1-untold"}},
	{"no mode", []string{"supported: true", "supported: false"}, []string{"olm-v1-install-mode p.v1.2.0: and has none", "olm-v1-untold"}},
	{"an API service", []string{"    installModes:", "    apiServiceDefinitions:\n      owned:\n      - {name: v1.query.example.com, kind: Query, version: v1}\n    installModes:"},
		[]string{"olm-v1-api-service p.v1.2.0: v1.query.example.com", "olm-v1-untold"}},
	{"webhooks", []string{"- type: olm.gvk\n", csvObject(`{"installModes": [{"type": "AllNamespaces", "supported": true}], "webhookdefinitions": [{"type": "ValidatingAdmissionWebhook", "generateName": "v.example.com"}, {"type": "ConversionWebhook", "generateName": "c.example.com"}]}`) + "- type: olm.gvk\n",
		"- type: olm.csv.metadata", "- type: example.com/other"}, []string{"olm-v1-webhook p.v1.2.0: its 2 webhooks since operator-controller v1.6"}},
	{"a conversion webhook for some namespaces", []string{"- type: olm.gvk\n", csvObject(`{"apiservicedefinitions": {"owned": [{"name": "a"}]}, "installModes": [{"type": "OwnNamespace", "supported": true}, {"type": "AllNamespaces", "supported": true}], "webhookdefinitions": [{"type": "ConversionWebhook", "generateName": "c.example.com"}]}`) + "- type: olm.gvk\n",
		"- type: olm.csv.metadata", "- type: example.com/other"},
		[]string{"olm-v1-api-service p.v1.2.0: API services, a", `olm-v1-conversion-webhook p.v1.2.0: webhook "c.example.com" converts, and the install modes are OwnNamespace, AllNamespaces`, "olm-v1-webhook"}},
	{"another manifest", []string{"- type: olm.gvk\n", "- type: olm.bundle.object\n  value:\n    data: " + base64.StdEncoding.EncodeToString([]byte(`{"kind": "ConfigMap", "data": {"of": "ClusterServiceVersion"}, "spec": {"webhookdefinitions": [{}]}}`)) + "\n- type: olm.gvk\n"},
		[]string{"olm-v1-untold"}},
	{"objects that are no text", []string{"- type: olm.gvk\n", "- type: olm.bundle.object\n  value: {}\n- type: olm.bundle.object\n  value: {ref: a.yaml}\n- type: olm.bundle.object\n  value: {data: null}\n- type: olm.bundle.object\n  value: {data: [123]}\n- type: olm.gvk\n"},
		[]string{"olm-v1-untold"}},
	{"a release", []string{"packageName: p\n    version: 1.2.0", "packageName: p\n    release: \"2\"\n    version: 1.2.0", "p.v1.2.0", "p-v1.2.0-2"},
		[]string{"olm-v1-release p-v1.2.0-2: BundleReleaseSupport, and reads 1.2.0-2 as 1.2.0", "olm-v1-untold"}},
	{"a higher candidate", []string{"schema: olm.channel\n---", "schema: olm.channel\n---\nentries:\n- name: p.v1.1.0\nname: candidate\npackage: p\nschema: olm.channel\n---", "packageName: p\n    version: 1.1.0", "packageName: p\n    version: 1.3.0-rc.1", "p.v1.1.0", "p.v1.3.0-rc.1"},
		[]string{`olm-v1-choice p.v1.3.0-rc.1: a ClusterExtension that names no channel gets p.v1.3.0-rc.1 of "candidate", "stable"; a Subscription gets p.v1.2.0, the head of the default channel "stable"`, "olm-v1-untold"}},
	{"a deprecated head", []string{"name: p.v1.0.0\n    schema", "name: p.v1.2.0\n    schema"}, []string{"olm-v1-choice p.v1.1.0: gets p.v1.1.0 of \"stable\"", "olm-v1-untold"}},
	{"all are deprecated", []string{"entries:\n- message: old\n", "entries:\n- message: old\n  reference: {schema: olm.bundle, name: p.v1.1.0}\n- message: old\n  reference: {schema: olm.bundle, name: p.v1.2.0}\n- message: old\n"}, []string{"olm-v1-untold p.v1.2.0"}},
}

func TestOLMv1(t *testing.T) {
	on := Levels{Of: map[string]Level{}}
	for _, r := range Rules {
		if on.Of[r.ID] = Off; strings.HasPrefix(r.ID, "olm-v1-") {
			on.Of[r.ID] = Warning
		}
	}
	covered := map[string]bool{}
	for _, test := range v1Cases {
		t.Run(test.name, func(t *testing.T) {
			for i := 0; i < len(test.changes); i += 2 {
				if !strings.Contains(soundCatalog, test.changes[i]) {
					t.Fatalf("the catalog has no %q", test.changes[i])
				}
			}
			src := soundCatalog
			for i := 0; i < len(test.changes); i += 2 {
				src = strings.ReplaceAll(src, test.changes[i], test.changes[i+1])
			}
			found := Verify(load("c.yaml", []byte(src)), nil, on)
			for _, want := range test.want {
				head, text, _ := strings.Cut(want, ": ")
				id, bundle, _ := strings.Cut(head, " ")
				at := -1
				for i, f := range found {
					if f.ID == id && strings.Contains(f.Bundle, bundle) && strings.Contains(f.Message, text) {
						at = i
					}
				}
				if at < 0 {
					t.Errorf("no %s in %v", want, found)
					continue
				}
				covered[id] = true
				found = append(found[:at], found[at+1:]...)
			}
			if len(found) > 0 {
				t.Errorf("found %v too", found)
			}
		})
	}
	for _, r := range Rules {
		if strings.HasPrefix(r.ID, "olm-v1-") && !covered[r.ID] {
			t.Errorf("no case finds %s", r.ID)
		}
	}
}

// Published bundles are not judged again. The bundle that OLM v1 chooses is always reported.
func TestOLMv1JudgesWhatIsNew(t *testing.T) {
	src := []byte(strings.Replace(soundCatalog, "type: AllNamespaces", "type: OwnNamespace", 1))
	if found := Verify(build(t, Builder{}, src), nil, Levels{}); len(found) != 1 || found[0].ID != "olm-v1-install-mode" {
		t.Errorf("%v", found)
	}
	if found := Verify(build(t, Builder{Known: build(t, Builder{Light: true}, src)}, src), nil, Levels{}); len(found) > 0 {
		t.Errorf("%v", found)
	}
}
