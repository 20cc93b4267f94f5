package catalogsource

import (
	"reflect"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
)

const top = "# top\napiVersion: operators.coreos.com/v1alpha1\nkind: CatalogSource\nmetadata:\n  name: x\nspec:\n"

// Converting there and back is the same to the byte if sourceType is above its fields.
func TestConvertThereAndBack(t *testing.T) {
	for _, c := range []struct{ legacy, now string }{
		{"  sourceType: grpc\n  image: a/b:1\n", "  catalogImageSource:\n    catalogImage: a/b:1\n"},
		{"  displayName: Community Operators\n  publisher: OperatorHub.io\n  sourceType: grpc\n  image: quay.io/operatorhubio/catalog:latest\n  grpcPodConfig:\n    nodeSelector:\n      label: value\n",
			"  displayName: Community Operators\n  publisher: OperatorHub.io\n  catalogImageSource:\n    catalogImage: quay.io/operatorhubio/catalog:latest\n    podSpecOverrides:\n      nodeSelector:\n        label: value\n"},
		{"  displayName: My Operators\n  sourceType: grpc\n  address: some.namespace.svc\n", "  displayName: My Operators\n  catalogServiceSource:\n    address: some.namespace.svc\n"},
		{"  sourceType: grpc\n  image: a\n  grpcPodConfig:\n    securityContextConfig: restricted\n    memoryTarget: 30Mi\n    extractContent:\n      catalogDir: /configs\n",
			"  catalogImageSource:\n    catalogImage: a\n    podSpecOverrides:\n      securityContextConfig: restricted\n      memoryTarget: 30Mi\n      extractContent:\n        catalogDir: /configs\n"},
		{"  displayName: My Operators\n  sourceType: configmap\n  configMap: somemap\n", "  displayName: My Operators\n  configMapSource:\n    configMap: somemap\n"},
		// Comments, blank lines, quotes, flow style, the order of the fields, a block scalar.
		{"  # kind\n  sourceType: grpc # k\n\n  # pod\n  grpcPodConfig: # p\n    # in\n    tolerations: [{key: a, operator: Exists}] # t\n    # end\n  # image\n  image: 'a/b:1' # i\n\n  # next\n  priority: 3\n",
			"  # kind\n  catalogImageSource: # k\n\n    # pod\n    podSpecOverrides: # p\n      # in\n      tolerations: [{key: a, operator: Exists}] # t\n      # end\n    # image\n    catalogImage: 'a/b:1' # i\n\n  # next\n  priority: 3\n"},
		{"  sourceType: grpc\n  image: >-\n    a/b:1\n  priority: 1\n", "  catalogImageSource:\n    catalogImage: >-\n      a/b:1\n  priority: 1\n"},
		{"    sourceType: grpc\n    image: a\n    grpcPodConfig:\n        priorityClassName: high", "    catalogImageSource:\n        catalogImage: a\n        podSpecOverrides:\n            priorityClassName: high"},
		{"  sourceType: grpc\r\n  image: a\r\n", "  catalogImageSource:\r\n    catalogImage: a\r\n"},
	} {
		checkConvert(t, top+c.legacy, New, top+c.now)
		checkConvert(t, top+c.now, Legacy, top+c.legacy)
		checkConvert(t, top+c.now, New, top+c.now)
	}
}

// Fields in other places move to sourceType, with the comments above them.
func TestConvertGathers(t *testing.T) {
	checkConvert(t, top+"  # the image\n  image: a/b:1 # i\n  priority: 1\n  sourceType: grpc\n  displayName: x\n  # the pod\n  grpcPodConfig: {priorityClassName: y}\n  secrets: []\n", New,
		top+"  priority: 1\n  catalogImageSource:\n    # the image\n    catalogImage: a/b:1 # i\n    # the pod\n    podSpecOverrides: {priorityClassName: y}\n  displayName: x\n  secrets: []\n")
	checkConvert(t, top+"  image: a/b:1\n  sourceType: grpc", New, top+"  catalogImageSource:\n    catalogImage: a/b:1")
	// Several documents, a list, other objects.
	item := func(indent string, text string) string {
		return strings.TrimSuffix(indent+strings.ReplaceAll(text, "\n", "\n"+indent), indent)
	}
	legacy, now := top+"  sourceType: grpc\n  image: a\n", top+"  catalogImageSource:\n    catalogImage: a\n"
	list := func(text string) string { return "kind: List\nitems:\n- kind: Other\n-\n" + item("  ", text) }
	other := "---\nkind: ConfigMap\nspec: {image: a}\n---\n"
	checkConvert(t, legacy+other+list(legacy)+"---\n"+now, New, now+other+list(now)+"---\n"+now)
}

