package catalogsource

import (
	"strings"
	"testing"
)

// A broken template is reported as written, with the broken rule and a valid alternative.
func TestBroken(t *testing.T) {
	for reference, want := range map[string][3]string{
		"a/b:v{kube_minor_versio}":     {"{kube_minor_versio}", `there is no variable "kube_minor_versio"`, "Write {kube_minor_version}; valid templates are "},
		"a/b:v{KUBE-MINOR-VERSION}":    {"{KUBE-MINOR-VERSION}", "there is no variable", "Write {kube_minor_version}; "},
		"a/b:v{ kube_minor_version}":   {"{ kube_minor_version}", "it has white space", "Write {kube_minor_version}."},
		"a/b:v{platform_architecture}": {"{platform_architecture}", "there is no variable", "Write {kube_major_version}, {kube_minor_version}, {kube_patch_version}, {ocp_major_version}, {ocp_minor_version} or {group:G,"},
		"a/b:v{olm_major_version}":     {"{olm_major_version}", "there is no variable", "Write {kube_major_version}, {kube_minor_version}, "},
		"a/b:v{}":                      {"{}", `there is no variable ""`, "Write {kube_major_version}, "},
		"a/b:v{kube_minor_version":     {"{kube_minor_version", "a brace is not closed", "Close it, "},
		"a/b:v1}":                      {"}", "a closing brace has no opening brace", "Remove it, "},
		"a/b:{kind:Sample,group:foo.example.com,version:v1,name:MySample,namespace:ns,jsonpath:{.spec.foo.bar}}": {
			"{kind:Sample,group:foo.example.com,version:v1,name:MySample,namespace:ns,jsonpath:{.spec.foo.bar}}", "its parts are in the order kind, group, version, name, namespace, jsonpath", "Write them in the order group, version, kind, name, namespace, jsonpath: ",
		},
		"a/b:{group:a.b,version:v1,kind:K,name:n,jsonpath:{.a}}":                {"{group:", "namespace is missing", "Write {group:G,"},
		"a/b:{group:a.b,version:v1,kind:K,name:n,namespace:ns}":                 {"{group:", "jsonpath is missing", "Write {group:G,"},
		"a/b:{group:a.b,version:v1,kind:K,nane:n,namespace:ns,jsonpath:{.a}}":   {"{group:", `"nane" is not a part of a lookup`, "Write {group:G,"},
		"a/b:{group:a.b, version:v1,kind:K,name:n,namespace:ns,jsonpath:{.a}}":  {"{group:", `" version" is not a part of a lookup`, "Write {group:G,"},
		"a/b:{group:a.b,version:v1,kind:K,name:n m,namespace:ns,jsonpath:{.a}}": {"{group:", "it has white space", "Remove all spaces"},
		"a/b:{group:,version:v1,kind:K,name:n,namespace:ns,jsonpath:{.a}}":      {"{group:", `group "" is not a DNS subdomain`, "the core API, whose group is empty"},
		"a/b:{group:a.b,version:1.2,kind:K,name:n,namespace:ns,jsonpath:{.a}}":  {"{group:", `version "1.2" is not a DNS label`, "such as v1"},
		"a/b:{group:a.b,version:v1,kind:k,name:n,namespace:ns,jsonpath:{.a}}":   {"{group:", `kind "k" is not a kind in CamelCase`, "such as Sample"},
		"a/b:{group:a.b,version:v1,kind:K,name:..,namespace:ns,jsonpath:{.a}}":  {"{group:", `".." is not a valid name`, "Write a name, or nothing"},
		"a/b:{group:a.b,version:v1,kind:K,name:n,namespace:Ns,jsonpath:{.a}}":   {"{group:", `namespace "Ns" is not a DNS label`, "Write a namespace, or nothing"},
		"a/b:{group:a.b,version:v1,kind:K,name:n,namespace:ns,jsonpath:.a}":     {"{group:", `jsonpath ".a" does not begin with { and end with }`, "such as {.spec.foo.bar}"},
	} {
		r := Resolve(reference, Values{Kube: KubeVersion{"1", "20", "1"}})
		if len(r.Unresolved) != 1 || r.Image != reference || !strings.HasPrefix(r.Unresolved[0].Template.Text, want[0]) {
			t.Errorf("%s is %+v", reference, r)
			continue
		}
		message := r.Conditions()[0].Message
		if r.Conditions()[0].Status != "False" || !strings.Contains(message, want[1]) || !strings.Contains(message, want[2]) {
			t.Errorf("%s: %s", reference, message)
		}
	}
	r := Resolve("a{x}/{kube_minor_version}:{y}{x}", Values{Kube: KubeVersion{"1", "20", "1"}})
	if r.Image != "a{x}/20:{y}{x}" || len(r.Unresolved) != 2 {
		t.Errorf("got %+v", r)
	}
}
