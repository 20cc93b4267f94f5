package bundle

import (
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/fbc"
)

const describedCSV = `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  name: op.v1.0.0
  annotations: {b: "<1>", a: "2"}
  labels: {operatorframework.io/arch.amd64: supported}
spec:
  version: 1.0.0
  description: What it <does>.
  displayName: Op & more
  keywords: [z, a]
  links: [{name: docs, url: "https://example.com/?a=1&b=2"}]
  maintainers: [{name: M, email: m@example.com}]
  maturity: alpha
  minKubeVersion: 1.20.0
  provider: {name: P, url: https://example.com}
  installModes: [{type: OwnNamespace, supported: true}, {type: AllNamespaces, supported: false}]
  nativeAPIs: [{group: apps, version: v1, kind: Deployment}]
  replaces: op.v0.9.0
  icon: [{base64data: aGk=, mediatype: image/png}]
  apiservicedefinitions:
    owned:
    - {group: g.example.com, version: v1, kind: Served, name: serveds, deploymentName: server, containerPort: 443, displayName: Served}
    required:
    - {group: h.example.com, version: v1, kind: Other, name: others}
  customresourcedefinitions:
    owned:
    - name: things.example.com
      version: v1
      kind: Thing
      displayName: Thing
      description: A thing.
      resources: [{kind: Deployment, name: "", version: v1}]
      specDescriptors:
      - path: data
        displayName: Data
        description: In <base64>.
        x-descriptors: ["urn:alm:descriptor:text", "urn:alm:descriptor:io.kubernetes:Secret"]
        value: {b64: PGI+JiI=, json: '{"z": "<&>", "a": 1.0}', list: [1.0, 10000000000000000000000, null, true], html: "<b>"}
      - {path: text, value: "<plain>"}
      - {path: none}
      statusDescriptors:
      - {path: phase, value: 3}
      actionDescriptors:
      - {path: run, value: []}
    required:
    - {name: needs.example.com, version: v2, kind: Need}
`

// Values in the descriptors of a CSV are free data. They keep their escapes and numbers in opm's order, next to
// texts without HTML escapes.
const describedMetadata = `{"annotations":{"a":"2","b":"<1>"},` +
	`"apiServiceDefinitions":{"owned":[{"name":"serveds","group":"g.example.com","version":"v1","kind":"Served","deploymentName":"server","containerPort":443,"displayName":"Served"}],` +
	`"required":[{"name":"others","group":"h.example.com","version":"v1","kind":"Other"}]},` +
	`"crdDescriptions":{"owned":[{"name":"things.example.com","version":"v1","kind":"Thing","displayName":"Thing","description":"A thing.",` +
	`"resources":[{"name":"","kind":"Deployment","version":"v1"}],` +
	`"statusDescriptors":[{"path":"phase","value":3}],` +
	`"specDescriptors":[{"path":"data","displayName":"Data","description":"In <base64>.","x-descriptors":["urn:alm:descriptor:text","urn:alm:descriptor:io.kubernetes:Secret"],` +
	`"value":{"b64":"PGI+JiI=","html":"\u003cb\u003e","json":"{\"z\": \"\u003c\u0026\u003e\", \"a\": 1.0}","list":[1,1e+22,null,true]}},` +
	`{"path":"text","value":"\u003cplain\u003e"},{"path":"none"}],` +
	`"actionDescriptors":[{"path":"run","value":[]}]}],` +
	`"required":[{"name":"needs.example.com","version":"v2","kind":"Need"}]},` +
	`"description":"What it <does>.","displayName":"Op & more",` +
	`"installModes":[{"type":"OwnNamespace","supported":true},{"type":"AllNamespaces","supported":false}],` +
	`"keywords":["z","a"],"labels":{"operatorframework.io/arch.amd64":"supported"},` +
	`"links":[{"name":"docs","url":"https://example.com/?a=1&b=2"}],"maintainers":[{"name":"M","email":"m@example.com"}],` +
	`"maturity":"alpha","minKubeVersion":"1.20.0","nativeAPIs":[{"group":"apps","version":"v1","kind":"Deployment"}],` +
	`"provider":{"name":"P","url":"https://example.com"}}`

func TestCSVMetadata(t *testing.T) {
	img := minimal(csvFile, describedCSV, "manifests/crd.yaml", crdV1)
	objects, err := Render(t.Context(), img, BundleObjects)
	if err != nil {
		t.Fatal(err)
	}
	made, err := Render(t.Context(), img, CSVMetadata)
	if err != nil {
		t.Fatal(err)
	}
	migrated, err := Migrate(objects)
	if err != nil {
		t.Fatal(err)
	}
	for name, doc := range map[string][]string{"made of the bundle": held(made.Properties), "made of the objects": held(migrated.Properties)} {
		if got := strings.Join(doc, "\n"); got != typeCSVMetadata+" "+describedMetadata {
			t.Errorf("%s:\n got %s\nwant %s", name, got, describedMetadata)
		}
	}
}

// held returns the properties that contain manifests, which come last.
func held(properties []fbc.Property) []string {
	var list []string
	for _, p := range properties {
		if p.Type == typeBundleObject || p.Type == typeCSVMetadata {
			list = append(list, p.Type+" "+string(p.Value))
		} else if len(list) > 0 {
			list = append(list, p.Type)
		}
	}
	return list
}
