package catalogsource

import (
	"strings"
	"testing"
)

// The division of work between two writers of the same fields.
func TestWorkFor(t *testing.T) {
	kube, lookup := "a/b:v{kube_minor_version}", "a/b:"+sample
	for _, c := range []struct {
		name        string
		shared, own string
		olm         bool
		want        Work
	}{
		{"nothing", "", "", false, Work{}},
		{"nothing, with OLM", "", "", true, Work{}},
		{"without OLM", kube, "", false, Work{Reference: kube}},
		{"without OLM, by the own key", kube, lookup, false, Work{Reference: lookup}},
		{"a reference that OLM resolves", kube, "", true, Work{}},
		{"no template, which OLM sets", "a/b:v1", "", true, Work{}},
		{"a reference that OLM does not resolve", lookup, "", true, Work{Reference: lookup, Own: true}},
		{"a part that OLM does not resolve", "a/b:v{ocp_minor_version}-{kube_minor_version}", "", true, Work{Reference: "a/b:v{ocp_minor_version}-{kube_minor_version}", Own: true}},
		{"a typo", "a/b:v{kube_minor_versio}", "", true, Work{Reference: "a/b:v{kube_minor_versio}", Own: true}},
		{"the own key", "", kube, true, Work{Reference: kube, Own: true}},
		{"the own key, beside what OLM does not resolve", lookup, kube, true, Work{Reference: kube, Own: true}},
		{"both", kube, lookup, true, Work{Reference: lookup, Own: true, Clash: true}},
	} {
		if got := WorkFor(map[string]string{ImageTemplate: c.shared, OwnTemplate: c.own}, c.olm); got != c.want {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// The version of OpenShift is that of the last completed update.
func TestOpenShift(t *testing.T) {
	cluster := func(history string) Objects {
		return manifests(t, "apiVersion: config.openshift.io/v1\nkind: ClusterVersion\nmetadata: {name: version}\nstatus: {desired: {version: 4.21.0}, history: ["+history+"]}\n").Object
	}
	partial, done := "{state: Partial, version: 4.21.0}, ", "{state: Completed, version: 4.20.3}, {state: Completed, version: 4.19.9}"
	for _, c := range []struct {
		values Values
		image  string
		why    string
	}{
		{Values{Objects: cluster(partial + done)}, "a/b:v4.20", ""},
		{Values{Objects: cluster(done), OpenShift: KubeVersion{"4", "18", ""}}, "a/b:v4.18", ""},
		{Values{Objects: cluster(partial)}, "", "the version of OpenShift is unknown: evaluating"},
		{Values{Objects: cluster("{state: Completed, version: x}")}, "", `ClusterVersion.v1.config.openshift.io version has "x"`},
		{Values{Objects: manifests(t, sampleManifest).Object}, "", "the version of OpenShift is unknown: there is no ClusterVersion.v1.config.openshift.io version"},
		{Values{Kube: KubeVersion{"1", "33", "0"}}, "", "the version of OpenShift is unknown: no objects were given"},
	} {
		c.values.Path = JSONPath
		r := Resolve("a/b:v{ocp_major_version}.{ocp_minor_version}", c.values)
		if c.why == "" && r.Image != c.image || c.why != "" && (len(r.Unresolved) != 2 || !strings.Contains(r.Unresolved[0].Err.Error(), c.why)) {
			t.Errorf("want %s%s, got %+v", c.image, c.why, r)
		}
	}
}
