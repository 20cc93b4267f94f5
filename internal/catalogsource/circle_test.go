package catalogsource

import (
	"strings"
	"testing"
)

// CatalogSources look each other up without cycles.
func TestFollow(t *testing.T) {
	source := func(name, template string) string {
		return "---\napiVersion: operators.coreos.com/v1alpha1\nkind: CatalogSource\nmetadata: {name: " + name + ", namespace: olm, labels: {platform: v7}, annotations: {olm.catalogImageTemplate: '" + template + "'}}\n" +
			"spec: {image: 'a/b:v3', displayName: seven, sourceType: grpc}\n"
	}
	of := func(name, path string) string {
		return "{group:operators.coreos.com,version:v1alpha1,kind:CatalogSource,name:" + name + ",namespace:olm,jsonpath:" + path + "}"
	}
	m := manifests(t, source("kube", "a/b:v{kube_minor_version}")+source("plain", "")+source("chain", of("kube", "{.spec.image}"))+source("label", "a/b:"+of("label", "{.metadata.labels.platform}")))
	for _, c := range []struct{ self, template, image, why string }{
		{"olm/x", of("kube", "{.spec.image}"), "a/b:v3", ""},
		{"olm/x", of("plain", "{.spec.image}"), "a/b:v3", ""},
		{"olm/x", "q/" + of("chain", "{.spec.displayName}") + ":v1", "q/seven:v1", ""},
		{"olm/x", of("label", "{.spec.image}"), "a/b:v3", ""},
		{"olm/label", "a/b:" + of("label", "{.metadata.labels.platform}"), "a/b:v7", ""},
		{"olm/label", "a/b:" + of("label", "{.metadata.labels['platform']}"), "a/b:v7", ""},
		{"olm/x", of("chain", "{.spec.image}"), "", "olm/chain also looks up a CatalogSource"},
		{"olm/kube", of("kube", "{.spec.image}"), "", "this template changes olm/kube"},
		{"olm/kube", of("kube", "{.metadata.labels.platform}{.spec.image}"), "", "this template changes olm/kube"},
		{"olm/kube", of("kube", "{.metadata.resourceVersion}"), "", "this template changes olm/kube"},
		{"olm/kube", of("kube", "{..image}"), "", "this template changes olm/kube"},
	} {
		r := Resolve(c.template, Values{Objects: Follow(c.self, m.Object), Path: JSONPath})
		if c.why == "" && (!r.OK() || r.Image != c.image) || c.why != "" && (len(r.Unresolved) != 1 || !strings.Contains(r.Unresolved[0].Err.Error(), c.why)) {
			t.Errorf("%s: %s is %+v", c.self, c.template, r)
		}
	}
}
