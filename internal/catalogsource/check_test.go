package catalogsource

import (
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		spec  string
		wants []string // LINE:COL message; remedy
	}{
		{"  catalogImageSource:\n    catalogImage: a/b:1\n    podSpecOverrides: {nodeSelector: {a: b}, tolerations: [{tolerationSeconds: 3}]}\n", nil},
		{"  catalogServiceSource: {address: some.namespace.svc}\n", nil},
		{"  configMapSource: {configMap: somemap}\n  priority: -1\n  secrets: [a]\n  icon: {base64data: a, mediatype: b}\n", nil},
		{"  sourceType: grpc\n  image: a/b:1\n  grpcPodConfig: {}\n", nil},
		{"  sourceType: internal\n  configMap: a\n", nil},

		{"  displayName: x\n", []string{"7:3 spec names no source; " + oneSource}},
		{"  catalogImageSource: {catalogImage: a}\n  configMapSource: {configMap: b}\n", []string{"8:3 spec names 2 sources: catalogImageSource, configMapSource; Keep one, and remove the others."}},
		{"  catalogImageSource: {catalogImage: a}\n  image: a\n", []string{"8:3 spec names 2 sources: catalogImageSource, image; Keep one, and remove the others.", "8:3 spec.image needs sourceType; Add sourceType: grpc, or write catalogImageSource.catalogImage instead."}},
		{"  sourceType: grpc\n  image: a\n  address: b\n", []string{"9:3 spec names 2 sources: image, address; Keep one, and remove the others."}},
		{"  sourceType: grpc\n  catalogImageSource: {catalogImage: a}\n", []string{"7:3 spec.sourceType conflicts with catalogImageSource; Remove sourceType."}},
		{"  catalogImageSource: {}\n", []string{"7:3 spec.catalogImageSource is empty; Write catalogImageSource.catalogImage."}},
		{"  configMap: a\n", []string{"7:3 spec.configMap needs sourceType; Add sourceType: configmap, or write configMapSource.configMap instead."}},
		{"  sourceType: grpc\n  configMap: a\n", []string{"8:3 sourceType grpc does not use configMap; Write sourceType: configmap, or remove configMap."}},
		{"  sourceType: configMap\n  configMap: a\n", nil},
		{"  sourceType: ConfigMap\n  configMap: a\n", []string{`7:15 spec.sourceType is "ConfigMap"; Write grpc, configmap or internal.`}},
		{"  sourceType: grpc\n  address: a\n  grpcPodConfig: {}\n", []string{"9:3 spec.grpcPodConfig needs image, because it configures the pod of that image; Remove grpcPodConfig."}},
		{"  sourceType: grpc\n  image: ''\n", []string{"8:10 spec.image is empty; Write a value, or remove the key."}},

		{"  sourceType: grpc\n  image: a\n  priority: high\n", []string{"9:13 spec.priority is a string, want an integer; Write an integer."}},
		{"  sourceType: grpc\n  image: a\n  displayName: yes\n", []string{"9:16 spec.displayName is a boolean, want a string; Write a string, with the value in quotes."}},
		{"  sourceType: grpc\n  image: 3\n", []string{"8:10 spec.image is an integer, want a string; Write a string, with the value in quotes."}},
		{"  sourceType: grpc\n  image: a\n  publisher:\n", []string{"9:13 spec.publisher has no value; Write a string, or remove the key."}},
		{"  sourceType: grpc\n  image: a\n  icon: {mediatype: b}\n", []string{"9:9 spec.icon.base64data is missing; Add base64data."}},
		{"  sourceType: grpc\n  image: a\n  secrets: [1]\n", []string{"9:13 spec.secrets[0] is an integer, want a string; Write a string, with the value in quotes."}},
		{"  sourceType: grpc\n  image: a\n  priority: 1\n  priority: 2\n", []string{"10:3 spec.priority occurs twice; Remove one of the two."}},
		{"  sourceType: grpc\n  image: a\nstatus: {conditions: [{type: A, status: maybe, reason: '', message: m, lastTransitionTime: today}]}\n", []string{
			`9:41 status.conditions[0].status is "maybe"; Write one of True, False, Unknown.`,
			"9:56 status.conditions[0].reason has 0 characters; Write 1 to 1024 characters.",
			`9:92 status.conditions[0].lastTransitionTime is "today", which is not a time; Write a time as in 2021-07-19T23:00:00Z.`}},
		{"  - a\n", []string{"7:3 spec is a list, want a mapping; Write a mapping."}},
	} {
		faults, _ := open(t, top+c.spec).Sources[0].Check()
		var got []string
		for _, f := range faults {
			place := strings.TrimPrefix(f.Place(), "source.yaml:")
			got = append(got, place+" "+strings.TrimPrefix(f.Message, "checking x: ")+"; "+f.Remedy)
		}
		if strings.Join(got, "\n") != strings.Join(c.wants, "\n") {
			t.Errorf("%s\ngot  %s\nwant %s", c.spec, strings.Join(got, "\n     "), strings.Join(c.wants, "\n     "))
		}
	}
}

