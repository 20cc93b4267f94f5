package conformance

const (
	csvFile         = "manifests/widgets.clusterserviceversion.yaml"
	crdFile         = "manifests/widgets.yaml"
	annotationsFile = "metadata/annotations.yaml"
)

// richBundle has an example of everything that opm reads.
var richBundle = bundleFiles{
	csvFile: `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  name: widgets.v1.2.3
  namespace: placeholder
  creationTimestamp: null
  generation: 3
  labels:
    arch: amd64
  annotations:
    alm-examples: |-
      [{"apiVersion": "acme.example.com/v1", "kind": "Widget", "spec": {"size": 3}}]
    capabilities: Basic Install
    olm.skipRange: '>=1.0.0 <1.2.3'
    olm.properties: '[{"type": "olm.maxOpenShiftVersion", "value": "4.20"}]'
  ownerReferences:
  - apiVersion: v1
    kind: Pod
    name: x
    uid: abc
    controller: true
spec:
  displayName: Widgets & <Gadgets>
  description: |
    # Widgets
    Makes widgets: yes, "all" of them.
  version: 1.2.3
  replaces: widgets.v1.2.2
  skips: [widgets.v1.2.1]
  maturity: alpha
  minKubeVersion: 1.25.0
  keywords: [widget, gadget]
  maintainers:
  - name: Acme
    email: acme@example.com
  provider:
    name: Acme
    url: https://acme.example.com
  links:
  - name: Home
    url: https://acme.example.com
  icon:
  - base64data: PHN2Zy8+
    mediatype: image/svg+xml
  labels:
    a: b
  annotations:
    c: d
  selector:
    matchLabels:
      e: f
    matchExpressions:
    - key: g
      operator: In
      values: [h]
  cleanup:
    enabled: false
  installModes:
  - type: OwnNamespace
    supported: true
  - type: AllNamespaces
    supported: false
  nativeAPIs:
  - group: apps
    version: v1
    kind: Deployment
  customresourcedefinitions:
    owned:
    - name: widgets.acme.example.com
      kind: Widget
      version: v1
      displayName: Widget
      description: A widget.
      resources:
      - name: pods
        kind: Pod
        version: v1
      specDescriptors:
      - path: size
        displayName: Size
        description: How large <it> is.
        x-descriptors: ['urn:alm:descriptor:com.tectonic.ui:podCount']
        value: {"a": [1, "<b>"]}
      statusDescriptors:
      - path: phase
        displayName: Phase
      actionDescriptors:
      - path: spin
    required:
    - name: gizmos.other.example.com
      kind: Gizmo
      version: v1beta1
  apiservicedefinitions:
    owned:
    - name: v1.metrics
      group: metrics.example.com
      version: v1
      kind: Metric
      deploymentName: widgets
      containerPort: 443
      displayName: Metric
      description: Metrics.
    required:
    - name: v1.other
      group: other.example.com
      version: v1
      kind: Other
  webhookdefinitions:
  - generateName: hook.example.com
    type: ValidatingAdmissionWebhook
    deploymentName: widgets
    containerPort: 443
    targetPort: 9443
    failurePolicy: Fail
    sideEffects: None
    timeoutSeconds: 5
    admissionReviewVersions: [v1]
    webhookPath: /validate
    rules:
    - apiGroups: [acme.example.com]
      apiVersions: [v1]
      operations: [CREATE]
      resources: [widgets]
      scope: Namespaced
  relatedImages:
  - name: gadget
    image: registry.example.com/acme/gadget@sha256:0123
  - name: widgets
    image: registry.example.com/acme/operator:v1.2.3
  install:
    strategy: deployment
    spec:
      clusterPermissions:
      - serviceAccountName: widgets
        rules:
        - apiGroups: [acme.example.com]
          resources: ["*"]
          verbs: ["*"]
      permissions:
      - serviceAccountName: widgets
        rules:
        - nonResourceURLs: [/metrics]
          verbs: [get]
      deployments:
      - name: widgets
        label:
          control-plane: widgets
        spec:
          replicas: 1
          revisionHistoryLimit: 3
          selector:
            matchLabels:
              name: widgets
          strategy:
            type: RollingUpdate
            rollingUpdate:
              maxSurge: 25%
              maxUnavailable: 1
          template:
            metadata:
              labels:
                name: widgets
            spec:
              serviceAccountName: widgets
              terminationGracePeriodSeconds: 10
              hostNetwork: false
              securityContext:
                runAsNonRoot: true
                fsGroup: 2000
              tolerations:
              - key: a
                operator: Exists
                tolerationSeconds: 60
              affinity:
                nodeAffinity:
                  requiredDuringSchedulingIgnoredDuringExecution:
                    nodeSelectorTerms:
                    - matchExpressions:
                      - key: kubernetes.io/arch
                        operator: In
                        values: [amd64]
              initContainers:
              - name: init
                image: registry.example.com/acme/init:v1
              containers:
              - name: operator
                image: registry.example.com/acme/operator:v1.2.3
                command: [/operator]
                args: ["--leader-elect"]
                env:
                - name: RELATED_IMAGE_X
                  value: registry.example.com/acme/x:v1
                - name: POD
                  valueFrom:
                    fieldRef:
                      fieldPath: metadata.name
                ports:
                - containerPort: 8080
                  name: http
                resources:
                  limits:
                    cpu: 500m
                    memory: 128Mi
                  requests:
                    cpu: 1
                    memory: 1.5e2
                livenessProbe:
                  httpGet:
                    path: /healthz
                    port: 8081
                  initialDelaySeconds: 15
                volumeMounts:
                - name: cert
                  mountPath: /cert
                  readOnly: true
              - name: proxy
                image: registry.example.com/acme/proxy:v2
              volumes:
              - name: cert
                secret:
                  secretName: cert
                  defaultMode: 420
              - name: tmp
                emptyDir:
                  sizeLimit: 1Gi
`,
	crdFile: `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.acme.example.com
  creationTimestamp: null
spec:
  group: acme.example.com
  scope: Namespaced
  names:
    kind: Widget
    plural: widgets
    listKind: WidgetList
    shortNames: [wd]
  conversion:
    strategy: Webhook
    webhook:
      conversionReviewVersions: [v1]
      clientConfig:
        caBundle: Cg==
        service:
          name: x
          namespace: ns
          port: 443
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale:
        specReplicasPath: .spec.size
        statusReplicasPath: .status.size
    additionalPrinterColumns:
    - name: Age
      type: date
      jsonPath: .metadata.creationTimestamp
      priority: 1
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        x-kubernetes-preserve-unknown-fields: true
        properties:
          spec:
            type: object
            description: Spec of a widget & more.
            minProperties: 1
            properties:
              size:
                type: integer
                minimum: 0
                maximum: 1e3
                multipleOf: 0.5
                default: 3
                enum: [1, 2.0, three]
              tags:
                type: array
                maxItems: 5
                items:
                  type: string
                x-kubernetes-list-map-keys: [a]
              limits:
                additionalProperties:
                  anyOf:
                  - type: integer
                  - type: string
                  x-kubernetes-int-or-string: true
                type: object
              open:
                type: object
                additionalProperties: true
            x-kubernetes-validations:
            - rule: self.size >= 0
              message: "too small"
          status:
            nullable: true
            type: object
            dependencies:
              a: [b]
              c: {type: object}
  - name: v1alpha1
    served: false
    storage: false
    deprecated: true
    deprecationWarning: old
status:
  acceptedNames:
    kind: ""
    plural: ""
  conditions: []
  storedVersions: []
`,
	annotationsFile: `annotations:
  operators.operatorframework.io.bundle.mediatype.v1: registry+v1
  operators.operatorframework.io.bundle.manifests.v1: manifests/
  operators.operatorframework.io.bundle.metadata.v1: metadata/
  operators.operatorframework.io.bundle.package.v1: widgets
  operators.operatorframework.io.bundle.channels.v1: stable,fast
  operators.operatorframework.io.bundle.channel.default.v1: stable
  com.redhat.openshift.versions: v4.12
`,
	"metadata/dependencies.yaml": `dependencies:
- type: olm.package
  value:
    packageName: gizmo
    version: ">=1.0.0 <2.0.0"
- type: olm.gvk
  value:
    group: gizmo.example.com
    kind: Gizmo
    version: v1
- type: olm.constraint
  value:
    failureMessage: needs 1 < 2
    cel:
      rule: properties.exists(p, p.type == "olm.package" && p.value.packageName == "x")
`,
	"metadata/properties.yaml": `properties:
- type: olm.gvk
  value:
    group: acme.example.com
    kind: Extra
    version: v1
- type: olm.maxOpenShiftVersion
  value: 4.20
- type: custom
  value:
    z: 1
    a: [1.0, 1e3, true, null, "<>&", 18446744073709551615]
`,
}