func checkConvert(t *testing.T, text string, to Form, want string) {
	t.Helper()
	m := open(t, text)
	got, changed, err := m.Convert(to)
	if err != nil || string(got) != want || (len(changed) > 0) != (text != want) {
		t.Errorf("to %s:\n%s\nbecame\n%s\n%v, %d changed", to, text, got, err, len(changed))
	}
}

func TestConvertRefuses(t *testing.T) {
	for _, c := range []struct {
		spec string
		to   Form
		code failure.Code
		says string
	}{
		{"  sourceType: internal\n  configMap: a\n", New, 81, "cannot express sourceType internal, only sourceType configmap"},
		{"  sourceType: grpc\n  address: a\n  grpcPodConfig: {}\n", New, 81, "catalogServiceSource does not have grpcPodConfig"},
		{"  sourceType: grpc\n  image: a\n  grpcPodConfig: {hostNetwork: true}\n", New, 81, "do not have hostNetwork, only "},
		{"  catalogImageSource:\n    catalogImage: a\n    pullPolicy: b\n", Legacy, 81, "no deprecated field is the same as catalogImageSource.pullPolicy"},
		{"  catalogServiceSource:\n    address: a\n    podSpecOverrides: {}\n", Legacy, 81, "no deprecated field is the same as catalogServiceSource.podSpecOverrides"},
		{"  catalogImageSource: {}\n", Legacy, 81, "catalogImageSource has no catalogImage"},
		{"  image: a\n", New, 81, "image needs sourceType"},
		{"  sourceType: grpc\n  image: a\n  address: b\n", New, 81, "names 2 sources"},
		{"  sourceType: grpc\n", New, 81, "names 0 sources"},
		{"  sourceType: grpc\n  catalogImageSource: {catalogImage: a}\n", New, 81, "sourceType conflicts with catalogImageSource"},
		{"  catalogImageSource: {catalogImage: a}\n", Legacy, 14, "is not in block style"},
		{"  {sourceType: grpc, image: a}\n", New, 14, "is not in block style"},
		{"  image: &i a\n  displayName: *i\n  sourceType: grpc\n", New, 14, "checking the result"},
		{"  &s\n  sourceType: grpc\n  image: a\nother: *s\n", New, 14, "or has an anchor"},
	} {
		_, _, err := open(t, top+c.spec).Convert(c.to)
		f := failure.Of(err)
		if f == nil || f.Code != c.code || !strings.Contains(f.Message, c.says) || f.Line == 0 {
			t.Errorf("%s: %v", c.spec, err)
		}
	}
}

// Every conversion can be reverted to the same content, and nothing panics.
func FuzzConvert(f *testing.F) {
	for _, spec := range []string{
		"  sourceType: grpc # a\n\n  # b\n  image: a\n  grpcPodConfig:\n    nodeSelector: {a: b}\n", "  image: |\n    a\n\n  sourceType: grpc",
		"  configMapSource:\n      # c\n      configMap: a\n", "  catalogServiceSource:\r\n   address: 'a\n    b'\n", "  ? sourceType\n  : grpc\n  image: a\n",
		"  sourceType: !!str grpc\n  image: &a b\n  displayName: *a\n", " <<: {image: a}\n sourceType: grpc\n",
	} {
		f.Add([]byte(top + spec))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		m, err := Open("source.yaml", src)
		if err != nil {
			return
		}
		for _, s := range m.Sources {
			s.Check()
		}
		for _, way := range [][2]Form{{New, Legacy}, {Legacy, New}} {
			there, changed, err := m.Convert(way[0])
			if err != nil || len(changed) != len(m.Sources) {
				continue
			}
			over, err := Open("source.yaml", there)
			if err != nil {
				t.Fatal(err)
			}
			back, _, err := over.Convert(way[1])
			if err != nil {
				if failure.Of(err).Code == failure.EditRefused {
					continue
				}
				t.Fatalf("%q became %q, which does not go back: %v", src, there, err)
			}
			again, err := Open("source.yaml", back)
			if err != nil {
				t.Fatal(err)
			}
			for i, s := range m.Sources {
				if !reflect.DeepEqual(plainOf(s.root), plainOf(again.Sources[i].root)) {
					t.Fatalf("%q came back as %q", src, back)
				}
			}
		}
	})
}
