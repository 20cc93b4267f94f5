package cluster

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/olmgraft/graft/internal/catalogsource"
)

// clusterDefinition has OLM v1's rules for a ClusterCatalog.
const clusterDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: clustercatalogs.olm.operatorframework.io}
spec:
  group: olm.operatorframework.io
  names: {kind: ClusterCatalog, plural: clustercatalogs, singular: clustercatalog, listKind: ClusterCatalogList}
  scope: Cluster
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        required: [metadata, spec]
        properties:
          apiVersion: {type: string}
          kind: {type: string}
          metadata: {type: object}
          spec:
            type: object
            required: [source]
            properties:
              availabilityMode: {type: string, default: Available, enum: [Unavailable, Available]}
              priority: {type: integer, format: int32, default: 0, minimum: -2147483648, maximum: 2147483647}
              source:
                type: object
                required: [type]
                properties:
                  type: {type: string, enum: [Image]}
                  image:
                    type: object
                    required: [ref]
                    properties:
                      pollIntervalMinutes: {type: integer, minimum: 1}
                      ref:
                        type: string
                        maxLength: 1000
                        x-kubernetes-validations:
                        - rule: |-
                            self.matches('^([a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])((\\.([a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))+)?(:[0-9]+)?\\b')
                        - rule: |-
                            self.find('(\\/[a-z0-9]+((([._]|__|[-]*)[a-z0-9]+)+)?((\\/[a-z0-9]+((([._]|__|[-]*)[a-z0-9]+)+)?)+)?)') != ""
                        - rule: |-
                            self.find('(@.*:)') != "" || self.find(':.*$') != ""
                        - rule: |-
                            self.find('(@.*:)') == "" ? (self.find(':.*$') != "" ? self.find(':.*$').substring(1).size() <= 127 : true) : true
                        - rule: |-
                            self.find('(@.*:)') != "" ? self.find(':.*$').substring(1).size() >= 32 : true
                    x-kubernetes-validations:
                    - rule: |-
                        self.ref.find('(@.*:)') != "" ? !has(self.pollIntervalMinutes) : true
                x-kubernetes-validations:
                - rule: |-
                    has(self.type) && self.type == 'Image' ? has(self.image) : !has(self.image)
`

// graft catalogsource validate refuses the same ClusterCatalogs as the API server.
func TestClusterCatalogAgrees(t *testing.T) {
	define([]byte(clusterDefinition))
	resource := schema.GroupVersionResource{Group: catalogsource.ClusterGroup, Version: catalogsource.ClusterVersion, Resource: "clustercatalogs"}
	c := newCluster(t, "v1.20.0", "clustercatalogs")
	const image = "{source: {type: Image, image: {ref: '%s'}}}"
	digest := "sha256:" + strings.Repeat("0a", 32)
	specs := []string{
		"{}", "[]", "{source: {}}", "{source: {type: Image}}", "{source: {type: Git}}", "{source: {type: Image, image: {}}}", "{source: {type: Image, image: {ref: }}}", "{source: {type: Image, image: {ref: 3}}}", "{source: a}",
		"{source: {type: Image, image: {ref: 'q.io/a/b:v1', pollIntervalMinutes: 10}}}", "{source: {type: Image, image: {ref: 'q.io/a/b:v1', pollIntervalMinutes: 0}}}", "{source: {type: Image, image: {ref: 'q.io/a/b:v1', pollIntervalMinutes: 10m}}}",
		"{source: {type: Image, image: {ref: 'q.io/a/b@" + digest + "', pollIntervalMinutes: 10}}}", "{source: {type: Image, image: {ref: 'q.io/a/b:v1', unknown: 3}}}",
	}
	for _, extra := range []string{"priority: -100", "priority: 2147483647", "priority: 2147483648", "priority: high", "availabilityMode: Available", "availabilityMode: Unavailable", "availabilityMode: On", "unknown: 3"} {
		specs = append(specs, "{source: {type: Image, image: {ref: 'q.io/a/b:v1'}}, "+extra+"}")
	}
	for _, ref := range []string{"q.io/a/b:v1", "q.io/a/b", "b:v1", "q.io/a/b@" + digest, "q.io:443/a:v1", "localhost/a:v1", "q.io/a/b:" + strings.Repeat("x", 127), "q.io/a/b:" + strings.Repeat("x", 128), "q.io/a/b@sha256:0a", ""} {
		specs = append(specs, fmt.Sprintf(image, ref))
	}
	agreed := map[bool]int{}
	for i, spec := range specs {
		text := fmt.Sprintf("apiVersion: olm.operatorframework.io/v1\nkind: ClusterCatalog\nmetadata: {name: agree-%d}\nspec: %s\n", i, spec)
		_, err := c.TryCreate(resource, text)
		if err != nil && !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) {
			t.Fatalf("%s: %v", spec, err)
		}
		m, openErr := catalogsource.Open("x.yaml", []byte(text))
		if openErr != nil {
			t.Fatal(openErr)
		}
		if faults, _ := m.Sources[0].Check(); (err == nil) != (len(faults) == 0) {
			t.Errorf("%s: the server says %v, graft says %v", spec, err, faults)
		}
		agreed[err == nil]++
	}
	// The server accepts what publish makes.
	poll, priority := 15, -100
	for _, w := range []catalogsource.Wanted{{Image: "q.io/a/b:v1", Poll: &poll, Priority: &priority, Labels: []catalogsource.Label{{Key: "a", Value: "b"}}}, {Image: "q.io/a/b@" + digest}} {
		w.Kind = catalogsource.ClusterKind
		text, err := catalogsource.Make("made"+fmt.Sprint(len(w.Labels)), "", w)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.TryCreate(resource, string(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	t.Logf("%d are taken and %d refused, by both", agreed[true], agreed[false])
}
