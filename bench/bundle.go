package main

import (
	"fmt"
	"strings"

	"github.com/olmgraft/graft/internal/testkit/registry"
)

// makeBundle returns a bundle of about this size: a ClusterServiceVersion, and resource definitions whose
// schemas are as deep and as long as real ones.
func makeBundle(i, bytes int) registry.Bundle {
	annotations := "annotations:\n" +
		"  operators.operatorframework.io.bundle.mediatype.v1: registry+v1\n" +
		"  operators.operatorframework.io.bundle.manifests.v1: manifests/\n" +
		"  operators.operatorframework.io.bundle.metadata.v1: metadata/\n" +
		"  operators.operatorframework.io.bundle.package.v1: op\n" +
		"  operators.operatorframework.io.bundle.channels.v1: stable\n"
	b := registry.Bundle{
		Files: map[string][]byte{"metadata/annotations.yaml": []byte(annotations)},
		Labels: map[string]string{
			"operators.operatorframework.io.bundle.mediatype.v1": "registry+v1",
			"operators.operatorframework.io.bundle.manifests.v1": "manifests/",
			"operators.operatorframework.io.bundle.metadata.v1":  "metadata/",
			"operators.operatorframework.io.bundle.package.v1":   "op",
			"operators.operatorframework.io.bundle.channels.v1":  "stable",
		},
	}
	const crdSize = 40 << 10
	var owned strings.Builder
	for n := 0; bytes > 4<<10; n++ {
		size := min(crdSize, bytes-3<<10)
		bytes -= size
		b.Files[fmt.Sprintf("manifests/kind%d.crd.yaml", n)] = []byte(makeCRD(i, n, size))
		fmt.Fprintf(&owned, "    - name: kind%ds.example.com\n      kind: Kind%d\n      version: v1\n      description: Kind number %d.\n", n, n, n)
	}
	b.Files["manifests/op.clusterserviceversion.yaml"] = []byte(makeCSV(i, owned.String()))
	return b
}

func makeCSV(i int, owned string) string {
	return fmt.Sprintf(`apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  name: op.v1.%[1]d.0
  annotations:
    capabilities: Seamless Upgrades
    containerImage: quay.io/example/op:v1.%[1]d.0
spec:
  displayName: Op
  version: 1.%[1]d.0
  description: |
    An operator of the size that is measured, release %[1]d.

%[2]s  installModes:
  - {type: OwnNamespace, supported: true}
  - {type: AllNamespaces, supported: true}
  customresourcedefinitions:
    owned:
%[3]s  install:
    strategy: deployment
    spec:
      deployments:
      - name: op
        spec:
          replicas: 1
          selector: {matchLabels: {app: op}}
          template:
            metadata: {labels: {app: op}}
            spec:
              containers:
              - name: op
                image: quay.io/example/op:v1.%[1]d.0
`, i, strings.Repeat("    A line of the description that people read in the console.\n", 20), owned)
}

func makeCRD(i, n, size int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: kind%[2]ds.example.com
  labels: {release: "%[1]d"}
spec:
  group: example.com
  names: {kind: Kind%[2]d, plural: kind%[2]ds}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
`, i, n)
	for f := 0; b.Len() < size; f++ {
		fmt.Fprintf(&b, `              field%[1]d:
                description: >-
                  Field number %[1]d of release %[2]d, whose prose is as long as that of
                  a field in a resource that somebody has documented with some care.
                type: object
                properties:
                  enabled:
                    description: Whether it is on.
                    type: boolean
                  values:
                    type: array
                    items:
                      type: string
                      pattern: ^[a-z0-9]([-a-z0-9]*[a-z0-9])?$
`, f, i)
	}
	return b.String()
}