func TestCheckIdentity(t *testing.T) {
	for text, want := range map[string]string{
		"apiVersion: operators.coreos.com/v2\nkind: CatalogSource\nmetadata: {name: x}\n":                                                                           "apiVersion names version v2, which is not served",
		"apiVersion: operators.coreos.com/v1alpha1\nkind: CatalogSource\nmetadata: {}\nspec: {configMapSource: {configMap: a}}":                                     "metadata has no name",
		"apiVersion: operators.coreos.com/v1alpha1\nkind: CatalogSource\nmetadata: {name: A_b}\nspec: {configMapSource: {configMap: a}}":                            `"A_b" is not a valid name`,
		"apiVersion: operators.coreos.com/v1alpha1\nkind: CatalogSource\nspec: {configMapSource: {configMap: a}}":                                                   "metadata is missing",
		"apiVersion: operators.coreos.com/v1alpha1\nkind: CatalogSource\nmetadata: {generateName: a}\nspec: {configMapSource: {configMap: a}, configMapSources: 3}": "",
	} {
		faults, warnings := open(t, text).Sources[0].Check()
		if want == "" && len(faults) == 0 && len(warnings) == 1 && strings.Contains(warnings[0].Message, "spec.configMapSources is not a field of a CatalogSource") {
			continue
		}
		if len(faults) == 0 || !strings.HasSuffix(faults[0].Message, want) || want == "" {
			t.Errorf("%s: %v, %v", text, faults, warnings)
		}
	}
}

// The warning for a deprecated field names its replacement.
func TestWarnings(t *testing.T) {
	text := strings.Replace(top, "name: x", "name: x\n  annotations:\n    olm.catalogImageTemplate: a/b:{kube_mayor_version}", 1) +
		"  sourceType: grpc\n  image: a\n  grpcPodConfig: {priority: 3}\n"
	_, warnings := open(t, text).Sources[0].Check()
	var got []string
	for _, w := range warnings {
		got = append(got, w.Message+": "+w.Remedy)
	}
	all := strings.Join(got, "\n")
	for _, want := range []string{
		"x: spec.image is deprecated: Write catalogImageSource.catalogImage instead",
		"x: spec.sourceType is deprecated: Remove it with",
		"x: spec.grpcPodConfig is deprecated: Write catalogImageSource.podSpecOverrides instead",
		"x: spec.grpcPodConfig.priority is not a field of a CatalogSource, and API servers drop it",
		"x: {kube_mayor_version} is not a template: there is no variable \"kube_mayor_version\": Write {kube_major_version}; valid templates are {kube_major_version}, {kube_minor_version}",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no warning %q in\n%s", want, all)
		}
	}
}
