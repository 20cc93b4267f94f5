package cluster

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/olmgraft/graft/internal/controller/operands/suite"
)

// This API server has no built-in kinds, so another kind stands for ConfigMaps.
const configMapDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: configmaps.operands.example.com}
spec:
  group: operands.example.com
  names: {kind: ConfigMap, plural: configmaps, singular: configmap, listKind: ConfigMapList}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          data: {type: object, additionalProperties: {type: string}}
`

// OLM's kind with the fields that the keeper reads.
var subscriptionDefinition = strings.NewReplacer("configmaps.operands.example.com", "subscriptions.operators.coreos.com", "operands.example.com", "operators.coreos.com",
	"kind: ConfigMap,", "kind: Subscription,", "ConfigMapList", "SubscriptionList", "configmap", "subscription", "name: v1\n", "name: v1alpha1\n",
	"        properties:\n          data: {type: object, additionalProperties: {type: string}}\n", "        x-kubernetes-preserve-unknown-fields: true\n").Replace(configMapDefinition)

// The keeper runs on a real server as it does on the stand-in in internal/controller/operands.
func TestOperands(t *testing.T) {
	define([]byte(configMapDefinition))
	define([]byte(subscriptionDefinition))
	suite.Run(t, &suite.Server{Config: config, ConfigMaps: schema.GroupVersionResource{Group: "operands.example.com", Version: "v1", Resource: "configmaps"}})
}
